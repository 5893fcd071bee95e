"""Actions of a side in its turn, as values, with the text of each; and what comes of one: events, or the broken rule.

    a4-a5       a straight move (or, for a spy that may, a diagonal attack); `StraightMove`, made once for all games
    d2-d3-e3    a captain's path with a turn; `Path`
    a9-a10+8c2  either of these, and the colonel comes back on c2 if the piece arrives; `Rescue`
    e7?e9B      the infiltrator on e7 guesses that the piece on e9 is a bomb; `Infiltration`
    resign      not a move, and no value: `protocol.notation.RESIGN`

Legality is judged in `arena.stratego.rules.legality`.
"""

import enum
import re
from dataclasses import dataclass
from itertools import pairwise

from arena.errors import IllegalAnswerError
from arena.stratego.rules.board import DIAGONAL_MOVES, MOVES, StraightMove
from protocol.messages import Battle, Guess, Moved, Rescued, Reveal
from protocol.notation import RANK_BY_LETTER, RANK_LETTERS, SQUARE_INDEX, SQUARE_PATTERN, SQUARES, Rank


@dataclass(frozen=True, slots=True)
class Path:
    """A captain's two steps with a turn between them, with the attributes of a `StraightMove`."""

    origin: int
    target: int
    between: tuple[int, ...]
    borders: int
    text: str


PieceMove = StraightMove | Path
PIECE_MOVES = (StraightMove, Path)
"""The types of `PieceMove` as a tuple: `isinstance` is faster with it than with a union."""


@dataclass(frozen=True, slots=True)
class Rescue:
    """A move to the opponent's back row that brings a lost piece back on `square`, if the mover is still there then."""

    move: PieceMove
    rank: Rank
    square: int
    text: str


@dataclass(frozen=True, slots=True)
class Infiltration:
    """The infiltrator on `origin` guesses the rank of the enemy piece on `target`."""

    origin: int
    target: int
    rank: Rank
    text: str


Action = StraightMove | Path | Rescue | Infiltration


def path_through(first: StraightMove, second: StraightMove) -> Path:
    text = f"{first.text}-{SQUARES[second.target]}"
    return Path(first.origin, second.target, (first.target,), first.borders | second.borders, text)


def rescue(move: PieceMove, rank: Rank, square: int) -> Rescue:
    return Rescue(move, rank, square, f"{move.text}+{rank.letter}{SQUARES[square]}")


def infiltration(origin: int, target: int, rank: Rank) -> Infiltration:
    return Infiltration(origin, target, rank, f"{SQUARES[origin]}?{SQUARES[target]}{rank.letter}")


class NoActionError(ValueError):
    """A string that is no action on this board under any rules; the text says why."""


def parse_action(text: str) -> Action:
    """Parse an action's text. Raises `NoActionError`."""
    move = MOVES.get(text) or DIAGONAL_MOVES.get(text)
    if move:
        return move
    guess = _GUESS.fullmatch(text)
    if guess:
        return infiltration(SQUARE_INDEX[guess[1]], SQUARE_INDEX[guess[2]], RANK_BY_LETTER[guess[3]])
    addition = _RESCUE.fullmatch(text)
    if addition:
        return rescue(_parse_piece_move(addition[1], text), RANK_BY_LETTER[addition[2]], SQUARE_INDEX[addition[3]])
    return _parse_piece_move(text, text)


_SQUARE = f"({SQUARE_PATTERN})"
_GUESS = re.compile(rf"{_SQUARE}\?{_SQUARE}([{RANK_LETTERS}])")
_RESCUE = re.compile(rf"([^+]*)\+([{RANK_LETTERS}]){_SQUARE}")


def _parse_piece_move(written: str, text: str) -> PieceMove:
    squares = written.split("-")
    if len(squares) == 3:
        return _parse_path(squares, text)
    move = MOVES.get(written) or DIAGONAL_MOVES.get(written)
    if move is None:
        raise NoActionError(f"{text}: a piece moves along its file or rank to another square")
    return move


def _parse_path(squares: list[str], text: str) -> Path:
    first, second = (MOVES.get(f"{here}-{there}") for here, there in pairwise(squares))
    if not first or not second or first.between or second.between:
        raise NoActionError(f"{text}: a path is two steps of one square each")
    if f"{squares[0]}-{squares[2]}" in MOVES or squares[0] == squares[2]:
        raise NoActionError(f"{text}: a path has a turn in it; two squares straight on is {squares[0]}-{squares[2]}")
    return path_through(first, second)


Event = Moved | Battle | Reveal | Rescued | Guess
"""A public event, as the host knows it: a `Battle` has the defender's rank also where the attacker's side may not know
it (`RuleTables.hides_defender`).
"""


class BrokenRule(enum.Enum):
    FORM = "form"
    OWN_PIECE = "own-piece"
    IMMOVABLE = "immovable"
    STEP = "one-step"
    LAKE = "lake"
    BLOCKED = "blocked"
    TARGET = "own-target"
    DIAGONAL = "diagonal"
    FACING = "facing"
    NO_ATTACK = "no-attack"
    CAPTAIN = "captain"
    RESCUE = "rescue"
    INFILTRATION = "infiltration"
    TWO_SQUARES = "two-squares"
    CHASE = "chase"
    OVER = "game-over"


class IllegalActionError(IllegalAnswerError):
    """An action that the rules do not allow. `rule` is the broken rule; the text names the piece and the square."""

    def __init__(self, rule: BrokenRule, sentence: str) -> None:
        super().__init__(f"{sentence} (rule: {rule.value})")
        self.rule: BrokenRule = rule
