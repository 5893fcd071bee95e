"""What the arena and a dask worker send each other: msgspec structs as MessagePack bytes."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import msgspec

from arena.bots.build_checks import BuildLimits
from arena.bots.limits import Limits
from arena.bots.sandbox.levels import Level
from arena.league.executor.cluster.calibration import Calibration
from arena.league.executor.pipes import WireError
from arena.league.executor.task import Failed, GameTask, NotPlayed, Said
from arena.league.executor.wire import WireBot
from arena.version import __version__


class CarriedBot(msgspec.Struct, frozen=True):
    """A bot as it is sent to workers.

    `key` is the digest of its pack; a broken bot has none. `file` is the name of its file or folder in the pack.
    `prefix` is the prefix of its path where it was named.
    """

    bot: WireBot
    key: str
    file: bytes
    arguments: tuple[bytes, ...]
    prefix: str


class RunInfo(msgspec.Struct, frozen=True):
    """The settings of all games of a run, as `arena.league.executor.task.PlaySettings` has them on one machine.

    `arena` identifies the program (`this_arena`). `jobs` is how many games each worker plays at a time at most; 0: as
    many as it has threads. With a `reference_us` each worker scales clocks by its calibration.
    """

    id: str
    arena: str
    bots: tuple[CarriedBot, ...]
    level: Level
    usual: Limits
    limits: dict[bytes, Limits]
    interpreters: tuple[bytes, ...]
    pondering: bool
    is_pinned: bool
    jobs: int
    build: BuildLimits
    reference_us: int | None = None


class Prepared(msgspec.Struct, frozen=True, tag=True):
    """The worker can play."""

    calibration: Calibration


class Unable(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot play these bots: the reason by name. It can play all others."""

    problems: dict[str, str]


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot play, and why."""

    why: str


class Unprepared(msgspec.Struct, frozen=True, tag=True):
    """The worker does not know the run: its process has been started again."""


class BatchPlayed(msgspec.Struct, frozen=True, tag=True):
    """The outcome of a batch: records as JSON, and the other outcomes. Games without either were not played.

    `seconds` is the mean duration of a game, `load` the load of the machine for each CPU.
    """

    records: tuple[bytes, ...]
    others: tuple[NotPlayed | Failed | Said, ...]
    seconds: float
    load: float


class Answer(msgspec.Struct, frozen=True):
    """An answer, with the address of the worker that gave it."""

    worker: str
    body: Prepared | Unable | Refused | Unprepared | BatchPlayed


encode = msgspec.msgpack.Encoder().encode
_run: "msgspec.msgpack.Decoder[RunInfo]" = msgspec.msgpack.Decoder(RunInfo)
_tasks: "msgspec.msgpack.Decoder[tuple[GameTask, ...]]" = msgspec.msgpack.Decoder(tuple[GameTask, ...])
_answer: "msgspec.msgpack.Decoder[Answer]" = msgspec.msgpack.Decoder(Answer)


def decode_run(data: bytes) -> RunInfo:
    """Raises `WireError`."""
    return cast(RunInfo, _decode(_run, data))


def decode_tasks(data: bytes) -> tuple[GameTask, ...]:
    """Raises `WireError`."""
    return cast(tuple[GameTask, ...], _decode(_tasks, data))


def decode_answer(data: object) -> Answer:
    """Raises `WireError`, also for what is not bytes."""
    return cast(Answer, _decode(_answer, data))


def _decode(decoder: Any, data: object) -> Any:
    if not isinstance(data, bytes):
        raise WireError(f"expected bytes, got {type(data).__name__}")
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"expected a message: {error}") from None


@lru_cache(maxsize=1)
def this_arena() -> str:
    """Return the version and sixteen hexadecimal digits of the digest of the source. Equal programs play together."""
    package = Path(__file__).parents[3]
    whole = hashlib.sha256()
    for folder in (package, package.parent / "protocol"):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".toml"}):
            parts = path.relative_to(folder.parent).parts
            if parts[1] not in {"samples", "templates"}:
                whole.update(f"{'/'.join(parts)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"{__version__} {whole.hexdigest()[:16]}"
