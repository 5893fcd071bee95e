"""How long the machine has kept a bot from a CPU, and whether that is why the bot is late.

Linux counts for each thread how long it ran and how long it was ready to run and had no CPU. A thread also waits while
the bot's own other threads run, so what those used is taken off: a bot that starves itself has not been delayed.
"""

from collections.abc import Mapping
from typing import NamedTuple

Threads = Mapping[int, tuple[int, int]]
"""By thread: microseconds on a CPU, and microseconds of waiting for one."""


class CpuTimes(NamedTuple):
    """What a bot had used of the CPUs at a moment. `used_us` is of all processes, and None if only the first thread was
    looked at."""

    used_us: int | None
    threads: Threads


class Delay(NamedTuple):
    """What came of a bot's turn, in microseconds: the processor time of all its processes together, and how long one of
    its threads waited for a CPU that other programs had."""

    used_us: int
    waited_us: int

    def excuses(self, taken_us: float, limit_us: float) -> bool:
        """Return whether the bot would have kept its limit without waiting, and used less than its limit."""
        return self.used_us < limit_us and taken_us - self.waited_us < limit_us


def delay_between(before: Threads, after: Threads, used_us: int) -> Delay:
    """Return the longest wait of a thread, less what the bot's other threads used. Threads that are not in both do not
    count."""
    waits = [0]
    for thread in before.keys() & after.keys():
        ran, waited = (after[thread][kind] - before[thread][kind] for kind in (0, 1))
        waits.append(waited - max(0, used_us - ran))
    return Delay(used_us, max(waits))
