"""Watch all processes of one bot for too much use, at a cost that the bot cannot raise.

A look takes 15 us a process. It covers only a few more processes and threads than the bot may have; other tasks run in
between; and the next look waits fifty times its duration. Where a control group keeps the limits, only the arena's
orphans are looked at.

Open files are counted where there are enough processes to have too many: each process can register an event (epoll)
once per descriptor, and with hundreds of thousands of registrations one event blocks the machine for a tenth of a
second.

Memory is first added up plainly, with shared memory counted for each process. Only if that is too much, and no single
process is, the kernel is asked for the exact sum. That takes milliseconds a process, so it is done in a thread, for one
bot at a time, and the next time waits twenty times its duration. Meanwhile a bot could unshare its memory up to the
plain sum, which is limited, too.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence

import trio

from arena.bots.limits import Limits, size_text
from arena.game.faults import Cause, Excess
from arena.sandbox import reaper
from arena.sandbox.procfs import EVERYTHING, Process, descriptors, fair_resident, own_memory, walk
from arena.sandbox.rlimits import OPEN_FILES

WATCH_SECONDS = 0.05
"""The time between two looks at a bot's processes. A bot can take some 60 MB of memory in that time."""
WATCH_SHARE = 50
"""The shortest time between two looks, as a multiple of the processor time of the last one."""
STEP = 8
"""Processes that are looked at before other tasks run."""
RESTLESS_SECONDS = 0.002
"""The time to the next look while a stopped process runs."""
EXACT_SECONDS = 0.25
EXACT_SHARE = 20
"""The shortest time between two exact readings of memory, and the same as a multiple of the time of the last one."""
LEAST_OPEN, OPEN_SHARE = 1024, 16
"""Open files that a bot's processes may have together: this many, or more for each process that it may have."""
SHARED_MOST = 8
"""The limit on a bot's memory, as a multiple, if shared memory is counted for each process."""

_READING: "trio.lowlevel.RunVar[trio.CapacityLimiter]" = trio.lowlevel.RunVar("reading")

OnLook = Callable[[Sequence[Process]], bool]
"""Receives the processes that a look has found; returns whether the next look has to be soon."""


