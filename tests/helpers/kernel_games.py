"""Games that the kernel of `arena.learn` and the engine's referee play side by side, compared at every ply."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from random_play import lively

from arena.learn.action_codes import SQUARE_COUNT, action_code, codes_of, seat_square
from arena.learn.kernel import Kernel
from arena.learn.observation import observe
from arena.learn.placement import random_setups, setup_rows
from arena.stratego.opponents import Foe, action
from arena.stratego.rules.board import StraightMove
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.movegen import piece_moves
from arena.stratego.rules.repetition import touches_enemy
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.tables import tables_of
from arena.stratego.seat_view import begun_view, enemy_squares, show
from protocol.notation import Color
from protocol.view import View

Manner = Callable[[EngineGame, Random], str]
SEEN = [np.array([seat_square(square, side) for square in range(SQUARE_COUNT)]) for side in Color]


def at_random(game: EngineGame, rng: Random) -> str:
    return rng.choice(game.legal_moves()).text


def forward(game: EngineGame, rng: Random) -> str:
    return lively(game, rng).text


def hunting(game: EngineGame, rng: Random) -> str:
    """Play as a bot that takes what it can; at times at random, so that games differ."""
    return at_random(game, rng) if rng.random() < 0.1 else action(game, rng.getrandbits(32), Foe.HUNTER)


def chasing(game: EngineGame, rng: Random) -> str:
    """Chase and evade, over and over: what the rules on repetition are about."""
    side, board, moves = game.to_move, game.board, straight_moves(game)
    near = [move for move in moves if not board[move.target] and touches_enemy(board, move.target, side)]
    away = [move for move in moves if not board[move.target] and touches_enemy(board, move.origin, side)]
    choice = near if near and rng.random() < 0.7 else away if away and rng.random() < 0.9 else moves
    return rng.choice(choice).text


MANNERS: tuple[Manner, ...] = (at_random, forward, hunting, chasing)

SWITCHED = ("isf+attackers-advantage", "duel+exploding-bombs", "isf+silent-defence", "vintage/barrage+silent-defence")
PLAIN = [name for name in ruleset_names() if tables_of(load_ruleset(name)).plain] + list(SWITCHED)
"""The rulesets that the kernel has."""


def straight_moves(game: EngineGame) -> list[StraightMove]:
    """The legal moves under rules that have no other actions."""
    moves = [move for move in game.legal_moves() if isinstance(move, StraightMove)]
    assert len(moves) == len(game.legal_moves())
    return moves


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

    def __init__(self, ruleset: Ruleset, rows: tuple[Sequence[str], Sequence[str]]) -> None:
        self.game = EngineGame(ruleset, *rows)
        self.views: list[View] = [
            begun_view(ruleset, color, rows[color], enemy_squares(self.game, color)) for color in Color
        ]

    def play(self, text: str) -> None:
        events = self.game.play(self.game.parse(text))
        for view in self.views:
            show(view, events, self.game.tables)


def compare(ruleset: Ruleset, games: int, seed: int, manner: Manner, every: int = 1) -> Compared:
    """Play games in the engine and in the kernel; fail where they differ.

    Legal moves and outcomes are compared at every ply, what both seats observe at every ply that `every` divides and
    at the end.
    """
    rng, numbers = Random(seed), np.random.default_rng(seed)
    setups = random_setups(ruleset, games, numbers)
    pairs = [Pair(ruleset, (setup_rows(red), setup_rows(blue))) for red, blue in setups]
    kernel = Kernel(ruleset, games, observes=False)
    kernel.reset(setups)
    plies = observations = forbidden = 0
    for ply in range(2**31):
        under_way = [number for number, pair in enumerate(pairs) if not pair.game.outcome]
        actions = np.zeros(games, np.int64)
        for number in under_way:
            game = pairs[number].game
            forbidden += compare_legal(kernel, number, game)
            text = manner(game, rng)
            actions[number] = action_code(text, game.to_move)
            pairs[number].play(text)
        if not under_way:
            break
        kernel.step(actions)
        plies += len(under_way)
        for number in under_way:
            game = pairs[number].game
            assert kernel.outcome(number) == game.outcome, (seed, number, ply)
            if ply % every == 0 or game.outcome:
                observations += compare_seats(kernel, number, pairs[number].views)
    reasons = {pair.game.outcome.reason.value for pair in pairs if pair.game.outcome}
    return Compared(games, plies, observations, forbidden, frozenset(reasons))


def compare_legal(kernel: Kernel, number: int, game: EngineGame) -> int:
    """Fail unless list and mask of a game have the engine's legal moves; return how many repetition forbids."""
    moves = straight_moves(game)
    seen = SEEN[game.to_move]
    expected = sorted(codes_of(seen[[move.origin for move in moves]], seen[[move.target for move in moves]]).tolist())
    listed = sorted(kernel.codes[number, : kernel.counts[number]].tolist())
    assert listed == expected, (number, game.ply)
    assert np.flatnonzero(kernel.mask[number]).tolist() == expected, (number, game.ply)
    assert kernel.to_move[number] == game.to_move
    if len(moves) and (game.runs[game.to_move].closed or (game.chase and game.chase.length[game.to_move] > 1)):
        return sum(1 for _ in piece_moves(game, game.to_move)) - len(moves)
    return 0


def compare_seats(kernel: Kernel, number: int, views: Sequence[View]) -> int:
    """Fail unless what both seats observe in a game is what follows from what they were told."""
    planes, facts = kernel.observe([0, 1], [number, number])
    for color in Color:
        expected = observe(views[color])
        assert np.array_equal(planes[color], expected.planes), (number, color)
        assert facts[color].tolist() == expected.facts.tolist(), (number, color)
    return len(views)
