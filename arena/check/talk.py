"""A bot's real process in a game against a built-in opponent.

The referee of leagues judges it, so that a bot loses for the same reasons; but there is one process, the times are
those of a quiet machine, and all lines are kept. A bot that waits for input when its time is up gets more input
(`Probe`): its output distinguishes an unflushed answer from a missing one.
"""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import trio
import trio.lowlevel

from arena.bots.spec import BotSpec
from arena.check.situations import ExchangedLine, Failure
from arena.game.faults import Excess, Fault, Hint
from arena.game.hints import Activity, Probe
from arena.game.hints.diagnosis import diagnose
from arena.game.referee import Referee
from arena.game.seat import Seat
from arena.game.transcript import Speaker
from arena.play.driver import EXIT_FOLLOWS
from arena.play.runner import seen_of
from arena.processes.arrivals import Arrivals
from arena.processes.process import QUIT_GRACE, STARVED_MOST, STARVED_PAUSE, BotProcess
from arena.system.concurrency import background, readable
from arena.system.printable import printable
from protocol.conversation import Phase
from protocol.seats import Color, Reason

now = trio.current_time

KEPT_LINES = 400
SHOWN_LINES = 12
STDERR_LINES = 8
LONGEST_LINE = 400
"""Characters of a line that are kept: a list of legal actions is long."""
PROBE_SECONDS = 0.4
PIECE = 7
"""Bytes of a piece, where lines come in pieces; no divisor of usual line lengths, so that they are cut everywhere."""
PIECE_SECONDS = 0.02
"""Seconds between two pieces, even if the last was not read."""


class TrialOpponent(Protocol):
    """Plays against the bot without being a process."""

    def seconds(self, referee: Referee) -> float:
        """Return how long it takes for its answer."""

    def answer(self, referee: Referee) -> bytes | None:
        """Return its answer; None if it does not answer."""

    def is_at_break(self, referee: Referee) -> bool:
        """Whether to break the game off here."""


TAKES_MORE = frozenset({"hello", "game", "clock", "seed", "setup", "restore", "turn", "end", "quit"})
"""Verbs that allow more fields in all games. None are ever added after a TEXT or a VALUE, or to lists."""


def noisy(data: bytes, open_verbs: frozenset[str]) -> bytes:
    """Return lines with others among them that a bot has to ignore; `open_verbs` are those of the game."""
    lines = []
    for line in data.decode("ascii").splitlines():
        verb = line.split(" ")[0]
        lines.append(f"{line} later 7" if verb in TAKES_MORE | open_verbs else line)
        if verb in ("hello", "moved", "seed", "enemy"):
            lines += ["", "# a comment", f"later {verb} is not for you 1 2 3"]
        if verb == "game":
            lines.append("rule later yes")
        if verb == "quit":
            break
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def _as_text(line: bytes) -> str:
    return printable(line.decode("ascii", "backslashreplace"), LONGEST_LINE)


@dataclass
class Times:
    """The times of answers in seconds, by request."""

    start: list[float] = field(default_factory=list)
    setup: list[float] = field(default_factory=list)
    move: list[float] = field(default_factory=list)

    def of(self, phase: Phase) -> list[float]:
        return {Phase.INTRODUCING: self.start, Phase.SETTING_UP: self.setup}.get(phase, self.move)


@dataclass
class Manner:
    """How to write to a bot: with unknown lines, and in pieces."""

    open_verbs: frozenset[str] | None = None
    """The game's verbs that may get more fields (`Game.open_verbs`); None to write without unknown lines."""
    in_pieces: bool = False


@asynccontextmanager
async def talk_with(
    process: BotProcess, bot: BotSpec, times: Times, manner: Manner, grace: float = QUIT_GRACE
) -> AsyncIterator["Talk"]:
    """Talk to a new process of the bot, which is ended completely at the end."""
    talk = Talk(process, bot, times, manner)
    try:
        yield talk
    finally:
        talk.leave()
        await process.end(0 if talk.hint else grace)


