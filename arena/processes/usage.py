"""The bot's use of the machine in a game: processor time, memory, waiting for a CPU, and what it is doing.

The system counts from the start of a process to its end. A process that is kept for a second game is measured twice:
its use in the first game is not charged to the second.

Linux counts for each thread how long it ran and how long it waited for a CPU. A thread also waits while the bot's own
other threads run, so their time is subtracted: a bot that starves itself has not been delayed.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from arena.game.hints import Activity
from arena.sandbox import reaper
from arena.sandbox.cgroup import Group
from arena.sandbox.freezer import Freezer
from arena.sandbox.procfs import (
    Process,
    cpu_clock,
    cpu_us,
    is_asleep,
    parse_schedstat,
    read_file,
    stat_fields,
    thread_times,
    waited_us,
)
from arena.sandbox.reaper import owners
from arena.sandbox.watch import Watch

Threads = Mapping[int, tuple[int, int]]
"""By thread: microseconds on a CPU, and microseconds of waiting for one."""


class CpuTimes(NamedTuple):
    """The CPU time of a bot so far. `used_us` is of all processes, None if only the first thread was examined."""

    used_us: int | None
    threads: Threads


class Delay(NamedTuple):
    """Microseconds of CPU time in a bot's turn, and the longest wait of a thread for a CPU that other programs had."""

    used_us: int
    waited_us: int

    def excuses(self, taken_us: float, limit_us: float) -> bool:
        """Return whether the bot used less than its limit, and would have kept it without waiting."""
        return self.used_us < limit_us and taken_us - self.waited_us < limit_us


def delay_between(before: Threads, after: Threads, used_us: int) -> Delay:
    """Return the longest wait of a thread that is there before and after, less the time of the bot's other threads."""
    waits = [0]
    for thread in before.keys() & after.keys():
        ran, waited = (after[thread][kind] - before[thread][kind] for kind in (0, 1))
        waits.append(waited - max(0, used_us - ran))
    return Delay(used_us, max(waits))


MOST_LOOKED_AT = 16
"""The most processes of a bot that are examined for their activity."""
MOST_TIMED = 128
"""The most processes and threads of a bot with times that are read; a bot with more has none."""


