"""Measure how fast a machine is, and how long it keeps a program waiting, by a fixed piece of work.

With `--calibrate` the clocks of a game are scaled by it: on a machine that is half as fast as the one where the league
began, bots have twice the time.
"""

import hashlib
import os
import statistics
import time

import msgspec

from arena.game.time_control import LEAST_PERCENT, MOST_PERCENT, TimeControl
from arena.league.executor.task import GameTask
from arena.play.machine import TENTH_US, ms_text, percent_of, told_us

TIMES = 15
ROUNDS = 50_000
MOST_SLOWER = 2.0
"""A machine that takes this many times longer than the arena's own is too slow for the same clocks."""


class Calibration(msgspec.Struct, frozen=True):
    """Microseconds of the work, and the median of those that it waited for a CPU."""

    work_us: int
    late_us: int


def measure() -> Calibration:
    taken, late = [], []
    for _ in range(TIMES):
        begun, used = time.perf_counter_ns(), time.thread_time_ns()
        _work()
        wall, cpu = time.perf_counter_ns() - begun, time.thread_time_ns() - used
        taken.append(cpu)
        late.append(max(0, wall - cpu))
    return Calibration(max(1, min(taken) // 1000), int(statistics.median(late)) // 1000)


def _work() -> str:
    number, counts, digest = 1, dict[int, int](), hashlib.sha256()
    for _ in range(ROUNDS):
        number = (number * 1103515245 + 12345) % 2**31
        key = number % 251
        counts[key] = counts.get(key, 0) + 1
        if key == 0:
            digest.update(str(sorted(counts.items())).encode())
    return digest.hexdigest()


def load_now() -> float:
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def reference_us() -> int:
    return max(TENTH_US, told_us(measure().work_us))


def scaled_task(task: GameTask, percent: int | None) -> GameTask:
    if percent is None:
        return task
    first, *second = (msgspec.structs.replace(game, time_percent=percent) for game in task.games)
    return msgspec.structs.replace(task, spec=first, then=second[0] if second else None)


def unfit(here: Calibration, there: Calibration, time: TimeControl) -> str:
    """Return why a machine cannot play with the clocks of the arena's machine; an empty string if it can."""
    slower = there.work_us / here.work_us
    if slower > MOST_SLOWER:
        return (
            f"it is too slow: a piece of work that takes {ms_text(here.work_us)} on the arena's machine takes "
            f"{ms_text(there.work_us)} there, more than {MOST_SLOWER:g} times as long (--calibrate gives slower "
            "machines more time)"
        )
    return _too_loaded(there, time)


def unfit_scaled(reference: int, there: Calibration, time: TimeControl) -> str:
    percent = percent_of(there.work_us, reference)
    if not LEAST_PERCENT <= percent <= MOST_PERCENT:
        return (
            f"it is too {'slow' if percent > MOST_PERCENT else 'fast'}: a piece of work that took {ms_text(reference)} "
            f"where the league began takes {ms_text(there.work_us)} there, and --calibrate scales clocks to "
            f"{LEAST_PERCENT}% to {MOST_PERCENT}%"
        )
    return _too_loaded(there, time.scaled(percent))


def _too_loaded(there: Calibration, time: TimeControl) -> str:
    if time.move_ms is None:
        return ""
    allowed = time.move_ms + time.margin_ms
    if there.late_us <= allowed * 1000:
        return ""
    waits = there.late_us / 1000
    return f"it is too loaded: a program waits {waits:.0f} ms for a CPU there, and a bot has {allowed} ms for a move"
