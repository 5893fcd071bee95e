"""When the answers of bots arrived, as exactly as can be known while the arena is busy with other games.

An answer may wait in its pipe until the arena turns to it. So the output of all bots is polled between any two pieces
of work, which costs a microsecond or two. What a poll finds arrived since the poll before; half of that time is
charged, at most a millisecond. After a sleep, an answer counts from when the arena was woken; the wait for a free CPU
after that is not the bot's.

The arena can be stopped as a process: by Ctrl-Z, a debugger, a frozen control group, a paused virtual machine. It
learns of that by its clock: more time has passed between two polls than it asked to sleep, used of a CPU and waited for
one. A heartbeat keeps polls close together, so that no sleep hides a stop. The clock of the games, `now`, leaves such
times out, and `stops` lists them, because the bots may have run meanwhile.
"""

import contextlib
import errno
import os
import select
import threading
import time
from collections.abc import Callable, Iterator

import trio

from arena.game.time_control import Suspension

MOMENT = 1e-3
"""The longest time without a poll, in seconds, that a bot may be charged with."""

GLANCE_SECONDS = 200e-6
"""A poll that found output this short a time ago is not repeated before that output is read."""

DOZE_SECONDS = 1e-3
"""The longest sleep in which no other task of the run has a turn."""

BEAT_SECONDS = 0.02
"""Output is polled at least this often."""
BEAT_WORK_SECONDS = 200e-6
"""After this time no more callbacks run at a heartbeat: answers would wait for them."""
STOP_SECONDS = 0.05
"""A time between two polls of which more than this is unexplained is a stop. With 64 games and a spinning program on
each CPU, the arena waits for its own threads and for the system for at most 16 ms.
"""
ROUGH_STOP_SECONDS = 0.5
"""The limit where the system does not report how long a thread has waited for a CPU."""
CALL_SECONDS = 0.1
"""The longest that a call may block the arena. Starting a program has taken 20 ms on a busy machine."""

_SCHEDSTAT = "/proc/self/task/{}/schedstat"
"""A file with nanoseconds on a CPU, nanoseconds of waiting for one, and the number of times that a thread ran."""
Found = list[tuple[int, int]]
"""The result of a poll: descriptors with their events."""

_RUN: "trio.lowlevel.RunVar[Arrivals]" = trio.lowlevel.RunVar("arrivals")