class OwnProcesses:
    """The bot's processes, without the sandbox's own helpers."""

    def __init__(self, leader: int, helpers: int) -> None:
        self._leader, self._helpers = leader, helpers
        self._first: int | None = None if helpers else leader
        """The bot's own first process; None until it has been found."""
        self._clock: int | None = None
        """The clock id of its processor time, once that has been found."""
        self._cpu_us = 0
        self._schedstat: int | None = None
        """A descriptor of the first thread's times, kept open: they are read in each turn."""

    def cpu_us(self) -> int:
        """Return the microseconds of processor time of the bot's first process so far, with all its threads."""
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
        return sum(cpu_us(process.pid) or 0 for process in self._some())

    def used_since(self, before_us: int) -> int | None:
        """Return the processor time since `cpu_us` was `before_us`; None if there are several processes."""
        return None if len(self._some()) > 1 else max(0, self.cpu_us() - before_us)

    def first_times(self) -> CpuTimes:
        """Return the times of the first thread of the first process, in a microsecond."""
        if self._schedstat is None and self._first is not None:
            with contextlib.suppress(OSError):
                self._schedstat = os.open(f"/proc/{self._first}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        times = None
        if self._schedstat is not None:
            with contextlib.suppress(OSError):
                times = parse_schedstat(os.pread(self._schedstat, 64, 0))
        return CpuTimes(None, {self._first: times} if self._first is not None and times else {})

    def times(self) -> CpuTimes | None:
        """Return the times of all threads, with dead processes in the total.

        None if they are too many, or if the bot has lowered its own share of the CPU.
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
        return activity_of(process.pid for process in self._some())

    def is_asleep(self) -> bool:
        if self._first is None:
            self._find_first()
        return self._first is not None and is_asleep(self._first)

    def is_starved(self, before_us: int, seconds: float) -> bool:
        """Return whether the machine delays the bot: it runs, with less than `seconds` of CPU since `before_us`."""
        own = [process.pid for process in self._some() if not process.is_dead]
        if not own:  # perhaps the sandbox is still to exit behind it
            return self._helpers > 0 and reaper.exit_status(self._leader) is None
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


class UsageAccount:
    """The processor time and memory of one bot in a game, known after `sum_up_alive` or `sum_up_dead`."""

    def __init__(self, leader: int, group: Group | None, watch: Watch, freezer: Freezer) -> None:
        self._leader = leader
        self._group = group
        self._watch = watch
        self._freezer = freezer
        self.used_us = 0
        """Microseconds of processor time, all processes together."""
        self._group_peak: int | None = None
        self._used_before = self._pondered_before = 0
        self._peak_before, self._memory_before = -1, 0
        """Bytes in a control group: the peak before the game, and the memory in use at its start."""

    @property
    def peak_memory(self) -> int:
        return self._group_peak or self._watch.peak_memory

    @property
    def pondered_us(self) -> int:
        return self._freezer.used_us - self._pondered_before

    def sum_up_alive(self) -> None:
        """Sum up a game of a bot that is kept; its processes are those of the last look."""
        if self._group:
            self.sum_up_dead(0)
            return
        alive = [process.pid for process in self._watch.processes]
        used = owners[self._leader].used_us + sum((cpu_us(pid) or 0) + waited_us(pid) for pid in alive)
        self.used_us = max(0, used - self._used_before)

    def sum_up_dead(self, used_us: int) -> None:
        """Sum up the last game of a bot that has used `used_us` since its start; a control group knows that better."""
        if self._group:
            used_us = self._group.cpu_us()
            peak = self._group.memory_peak()
            if peak is not None and peak <= self._peak_before:  # that was in the game before
                peak = max(self._memory_before, self._group.memory_now())
            self._group_peak = peak
        self.used_us = max(0, used_us - self._used_before)

    def begin_anew(self) -> None:
        """Begin another game, after `sum_up_alive`."""
        self._used_before += self.used_us
        self._pondered_before = self._freezer.used_us
        self._watch.begin_anew()
        if self._group:
            self._peak_before, self._memory_before = self._group.memory_peak() or -1, self._group.memory_now()
        self.used_us, self._group_peak = 0, None


# --- what a bot is doing ----------------------------------------------------------------------------------------------
# `wchan` says where a thread waits in the kernel, `syscall` in which system call and with which arguments. Runtimes
# such as those of Node, Java and Go have helper threads that wait for events of their own, so only a main thread that
# waits for events without end (epoll, poll, select) counts as waiting for input. A wait with a time-out may be for
# input or for a timer: it is unknown.

MOST_THREADS = 64
"""The most threads that are examined, of all processes together: each costs three files."""
WITHOUT_END = 0xFFFFFFFF
"""A time-out of -1 in 32 bits."""
_TIMEOUTS = {7: 2, 232: 3, 281: 3, 22: 3}
"""The index of the time-out in milliseconds, for system calls that wait for events, by number (x86-64, and
`epoll_pwait` on arm64).
"""
_POINTERS = {23: 4, 270: 4, 271: 2, 73: 2, 72: 4}
"""The index of the pointer to a time-out; it is null for a wait without end."""
_COUNTS = {23: 0, 270: 0, 72: 0, 7: 1, 271: 1, 73: 1}
"""The index of the number of descriptors; a wait for none of them is a sleep."""
_FIRST = (
    Activity.RUNS,
    Activity.WAITS_TO_WRITE,
    Activity.WAITS_FOR_INPUT,
    Activity.UNKNOWN,
    Activity.WAITS,
    Activity.STOPPED,
)
"""Activities by precedence: a process with several threads has the first that any of them shows."""


def activity_of(pids: Iterable[int]) -> Activity:
    """Return what the processes of a bot are doing, taken together."""
    found: set[Activity | None] = set()
    looked = 0
    for pid in pids:
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            looked += 1
            if looked > MOST_THREADS:
                break
            found.add(_of_thread(f"/proc/{pid}/task/{thread}", is_main=thread == str(pid)))
    return next((activity for activity in _FIRST if activity in found), Activity.UNKNOWN)


def _of_thread(folder: str, *, is_main: bool) -> Activity | None:
    state = stat_fields(read_file(f"{folder}/stat"))[:1]
    if state in ([b"R"], [b"D"]):
        return Activity.RUNS
    if state in ([b"T"], [b"t"]):
        return Activity.STOPPED
    if state != [b"S"]:
        return None
    place = read_file(f"{folder}/wchan").decode("ascii", "replace")
    words = read_file(f"{folder}/syscall").decode("ascii", "replace").split()
    if not words or not words[0].isdigit():
        return Activity.UNKNOWN
    number, *arguments = int(words[0]), *(int(word, 16) for word in words[1:7])
    if "pipe_read" in place:
        return Activity.WAITS_FOR_INPUT if arguments[0] == 0 else Activity.WAITS
    if "pipe_write" in place:
        return Activity.WAITS_TO_WRITE
    if "poll" in place and is_main and not (number in _COUNTS and arguments[_COUNTS[number]] == 0):
        return Activity.WAITS_FOR_INPUT if _is_endless(number, arguments) else Activity.UNKNOWN
    return Activity.WAITS


def _is_endless(number: int, arguments: list[int]) -> bool:
    if number in _TIMEOUTS:
        return arguments[_TIMEOUTS[number]] & WITHOUT_END == WITHOUT_END
    return number in _POINTERS and arguments[_POINTERS[number]] == 0
