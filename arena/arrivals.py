"""When answers came: as nearly as that can be known while the arena is busy with other games.

With many games at a time an answer may lie in its pipe until the arena comes round to it, and that is the arena's time,
not the bot's. So there is a look at all bots' output at once between any two pieces of work, which costs a microsecond
or two. What a look finds, and the last one did not, came in between. As a rule that is a moment, and the answer counts
from the look that found it. If the arena has worked for longer without a look (it has started a process, say, or the
kernel let others run), nobody is charged for that: the answer counts from a moment after the last look, at which it was
not there. After a sleep it counts from when the arena was woken: what then passed until a CPU was free to run it, which
the kernel tells, is not the bot's either.
"""

import contextlib
import os
import select
import threading

import trio

now = trio.current_time

MOMENT = 0.25e-3
"""The most of the arena's own time, in seconds, that a bot may be charged with."""

_SCHEDSTAT = "/proc/self/task/{}/schedstat"
"""Of a thread: nanoseconds on a CPU, nanoseconds of waiting for one, and how often it was given one."""
_RUN: "trio.lowlevel.RunVar[Arrivals]" = trio.lowlevel.RunVar("arrivals")


class Arrivals(trio.abc.Instrument):
    """Looks at the output of all bots of one trio run, and keeps when what has not been read yet came.

    Where the system has no epoll it knows nothing, and an answer counts from when it is read.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        self._came: dict[int, tuple[float, float]] = {}
        """The last look that did not find what has not been read yet, and the first that did."""
        self._looked = now()
        """When the last look was begun: what it did not find was not there then."""
        self._delay = 0.0
        self._schedstat: int | None = None
        with contextlib.suppress(OSError):
            self._schedstat = os.open(_SCHEDSTAT.format(threading.get_native_id()), os.O_RDONLY | os.O_CLOEXEC)

    @classmethod
    def of_this_run(cls) -> "Arrivals":
        """The one of the trio run that this is called in."""
        try:
            return _RUN.get()
        except LookupError:
            arrivals = cls()
            _RUN.set(arrivals)
            trio.lowlevel.add_instrument(arrivals)
            return arrivals

    def watch(self, output: int) -> None:
        """Look at this descriptor too, from now on; it must be forgotten before it is closed."""
        if self._epoll:
            self._epoll.register(output, select.EPOLLIN | select.EPOLLET)

    def forget(self, output: int) -> None:
        if self._epoll:
            self._epoll.unregister(output)
            self._came.pop(output, None)

    def take(self, output: int, asked: float) -> float:
        """When what is to be read from this descriptor now came (its last part, if it came in parts).

        To be asked before it is read: a look finds nothing in a pipe that is empty again. `asked` is when the bot was
        asked: then there was nothing yet.
        """
        moment = now()
        self._look(moment)
        since, found = self._came.pop(output, (moment, moment))
        return max(asked, min(found, max(since, asked) + MOMENT))

    def _look(self, moment: float, woken: float | None = None) -> None:
        """Look at all output; it is `moment`, and the arena has worked since the last look, or slept and was woken."""
        if self._epoll:
            for output, _ in self._epoll.poll(0):
                self._came[output] = (woken, woken) if woken else (self._looked, moment)
        self._looked = moment

    def _waited_for_cpu(self) -> float:
        """Seconds that this thread has ever been ready to run and was not running; 0 if the system does not tell."""
        return int(os.pread(self._schedstat, 64, 0).split()[1]) / 1e9 if self._schedstat is not None else 0.0

    def before_io_wait(self, timeout: float) -> None:
        if timeout:
            self._look(now())
            self._delay = self._waited_for_cpu()

    def after_io_wait(self, timeout: float) -> None:
        moment = now()
        if timeout:
            delay = self._waited_for_cpu() - self._delay
            self._look(moment, max(moment - delay, self._looked))
        else:
            self._look(moment)

    def after_run(self) -> None:
        if self._epoll:
            self._epoll.close()
        if self._schedstat is not None:
            os.close(self._schedstat)
