"""One side of a game in the referee: its connection, pending output, time and fault.

A connection has bytes of one bot on one side and messages on the other, after the model of h11 and wsproto. Its state
is the unfinished line, the phase of the conversation, and the number of lines. The referee interprets the messages.
`take_move` and `turn` are fast paths for most plies, with the effect of `receive` and `send`.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from arena.game.faults import Fault
from arena.game.time_control import NEVER, Suspension
from protocol.codec import Forms, decode_from_bot, encode_for_bot
from protocol.conversation import ARENA_MOVES_TO, UNASKED, Phase, after
from protocol.lines import LineBuffer, RemoteProtocolError, Slip
from protocol.messages import Ability, ArenaMessage, BotMessage, Rule, Want
from protocol.seats import Color

MAX_LINES_A_TURN = 1000
"""The most lines that a bot may send before it answers: each costs the arena time."""


_encode_rule = lru_cache(maxsize=256)(encode_for_bot)
"""Cached, as most messages before the set-up are rules, which are the same in every game."""


class LineConnection:
    """Version 1 of the arena's protocol: `docs/protocol.md`.

    A request counts only once it has been written: an earlier answer does not count, nor does one in a line that began
    before.
    """

    __slots__ = ("_buffer", "_forms", "_is_early", "_is_unwritten", "_lines", "_plain_moves", "phase")

    def __init__(self, forms: Forms) -> None:
        """`forms` tells what an action and a set-up look like in the game."""
        self.phase = Phase.STARTING
        """The phase of the conversation, with all results of `send` counted as sent."""
        self._forms = forms
        self._plain_moves = forms.plain_moves
        self._buffer = LineBuffer()
        self._is_unwritten = False
        """Whether the bot's present request has been encoded, and not written yet."""
        self._is_early = False
        """Whether the unfinished line began before the request."""
        self._lines = 0

    @property
    def unfinished(self) -> bytes:
        return self._buffer.partial

    def send(self, message: ArenaMessage) -> bytes:
        """Encode a message. Raises `LocalProtocolError` for one that cannot be sent."""
        following = ARENA_MOVES_TO.get(type(message))
        if following is not None:
            self.phase = following
            self._is_unwritten = True
        return _encode_rule(message) if isinstance(message, Rule) else encode_for_bot(message)

    def flushed(self) -> None:
        """Note that all results of `send` are being written now."""
        if self._is_unwritten:
            self._is_unwritten, self._is_early = False, bool(self._buffer.partial)
        self._lines = 0

    def receive(self, data: bytes) -> Iterator[BotMessage]:
        """Yield the messages that are complete with these bytes, each after it was checked.

        Raises `RemoteProtocolError` at the first invalid one; the connection is unusable after that.
        """
        for line in self._buffer.feed(data):
            self._lines += 1
            phase = UNASKED.get(self.phase, self.phase) if self._is_unwritten or self._is_early else self.phase
            self._is_early = False
            if self._lines > MAX_LINES_A_TURN:
                raise RemoteProtocolError(f"more than {MAX_LINES_A_TURN} lines without an answer", Slip.TOO_MANY)
            message = decode_from_bot(line, self._forms)
            if message is not None:
                self.phase = after(phase, message)
                yield message

    def take_move(self, data: bytes) -> str | None:
        """Return the action if these bytes are exactly one plain move that is allowed now, else None.

        None leaves the state unchanged: the bytes are for `receive`.
        """
        action = self._plain_moves.get(data)
        if action is None or self.phase is not Phase.THINKING or self._is_unwritten:
            return None
        if self._lines >= MAX_LINES_A_TURN or self._buffer.partial:
            return None
        self._lines += 1
        self.phase = Phase.WAITING
        return action

    def began(self) -> None:
        """Note that the game has begun without a set-up: the bot has to wait for its turn."""
        if self.phase is Phase.IDLE:
            self.phase = Phase.WAITING

    def turn(self, ply: int, own_ms: int, enemy_ms: int, own_bank_ms: int | None, enemy_bank_ms: int | None) -> bytes:
        self.phase = Phase.THINKING
        self._is_unwritten = True
        if own_bank_ms is None or enemy_bank_ms is None:
            return b"turn %d %d %d\n" % (ply, own_ms, enemy_ms)
        return b"turn %d %d %d %d %d\n" % (ply, own_ms, enemy_ms, own_bank_ms, enemy_bank_ms)


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
