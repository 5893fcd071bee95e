"""One side of a game in the referee: its connection, pending output, time and fault."""

from typing import NamedTuple

from arena.game.clock import NEVER, Suspension
from arena.game.connection import LineConnection
from arena.game.faults import Fault
from protocol.codec import Forms
from protocol.conversation import Phase
from protocol.messages import Ability, ArenaMessage, Want
from protocol.seats import Color

SETTLE_SECONDS = 1.0
"""Extra time before a seat loses after suspensions, at most this in total: the bots may have been stopped, too."""


class Introduction(NamedTuple):
    """A bot that has introduced itself and is between two games: its connection and its declarations."""

    connection: LineConnection
    declared: str
    wants: tuple[Want, ...]
    author: str = ""
    cannot: tuple[Ability, ...] = ()


class Seat:
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
        "wants",
    )

    def __init__(self, color: Color, forms: Forms) -> None:
        self.color = color
        self.connection = LineConnection(forms)
        self.out: list[bytes] = []
        self.due = False
        """Whether `out` has to be sent now."""
        self.wants: tuple[Want, ...] = ()
        self.declared = ""
        self.author = ""
        self.cannot: tuple[Ability, ...] = ()
        self.rows: tuple[str, ...] | None = None
        self.fault: Fault | None = None
        self.has_ended = False
        """Whether its output has ended, or never began."""
        self.is_late = False
        """Whether output has come after its time was up."""
        self.deadline = NEVER
        """When it loses on time."""
        self.limit = NEVER
        """When its time is over: equal to `deadline` without suspensions."""
        self.started = 0.0
        self.stopped = 0.0
        """Seconds of suspension since then."""
        self.unsure = 0.0
        """The part of `stopped` in which the bot may have been running without the clock."""
        self.note_bytes = 0

    @property
    def introduction(self) -> Introduction:
        """The introduction for another game of the same process."""
        return Introduction(self.connection, self.declared, self.wants, self.author, self.cannot)

    def introduced(self, introduction: Introduction) -> None:
        self.connection, self.declared, self.wants, self.author, self.cannot = introduction

    @property
    def can_be_restored(self) -> bool:
        return Ability.RESTORE not in self.cannot

    @property
    def phase(self) -> Phase:
        return self.connection.phase

    @property
    def is_awaited(self) -> bool:
        return self.connection.phase.bot_must_answer and not self.fault

    def asked(self, now: float, deadline: float) -> None:
        """Start the time of a seat that has to answer by `deadline`."""
        self.started, self.stopped, self.unsure = now, 0.0, 0.0
        self.deadline = self.limit = deadline

    def asked_after(self, stopped: float, settled: float) -> None:
        """Extend the deadline of a seat that was asked so soon after a suspension that its bot may still be stopped."""
        self.stopped = stopped
        self.deadline = max(self.deadline, settled)

    def was_stopped(self, stop: Suspension, now: float) -> None:
        """Handle the end of a suspension in which the seat had to answer."""
        self.stopped += stop.seconds
        self.unsure += stop.unsure
        # Not without end: who could bring stops about would never have to answer.
        self.deadline = max(self.deadline, min(now, self.limit) + SETTLE_SECONDS)

    def may_be_late(self, now: float) -> bool:
        """Whether an answer now may be late, if the bot ran through all suspensions."""
        return now + self.unsure > self.limit

    def say(self, message: ArenaMessage) -> None:
        self.out.append(self.connection.send(message))
