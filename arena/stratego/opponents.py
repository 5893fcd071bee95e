"""Opponents that know all pieces, for `arena check`: their actions, and set-ups that leave few."""

import enum
from collections.abc import Mapping, Sequence
from random import Random

from arena.game import Trial
from arena.stratego.rules.action_types import Action, Infiltration, Rescue
from arena.stratego.rules.board import BLUE_BIT, EMPTY, RANKS
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.tables import tables_of
from protocol.bot import random_rows
from protocol.notation import BOARD_SIZE, Color, Rank, Survivor


class Foe(enum.Enum):
    RANDOM = ""
    HUNTER = "hunter"
    """Knows all pieces, and takes what it can."""
    SHY = "shy"
    """Attacks only if it must, so that games become long."""


TRIALS = (
    Trial("losing-red", "loses as Red to one that sees everything", Color.RED, Foe.HUNTER.value),
    Trial("losing-blue", "loses as Blue to one that sees everything", Color.BLUE, Foe.HUNTER.value),
    Trial("long", "plays a long game", Color.BLUE, Foe.SHY.value),
)
LEFT_TO_END = 1
"""A hunter takes the flag only when the other side has at most this number of movable pieces."""
OPEN_FILES = (0, 1, 4, 5, 8, 9)
"""Files of the front row without a lake before them."""


def action(game: EngineGame, seed: int, foe: Foe) -> str:
    """Return an action of the side to move; the same seed gives the same."""
    actions = list(game.legal_moves())
    Random(seed).shuffle(actions)
    if foe is Foe.HUNTER:
        prey = _prey(game)
        return max(actions, key=lambda action: _greed(game, action, prey)).text
    if foe is Foe.SHY:
        return next((action for action in actions if not _attacks(game, action)), actions[0]).text
    return actions[0].text


def narrow_rows(ruleset: Ruleset, seed: int) -> tuple[str, ...]:
    """Return a set-up with as few movable pieces as possible."""
    random = Random(seed)
    tables = tables_of(ruleset)
    if not ruleset.fills_rows:
        return random_rows(dict(ruleset.army), random)
    pieces = [rank for rank, count in ruleset.army for _ in range(count)]
    fixed = [rank for rank in pieces if not tables.can_move[rank] and rank is not Rank.FLAG][: len(OPEN_FILES) - 1]
    walkers = [rank for rank in pieces if tables.can_move[rank] and rank is not Rank.SCOUT]
    front = [*fixed, *walkers[: len(OPEN_FILES) - len(fixed)]]
    rest = list(pieces)
    for rank in front:
        rest.remove(rank)
    random.shuffle(rest)
    cells: list[Rank | None] = [None] * len(pieces)
    for file, rank in zip(OPEN_FILES, front, strict=True):
        cells[3 * BOARD_SIZE + file] = rank
    letters = [(rank or rest.pop()).letter for rank in cells]
    return tuple("".join(letters[start : start + BOARD_SIZE]) for start in range(0, len(letters), BOARD_SIZE))


def _attacks(game: EngineGame, action: Action) -> bool:
    if isinstance(action, Infiltration):
        return True
    return game.board[(action.move if isinstance(action, Rescue) else action).target] != EMPTY


def _greed(game: EngineGame, action: Action, prey: Mapping[int, Sequence[tuple[int, int]]]) -> float:
    board = game.board
    if isinstance(action, Infiltration):
        return 8.0 if RANKS[board[action.target]] is action.rank else -5.0
    move = action.move if isinstance(action, Rescue) else action
    code, other = board[move.origin], board[move.target]
    bonus = 3.0 if isinstance(action, Rescue) else 0.0
    if other:
        if RANKS[other] is Rank.FLAG:
            side = 1 - game.to_move
            return 100.0 if len(game.movers[side]) <= LEFT_TO_END else -5.0
        survivor = game.tables.fights[RANKS[code]][RANKS[other]]
        if survivor is Survivor.ATTACKER:
            return 20.0 + RANKS[other] + bonus
        return 2.0 if survivor is Survivor.NEITHER else -30.0
    return bonus + _distance(move.origin, prey[code]) - _distance(move.target, prey[code])


def _prey(game: EngineGame) -> dict[int, list[tuple[int, int]]]:
    """Return the rows and files of the pieces that each piece of the side to move beats, by its code."""
    is_blue = game.to_move is Color.BLUE
    pieces = [(square, code) for square, code in enumerate(game.board) if code != EMPTY]
    enemies = [(*divmod(square, BOARD_SIZE), RANKS[code]) for square, code in pieces if (code > BLUE_BIT) != is_blue]
    prey: dict[int, list[tuple[int, int]]] = {}
    for code in {code for _, code in pieces if (code > BLUE_BIT) == is_blue}:
        fights = game.tables.fights.get(RANKS[code])  # a flag or a bomb has none, and may move under some rules
        prey[code] = [(row, file) for row, file, other in enemies if fights and fights[other] is Survivor.ATTACKER]
    return prey


def _distance(square: int, others: Sequence[tuple[int, int]]) -> int:
    """Return the steps from a square to the nearest of others, on an empty board."""
    row, file = divmod(square, BOARD_SIZE)
    return min((abs(row - other_row) + abs(file - other_file) for other_row, other_file in others), default=0)
