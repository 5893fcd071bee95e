"""How fast a machine is, and how long it keeps a program waiting, by a fixed piece of work.

The work is plain Python, as most of what an arena does, and of bots in Python; it says little of what a bot gains by a
processor's wide registers. It is done several times: the quickest says what the machine can do, the median delay what
its other work takes away.
"""

import hashlib
import os
import statistics
import time

import msgspec

TIMES = 7
ROUNDS = 12_000
"""Some 25 ms of work on a processor of 2023."""
MOST_SLOWER = 2.0
"""A machine that takes more than this many times as long as the arena's own is too slow for the same clocks."""


class Calibration(msgspec.Struct, frozen=True):
    """What was measured: the microseconds that the work takes, and by how many it is late, in the median, where it does
    not get a CPU for all of its time."""

    work_us: int
    late_us: int


def measure() -> Calibration:
    """Do the work in this thread and measure it."""
    taken, late = [], []
    for _ in range(TIMES):
        begun, used = time.perf_counter_ns(), time.thread_time_ns()
        _work()
        wall, cpu = time.perf_counter_ns() - begun, time.thread_time_ns() - used
        taken.append(cpu)
        late.append(max(0, wall - cpu))
    return Calibration(max(1, min(taken) // 1000), int(statistics.median(late)) // 1000)


def _work() -> str:
    """The same for everybody: dictionaries, integers, strings and a little hashing."""
    number, counts, digest = 1, dict[int, int](), hashlib.sha256()
    for _ in range(ROUNDS):
        number = (number * 1103515245 + 12345) % 2**31
        key = number % 251
        counts[key] = counts.get(key, 0) + 1
        if key == 0:
            digest.update(str(sorted(counts.items())).encode())
    return digest.hexdigest()


def load_now() -> float:
    """The processes that have run or wanted to in the last minute, for each CPU."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def unfit(here: Calibration, there: Calibration, move_ms: int | None) -> str:
    """Why a machine cannot play where the arena is one that was measured so; empty if it can. `move_ms` is the shortest
    time that a bot has for a move with what is forgiven; None if only whole games are bounded."""
    slower = there.work_us / here.work_us
    if slower > MOST_SLOWER:
        return (
            f"it is too slow: a piece of work that takes {here.work_us / 1000:.1f} ms on the arena's machine takes "
            f"{there.work_us / 1000:.1f} ms there, more than {MOST_SLOWER:g} times as long"
        )
    if move_ms is not None and there.late_us > move_ms * 1000:
        return (
            f"it is too loaded: a program waits {there.late_us / 1000:.0f} ms for a CPU there, and a bot has "
            f"{move_ms} ms for a move"
        )
    return ""
