"""What a cluster costs and gains: `python benchmarks/cluster.py [overhead|speed-up|memory]`; without a word, all three.

The leagues are run as users run them, with sample bots under `duel`. What a league takes is the difference between a
long and a short one, so that no start counts; the two that are compared take turns, and the least of several counts.
"""

import argparse
import contextlib
import itertools
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

ARENA = [sys.executable, "-m", "arena", "league", "drifter", "raider", "warden"]
COMMON = ["--rules", "duel", "--time", "60s/move", "--start-time", "60s"]
PAIRS = 6
"""Games of a round."""
SHORT, LONG = 5, 25
Lengths = tuple[int, int]
LOOK_SECONDS = 0.1
MEMORY_SECONDS = 20
MEMORY_LOOKS = 4
ROLES = {
    "dask_scheduler": "scheduler",
    "cluster.gate": "gate",
    "dask_worker": "dask worker",
    "cluster.station": "station",
    "executor.worker_main": "workers",
}


class Cost(NamedTuple):
    """Seconds of a league by the clock, and of processor time by role, as last seen before the end of each process."""

    wall: float
    cpu: dict[str, float]


def cost(rounds: int, *options: str) -> Cost:
    """What a new league of so many rounds takes."""
    with tempfile.TemporaryDirectory() as folder:
        line = [*ARENA, *COMMON, "--rounds", str(rounds), "--store", f"{folder}/l.sqlite", *options]
        begun = time.perf_counter()
        league = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen: dict[int, tuple[str, float]] = {}
        while league.poll() is None:
            for process, role in roles(league.pid):
                with contextlib.suppress(psutil.Error):
                    times = process.cpu_times()
                    seen[process.pid] = role, times.user + times.system
            time.sleep(LOOK_SECONDS)
        if league.returncode:
            raise SystemExit(f"a league ended with exit code {league.returncode}")
        cpu: Counter[str] = Counter()
        for role, used in seen.values():
            cpu[role] += used  # type: ignore[assignment]
        return Cost(time.perf_counter() - begun, dict(cpu))


def per_game(lengths: Lengths, *options: str) -> Cost:
    """What each further game takes, by leagues of these numbers of rounds."""
    short, long = (cost(rounds, *options) for rounds in lengths)
    games = (lengths[1] - lengths[0]) * PAIRS
    cpu = {role: (used - short.cpu.get(role, 0.0)) / games for role, used in long.cpu.items()}
    return Cost((long.wall - short.wall) / games, cpu)


def overhead(times: int, lengths: Lengths) -> None:
    plain: list[Cost] = []
    far: list[Cost] = []
    for _ in range(times):
        for found, options in ((plain, list[str]()), (far, ["--cluster", "local:1"])):
            found.append(per_game(lengths, "-j", "1", *options))
            told = ", ".join(f"{role} {1000 * used:.1f}" for role, used in sorted(found[-1].cpu.items()))
            print(
                f"  {' '.join(options) or '-j 1'}: {1000 * found[-1].wall:.1f} ms a game; processor: {told}", flush=True
            )
    walls = [min(one.wall for one in found) for found in (plain, far)]
    used = [min(sum(one.cpu.values()) for one in found) for found in (plain, far)]
    clock, processor = (1000 * (two[1] - two[0]) for two in (walls, used))
    print(f"  overhead: {clock:.1f} ms by the clock, {processor:.1f} ms of processor time")


def speed_up(times: int, lengths: Lengths) -> None:
    workers = (1, 2, 4)
    found: dict[int, list[float]] = {count: [] for count in workers}
    for _, count in itertools.product(range(times), workers):
        found[count].append(per_game(lengths, "-j", str(count), "--cluster", f"local:{count}").wall)
    for count, taken in found.items():
        rate = 1 / min(taken)
        print(f"  {count} workers: {rate:6.1f} games a second, {min(found[1]) / min(taken):.2f} times as many as one")


def memory() -> None:
    for rounds in (10, 16_667):
        with tempfile.TemporaryDirectory() as folder:
            line = [*ARENA, *COMMON, "--rounds", str(rounds), "--store", f"{folder}/l.sqlite"]
            league = subprocess.Popen(
                [*line, "--cluster", "local:1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            print(f"  {rounds * PAIRS} games:")
            for _ in range(MEMORY_LOOKS):
                try:
                    league.wait(MEMORY_SECONDS / MEMORY_LOOKS)
                    break
                except subprocess.TimeoutExpired:
                    told = ", ".join(sorted(f"{role} {size} MiB" for role, size in sizes(league.pid)))
                    print(f"    {told}, {games_in(Path(folder, 'l.sqlite'))} KiB stored", flush=True)
            league.kill()
            league.wait()


def roles(pid: int) -> Iterator[tuple[psutil.Process, str]]:
    """The processes of a league that have a role in it: all but its bots."""
    with contextlib.suppress(psutil.Error):
        yield psutil.Process(pid), "arena"
        for process in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                words = " ".join(process.cmdline())
                role = next((role for mark, role in ROLES.items() if mark in words), None)
                if role:
                    yield process, role


def sizes(pid: int) -> Iterator[tuple[str, int]]:
    """The resident memory of these processes, in MiB."""
    for process, role in roles(pid):
        with contextlib.suppress(psutil.Error):
            yield role, process.memory_info().rss >> 20


def games_in(store: Path) -> int:
    """How large a store is, in KiB, with what is not yet in its file."""
    return sum(path.stat().st_size for path in store.parent.glob(f"{store.name}*")) >> 10


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", choices=["overhead", "speed-up", "memory", []])
    parser.add_argument("--times", type=int, default=3, help="how often each is measured")
    parser.add_argument("--rounds", type=int, nargs=2, default=(SHORT, LONG), help="of the short and the long league")
    asked = parser.parse_args()
    lengths = asked.rounds[0], asked.rounds[1]
    parts = {
        "overhead": lambda: overhead(asked.times, lengths),
        "speed-up": lambda: speed_up(asked.times, lengths),
        "memory": memory,
    }
    for name, part in parts.items():
        if not asked.what or name in asked.what:
            print(f"{name}:")
            part()


if __name__ == "__main__":
    main()