class Talk:
    def __init__(self, process: BotProcess, bot: BotSpec, times: Times, manner: Manner) -> None:
        self.process = process
        self._exchange: deque[ExchangedLine] = deque(maxlen=KEPT_LINES)
        self.hint: Hint | None = None
        self._arrivals = Arrivals.of_this_run()
        self._arrivals.watch(process.stdout)
        self._bot = bot
        self._times = times
        self._manner = manner
        self._begun = now()
        self._partial = b""
        self._over: Excess | None = None
        self._scope = trio.CancelScope()
        self._activity, self._has_unread, self._probe = Activity.UNKNOWN, False, Probe()
        self._was_probed = False
        self._stderr_before = ""
        """The end of its standard error before the probe, which may make it fail."""
        self._last_written: list[bytes] = []

    # --- outside of a game -------------------------------------------------------------------------------------------

    async def _watch_use(self) -> None:
        """Stop the bot when it exceeds its limits."""
        self._over = await self.process.watch()
        self.process.kill_now()
        self._scope.cancel()

    def leave(self) -> None:
        """Stop listening, before the process is ended."""
        self._arrivals.forget(self.process.stdout)

    async def exits_within(self, seconds: float) -> bool:
        """Whether the bot exits in that time; see `BotProcess.exits_within`."""
        async with background(self.process.drain_stderr):
            return await self.process.exits_within(seconds)

    def end_input(self) -> None:
        self.process.close_input()
        self._aside("(end of its input)")

    # --- a game -------------------------------------------------------------------------------------------------------

    async def play(self, referee: Referee, color: Color, foe: TrialOpponent) -> None:
        """Carry the bytes of one game, of which the bot plays `color`, until it is over or broken off.

        Sends the referee's last lines as well.
        """
        referee.advise = lambda seat, fault: self._advised(referee, seat, fault) if seat.color is color else fault
        async with background(self.process.drain_stderr, self._watch_use):
            while not referee.is_over and not foe.is_at_break(referee):
                await self.write_due(referee, color)
                if not foe.is_at_break(referee):
                    await self._go_on(referee, color, foe)
            if referee.is_over:
                await self.write_due(referee, color)

    async def _go_on(self, referee: Referee, color: Color, foe: TrialOpponent) -> None:
        """Let one side answer: the opponent, unless it has no answer."""
        seat = referee.seats[color]
        if color.opponent in referee.awaited():
            until = now() + foe.seconds(referee)
            while not seat.fault and (self.process.has_output() or now() < until):
                await self._listen(referee, color, until)
            if referee.is_over:
                return
            if (said := foe.answer(referee)) is not None:
                referee.receive(color.opponent, said, now())
                return
        if seat.is_awaited and not seat.due and not referee.is_over:
            await self._await_answer(referee, color)

    async def write_due(self, referee: Referee, color: Color) -> None:
        for seat in referee.due():
            data = referee.take(seat)
            referee.sent(seat, now())
            if seat is color and not self._was_probed:
                verbs = self._manner.open_verbs
                await self._write(referee, color, data if verbs is None else noisy(data, verbs))

    async def _write(self, referee: Referee, color: Color, data: bytes) -> None:
        self._last_written = data.splitlines(keepends=True)
        for line in self._last_written:
            self._note(Speaker.ARENA, line.removesuffix(b"\n"))
        deadline = referee.seats[color].deadline
        if self._manner.in_pieces:  # not charged to the bot: its clock is reset after it
            deadline += (len(data) // PIECE + 1) * PIECE_SECONDS
        with trio.move_on_at(min(deadline, now() + QUIT_GRACE if referee.is_over else deadline)):
            if not self._manner.in_pieces:
                await self.process.write(data)
                return
            for start in range(0, len(data), PIECE):
                await self.process.write(data[start : start + PIECE])
                with trio.move_on_after(PIECE_SECONDS):
                    while self.process.has_unread():
                        await trio.lowlevel.checkpoint()
            referee.sent(color, now())
            return
        if not referee.is_over:
            self._look()
            referee.stalled(color)

    async def _await_answer(self, referee: Referee, color: Color) -> None:
        seat = referee.seats[color]
        await self._listen(referee, color, seat.deadline)
        late = now()
        if not referee.is_over and seat.is_awaited and late >= seat.deadline:
            await self._ask_more(seat)
            referee.expire(late)

    async def _listen(self, referee: Referee, color: Color, until: float) -> None:
        with trio.CancelScope(deadline=until) as self._scope:
            if self._over:
                self._scope.cancel()
            await readable(self.process.stdout)
        if self._over:
            referee.over_limit(color, self._over)
        elif self.process.has_output():
            await self._take(referee, color)

    async def _take(self, referee: Referee, color: Color) -> None:
        seat = referee.seats[color]
        phase, asked = seat.phase, seat.started
        came, read = self._arrivals.take(self.process.stdout, asked)
        data = self.process.read_now()
        if data is None:
            return
        if not data:
            await self._output_ended(referee, color)
            return
        self._keep_said(data)
        referee.receive(color, data, came, read)
        if phase.bot_must_answer and seat.phase is not phase and not seat.fault:
            self._times.of(phase).append(came - (self._begun if phase is Phase.INTRODUCING else asked))

    async def _output_ended(self, referee: Referee, color: Color) -> None:
        has_exited = await self.process.exits_within(EXIT_FOLLOWS)
        if excess := self._over or self.process.out_of_memory():
            referee.over_limit(color, excess)
        else:
            how = self.process.exit_words() if has_exited else "closed its standard output"
            referee.gone(color, how, exited=has_exited)

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        self._activity, self._has_unread = self.process.activity(), bool(self.process.has_unread())

    async def _ask_more(self, seat: Seat) -> None:
        """Observe a bot that is late, and its reaction to more input if it waits for it."""
        self._look()
        if self._activity not in (Activity.WAITS_FOR_INPUT, Activity.UNKNOWN) or self._has_unread:
            return
        self._was_probed = True
        self.process.read_stderr_now()
        self._stderr_before = self.process.stderr_tail
        after_again = after_quit = after_end = b""
        self._aside("(timed out; sending a probe)")
        after_line = await self._answer_to(b"# more\n")
        if not after_line and len(self._last_written) > 1:
            after_again = await self._answer_to(self._last_written[-1])
            if after_again and await self.process.exits_within(PROBE_SECONDS):  # by an error, which empties its buffer
                after_again, after_quit = b"", after_again
        if not (after_line or after_again or after_quit):
            after_quit = await self._answer_to(b"quit\n")
        if not (after_line or after_again or after_quit):
            self.end_input()
            after_end = await self._answer_to(b"")
        self._probe = Probe(after_line, after_again, after_quit, after_end)

    async def _answer_to(self, data: bytes) -> bytes:
        """Return the bot's complete lines within a moment after these bytes."""
        if data:
            for line in data.split(b"\n")[:-1]:
                self._note(Speaker.ARENA, line)
            self.process.write_now(data)
        said, before = b"", self.process.worked_us()
        with trio.move_on_after(PROBE_SECONDS + STARVED_MOST):
            until = now() + PROBE_SECONDS
            while now() < until or (not said and self.process.is_starved(before, PROBE_SECONDS)):
                with trio.move_on_at(max(until, now() + STARVED_PAUSE)):
                    await readable(self.process.stdout)
                more = self.process.read_now()
                if more == b"":
                    break
                said += more or b""
        self._keep_said(said)
        return said

    def _advised(self, referee: Referee, seat: Seat, fault: Fault) -> Fault:
        """Return the fault unchanged and keep its hint."""
        seen = seen_of(seat, fault, referee.live, self.process, self._bot)
        if self._activity is not Activity.UNKNOWN:
            seen = seen._replace(activity=self._activity, has_unread=self._has_unread)
        if self._was_probed:
            seen = seen._replace(probe=self._probe)
        self.hint = diagnose(seen)
        return fault

    def failure_of(self, referee: Referee, fault: Fault, where: str = "") -> Failure:
        """Return the failure by a fault in a game; `where` begins its words."""
        ply = len(referee.actions) + 1 if referee.state is not None else 0
        return self.failure(ply, fault.reason, where + fault.text)

    def failure(self, ply: int, reason: Reason | None, words: str, mistake: str = "", hint: str = "") -> Failure:
        """Return a failure with the last lines of the exchange and of standard error.

        Without a `mistake` and `hint` of its own it has those of the fault.
        """
        self.process.read_stderr_now()
        if self.hint and not mistake:
            mistake, hint = self.hint.mistake.value, self.hint.text
        said = self._stderr_before if self._was_probed else self.process.stderr_tail
        stderr = tuple(said.rstrip().splitlines()[-STDERR_LINES:])
        return Failure(ply, reason, words, mistake, hint, self._last_exchange(), stderr)

    # --- what was said ------------------------------------------------------------------------------------------------

    def _keep_said(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        self._partial = self._partial[-LONGEST_LINE:]
        for line in lines:
            self._note(Speaker.BOT, line)

    def _last_exchange(self) -> tuple[ExchangedLine, ...]:
        """Return the last lines of the exchange, with the beginning of an unfinished one."""
        said = list(self._exchange)[-SHOWN_LINES:]
        if self._partial:
            said.append(ExchangedLine(Speaker.BOT, f"{_as_text(self._partial)} (without a line end)", self._ms()))
        return tuple(said)

    def _note(self, speaker: Speaker, line: bytes) -> None:
        self._exchange.append(ExchangedLine(speaker, _as_text(line), self._ms()))

    def _aside(self, text: str) -> None:
        self._exchange.append(ExchangedLine(Speaker.ARENA, text, self._ms(), is_aside=True))

    def _ms(self) -> int:
        return round((now() - self._begun) * 1000)
