"""Games that the kernel of `arena.learn` and the engine's referee play side by side, compared at every ply."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random

import numpy as np

from arena.learn.action_codes import action_code
from arena.learn.kernel import Kernel
from arena.learn.observation import observe
from arena.learn.placement import random_setups, setup_rows
from arena.stratego.rules.action_types import PIECE_MOVES, Action, PieceMove
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.movegen import piece_moves
from arena.stratego.rules.repetition import touches_enemy
from arena.stratego.rules.ruleset import Captains, Ruleset
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.tables import tables_of
from arena.stratego.seat_view import begun_view, enemy_squares, show
from protocol.notation import BOARD_SIZE, Color
from protocol.view import View

Moves = Sequence[PieceMove]
Manner = Callable[[EngineGame, Moves, Random], PieceMove]


def at_random(_game: EngineGame, moves: Moves, rng: Random) -> PieceMove:
    return rng.choice(moves)


def forward(game: EngineGame, moves: Moves, rng: Random) -> PieceMove:
    """Go towards the enemy."""
    up = 1 if game.to_move is Color.RED else -1
    ahead = [move for move in moves if (move.target // BOARD_SIZE - move.origin // BOARD_SIZE) * up > 0]
    return rng.choice(ahead if ahead and rng.random() < 0.7 else moves)


def hunting(game: EngineGame, moves: Moves, rng: Random) -> PieceMove:
    """Take what can be taken; at times move at random, so that games differ."""
    attacks = [move for move in moves if game.board[move.target]]
    return rng.choice(attacks if attacks and rng.random() < 0.9 else moves)


def chasing(game: EngineGame, moves: Moves, rng: Random) -> PieceMove:
    """Chase and evade, over and over: what the rules on repetition are about."""
    side, board = game.to_move, game.board
    near = [move for move in moves if not board[move.target] and touches_enemy(board, move.target, side)]
    away = [move for move in moves if not board[move.target] and touches_enemy(board, move.origin, side)]
    return rng.choice(near if near and rng.random() < 0.7 else away if away and rng.random() < 0.9 else moves)


def shuttling(game: EngineGame, moves: Moves, rng: Random) -> PieceMove:
    """Go back over the borders that the same piece has just crossed, if possible all of them."""
    run = game.runs[game.to_move]
    back = {move: (move.borders & run._run[-1]).bit_count() for move in moves if run._run and move.origin == run.square}
    most = [move for move in back if back[move] and back[move] == max(back.values())]
    return rng.choice(most if most and rng.random() < 0.9 else [move for move in moves if move.between] or moves)


MANNERS: tuple[Manner, ...] = (at_random, forward, hunting, chasing, shuttling)


def is_supported(ruleset: Ruleset) -> bool:
    """Whether all actions under a ruleset are moves of one piece in a line, or of a captain with a turn."""
    return tables_of(replace(ruleset, captains=Captains.ONE_STEP)).plain


SWITCHED = (
    *("isf+attackers-advantage", "duel+exploding-bombs", "isf+silent-defence", "vintage/barrage+silent-defence"),
    *("isf+lightning-captains", "vintage/original+lightning-captains", "vintage/lightning+silent-defence"),
)
SUPPORTED = [name for name in ruleset_names() if is_supported(load_ruleset(name))] + list(SWITCHED)
"""The rulesets that the kernel has."""


def piece_moves_of(game: EngineGame) -> Moves:
    """The legal moves under rules that have no other actions."""
    return [move for move in game.legal_moves() if isinstance(move, PIECE_MOVES)]


def shortened(ruleset: Ruleset, plies: int) -> Ruleset:
    """The same rules, with a draw after some plies at the latest."""
    return replace(ruleset, max_plies=min(plies, ruleset.max_plies or plies))


@dataclass(frozen=True)
class Compared:
    """How much was compared; `forbidden` are the moves that the rules on repetition alone made illegal."""

    games: int
    plies: int
    observations: int
    forbidden: int
    reasons: frozenset[str]


class Pair:
    """One game of the engine, with the views of both seats."""

    def __init__(self, ruleset: Ruleset, rows: tuple[Sequence[str], Sequence[str]], *, sees: bool = True) -> None:
        self.game = EngineGame(ruleset, *rows)
        self.views: list[View] = [
            begun_view(ruleset, color, rows[color], enemy_squares(self.game, color)) for color in Color if sees
        ]

    def play(self, action: Action) -> None:
        events = self.game.play(action)
        for view in self.views:
            show(view, events, self.game.tables)


def compare(ruleset: Ruleset, games: int, seed: int, manner: Manner, every: int = 1) -> Compared:
    """Play games in the engine and in the kernel; fail where they differ.

    Legal moves and outcomes are compared at every ply; what both seats observe at every ply that `every` divides and
    at the end, or never if it is 0.
    """
    rng, numbers = Random(seed), np.random.default_rng(seed)
    setups = random_setups(ruleset, games, numbers)
    pairs = [Pair(ruleset, (setup_rows(red), setup_rows(blue)), sees=every > 0) for red, blue in setups]
    kernel = Kernel(ruleset, games, observes=False)
    kernel.reset(setups)
    plies = observations = forbidden = 0
    under_way = [number for number, pair in enumerate(pairs) if not pair.game.outcome]
    for ply in count():
        if not under_way:
            break
        compare_masks(kernel)
        counts, codes, sides = kernel.counts.tolist(), kernel.codes.tolist(), kernel.to_move.tolist()
        actions = [0] * games
        for number in under_way:
            game = pairs[number].game
            moves = piece_moves_of(game)
            expected = sorted([action_code(move.text, game.to_move) for move in moves])
            assert sorted(codes[number][: counts[number]]) == expected, (seed, number, game.ply)
            assert sides[number] == game.to_move, (seed, number, game.ply)
            forbidden += forbidden_moves(game, len(moves))
            move = manner(game, moves, rng)
            actions[number] = action_code(move.text, game.to_move)
            pairs[number].play(move)
        kernel.step(np.array(actions))
        plies += len(under_way)
        ended = [number for number in under_way if pairs[number].game.outcome]
        assert np.flatnonzero(~kernel.is_over).tolist() == sorted(set(under_way) - set(ended))
        for number in ended:
            assert kernel.outcome(number) == pairs[number].game.outcome, (seed, number)
        for number in (under_way if ply % every == 0 else ended) if every else ():
            observations += compare_seats(kernel, number, pairs[number].views)
        under_way = [number for number in under_way if not pairs[number].game.outcome]
    reasons = {pair.game.outcome.reason.value for pair in pairs if pair.game.outcome}
    return Compared(games, plies, observations, forbidden, frozenset(reasons))


def compare_masks(kernel: Kernel) -> None:
    """Fail unless the mask of each game has the codes of its list, and no others."""
    rows, places = np.nonzero(np.arange(kernel.codes.shape[1]) < kernel.counts[:, None])
    assert kernel.mask[rows, kernel.codes[rows, places]].all()
    assert np.array_equal(kernel.mask.sum(axis=1), kernel.counts)


def forbidden_moves(game: EngineGame, legal: int) -> int:
    """The number of moves that only a rule on repetition forbids."""
    side = game.to_move
    if legal and (game.runs[side].closed or (game.chase and game.chase.length[side] > 1)):
        return sum(1 for _ in piece_moves(game, side)) - legal
    return 0


def compare_seats(kernel: Kernel, number: int, views: Sequence[View]) -> int:
    """Fail unless what both seats observe in a game is what follows from what they were told."""
    planes, facts = kernel.observe([0, 1], [number, number])
    for color in Color:
        expected = observe(views[color])
        assert np.array_equal(planes[color], expected.planes), (number, color)
        assert facts[color].tolist() == expected.facts.tolist(), (number, color)
    return len(views)
