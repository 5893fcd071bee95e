"""When answers came: as nearly as that can be known while the arena is busy with other games, or is stopped.

With many games at a time an answer may lie in its pipe until the arena comes round to it. So there is a look at all
bots' output at once between any two pieces of work, which costs a microsecond or two. What a look finds, and the last
one did not, came in between; half of that time is counted, and a millisecond at the most. After a sleep an answer
counts from when the arena was woken: what then passed until a CPU was free to run it, which the kernel tells, is not
the bot's. How much of this a bot is given in the end is bounded by `arena.game.clock`.

A process can also be stopped: by Ctrl-Z, a debugger, a frozen control group, a virtual machine that is paused. Nothing
tells it so, but its clock has jumped: more time has passed between two looks than it asked to sleep, used of a CPU and
waited for one. A heartbeat keeps looks close together, so that no sleep hides a stop. The clock of the games, `now`,
leaves such times out, and `stops` tells of them, because the bots may have been running all the while.
"""

import contextlib
import errno
import os
import select
import threading
import time
from collections.abc import Callable, Iterator

import trio

from arena.game.clock import Suspension

now = trio.current_time

MOMENT = 1e-3
"""The most of a time in which the arena did not look, in seconds, that a bot may be charged with."""

GLANCE_SECONDS = 200e-6
"""A look that has found something, and was so short a time ago, need not be repeated before that is read."""

BEAT_SECONDS = 0.02
"""There is a look as often as this, whatever the games do."""
BEAT_WORK_SECONDS = 200e-6
"""After this time nothing more is called at a heartbeat: answers would wait for it."""
STOP_SECONDS = 0.05
"""A time between two looks of which more than this cannot be explained is a stop. With 64 games and a spinning program
on each CPU the arena waits for its own threads and for the system for 16 ms at the most."""
ROUGH_STOP_SECONDS = 0.5
"""The same where the system does not tell how long a thread has waited for a CPU."""
CALL_SECONDS = 0.1
"""As long as this a call that the arena waits for may take. To start a program has taken 20 ms on a busy machine."""

_SCHEDSTAT = "/proc/self/task/{}/schedstat"
"""Of a thread: nanoseconds on a CPU, nanoseconds of waiting for one, and how often it was given one."""
_RUN: "trio.lowlevel.RunVar[Arrivals]" = trio.lowlevel.RunVar("arrivals")


