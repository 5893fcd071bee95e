"""The results of an action, as values: public events, the outcome, and reasons for a refusal."""

import enum
from typing import NamedTuple

from arena.errors import IllegalAnswerError
from arena.stratego.rules.action_types import Action
from protocol.notation import Color, Rank, Survivor


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


class Acted(NamedTuple):
    """A side has acted."""

    color: Color
    move: Action


class Fought(NamedTuple):
    """A fight on a square, by a side's attacker: both ranks and who is left.

    `silent`: the attacker's side is not told the defender's rank.
    """

    square: int
    attacker: Rank
    defender: Rank
    survivor: Survivor
    color: Color
    silent: bool = False

    def defender_for(self, color: Color) -> Rank | None:
        """Return the defender's rank as one side learns it: None for the attacker's side under silent defence."""
        return None if self.silent and color is self.color else self.defender


class Revealed(NamedTuple):
    """A rank has become public without a fight."""

    square: int
    rank: Rank


class Returned(NamedTuple):
    """A lost piece is back on the board."""

    color: Color
    square: int
    rank: Rank


class Guessed(NamedTuple):
    """An infiltrator has guessed the rank of the piece on a square; if right, that piece has left the board."""

    square: int
    rank: Rank
    right: bool


class Resigned(NamedTuple):
    """A side has resigned."""

    color: Color


Event = Acted | Fought | Revealed | Returned | Guessed | Resigned


def shown_square(event: Event) -> int | None:
    """Return the square of a piece whose rank this event reveals to its opponent; None without such a piece.

    Pieces that have left the board are public and do not count.
    """
    match event:
        case Fought(square, survivor=Survivor.ATTACKER) | Revealed(square) | Returned(_, square):
            return square
        case Fought(square, survivor=Survivor.DEFENDER) if event.defender_for(event.color) is not None:
            return square
        case _:
            return None
