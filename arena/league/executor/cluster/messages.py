"""What goes between the arena, its gate, the service in a dask worker and that one's station: bytes of msgspec.

What a worker sends is bytes of a stranger: it is decoded as one of these types or refused (`WireError`).
"""

from typing import Any, cast

import msgspec

from arena.bots.build_checks import BuildLimits
from arena.bots.limits import Limits
from arena.bots.sandbox.levels import Level
from arena.league.executor.cluster.calibration import Calibration
from arena.league.executor.pipes import WireError
from arena.league.executor.task import Failed, GameTask, NotPlayed, Said
from arena.league.executor.wire import WireBot

LONGEST_WHY = 2000
"""Characters that are told of why something cannot be done, or has failed."""

# --- between the arena and a worker, carried by dask ------------------------------------------------------------------


class CarriedBot(msgspec.Struct, frozen=True):
    """A bot on its way: what it is, and where its files are in the pack of this key. A broken one has none.

    Its paths and its command are those of the machine that it comes from, and are not used where it has a pack. `file`
    is what its file or folder is called there. `is_made_to_speak`: its dialect is not what its own files say.
    """

    bot: WireBot
    key: str
    file: bytes
    arguments: tuple[bytes, ...]
    is_made_to_speak: bool


class RunInfo(msgspec.Struct, frozen=True):
    """What all games of one run are played under; `arena.league.executor.task.PlaySettings` on its way.

    `id` is of the run alone, `version` names the arena that asks (`arena.league.executor.cluster.source`). `jobs` is
    how many games each worker plays at a time; 0: as many as it has CPUs. `store` stands for the store of the run: one
    arena at a time has it, so that a run with the same one follows one that is over. Nothing: it follows none.
    """

    id: str
    version: str
    bots: tuple[CarriedBot, ...]
    level: Level
    usual: Limits
    limits: dict[bytes, Limits]
    interpreters: tuple[bytes, ...]
    pondering: bool
    is_pinned: bool
    jobs: int
    build: BuildLimits
    store: str = ""


class Prepare(msgspec.Struct, frozen=True, tag=True):
    """Make ready to play the games of this run."""

    run: RunInfo


class PutBot(msgspec.Struct, frozen=True, tag=True):
    """Keep a pack of so many bytes, whose key is its digest. It comes in parts, one after the other: this one begins
    `at` this place."""

    key: str
    part: bytes
    at: int
    size: int


class Close(msgspec.Struct, frozen=True, tag=True):
    """Begin no game of this run any more: those under way are played, the others given back."""

    run: str


class End(msgspec.Struct, frozen=True, tag=True):
    """End this run: games under way are stopped."""

    run: str


class Batch(msgspec.Struct, frozen=True, tag=True):
    """Play these games of a run, and answer when all are over."""

    run: str
    tasks: tuple[GameTask, ...]


class Collect(msgspec.Struct, frozen=True, tag=True):
    """Tell what has come so far of the batches of a run that are not over (`BatchPlayed`); it is told once."""

    run: str


class Prepared(msgspec.Struct, frozen=True, tag=True):
    """The worker can play so many games at a time; `machine` is what it is, in words. `remarks` are lines about bots
    that had to be built anew."""

    slots: int
    machine: str
    calibration: Calibration
    remarks: tuple[str, ...] = ()


class Missing(msgspec.Struct, frozen=True, tag=True):
    """Of these packs the worker has none, or not as they were sent, of which `remarks` are lines."""

    keys: tuple[str, ...]
    remarks: tuple[str, ...] = ()


class Unable(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot play these bots, and why, by their names; all others it could."""

    problems: dict[str, str]


class Spoilt(msgspec.Struct, frozen=True, tag=True):
    """Nothing that has not been told counts: while games of these `players` were played, by name, the worker's copies
    of bots have `changed`: how, by name. It has to be prepared again. Of one change it is told once; what else it is
    asked is answered so with none."""

    changed: dict[str, str]
    players: tuple[str, ...]


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot play, and why."""

    why: str


class Done(msgspec.Struct, frozen=True, tag=True):
    """What was asked for has been done."""


class Unprepared(msgspec.Struct, frozen=True, tag=True):
    """The worker knows nothing of this run: it has been started again, or another run has come."""


class Busy(msgspec.Struct, frozen=True, tag=True):
    """The worker plays for another run, which it has heard of lately."""


class BatchPlayed(msgspec.Struct, frozen=True, tag=True):
    """What has come of a batch, or since it was last asked for: whole records (JSON, as stores keep them), other
    outcomes, and the ids of games that were not begun. `seconds` is how long the games of these records were under way,
    together, `load` how busy the machine was as the batch came (`arena.league.executor.cluster.calibration`)."""

    records: tuple[bytes, ...]
    others: tuple[NotPlayed | Failed | Said, ...]
    back: tuple[str, ...]
    seconds: float
    load: float


Request = Prepare | PutBot | Close | End | Batch | Collect
Answer = Prepared | Missing | Unable | Refused | Done | Unprepared | Busy | BatchPlayed | Spoilt
_request: "msgspec.msgpack.Decoder[Request]" = msgspec.msgpack.Decoder(Request)
_answer: "msgspec.msgpack.Decoder[Answer]" = msgspec.msgpack.Decoder(Answer)
encode = msgspec.msgpack.Encoder().encode


def decode_request(data: bytes) -> Request:
    """Raises `WireError`."""
    return cast(Request, _decoded(_request, data))


def decode_answer(data: bytes) -> Answer:
    """Raises `WireError`."""
    return cast(Answer, _decoded(_answer, data))


def _decoded(decoder: Any, data: bytes) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"expected a message: {error}") from None


