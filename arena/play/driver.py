"""Carries bytes between the referee and the two processes of a game, and measures when they come.

Five things keep a ply cheap. One task talks to both bots, because only one of them has to answer. The deadline is lazy:
its cancel scope is moved only for an earlier deadline, so it fires a few times a second and is set again if the game
has advanced. For a bot that answers at once the arena stays awake: sleeping and waking cost more than all of the
referee's work. For one that takes a little longer it sleeps in one system call, if no other game is under way.
`Arrivals` knows what has come without another system call.
"""

import os
from collections.abc import Callable, Mapping

import trio

from arena.game.hints import Activity, TurnUse
from arena.game.record import History
from arena.game.referee import Referee
from arena.game.seat import Seat
from arena.game.time_control import NEVER
from arena.play.game_events import ActionPlayed, GameEvent, GameStarted
from arena.play.game_options import GameOptions, Interrupt
from arena.play.participant import Participant
from arena.processes.arrivals import DOZE_SECONDS, Arrivals
from arena.processes.process import STARVED_MOST, STARVED_PAUSE, BotProcess
from arena.processes.usage import CpuTimes, Delay, delay_between
from arena.system.concurrency import open_nursery, readable, writable
from protocol.conversation import Phase
from protocol.seats import Color

EXIT_FOLLOWS = 0.5
"""Seconds within which a bot exits after the end of its output; else it has only closed its output."""

PROMPT_SECONDS = 150e-6
"""The longest time of the last answer, with the write of its turn, after which a bot is briefly polled without
sleeping."""
SPIN_SECONDS = 50e-6
"""The time of that polling; none on one CPU, where it would keep the bot from running."""
DOZE_BELOW = DOZE_SECONDS / 2
"""The longest time of the last answer after which the arena dozes until the next one, before it sleeps."""
RUN_PAUSE = 0.001
STALL_SECONDS = 0.02
"""How long a bot that is ready to run has to be without a CPU after its deadline for the machine to be the cause."""
NOTE_SECONDS = 0.02
"""The time of a turn after which the first heartbeat notes the times of all threads of the bot."""
SLICE_SECONDS = 250e-6
"""The time after which a game with prompt bots lets other games run."""
LONE_SLICE_SECONDS = 2e-3
"""The same if there is no other game, for the run's other tasks."""


