"""A bot's own processes as they are seen from outside: what they use, what they are doing, whether one waits.

In a sandbox the first processes of the tree are helpers, which are none of the bot's: its own begin below them, and are
found as soon as they are there.
"""

import contextlib
import os
import time

from arena.bots.delays import CpuTimes
from arena.bots.sandbox import child, reaper
from arena.bots.sandbox.activity import activity_of
from arena.bots.sandbox.procfs import (
    Process,
    cpu_clock,
    cpu_us,
    is_asleep,
    parse_schedstat,
    read_file,
    thread_times,
    waited_us,
)
from arena.game.hints.seen import Activity

MOST_LOOKED_AT = 16
"""Processes of a bot that are looked at to tell what it is doing."""
MOST_TIMED = 128
"""Processes and threads of a bot whose times are read; those of a bot that has more are not."""


class OwnProcesses:
    """Those below a process that has been registered (`arena.bots.sandbox.reaper`), behind so many helpers."""

    def __init__(self, leader: int, helpers: int) -> None:
        self._leader, self._helpers = leader, helpers
        self._first: int | None = None if helpers else leader
        """The bot's own first process; None until it has been found."""
        self._clock: int | None = None
        """The system's number for the clock of its processor time, once that has been found."""
        self._cpu_us = 0
        self._schedstat: int | None = None
        """A descriptor of the first thread's times, kept open: they are read in each turn."""

    def cpu_us(self) -> int:
        """Microseconds of processor time that the first one has used so far, with all its threads."""
        if self._clock is None:
            self._find_first()
        if self._clock is not None:
            try:
                self._cpu_us = time.clock_gettime_ns(self._clock) // 1000
            except OSError:  # it has been reaped: what it had used by the last time counts
                return self._cpu_us
        elif self._first is not None and (used := cpu_us(self._first)) is not None:
            self._cpu_us = used
        return self._cpu_us

    def worked_us(self) -> int:
        """Microseconds of processor time that those which are alive have used so far."""
        return sum(cpu_us(process.pid) or 0 for process in self._some())

    def used_since(self, before_us: int) -> int | None:
        """Microseconds of processor time used since `cpu_us` was `before_us`; None if there are others besides the
        first one, which may have worked for it."""
        return None if len(self._some()) > 1 else max(0, self.cpu_us() - before_us)

    def first_times(self) -> CpuTimes:
        """The times of the first one's first thread: that takes a microsecond."""
        if self._schedstat is None and self._first is not None:
            with contextlib.suppress(OSError):
                self._schedstat = os.open(f"/proc/{self._first}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        times = None
        if self._schedstat is not None:
            with contextlib.suppress(OSError):
                times = parse_schedstat(os.pread(self._schedstat, 64, 0))
        return CpuTimes(None, {self._first: times} if self._first is not None and times else {})

    def times(self) -> CpuTimes | None:
        """Return the times of all, the dead included in what was used.

        None if they are too many, or have asked the system for less of a CPU.
        """
        if self._first is not None and b" nice 0" not in (read_file(f"/proc/{self._first}/autogroup") or b" nice 0"):
            return None  # seccomp cannot forbid a bot to make its session wait, as that is a write to a file
        found = reaper.belongings(self._leader, MOST_TIMED)[self._helpers :]
        if sum(process.threads or 1 for process in found) > MOST_TIMED:
            return None
        used = reaper.owners[self._leader].used_us
        used += sum((cpu_us(process.pid) or 0) + waited_us(process.pid) for process in found)
        threads = {thread: times for process in found for thread, times in thread_times(process.pid).items()}
        return CpuTimes(used, threads)

    def close(self) -> None:
        if self._schedstat is not None:
            os.close(self._schedstat)
            self._schedstat = None

    def activity(self) -> Activity:
        """What they are doing at this moment."""
        return activity_of(process.pid for process in self._some())

    def is_asleep(self) -> bool:
        """Whether the first one waits for something."""
        if self._first is None:
            self._find_first()
        return self._first is not None and is_asleep(self._first)

    def is_starved(self, before_us: int, seconds: float) -> bool:
        """Whether it is the machine that the bot is slow by: it has something to do, and has had less than so many
        seconds of the processor since `worked_us` was `before_us`. False where that cannot be told."""
        own = [process.pid for process in self._some() if not process.is_dead]
        if not own:  # perhaps the sandbox is still to exit behind it
            return self._helpers > 0 and child.exit_status(self._leader) is None
        return activity_of(own) is Activity.RUNS and self.worked_us() - before_us < seconds * 1_000_000

    def _some(self) -> list[Process]:
        return reaper.belongings(self._leader, MOST_LOOKED_AT)[self._helpers :]

    def _find_first(self) -> None:
        if self._first is None:
            found = reaper.belongings(self._leader, self._helpers + 1)
            if len(found) > self._helpers:
                self._first = found[self._helpers].pid
        if self._first is not None:
            self._clock = cpu_clock(self._first)
