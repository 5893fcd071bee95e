"""What a cluster costs and gains: `python benchmarks/cluster.py [overhead|speed-up|queue|steps|long]`; without a word
all but `long`, which takes minutes.

The leagues are run as users run them, with sample bots under `duel`. All is measured between two moments of a league
that is under way, so that no start counts, and leagues that are compared take turns. On a machine that has other work
look at processor time: the clock says what others took.
"""

import argparse
import contextlib
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple, Self

import psutil

from arena.bots.samples import sample_file
from arena.game.record import GameRecord, encode_record
from arena.game.recorded import spec_of
from arena.game.verdict import GameResult
from arena.league.executor.cluster.expected import checked_record
from arena.league.executor.cluster.local_cluster import QUIET
from arena.league.store import Store

BOTS = ("drifter", "raider", "warden")
ARENA = [sys.executable, "-m", "arena", "league"]
COMMON = ("--rules", "duel", "--time", "60s/move", "--start-time", "60s")
CANNED = Path(__file__).parent / "workers" / "canned.py"
PAIRS = 6
"""Games of a round of three bots."""
WARM_UP = 24
"""Games before the first moment: until then batches are small, and processes are started."""
SPARE = 200
"""Games that are still to be played at the second moment: until then all have something to do."""
CLOSE_TO = 85
"""Plies of a game that is taken for all."""
WAITING = """
import time


class Waiting({bot}):
    def move(self, view: View) -> str:
        time.sleep({seconds})
        return super().move(view)


run(Waiting)
"""
"""What makes of a sample bot one that waits before each move, and so needs little of a CPU for its time: by that it can
be seen what more workers gain where there are no CPUs to spare."""
RUN = re.compile(r'if __name__ == "__main__":\n    run\((\w+)\)\n')
WAITING_WARM_UP = 6
LOOK_SECONDS = 0.05
FOREVER = 3600.0
ROLES = {
    "dask_scheduler": "scheduler",
    "cluster.gate": "gate",
    "dask_worker": "dask worker",
    "cluster.station_main": "station",
    "executor.worker_main": "workers",
}
OVERHEAD = ("arena", "gate", "scheduler", "dask worker", "station")
"""Who has work on a cluster beside the processes that play, which are the same without."""
PROGRESS = re.compile(rb"\[(\d+)[/\]]")
STEPS = 10


class Look(NamedTuple):
    """What is seen of a league at a moment: the clock, the games that are over, and by role processor time in seconds
    and resident memory in KiB."""

    wall: float
    games: int
    cpu: dict[str, float]
    memory: dict[str, int]

    def since(self, before: "Look") -> "Cost":
        games = self.games - before.games
        cpu = {role: (used - before.cpu.get(role, 0.0)) / games for role, used in self.cpu.items()}
        return Cost((self.wall - before.wall) / games, cpu)


class Cost(NamedTuple):
    """What a game costs: seconds by the clock, and of processor time by role."""

    wall: float
    cpu: dict[str, float]

    @property
    def overhead(self) -> float:
        """Seconds of processor time of all but the processes that play."""
        return sum(self.cpu.get(role, 0.0) for role in OVERHEAD)

    def __str__(self) -> str:
        told = ", ".join(f"{role} {1000 * self.cpu[role]:.2f}" for role in (*OVERHEAD, "workers") if role in self.cpu)
        return f"{1000 * self.wall:.1f} ms by the clock; processor: {told}"


class League:
    """A league that is under way, from the `with` statement to its end, at which it is killed. `others` are processes
    beside its own that have a role in it."""

    def __init__(self, games: int, *options: str, others: Sequence[int] = (), bots: Sequence[str] = BOTS) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.store = Path(self._folder.name, "l.sqlite")
        rounds = max(1, round(games / PAIRS))
        line = [*ARENA, *bots, *COMMON, "--rounds", str(rounds), "--store", str(self.store), *options]
        self._popen = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self._others = others
        self._said = b""
        self.games = 0
        assert self._popen.stderr is not None
        threading.Thread(target=self._hear, args=(self._popen.stderr,), daemon=True).start()

    def _hear(self, stderr: IO[bytes]) -> None:
        for line in stderr:
            if match := PROGRESS.match(line):
                self.games = int(match[1])
            else:
                self._said = line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(self._popen.pid).children(recursive=True)
            self._popen.kill()
            psutil.wait_procs(children, timeout=10)
        self._popen.wait()
        self._folder.cleanup()

    def until(self, games: int) -> Look:
        """Wait until so many games are over, and look."""
        return self.until_true(lambda: self.games >= games)

    def until_true(self, true: Callable[[], bool], seconds: float = FOREVER) -> Look:
        deadline = time.perf_counter() + seconds
        while not true() and time.perf_counter() < deadline and self._popen.poll() is None:
            time.sleep(LOOK_SECONDS)
        if self._popen.poll() not in (None, 0):
            raise SystemExit(f"a league ended with exit code {self._popen.returncode}: {self._said.decode()}")
        return self.look()

    def look(self) -> Look:
        cpu, memory = Counter[str](), Counter[str]()
        games, wall = self.games, time.perf_counter()
        for process, role in self._roles():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                cpu[role] += times.user + times.system  # type: ignore[assignment]
                memory[role] += process.memory_info().rss >> 10
        return Look(wall, games, dict(cpu), dict(memory))

    def _roles(self) -> Iterator[tuple[psutil.Process, str]]:
        """The processes that have a role in it: all but its bots."""
        with contextlib.suppress(psutil.Error):
            league = psutil.Process(self._popen.pid)
            yield league, "arena"
            others = [psutil.Process(number) for number in self._others]
            for process in (*league.children(recursive=True), *others):
                with contextlib.suppress(psutil.Error):
                    words = " ".join(process.cmdline())
                    role = next((role for mark, role in ROLES.items() if mark in words), None)
                    if role:
                        yield process, role


