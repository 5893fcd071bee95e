"""The plan of a cluster, the messages between the arena and its dask workers, and how fast a machine is.

A fixed piece of work shows how fast a machine is, and how long it keeps a program waiting. With `--calibrate` the
clocks of a game are scaled by it: on a machine that is half as fast as the one where the league began, bots have twice
the time.
"""

import hashlib
import os
import shlex
import statistics
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec

from arena.bots.limits import BuildLimits
from arena.bots.spec import BotSpec
from arena.game.time_control import LEAST_PERCENT, MOST_PERCENT, TimeControl
from arena.league.executor.task import Failed, GameTask, Notice, NotPlayed
from arena.play.machine import TENTH_US, ms_text, percent_of, told_us
from arena.processes.runnable import PlaySettings
from arena.version import __version__

PRELOAD = "arena.league.executor.cluster.preload"
TIMES = 7
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


@dataclass(frozen=True)
class Tls:
    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True)
class ClusterPlan:
    """The cluster for the games: the workers of the scheduler at `address`, or `local` workers on this machine.

    Each worker plays at most `jobs` games at once (0: its threads); `patience` is in seconds.
    """

    address: str
    local: int
    tls: Tls | None
    jobs: int
    build: BuildLimits
    patience: float
    time: TimeControl = field(default_factory=TimeControl)
    is_calibrated: bool = False
    reference_us: int | None = None
    """The calibration that clocks are scaled by; None until it is known, and where clocks are not scaled."""

    @property
    def name(self) -> str:
        return f"local:{self.local}" if self.local else self.address

    @property
    def worker_command(self) -> str:
        words = ["dask", "worker", self.address]
        if self.tls:
            files = {"--tls-ca-file": self.tls.ca, "--tls-cert": self.tls.cert, "--tls-key": self.tls.key}
            words += [word for option, file in files.items() for word in (option, str(file))]
        return shlex.join([*words, "--preload", PRELOAD])


@dataclass(frozen=True)
class SentBot:
    """A bot as workers get it: the digest of its pack, if it is not broken, and its file or folder in there."""

    bot: BotSpec
    key: str = ""
    file: str = ""


@dataclass(frozen=True)
class RunInfo:
    """The settings of all games of a run, with the bots apart. With a `reference_us` workers scale clocks."""

    id: str
    settings: PlaySettings
    bots: tuple[SentBot, ...]
    jobs: int
    build: BuildLimits
    reference_us: int | None


class Prepared(msgspec.Struct, frozen=True):
    calibration: Calibration


class Refused(msgspec.Struct, frozen=True):
    why: str


class Unprepared(msgspec.Struct, frozen=True):
    """The worker does not know the run: its process has been started again."""


class BatchPlayed(msgspec.Struct, frozen=True):
    """The outcome of a batch: records as JSON, other outcomes, the mean duration of a game, the load of each CPU."""

    records: tuple[bytes, ...]
    others: tuple[NotPlayed | Failed | Notice, ...]
    seconds: float
    load: float


class WorkerAnswer(msgspec.Struct, frozen=True):
    worker: str
    body: Prepared | Refused | Unprepared | BatchPlayed


@lru_cache(maxsize=1)
def this_arena() -> str:
    """Return the version and a digest of the source. Only equal programs play together."""
    package = Path(__file__).parents[3]
    whole = hashlib.sha256()
    for folder in (package, package.parent / "protocol"):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".toml"}):
            parts = path.relative_to(folder.parent).parts
            if parts[1] not in {"samples", "templates"}:
                whole.update(f"{'/'.join(parts)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"{__version__} {whole.hexdigest()[:16]}"
