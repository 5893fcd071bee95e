"""The plan of a cluster, and the messages between the arena and its dask workers."""

import hashlib
import shlex
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec

from arena.bots.limits import BuildLimits
from arena.bots.spec import BotSpec
from arena.game.time_control import TimeControl
from arena.league.executor.child_process import WireError
from arena.league.executor.cluster.calibration import Calibration
from arena.league.executor.task import Failed, Notice, NotPlayed, PlaySettings
from arena.version import __version__

PRELOAD = "arena.league.executor.cluster.preload"


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


class Prepared(msgspec.Struct, frozen=True, tag=True):
    calibration: Calibration


class Refused(msgspec.Struct, frozen=True, tag=True):
    why: str


class Unprepared(msgspec.Struct, frozen=True, tag=True):
    """The worker does not know the run: its process has been started again."""


class BatchPlayed(msgspec.Struct, frozen=True, tag=True):
    """The outcome of a batch: records as JSON, other outcomes, the mean duration of a game, the load of each CPU."""

    records: tuple[bytes, ...]
    others: tuple[NotPlayed | Failed | Notice, ...]
    seconds: float
    load: float


class WorkerAnswer(msgspec.Struct, frozen=True):
    worker: str
    body: Prepared | Refused | Unprepared | BatchPlayed


encode = msgspec.msgpack.Encoder().encode
_answer: "msgspec.msgpack.Decoder[WorkerAnswer]" = msgspec.msgpack.Decoder(WorkerAnswer)


def decode_answer(data: object) -> WorkerAnswer:
    if not isinstance(data, bytes):
        raise WireError(f"expected bytes, got {type(data).__name__}")
    try:
        return _answer.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"expected a message: {error}") from None


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