def per_game(games: int, *options: str, bots: Sequence[str] = BOTS, warm_up: int = WARM_UP) -> Cost:
    """What a game of a league under way costs, over so many games, after the first ones."""
    with League(warm_up + games + SPARE, *options, bots=bots) as league:
        first = league.until(warm_up)
        return league.until(first.games + games).since(first)


# --- the parts --------------------------------------------------------------------------------------------------------


def overhead(times: int, games: int) -> None:
    """The same league with and without a cluster of one worker, by turns."""
    found: dict[str, list[Cost]] = {"-j 1": [], "-j 1 --cluster local:1": []}
    for _, options in itertools.product(range(times), found):
        found[options].append(per_game(games, *options.split()))
        print(f"  {options + ':':24}{found[options][-1]}", flush=True)
    plain, far = found.values()
    clock = [1000 * (two.wall - one.wall) for one, two in zip(plain, far, strict=True)]
    used = [1000 * (two.overhead - one.overhead) for one, two in zip(plain, far, strict=True)]
    print(f"  overhead: {_spread(used)} ms of processor time a game, {_spread(clock)} ms by the clock")


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def speed_up(times: int, games: int, workers: Sequence[int], wait_ms: float) -> None:
    """Leagues on 1, 2 and more workers that play one game at a time, and on as many worker processes without a
    cluster; the bots wait so long for each move, or where they wait for nothing need a CPU for each worker."""
    found: dict[tuple[int, bool], list[float]] = {key: [] for key in itertools.product(workers, (False, True))}
    with tempfile.TemporaryDirectory() as folder:
        bots = [_waiting(Path(folder, f"{name}.py"), wait_ms) for name in BOTS] if wait_ms else BOTS
        for _, (count, is_far) in itertools.product(range(times), found):
            options = ("-j", str(count), *(("--cluster", f"local:{count}") if is_far else ()))
            cost = per_game(games, *options, bots=bots, warm_up=WAITING_WARM_UP * count)
            found[count, is_far].append(1 / cost.wall)
            print(f"  {' '.join(options) + ':':25} {found[count, is_far][-1]:.2f} games a second", flush=True)
    for (count, is_far), rates in found.items():
        gain = statistics.median(rates) / statistics.median(found[workers[0], is_far])
        name = f"--cluster local:{count}" if is_far else f"-j {count}"
        print(f"  {name + ':':19} {_spread(rates)} games a second, {gain:.2f} times as many as with {workers[0]}")


def _waiting(path: Path, wait_ms: float) -> str:
    source = sample_file(path.stem).read_text(encoding="utf-8")
    path.write_text(
        RUN.sub(lambda match: WAITING.format(bot=match[1], seconds=wait_ms / 1000), source), encoding="utf-8"
    )
    return str(path)


def queue(planned: Sequence[int], seconds: float) -> None:
    """The memory of leagues of these numbers of games, as the first is over and some time later."""
    for games in planned:
        with League(games, "-j", "1", "--cluster", "local:1") as league:
            first = league.until(1)
            later = league.until_true(lambda: False, seconds)
        print(f"  {round(games / PAIRS) * PAIRS} games:", flush=True)
        for look in (first, *([later] if later.memory.get("arena") else [])):  # it may be over
            print(f"    {look.games:5} played: {_memory(look)}", flush=True)


def _memory(look: Look) -> str:
    return ", ".join(f"{role} {look.memory.get(role, 0) / 1024:.1f}" for role in OVERHEAD) + " MiB"