class Arrivals(trio.abc.Instrument):
    """Looks at the output of all bots of one trio run, and keeps when what has not been read yet came.

    Where the system has no epoll it knows nothing, and an answer counts from when it is read. All times that it gives
    and is given are those of its own `now`.
    """

    def __init__(self) -> None:
        self.stops: list[Suspension] = []
        """All stops so far, the oldest first."""
        self.left_out = 0.0
        """Seconds of stops that `now` leaves out: a deadline of the games is so much later by trio's clock."""
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        self._came: dict[int, tuple[float, float]] = {}
        """The earliest and the latest time at which what has not been read yet can have come."""
        self._unwatched: set[int] = set()
        """What could not be watched: an answer counts from when it is read."""
        self._looked = now()
        """When the last look was begun: what it did not find was not there then."""
        self.on_beat: set[Callable[[], None]] = set()
        """What is called at each heartbeat, as far as there is time for it."""
        self._schedstat: int | None = None
        with contextlib.suppress(OSError):
            self._schedstat = os.open(_SCHEDSTAT.format(threading.get_native_id()), os.O_RDONLY | os.O_CLOEXEC)
        self._stop_seconds = STOP_SECONDS if self._schedstat is not None else ROUGH_STOP_SECONDS
        self._note_use()
        self._suspended = _suspended()

    @classmethod
    def of_this_run(cls) -> "Arrivals":
        """Return the arrivals of the current trio run."""
        try:
            return _RUN.get()
        except LookupError:
            arrivals = cls()
            _RUN.set(arrivals)
            trio.lowlevel.add_instrument(arrivals)
            trio.lowlevel.spawn_system_task(arrivals._beat)
            return arrivals

    def now(self) -> float:
        """Return the time by the clock of the games, in seconds. That clock stands still while the arena is stopped."""
        return now() - self.left_out

    def watch(self, output: int) -> None:
        """Look at this descriptor too, from now on; it must be forgotten before it is closed."""
        if self._epoll:
            try:
                self._epoll.register(output, select.EPOLLIN | select.EPOLLET)
            except OSError as error:
                if (
                    error.errno != errno.ENOSPC
                ):  # as it is for all where a bot has used it up (`arena.system.concurrency`)
                    raise
                self._unwatched.add(output)

    def forget(self, output: int) -> None:
        """Look at it no more. One that could not be watched is passed over."""
        if self._epoll:
            with contextlib.suppress(FileNotFoundError):
                self._epoll.unregister(output)
            self._came.pop(output, None)
            self._unwatched.discard(output)

    def may_have(self, output: int) -> bool:
        """Whether there may be something to read: False if the last look has found nothing since it was last taken."""
        return output in self._came or output in self._unwatched or not self._epoll

    def spin(self, output: int, seconds: float) -> bool:
        """Look again and again until there is something to read, for so long at the most; whether there is.

        A look is the poll and the time stamp in one: what it finds came between it and the look before. Where nobody
        looks, there never is.
        """
        if not self._epoll or output in self._unwatched:
            return False
        came = self._came
        end = time.perf_counter() + seconds  # a clock that goes on whatever the run's own does
        while output not in came:
            self._look(now())
            if time.perf_counter() > end:
                return output in came
        return True

    def take(self, output: int, asked: float) -> tuple[float, float]:
        """When what is to be read from this descriptor now came (its last part, if it came in parts), and what time it
        is now.

        To be asked before it is read: a look finds nothing in a pipe that is empty again. `asked` is when the bot was
        asked: then there was nothing yet.
        """
        moment = now() - self.left_out
        if output not in self._came or moment - self._looked > GLANCE_SECONDS:
            moment = self._look(now())
        earliest, latest = self._came.pop(output, (moment, moment))
        earliest = max(earliest, asked)
        moment = max(moment, asked)  # a stop takes away what has passed since the last look, too
        charged = (latest - earliest) / 2
        if charged > MOMENT:
            return earliest + MOMENT, moment
        return (earliest + charged if charged > 0 else earliest), moment

    def _look(self, moment: float) -> float:
        """Look at all output; it is `moment` by trio's clock, and the arena has worked since the last look.

        Returns the time by the clock of the games.
        """
        looked = self._looked
        moment -= self.left_out
        if moment - looked > STOP_SECONDS:
            moment = self._explained(moment, 0)
        if self._epoll:
            for output, _ in self._epoll.poll(0):
                self._came[output] = (looked, moment)
        self._looked = moment
        return moment

    def _look_after_sleep(self, moment: float, asked: float) -> None:
        """Look at all output after the arena has asked to sleep for so many seconds."""
        looked = self._looked
        woken = moment - self.left_out - (self._waited_for_cpu() - self._waited)
        moment -= self.left_out
        if moment - looked > STOP_SECONDS:
            moment = self._explained(moment, asked)
        if self._epoll:
            found = self._epoll.poll(0)
            earliest = min(max(looked, woken), moment)
            # Who is found alone has woken the arena; of several, any may have come while no CPU was free.
            latest = earliest if len(found) == 1 else moment
            for output, _ in found:
                self._came[output] = (earliest, latest)
        self._looked = moment

    def _explained(self, moment: float, asked: float) -> float:
        """The time by the clock of the games after a long time without a look: if it was a stop, it is left out."""
        passed = moment - self._looked
        if passed - asked - self._worked_and_waited() > self._stop_seconds:
            self.left_out += passed
            self.stops.append(Suspension(passed, passed))
            moment = self._looked
        self._note_use()
        return moment

    @contextlib.contextmanager
    def blocking_call(self) -> Iterator[None]:
        """Around what the arena waits for without looking: that is no stop."""
        self._look(now())
        self._note_use()
        self._waited -= CALL_SECONDS  # it is all explained by that
        try:
            yield
        finally:
            self._look(now())
            self._note_use()

    # --- what the arena did ---------------------------------------------------------------------------------------

    def _note_use(self) -> None:
        """From here on it is counted what the arena works and waits; this comes right after a look."""
        self._waited = self._waited_for_cpu()
        self._worked = _worked()

    def _worked_and_waited(self) -> float:
        """Seconds that this thread has had a CPU, or was ready to run and had none, since the last `_note_use`."""
        return _worked() - self._worked + self._waited_for_cpu() - self._waited

    def _waited_for_cpu(self) -> float:
        """Seconds that this thread has ever been ready to run and was not running; 0 if the system does not tell."""
        return int(os.pread(self._schedstat, 64, 0).split()[1]) / 1e9 if self._schedstat is not None else 0.0

    def note_suspension(self) -> None:
        """Note it as a stop if the machine has slept. The clock does not run then, nor do the bots; but who has to
        answer in the first moments after it may be late without a fault."""
        suspended = _suspended()
        if suspended - self._suspended > STOP_SECONDS:
            self.stops.append(Suspension(suspended - self._suspended, 0.0))
        self._suspended = suspended

    async def _beat(self) -> None:
        while True:
            await trio.sleep(BEAT_SECONDS)
            self._look(now())
            self._note_use()
            self.note_suspension()
            end = now() + BEAT_WORK_SECONDS
            for call in tuple(self.on_beat):
                if now() > end:
                    break
                call()

    # --- what trio calls ------------------------------------------------------------------------------------------

    def before_io_wait(self, timeout: float) -> None:
        if timeout:
            self._look(now())
            self._note_use()

    def after_io_wait(self, timeout: float) -> None:
        moment = now()
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
    """Return the seconds that the machine has ever slept, give or take a moment; 0 where the system does not tell."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic() if hasattr(time, "CLOCK_BOOTTIME") else 0.0