class Arrivals(trio.abc.Instrument):
    """Polls the output of all bots of one trio run, and keeps the arrival times of unread output.

    Without epoll, an answer counts from when it is read. All times are those of its own `now`.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` is that of the trio run."""
        self._clock = clock
        self.stops: list[Suspension] = []
        self.left_out = 0.0
        """Seconds of stops that `now` leaves out; by trio's clock, deadlines of the games are later by this much."""
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        self._came: dict[int, tuple[float, float]] = {}
        self.outputs: set[int] = set()
        """All descriptors that are polled."""
        self._unwatched: set[int] = set()
        """Descriptors that could not be watched: an answer counts from when it is read."""
        self._looked = self._clock()
        """When the last poll began: output that it did not find was not there then."""
        self.on_beat: set[Callable[[], None]] = set()
        """Callbacks for each heartbeat, within `BEAT_WORK_SECONDS`."""
        self._schedstat: int | None = None
        with contextlib.suppress(OSError):
            self._schedstat = os.open(_SCHEDSTAT.format(threading.get_native_id()), os.O_RDONLY | os.O_CLOEXEC)
        self._stop_seconds = STOP_SECONDS if self._schedstat is not None else ROUGH_STOP_SECONDS
        self._note_use()
        self._suspended = _suspended()

    @classmethod
    def of_this_run(cls) -> "Arrivals":
        try:
            return _RUN.get()
        except LookupError:
            arrivals = cls(trio.lowlevel.current_clock().current_time)
            _RUN.set(arrivals)
            trio.lowlevel.add_instrument(arrivals)
            trio.lowlevel.spawn_system_task(arrivals._beat)
            return arrivals

    def now(self) -> float:
        """Return the time by the clock of the games, in seconds. That clock pauses while the arena is stopped."""
        return self._clock() - self.left_out

    def watch(self, output: int) -> None:
        """Poll this descriptor from now on; it must be forgotten before it is closed."""
        self.outputs.add(output)
        if self._epoll:
            try:
                self._epoll.register(output, select.EPOLLIN | select.EPOLLET)
            except OSError as error:
                if error.errno != errno.ENOSPC:  # a bot may have used up epoll (`arena.system.concurrency`)
                    raise
                self._unwatched.add(output)

    def forget(self, output: int) -> None:
        self.outputs.discard(output)
        if self._epoll:
            with contextlib.suppress(FileNotFoundError):
                self._epoll.unregister(output)
            self._came.pop(output, None)
            self._unwatched.discard(output)

    def may_have(self, output: int) -> bool:
        return output in self._came or output in self._unwatched or not self._epoll

    def spin(self, output: int, seconds: float) -> bool:
        """Poll until there is something to read, for at most `seconds`; return whether there is.

        A poll is the time stamp as well: what it finds arrived since the poll before. Always False for unwatched
        output.
        """
        if not self._epoll or output in self._unwatched:
            return False
        came = self._came
        end = time.perf_counter() + seconds  # independent of the run's own clock, which may stand still
        while output not in came:
            self._look(self._clock())
            if time.perf_counter() > end:
                return output in came
        return True

    def doze(self, output: int) -> bool:
        """Sleep until any bot has written, for at most `DOZE_SECONDS`; return whether this one has.

        No other task of the run has a turn meanwhile, which makes it cheaper than a sleep of the run. Returns at once
        if another task has output to read, and always False for unwatched output.
        """
        if not self._epoll or output in self._unwatched:
            return False
        self._look(self._clock())
        if not self._came:
            self._note_use()
            found = self._epoll.poll(DOZE_SECONDS)
            self._look_after_sleep(self._clock(), DOZE_SECONDS, found)
        return output in self._came

    def take(self, output: int, asked: float) -> tuple[float, float]:
        """Return when the output that is to be read now arrived (its last part), and the time now.

        Call it before reading: a poll finds no data in an empty pipe. `asked` is when the bot was asked, the earliest
        time possible.
        """
        moment = self._clock() - self.left_out
        if output not in self._came or moment - self._looked > GLANCE_SECONDS:
            moment = self._look(self._clock())
        earliest, latest = self._came.pop(output, (moment, moment))
        earliest = max(earliest, asked)
        moment = max(moment, asked)  # a stop takes away what has passed since the last look, too
        charged = (latest - earliest) / 2
        if charged > MOMENT:
            return earliest + MOMENT, moment
        return (earliest + charged if charged > 0 else earliest), moment

    def _look(self, moment: float) -> float:
        """Poll all output at `moment` by trio's clock; return that time by the clock of the games."""
        looked = self._looked
        moment -= self.left_out
        if moment - looked > STOP_SECONDS:
            moment = self._explained(moment, 0)
        if self._epoll:
            for output, _ in self._epoll.poll(0):
                self._came[output] = (looked, moment)
        self._looked = moment
        return moment

    def _look_after_sleep(self, moment: float, asked: float, found: Found | None = None) -> None:
        looked = self._looked
        moment -= self.left_out
        woken = min(moment - (self._waited_for_cpu() - self._waited), looked + asked)
        if moment - looked > STOP_SECONDS:
            moment = self._explained(moment, asked)
        if self._epoll:
            found = self._epoll.poll(0) if found is None else found
            earliest = min(max(looked, woken), moment)
            # Who is found alone has woken the arena; of several, any may have come while no CPU was free.
            latest = earliest if len(found) == 1 else moment
            for output, _ in found:
                self._came[output] = (earliest, latest)
        self._looked = moment

    def _explained(self, moment: float, asked: float) -> float:
        """Return the time by the clock of the games after a long time without a poll; a stop is left out of it."""
        passed = moment - self._looked
        worked, waited = _worked() - self._worked, self._waited_for_cpu() - self._waited
        if passed - asked - worked - waited > self._stop_seconds:
            self.left_out += passed
            self.stops.append(Suspension(passed, passed))
            moment = self._looked
        self._note_use()
        return moment

    @contextlib.contextmanager
    def blocking_call(self) -> Iterator[None]:
        """A context in which the arena waits without polling, which does not count as a stop."""
        self._look(self._clock())
        self._note_use()
        self._waited -= CALL_SECONDS  # it is all explained by that
        try:
            yield
        finally:
            self._look(self._clock())
            self._note_use()

    def _note_use(self) -> None:
        """Count work and waiting from here on; call this right after a poll."""
        self._waited = self._waited_for_cpu()
        self._worked = _worked()

    def _waited_for_cpu(self) -> float:
        return int(os.pread(self._schedstat, 64, 0).split()[1]) / 1e9 if self._schedstat is not None else 0.0

    def note_suspension(self) -> None:
        """Record a stop if the machine has slept: a bot may be late without a fault just after it."""
        suspended = _suspended()
        if suspended - self._suspended > STOP_SECONDS:
            self.stops.append(Suspension(suspended - self._suspended, 0.0))
        self._suspended = suspended

    async def _beat(self) -> None:
        while True:
            await trio.sleep(BEAT_SECONDS)
            self._look(self._clock())
            self._note_use()
            self.note_suspension()
            end = self._clock() + BEAT_WORK_SECONDS
            for call in tuple(self.on_beat):
                if self._clock() > end:
                    break
                call()

    def before_io_wait(self, timeout: float) -> None:
        if timeout:
            self._look(self._clock())
            self._note_use()

    def after_io_wait(self, timeout: float) -> None:
        moment = self._clock()
        if timeout:
            self._look_after_sleep(moment, timeout)
        else:
            self._look(moment)

    def after_run(self) -> None:
        if self._epoll:
            self._epoll.close()
        if self._schedstat is not None:
            os.close(self._schedstat)


def _worked() -> float:
    return time.thread_time()


def _suspended() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic() if hasattr(time, "CLOCK_BOOTTIME") else 0.0