def long(games: int) -> None:
    """A long league on a worker that answers at once: what grows with each game, and what a game costs on the way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "game.json").write_bytes(encode_record(some_game()))
        with (
            scheduler_and_worker(folder) as (address, pids),
            League(games + SPARE, "-j", "1", "--cluster", address, others=pids) as league,
        ):
            looks = []
            for step in range(STEPS + 1):
                looks.append(league.until(max(1, games * step // STEPS)))
                print(f"  {looks[-1].games:7} games: {_memory(looks[-1])}", flush=True)
    begun, half, end = looks[1], looks[STEPS // 2], looks[-1]
    for role in OVERHEAD:
        grown = (end.memory.get(role, 0) - half.memory.get(role, 0)) * 1024 / (end.games - half.games)
        print(f"  {role} grows by {grown:.0f} bytes a game in the second half")
    cost = end.since(begun)
    print(f"  a game: {cost}")
    print(f"  {1 / cost.wall:.0f} games a second")


@contextlib.contextmanager
def scheduler_and_worker(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """A scheduler and a canned worker: the address, and the two processes."""
    file, environment = folder / "scheduler.json", {**os.environ, **QUIET, "ARENA_CANNED": str(folder / "game.json")}
    environment["ARENA_CLUSTER_CACHE"] = str(folder / "cache")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": folder}
    place = ["--host", "tcp://127.0.0.1:0", "--no-dashboard", "--scheduler-file", str(file)]
    alone = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", "--host", "127.0.0.1"]
    scheduler = _popen("distributed.cli.dask_scheduler", place, quiet)
    worker = None
    try:
        address = ""
        while not address:
            time.sleep(LOOK_SECONDS)
            with contextlib.suppress(OSError, ValueError, KeyError):
                address = json.loads(file.read_bytes())["address"]
        worker = _popen("distributed.cli.dask_worker", [address, *alone, "--preload", str(CANNED)], quiet)
        yield address, (scheduler.pid, worker.pid)
    finally:
        for popen in filter(None, (worker, scheduler)):
            popen.terminate()
            popen.wait()


def _popen(module: str, arguments: Sequence[str], how: Mapping[str, object]) -> "subprocess.Popen[bytes]":
    line = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(line, **how)  # type: ignore[call-overload, no-any-return]


def some_games(games: int) -> list[GameRecord]:
    """Games of the league."""
    with League(games, "-j", "1") as league:
        league.until(games)
        with Store(league.store, create=False) as store:
            return [record for number in store.numbers() if (record := store.stored(number).record)]


def some_game() -> GameRecord:
    """A game of usual length that somebody has won by the rules."""
    games = [game for game in some_games(60) if game.verdict.result in (GameResult.RED, GameResult.BLUE)]
    played = [game for game in games if not game.verdict.reason.is_forfeit]
    return min(played, key=lambda game: abs(len(game.actions) - CLOSE_TO))


def steps(times: int, games: int) -> None:
    """What the arena does with each game that comes, by itself, in one thread."""
    records = some_games(games)
    lines = [encode_record(record) for record in records]
    plies = statistics.fmean(len(record.actions) for record in records)
    size = statistics.fmean(map(len, lines))
    print(f"  {len(records)} games of {plies:.0f} plies and {size / 1000:.1f} KB in the mean")
    judged, stored = [], []
    for _ in range(times):
        wanted = {record.id: spec_of(record) for record in records}
        begun = time.process_time()
        for line in lines:
            checked_record(line, wanted)
        judged.append(1000 * (time.process_time() - begun) / len(records))
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "s.sqlite"), create=True) as store:
            begun, clock = time.process_time(), time.perf_counter()
            for batch in _batched(records, 20):
                store.add_all(batch)
            stored.append(1000 * (time.process_time() - begun) / len(records))
            rate = len(records) / (time.perf_counter() - clock)
        print(
            f"  judged again in {judged[-1]:.2f} ms of processor time a game, stored in batches of 20 in "
            f"{stored[-1]:.2f} ms; {rate:.0f} games a second are stored by the clock",
            flush=True,
        )
    both = 1000 / (statistics.median(judged) + statistics.median(stored))
    print(f"  both on one CPU: {both:.0f} games a second")


def _batched(records: Sequence[GameRecord], size: int) -> Iterator[Sequence[GameRecord]]:
    return (records[start : start + size] for start in range(0, len(records), size))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", nargs="*", choices=["overhead", "speed-up", "queue", "long", "steps", []])
    parser.add_argument("--times", type=int, default=3, help="how often each is measured")
    parser.add_argument("--games", type=int, help="over how many games (default: 240; long: 100,000)")
    parser.add_argument("--workers", type=int, nargs="+", default=(1, 2, 4), help="of the speed-up")
    parser.add_argument("--wait", type=float, default=20, metavar="MS", help="of the bots of the speed-up, for a move")
    parser.add_argument("--planned", type=int, nargs="+", default=(60, 10_000, 100_000), help="games of the queues")
    parser.add_argument("--seconds", type=float, default=20, help="how long each queue is looked at")
    asked = parser.parse_args()
    games = asked.games or 240
    parts: dict[str, Callable[[], None]] = {
        "overhead": lambda: overhead(asked.times, games),
        "speed-up": lambda: speed_up(asked.times, asked.games or 40, asked.workers, asked.wait),
        "queue": lambda: queue(asked.planned, asked.seconds),
        "steps": lambda: steps(asked.times, games),
        "long": lambda: long(asked.games or 100_000),
    }
    for name, part in parts.items():
        if name in asked.what or (not asked.what and name != "long"):
            print(f"{name}: {(part.__doc__ or '').strip()}", flush=True)
            part()


if __name__ == "__main__":
    main()
