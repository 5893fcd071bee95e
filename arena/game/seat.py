"""One side of a game as the referee keeps it: where the conversation stands, what is to be sent, what went wrong."""

from typing import NamedTuple, Protocol

from arena.game.clock import NEVER
from arena.game.view import SeatView
from protocol.codec import LineBuffer, decode_from_bot, encode_for_bot
from protocol.conversation import Phase
from protocol.messages import ArenaMessage, BotMessage, Want
from protocol.notation import Color, Reason


class Codec(Protocol):
    """A dialect: how messages look as bytes."""

    def encode(self, message: ArenaMessage) -> bytes: ...
    def decode(self, line: bytes) -> BotMessage | None: ...


class ArenaCodec:
    """The arena's own protocol, version 1."""

    encode = staticmethod(encode_for_bot)
    decode = staticmethod(decode_from_bot)


ARENA_CODEC = ArenaCodec()


class Fault(NamedTuple):
    """What a side did wrong: the reason it loses for, and the words for its author."""

    reason: Reason
    text: str


class Seat:
    """One side of the game as the referee sees it."""

    __slots__ = (
        "buffer",
        "codec",
        "color",
        "deadline",
        "declared",
        "due",
        "fault",
        "limit",
        "lines",
        "note_bytes",
        "out",
        "phase",
        "rows",
        "started",
        "stopped",
        "unsure",
        "view",
        "wants",
    )

    def __init__(self, color: Color, codec: Codec) -> None:
        self.color = color
        self.codec = codec
        self.phase = Phase.STARTING
        self.buffer = LineBuffer()
        self.out: list[bytes] = []
        self.due = False
        """Whether what is in `out` has to be sent now."""
        self.wants: tuple[Want, ...] = ()
        self.declared = ""
        self.rows: tuple[str, ...] | None = None
        self.view: SeatView | None = None
        self.fault: Fault | None = None
        self.deadline = NEVER
        """When it loses on time,"""
        self.limit = NEVER
        """and when its time is over: that is the same, unless the arena was stopped."""
        self.started = 0.0
        """When the arena began to write what the seat has to answer."""
        self.stopped = 0.0
        """Seconds that the arena has been stopped since then,"""
        self.unsure = 0.0
        """and how many of them the bot may have been running, and the clock left out."""
        self.lines = 0
        self.note_bytes = 0
