"""What a dialogue consists of: the lines that were said, what the answers took, and what else is to be known."""

from enum import Enum
from typing import NamedTuple

from protocol.notation import Color


class Speaker(Enum):
    """Who said a line to whom."""

    ARENA = "arena"
    BOT = "bot"


class Line(NamedTuple):
    """A line of the protocol, without its end: said by the arena to the bot of this side, or by that bot.

    `ply` is the one that is being played, 0 before the first turn.
    """

    ply: int
    color: Color
    speaker: Speaker
    text: str


class Answer(NamedTuple):
    """What the action before it took, in microseconds: on the clock, besides that and not charged, of processor time.

    The last two are None in records that do not have them.
    """

    ply: int
    color: Color
    taken_us: int
    forgiven_us: int | None
    cpu_us: int | None


class Remark(NamedTuple):
    """What is to be known here: what happened, or what is not in the record. `color` is None for both sides."""

    ply: int
    color: Color | None
    text: str


Entry = Line | Answer | Remark
