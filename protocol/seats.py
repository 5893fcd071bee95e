"""Words that all games share: the two seats, results, and reasons of an end.

Every game has two seats. Lines, records and stores call them red and blue, whatever the players of a game call them.
"""

import enum
import re
from typing import NamedTuple

RESIGN = "resign"
"""The action of a player who resigns, in every game."""


class Color(enum.IntEnum):
    """The two sides. The value is an index for pairs."""

    RED = 0
    BLUE = 1

    @property
    def word(self) -> str:
        """The colour as it is written on the wire: `red` or `blue`."""
        return COLOR_WORDS[self]

    @property
    def opponent(self) -> "Color":
        return Color.BLUE if self is Color.RED else Color.RED


COLOR_WORDS = ("red", "blue")
COLOR_BY_WORD: dict[str, Color] = {"red": Color.RED, "blue": Color.BLUE}


class SeatResult(enum.Enum):
    """A finished game as one seat sees it."""

    WIN = "win"
    LOSS = "loss"
    DRAW = "draw"


class ReasonKind(enum.Enum):
    """The kind of ending that a reason belongs to."""

    PLAYED = "played"
    """Decided on the board, or by resigning."""
    FORFEIT = "forfeit"
    """Lost by a fault of the bot: it broke a rule, the protocol or its clock, or died."""
    DRAWN = "drawn"


class Reason(enum.Enum):
    """Why a game ended, for the wire, records and tables.

    Here are the reasons of the arena and of Stratego. Another word that the protocol allows becomes a member when it is
    first met, so that each game can have reasons of its own; `explain` says what such a word means. Records of
    strangers have words, too: there are at most `MOST_REASONS` in a process.
    """

    FLAG = "flag"
    FLAG_HOME = "flag-home"
    NO_MOVE = "no-move"
    NO_ATTACKER = "no-attacker"
    MOVED_FIXED = "moved-fixed"
    RESIGN = "resign"
    ILLEGAL_ACTION = "illegal-action"
    ILLEGAL_SETUP = "illegal-setup"
    TIMEOUT = "timeout"
    SETUP_TIMEOUT = "setup-timeout"
    CRASH = "crash"
    PROTOCOL = "protocol"
    NO_START = "no-start"
    OVER_LIMIT = "over-limit"
    PLY_CAP = "ply-cap"
    QUIET_CAP = "quiet-cap"
    BOTH_IMMOBILE = "both-immobile"

    @classmethod
    def _missing_(cls, value: object) -> "Reason | None":
        if not (isinstance(value, str) and _WORD.fullmatch(value)):
            return None
        if value in cls._value2member_map_:  # decoders do not look there for words that are not in the class
            return cls(value)
        if len(_REASONS) >= MOST_REASONS:
            return None
        reason = object.__new__(cls)
        reason._name_, reason._value_ = value.upper().replace("-", "_"), value
        cls._value2member_map_[value] = reason
        _REASONS[reason] = (ReasonKind.PLAYED, f"lost by {value}")
        return reason

    @classmethod
    def has(cls, text: str) -> bool:
        """Whether a text is a reason of some game."""
        try:
            cls(text)
        except ValueError:
            return False
        return True

    def explain(self, kind: ReasonKind, sentence: str) -> None:
        """Say what a game's own reason means. The sentence follows the name of the side that lost, or "drawn: ".

        Raises `ValueError` for a reason of the arena or of Stratego.
        """
        if self in tuple(Reason):
            raise ValueError(f"{self.value!r} is a reason that the arena or Stratego has: expected another word")
        _REASONS[self] = (kind, sentence)

    @property
    def kind(self) -> ReasonKind:
        return _REASONS[self][0]

    @property
    def is_forfeit(self) -> bool:
        return self.kind is ReasonKind.FORFEIT

    @property
    def sentence(self) -> str:
        """The reason in plain words, to follow the name of the side that lost (or "drawn: ")."""
        return _REASONS[self][1]


_WORD = re.compile(r"[a-z][a-z0-9-]{0,39}")
MOST_REASONS = 1000

_REASONS: dict[Reason, tuple[ReasonKind, str]] = {
    Reason.FLAG: (ReasonKind.PLAYED, "lost its flag"),
    Reason.FLAG_HOME: (ReasonKind.PLAYED, "let the enemy flag reach its back row"),
    Reason.NO_MOVE: (ReasonKind.PLAYED, "had no legal move"),
    Reason.NO_ATTACKER: (ReasonKind.PLAYED, "had nothing left to attack with"),
    Reason.MOVED_FIXED: (ReasonKind.PLAYED, "moved its flag or a bomb"),
    Reason.RESIGN: (ReasonKind.PLAYED, "resigned"),
    Reason.ILLEGAL_ACTION: (ReasonKind.FORFEIT, "tried an illegal action"),
    Reason.ILLEGAL_SETUP: (ReasonKind.FORFEIT, "sent an illegal set-up"),
    Reason.TIMEOUT: (ReasonKind.FORFEIT, "ran out of time"),
    Reason.SETUP_TIMEOUT: (ReasonKind.FORFEIT, "did not set up in time"),
    Reason.CRASH: (ReasonKind.FORFEIT, "stopped running"),
    Reason.PROTOCOL: (ReasonKind.FORFEIT, "broke the protocol"),
    Reason.NO_START: (ReasonKind.FORFEIT, "did not start"),
    Reason.OVER_LIMIT: (ReasonKind.FORFEIT, "used more of the machine than it may"),
    Reason.PLY_CAP: (ReasonKind.DRAWN, "the cap on plies was reached"),
    Reason.QUIET_CAP: (ReasonKind.DRAWN, "the cap on plies without an attack was reached"),
    Reason.BOTH_IMMOBILE: (ReasonKind.DRAWN, "neither side could go on"),
}


class Outcome(NamedTuple):
    """How a game ended; `winner` is None for a draw."""

    winner: Color | None
    reason: Reason