# --- between the arena and its gate -----------------------------------------------------------------------------------


class Tls(msgspec.Struct, frozen=True):
    """Files in PEM: who signs certificates, the certificate of this side, and its key."""

    ca: bytes
    cert: bytes
    key: bytes


class Connect(msgspec.Struct, frozen=True, tag=True):
    """The first message to a gate: connect to the scheduler at this address, or start one with so many `local` workers,
    for which there is an empty `folder`.

    `patience` is for how many seconds a scheduler may be out of reach, and a worker silent. `farewell` is what workers
    are sent when the arena is gone.
    """

    address: str
    local: int
    tls: Tls | None
    patience: float
    farewell: bytes
    folder: bytes = b""


class Ask(msgspec.Struct, frozen=True, tag=True):
    """Have a worker do something now, beside what it plays; the `Reply` has the same number."""

    number: int
    worker: str
    data: bytes


class Submit(msgspec.Struct, frozen=True, tag=True):
    """Have a worker play a batch in its turn; the `Reply` has the same number."""

    number: int
    worker: str
    data: bytes


class Leave(msgspec.Struct, frozen=True, tag=True):
    """Bid the workers farewell, as far as they can be reached, and exit. The end of the input says the same."""


class Connected(msgspec.Struct, frozen=True, tag=True):
    """There is a scheduler."""

    address: str


class Mute(msgspec.Struct, frozen=True, tag=True):
    """The scheduler does not answer, yet or any more, and why as far as that is known. For so many seconds from now it
    is waited for; what it has been sent is still there."""

    seconds: float
    why: str = ""


class Speaks(msgspec.Struct, frozen=True, tag=True):
    """The scheduler answers again."""


class Disconnected(msgspec.Struct, frozen=True, tag=True):
    """The connection to the scheduler has ended; for so many seconds from now it is tried to reach it again. All
    workers are about to go."""

    seconds: float


class Unconnected(msgspec.Struct, frozen=True, tag=True):
    """There is no scheduler, or none any more, and why."""

    why: str
    is_usage: bool = False


class WorkerCame(msgspec.Struct, frozen=True, tag=True):
    """A worker is there: its address, what its host calls it, and the machine that it is on, by address."""

    worker: str
    name: str
    host: str


class WorkerSilent(msgspec.Struct, frozen=True, tag=True):
    """A worker has not been heard of for as long as patience lasts, or (`is_back`) is heard of again."""

    worker: str
    is_back: bool = False


class WorkerGone(msgspec.Struct, frozen=True, tag=True):
    """A worker is not there any more; of what it was asked or sent there comes no reply."""

    worker: str


class Reply(msgspec.Struct, frozen=True, tag=True):
    """What a worker has answered; `lost` says why there is no answer. If that `is_fault`, it is the worker's: the way
    there is free."""

    number: int
    data: bytes = b""
    lost: str = ""
    is_fault: bool = False


ToGate = Connect | Ask | Submit | Leave
FromGate = (
    Connected | Mute | Speaks | Disconnected | Unconnected | WorkerCame | WorkerSilent | WorkerGone | Reply | Said
)
to_gate: "msgspec.msgpack.Decoder[ToGate]" = msgspec.msgpack.Decoder(ToGate)
from_gate: "msgspec.msgpack.Decoder[FromGate]" = msgspec.msgpack.Decoder(FromGate)


# --- between a service and its station --------------------------------------------------------------------------------


class Asked(msgspec.Struct, frozen=True, tag=True):
    """A request to the station, with a number that its answers have, too."""

    number: int
    request: Prepare | Close | Batch | Collect


class Answered(msgspec.Struct, frozen=True, tag=True):
    """The answer to a request; `is_last`: of a batch it says first that all games have been begun (`Done`)."""

    number: int
    answer: Prepared | Missing | Unable | Refused | Done | BatchPlayed | Spoilt
    is_last: bool = True


to_station: "msgspec.msgpack.Decoder[Asked]" = msgspec.msgpack.Decoder(Asked)
from_station: "msgspec.msgpack.Decoder[Answered]" = msgspec.msgpack.Decoder(Answered)