class Watch:
    """The watch over one bot. `is_counted`: the kernel keeps the limits; `helpers` are the sandbox's processes."""

    def __init__(self, leader: int, limits: Limits | None, helpers: int, on_look: OnLook, *, is_counted: bool) -> None:
        self._leader = leader
        self._limits = limits
        self._helpers = helpers
        self._on_look = on_look
        self._is_counted = is_counted
        self._most = limits.processes + helpers if limits else EVERYTHING
        self.processes: list[Process] = []
        self.peak_memory = 0
        """The largest memory in bytes of all processes together that a look has found."""
        self.excess: Excess | None = None
        """The limit that a look has found exceeded."""
        self._is_soon = False
        self._wake = trio.Event()
        self._is_shared = False
        """Whether the bot uses too much memory unless its processes share some of it."""
        self._exact_after = -math.inf
        self._is_reading = False

    def hurry(self) -> None:
        self._is_soon = True
        self._wake.set()

    def begin_anew(self) -> None:
        """Reset the peak for another game; the limits hold for both games together."""
        self.peak_memory = sum(process.resident for process in self.processes)

    def report(self, excess: Excess) -> None:
        self.excess = self.excess or excess
        self._wake.set()

    async def until_over(self) -> Excess:
        """Look at the processes until the bot exceeds a limit; return the excess."""
        spent = 0.0
        while not self.excess:
            spent = await self._next_look(spent)
            if self._is_shared and trio.current_time() > self._exact_after:
                async with trio.open_nursery() as nursery:
                    self._is_reading = True
                    nursery.start_soon(self._read_exactly)
                    while self._is_reading and not self.excess:
                        spent = await self._next_look(spent)
                    nursery.cancel_scope.cancel()
        return self.excess

    async def _next_look(self, spent: float) -> float:
        """Look when it is time to; `spent` is the processor time of the last look. Returns that of this one."""
        await self._pause(spent)
        return spent if self.excess else await self.look_in_steps()

    async def _pause(self, spent: float) -> None:
        earliest = trio.current_time() + WATCH_SHARE * spent
        if not self._is_soon:
            with trio.move_on_after(max(WATCH_SECONDS, WATCH_SHARE * spent)):
                await self._wake.wait()
        self._wake = trio.Event()
        if self._is_soon and not self.excess:
            self._is_soon = False
            await trio.sleep_until(max(earliest, trio.current_time() + RESTLESS_SECONDS))

    async def look_in_steps(self) -> float:
        """Look once, in steps between which other tasks run. Returns the processor time that it took."""
        spent = 0.0
        begun = time.thread_time()
        for _ in self._steps():
            spent += time.thread_time() - begun
            await trio.lowlevel.checkpoint()
            begun = time.thread_time()
        return spent + time.thread_time() - begun

    def look(self) -> str:
        """Look once; return the excess in words, or an empty string. Shared memory is not examined."""
        for _ in self._steps():
            pass
        return self.excess.words if self.excess else ""

    def _steps(self) -> Iterator[None]:
        reaper.sweep()
        if self._is_counted:
            return
        found: list[Process] = []
        for process in walk(reaper.roots(self._leader), self._most):
            found.append(process)
            if len(found) % STEP == 0:
                yield
        self.processes = found
        self.excess = self.excess or self._too_many() or self._too_much() or self._too_many_open()
        self._is_soon = self._on_look(found) or self._is_soon

    def _too_many(self) -> Excess | None:
        processes = sum(process.threads or 1 for process in self.processes) - self._helpers
        if self._limits is None or processes <= self._limits.processes:
            return None
        words = f"had {processes} processes and threads; {self._limits.processes} are allowed"
        return Excess(Cause.PROCESSES, words)

    def _too_many_open(self) -> Excess | None:
        if self._limits is None or len(self.processes) * OPEN_FILES <= LEAST_OPEN:
            return None
        allowed = max(LEAST_OPEN, OPEN_SHARE * self._limits.processes)
        opened = sum(descriptors(process.pid, OPEN_FILES) for process in self.processes if not process.is_dead)
        if opened <= allowed:
            return None
        return Excess(Cause.FILES, f"had {opened} open files, all its processes together; {allowed} are allowed")

    def _too_much(self) -> Excess | None:
        resident = sum(process.resident for process in self.processes)
        most = self._limits.memory if self._limits else EVERYTHING
        self._is_shared = False
        if resident <= most:
            self.peak_memory = max(self.peak_memory, resident)
            return None
        if resident > most * SHARED_MOST:
            return Excess(
                Cause.MEMORY,
                f"used {resident >> 20}M of memory, with what its processes share counted for each of them; "
                f"{SHARED_MOST} times {size_text(most)} are allowed",
            )
        largest = max((own_memory(each.pid) for each in self.processes if each.resident > most), default=0)
        self._is_shared = largest <= most
        return None if self._is_shared else self._over_memory(largest)

    def _over_memory(self, used: int) -> Excess:
        assert self._limits is not None
        self.peak_memory = max(self.peak_memory, used)
        allowed = size_text(self._limits.memory)
        words = f"used {used >> 20}M of memory, all its processes together; {allowed} are allowed"
        return Excess(Cause.MEMORY, words)

    async def _read_exactly(self) -> None:
        assert self._limits is not None
        try:
            limiter = _READING.get()
        except LookupError:
            limiter = trio.CapacityLimiter(1)
            _READING.set(limiter)
        pids = [process.pid for process in self.processes if not process.is_dead]
        used, spent = await trio.to_thread.run_sync(_fair_memory, pids, abandon_on_cancel=True, limiter=limiter)
        if used > self._limits.memory:
            self.report(self._over_memory(used))
        self.peak_memory = max(self.peak_memory, used)
        self._exact_after = trio.current_time() + max(EXACT_SECONDS, EXACT_SHARE * spent)
        self._is_reading = False


def _fair_memory(pids: Sequence[int]) -> tuple[int, float]:
    """Return the memory of these processes, and the seconds that reading it took in this thread."""
    begun = time.thread_time()
    return sum(map(fair_resident, pids)), time.thread_time() - begun