class Driver:
    """Drives one game: carries its bytes, from the first `hello` to the verdict."""

    def __init__(
        self,
        referee: Referee,
        processes: Mapping[Color, Participant],
        history: History | None,
        interrupt: Interrupt,
        options: GameOptions,
    ) -> None:
        """`history` is what was played before the game was interrupted."""
        self._referee = referee
        self._processes = processes
        self._interrupt = interrupt
        self._pondering = options.pondering
        self._watch = options.watch
        self._told_at_once = options.told_at_once
        self._history = history
        self._reported: int | None = None
        """Actions reported to the watcher; None before the game has started."""
        self._arrivals = Arrivals.of_this_run()
        self._stops = self._arrivals.stops
        self._told = len(self._stops)
        """Suspensions of the arena that the referee knows, or need not know."""
        self._unsent: dict[Color, bytes] = {}
        """Bytes that a seat's full pipe has not taken yet."""
        self._gone: list[tuple[Color, BotProcess]] = []
        self._dead = {color: trio.Event() for color in Color}
        self._scope = trio.CancelScope()
        self._armed = NEVER
        self.cpu_us: list[int] = []
        self._cpu_before = [0, 0]
        """The processor time of each seat's bot at its last measurement."""
        self._times: list[CpuTimes | None] = [None, None]
        """The times of the bot's threads soon after that; None if it has answered at once."""
        self._stalled: set[Color] = set()
        """The seats whose bots were ready to run at their deadlines, and got no CPU for `STALL_SECONDS` more."""
        self._spin_seconds = 0.0 if _is_on_one_cpu() else SPIN_SECONDS
        self._taken = [NEVER, NEVER]
        """The seconds of each seat's last answer, with the write of its turn."""
        self._read_at = self._yielded = self._arrivals.now()
        """The times of the last read of output and of the last yield to other tasks."""
        interrupt.interrupt = self.disturb
        interrupt.why_not = referee.unrestorable
        interrupt.live = referee.live

    # --- signals from other tasks ---------------------------------------------------------------------------------

    def disturb(self) -> None:
        self._scope.cancel()

    def exited(self, color: Color, process: BotProcess) -> None:
        self._dead[color].set()
        self._gone.append((color, process))
        self._scope.cancel()

    # --- driving --------------------------------------------------------------------------------------------------

    def turn_of(self, color: Color) -> TurnUse | None:
        """Return the resources that the side to move has used in its turn; None if unknown."""
        seat, process = self._referee.seats[color], self._processes.get(color)
        if not isinstance(process, BotProcess) or seat.phase is not Phase.THINKING:
            return None
        used = process.used_since(self._cpu_before[color])
        return None if used is None else TurnUse(self._now() - seat.started, used)

    def delay_of(self, color: Color) -> Delay | None:
        """Return how long the machine has kept a late bot from a CPU; None if unknown.

        If the machine itself is kept from running (by another virtual machine), the kernel counts no wait of the bot.
        """
        before, process = self._times[color], self._processes.get(color)
        if before is None or not isinstance(process, BotProcess) or (after := process.times()) is None:
            return None
        if before.used_us is None or after.used_us is None:
            used = process.used_since(self._cpu_before[color])
        else:
            used = after.used_us - before.used_us
        if used is None:
            return None
        if color in self._stalled:
            return Delay(used, round((self._now() - self._referee.seats[color].started) * 1e6) - used)
        return delay_between(before.threads, after.threads, used)

    async def _until_run(self, color: Color, process: BotProcess) -> None:
        """Wait until a bot that is ready to run has had a CPU: only then the kernel counts its wait."""
        self._stalled.discard(color)
        begun, before = self._now(), process.worked_us()
        with trio.move_on_after(STARVED_MOST):
            while process.activity() is Activity.RUNS and process.worked_us() == before:  # noqa: ASYNC110
                await trio.sleep(RUN_PAUSE)
        if self._now() - begun > STALL_SECONDS:
            self._stalled.add(color)

    def _note_times(self) -> None:
        for color in self._referee.awaited():
            seat, before = self._referee.seats[color], self._times[color]
            is_silent = not seat.due and self._arrivals.now() - seat.started > NOTE_SECONDS
            if is_silent and (before is None or before.used_us is None):
                process = self._processes[color]
                times = process.times() if isinstance(process, BotProcess) else None
                if times and times.used_us is not None:
                    used = times.used_us - (process.cpu_us() - self._cpu_before[color])
                    self._times[color] = CpuTimes(used, {**times.threads, **(before.threads if before else {})})

    async def drive(self) -> float:
        """Carry bytes until the game is over or interrupted; return the time by the clock of the games."""
        if self._history:
            self.cpu_us += self._history.cpu_us or (0,) * len(self._history.actions)
        self._arrivals.on_beat.add(self._note_times)
        try:
            while not self._is_over():
                await self._drive_until_disturbed()
        finally:
            self._arrivals.on_beat.discard(self._note_times)
        return self._now()

    def _is_over(self) -> bool:
        referee = self._referee
        return referee.is_over or len(referee.actions) >= self._interrupt.after

    async def _drive_until_disturbed(self) -> None:
        """Carry bytes until the verdict, a deadline or the exit of a bot."""
        referee = self._referee
        with trio.CancelScope() as self._scope:
            self._armed = NEVER
            self._arm(referee.deadline)
            if self._gone:
                self._scope.cancel()
            while not self._is_over():
                if referee.live.state is None:
                    await self._serve_before_the_game()
                    continue
                color = referee.live.state.to_move
                if not self._pondering:
                    self._processes[color.opponent].freeze()
                    self._processes[color].thaw()
                await self._serve(color)
        for color, process in self._gone:
            self._drain_output(color, process)
        self._gone.clear()
        self._arrivals.note_suspension()
        for color in Color:
            if referee.seats[color].deadline <= self._now():
                if isinstance(late := self._processes[color], BotProcess):
                    await self._until_run(color, late)
                self._final_read(color)
        referee.expire(self._now())

    async def _serve_before_the_game(self) -> None:
        referee = self._referee
        await self._serve_both(referee.due() or referee.awaited())
        if not referee.is_over:  # a restored seat receives its history even when it is not to move
            await self._serve_both([color for color in referee.due() if color not in referee.awaited()])

    async def _serve_both(self, colors: list[Color]) -> None:
        async with open_nursery() as nursery:
            for color in colors:
                nursery.start_soon(self._serve, color)

    async def _serve(self, color: Color) -> None:
        """Send a seat its pending lines and pass on its output, until it has answered."""
        referee, process = self._referee, self._processes[color]
        seat, connection = referee.seats[color], referee.seats[color].connection
        output, arrivals = process.stdout, self._arrivals
        if seat.due:
            if arrivals.may_have(output) and process.has_output():
                unasked = self._receive(seat, process)  # the referee judges it as that
                if unasked == b"" and isinstance(process, BotProcess):
                    await self._output_ended(color, process)
                if seat.fault:
                    return
            self._write(seat, process)
        if self._unsent:
            await self._write_slowly(color, process)
        while connection.phase.bot_must_answer and not (seat.due or seat.fault or referee.is_over):
            taken = self._taken[color]
            if not (
                (taken < PROMPT_SECONDS and arrivals.spin(output, self._spin_seconds))
                or (taken < DOZE_BELOW and self._is_alone() and arrivals.doze(output))
            ):
                if self._times[color] is None:
                    self._times[color] = process.first_times()
                await readable(output)
                self._yielded = NEVER
            data = self._receive(seat, process)
            if data and self._must_yield():
                await trio.lowlevel.checkpoint()
                self._yielded = arrivals.now()
            elif data == b"" and isinstance(process, BotProcess):
                await self._output_ended(color, process)

    def _write(self, seat: Seat, process: Participant) -> None:
        referee, color = self._referee, seat.color
        self._cpu_before[color] = process.cpu_us()
        self._times[color] = None
        data = referee.take(color)
        if self._unsent:
            data = self._unsent.pop(color, b"") + data
        begun = self._now()
        rest = process.write_now(data)
        referee.sent(color, begun)
        self._arm(seat.deadline)
        if rest:
            self._unsent[color] = rest

    def _must_yield(self) -> bool:
        """Whether other tasks have to have a turn now, after the last read."""
        self._yielded = min(self._yielded, self._read_at)  # NEVER if the arena has slept
        passed = self._read_at - self._yielded
        return passed > SLICE_SECONDS and (passed > LONE_SLICE_SECONDS or not self._is_alone())

    def _is_alone(self) -> bool:
        """Whether no other game is under way in this process."""
        return len(self._arrivals.outputs) <= len(self._processes)

    def _receive(self, seat: Seat, process: Participant) -> bytes | None:
        referee, color, asked = self._referee, seat.color, seat.started
        came, read = self._arrivals.take(process.stdout, asked)
        data = process.read_now()
        if data:
            if self._told < len(self._stops):
                self._tell_of_stops()
            self._read_at = read
            self._taken[color] = came - asked
            used = process.cpu_us() - self._cpu_before[color]
            referee.receive(color, data, came, read)
            if len(self.cpu_us) < len(referee.actions):
                self.cpu_us.append(used if used > 0 else 0)
            if self._watch is not None:
                self._report(self._watch, color)
            if self._told_at_once:
                self._tell_at_once()
        return data

    def _tell_at_once(self) -> None:
        """Send events to the seats that do not wait for their turn. No clock runs."""
        for color in self._told_at_once:
            seat = self._referee.seats[color]
            if seat.out and not seat.due:
                self._processes[color].write_now(self._referee.take(color))

    def _report(self, watch: Callable[[GameEvent], None], color: Color) -> None:
        live, spec = self._referee.live, self._referee.spec
        if live.state is None:
            return
        plies = len(live.actions)
        if self._reported is None:
            red, blue = ("/".join(seat.rows or ()) for seat in self._referee.seats)
            watch(GameStarted(spec, (red, blue), self._history))
        elif self._reported < plies:
            taken_us, cpu_us = live.times_us[-1], self.cpu_us[-1]
            watch(ActionPlayed(spec.id, plies, color, live.actions[-1], live.told, taken_us, cpu_us))
        self._reported = plies

    async def _output_ended(self, color: Color, process: BotProcess) -> None:
        """Wait for the bot's exit, which nearly always follows the end of its output. No deadline counts any more."""
        end, before = self._now() + EXIT_FOLLOWS, process.worked_us()
        while not self._dead[color].is_set() and (left := end - self._now()) > -STARVED_MOST:
            if left < 0 and not process.is_starved(before, EXIT_FOLLOWS):
                break
            with trio.move_on_after(max(left, STARVED_PAUSE), shield=True):
                await self._dead[color].wait()
        if process.has_exited():
            self._drain_output(color, process)
        else:
            self._referee.gone(color, "closed its standard output", exited=False)

    async def _write_slowly(self, color: Color, process: Participant) -> None:
        """Write to a bot that has not been reading. If it has to answer, its clock runs meanwhile.

        A bot that only receives a history has as much time as for a set-up; it gets the rest in its own turn.
        """
        must_answer = self._referee.seats[color].phase.bot_must_answer
        with trio.move_on_after(NEVER if must_answer else self._referee.spec.times[color].setup_ms / 1000):
            while color in self._unsent:
                await writable(process.stdin)
                rest = process.write_now(self._unsent.pop(color))
                if rest:
                    self._unsent[color] = rest
        self._yielded = self._arrivals.now()

    # --- the end of a bot, or of its time -------------------------------------------------------------------------

    def _drain_output(self, color: Color, process: BotProcess) -> None:
        """Judge the last output of a bot that has exited, and then its exit."""
        seat = self._referee.seats[color]
        while not (self._referee.is_over or seat.fault) and self._receive(seat, process):
            pass
        if excess := process.out_of_memory():
            self._referee.over_limit(color, excess)
        if process.machine_was_out_of_memory():
            self._referee.killed_by_machine(color)
        self._referee.gone(color, process.exit_words(), exited=True)

    def _final_read(self, color: Color) -> None:
        process = self._processes[color]
        seat = self._referee.seats[color]
        if color in self._unsent:
            self._referee.stalled(color)
            return
        while seat.is_awaited and not self._referee.is_over and self._receive(seat, process):
            pass

    # --- time -----------------------------------------------------------------------------------------------------

    def _now(self) -> float:
        """Return the time on the clock of the games, after reporting suspensions to the referee."""
        if self._told < len(self._stops):
            self._tell_of_stops()
        return self._arrivals.now()

    def _tell_of_stops(self) -> None:
        for stop in self._stops[self._told :]:
            self._referee.stopped(stop, self._arrivals.now())
            self._told += 1
        if self._referee.is_over:
            self._scope.cancel()  # the other seat may be waited for, too

    def _arm(self, deadline: float) -> None:
        deadline += self._arrivals.left_out
        if deadline < self._armed:
            self._armed = self._scope.deadline = deadline


def _is_on_one_cpu() -> bool:
    return hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1
