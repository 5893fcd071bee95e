"""One side of a game as the referee keeps it: its connection, what is to be sent, its time, what went wrong."""

from typing import NamedTuple

from arena.game.clock import NEVER, Suspension
from arena.game.connection import LineConnection
from arena.game.faults import Fault
from arena.game.seat_view import SeatView
from protocol.conversation import Phase
from protocol.messages import Ability, ArenaMessage, Want
from protocol.notation import Color

SETTLE_SECONDS = 1.0
"""After a stop of the arena nobody loses on time before so long: the bots may have been stopped, too, and the arena has
other games to end and to begin again. However many stops there are, a bot has no more than this beyond its limit."""


class Introduction(NamedTuple):
    """A bot that has introduced itself and is between two games: its connection, and what it has said of itself."""

    connection: LineConnection
    declared: str
    wants: tuple[Want, ...]
    author: str = ""
    cannot: tuple[Ability, ...] = ()


class Seat:
    """One side of the game as the referee sees it."""

    __slots__ = (
        "author",
        "cannot",
        "color",
        "connection",
        "deadline",
        "declared",
        "due",
        "fault",
        "has_ended",
        "is_late",
        "limit",
        "note_bytes",
        "out",
        "rows",
        "started",
        "stopped",
        "unsure",
        "view",
        "wants",
    )

    def __init__(self, color: Color) -> None:
        self.color = color
        self.connection = LineConnection()
        self.out: list[bytes] = []
        self.due = False
        """Whether what is in `out` has to be sent now."""
        self.wants: tuple[Want, ...] = ()
        self.declared = ""
        self.author = ""
        self.cannot: tuple[Ability, ...] = ()
        self.rows: tuple[str, ...] | None = None
        self.view: SeatView | None = None
        """Its board, if it wants one to be sent."""
        self.fault: Fault | None = None
        self.has_ended = False
        """Whether its output has ended, or never began."""
        self.is_late = False
        """Whether something has come of it after its time was up."""
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
        self.note_bytes = 0

    @property
    def introduction(self) -> Introduction:
        """What another game between the same processes begins with."""
        return Introduction(self.connection, self.declared, self.wants, self.author, self.cannot)

    def introduced(self, introduction: Introduction) -> None:
        """The bot has introduced itself before an earlier game."""
        self.connection, self.declared, self.wants, self.author, self.cannot = introduction

    @property
    def can_be_restored(self) -> bool:
        """Whether the bot can be told a game that has begun without it."""
        return Ability.RESTORE not in self.cannot

    @property
    def phase(self) -> Phase:
        """Where the conversation stands."""
        return self.connection.phase

    @property
    def is_awaited(self) -> bool:
        """Whether the game waits for its answer."""
        return self.connection.phase.bot_must_answer and not self.fault

    def asked(self, now: float, deadline: float) -> None:
        """It is written what it has to answer by then, if it has to."""
        self.started, self.stopped, self.unsure = now, 0.0, 0.0
        self.deadline = self.limit = deadline

    def asked_after(self, stopped: float, settled: float) -> None:
        """What it was asked just now came so soon after a stop of so many seconds that the bot may be stopped still."""
        self.stopped = stopped
        self.deadline = max(self.deadline, settled)

    def was_stopped(self, stop: Suspension, now: float) -> None:
        """The arena did not run for a time in which the seat had to answer; now it does."""
        self.stopped += stop.seconds
        self.unsure += stop.unsure
        # Not without end: who could bring stops about would never have to answer.
        self.deadline = max(self.deadline, min(now, self.limit) + SETTLE_SECONDS)

    def may_be_late(self, now: float) -> bool:
        """Whether an answer of this moment may have taken more time than it had, if the bot ran through all stops."""
        return now + self.unsure > self.limit

    def say(self, message: ArenaMessage) -> None:
        """Put a message with what is to be sent."""
        self.out.append(self.connection.send(message))
