"""A cluster without processes, for tests of the arena's side: a gate that notes what it is sent, and says what a test
has it say."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import trio
import trio.testing

from arena.bots.build_checks import BuildLimits
from arena.bots.limits import Limits
from arena.bots.sandbox.levels import Level
from arena.game.record import GameRecord, encode_record
from arena.game.spec import GameSpec
from arena.league.executor.cluster.calibration import Calibration
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.messages import (
    Answer,
    Ask,
    Batch,
    BatchPlayed,
    Connect,
    Connected,
    FromGate,
    Prepare,
    Prepared,
    Reply,
    Request,
    RunInfo,
    Submit,
    WorkerCame,
    decode_request,
    encode,
)
from arena.league.executor.cluster.plan import ClusterPlan
from arena.version import __version__

RUN = RunInfo("run", "0.0.0", (), Level.DEFAULT, Limits(), {}, (), True, False, 1, BuildLimits())
CARGO = Cargo(RUN, {})
ADDRESS = "tcp://10.0.0.1:8786"
FIT = Calibration(25_000, 0)


def plan(patience: float = 60.0, **values: Any) -> ClusterPlan:
    """A plan for a cluster whose workers are not compared with this machine."""
    usual = {"address": ADDRESS, "local": 0, "tls": None, "jobs": 1, "build": BuildLimits(), "patience": patience}
    return ClusterPlan(**{**usual, **values})


def games(spec: GameSpec, count: int) -> list[GameSpec]:
    """So many games that differ in their ids."""
    return [msgspec.structs.replace(spec, id=f"{number:016x}") for number in range(count)]


def record_for(game: GameSpec, record: GameRecord) -> bytes:
    """A record as a worker sends it: that of another game, as one of this one."""
    percent = game.time_percent or msgspec.UNSET
    return encode_record(msgspec.structs.replace(record, id=game.id, arena=__version__, time_percent=percent))


class FakeGate:
    """A `Gate`: `asked` are the requests that have come, with their numbers and workers, and have no reply yet."""

    def __init__(self) -> None:
        self.connect: Connect | None = None
        self.asked: dict[int, tuple[str, Request]] = {}
        self.is_gone = False
        self._hear: Callable[[list[FromGate]], None] | None = None
        self._attended, self._stopped = trio.Event(), trio.Event()
        self.how = "exited with code 0"
        self.slots = 1
        """How many games a worker that is prepared says that it plays at a time."""
        self.prepares = True
        """Whether workers answer that they are prepared as soon as they are asked."""

    def start(self, connect: Connect) -> None:
        self.connect = connect

    def send(self, message: Ask | Submit) -> None:
        request = decode_request(message.data)
        self.asked[message.number] = message.worker, request
        if isinstance(request, Prepare) and self.prepares:
            trio.lowlevel.current_trio_token().run_sync_soon(
                self.answer, message.number, Prepared(self.slots, "Linux, 4 CPUs", FIT)
            )

    async def attend(self, hear: Callable[[list[FromGate]], None]) -> str:
        self._hear = hear
        self._attended.set()
        await self._stopped.wait()
        self.is_gone = True
        return self.how

    def stop(self) -> None:
        self._stopped.set()

    # --- what a test has it say ---------------------------------------------------------------------------------------

    async def begin(self, *workers: str) -> None:
        """Be connected, with these workers."""
        await self._attended.wait()
        self.say(Connected(ADDRESS), *(WorkerCame(f"tcp://{name}:1", name, name) for name in workers))

    def say(self, *messages: FromGate) -> None:
        assert self._hear is not None
        self._hear(list(messages))

    def answer(self, number: int, answer: Answer) -> None:
        """What was asked under this number is answered so."""
        self.reply(Reply(number, encode(answer)))

    def reply(self, reply: Reply) -> None:
        if self.asked.pop(reply.number, None) and not self._stopped.is_set():
            self.say(reply)

    def batches(self, worker: str | None = None) -> dict[int, Batch]:
        """The batches that have no answer yet, of one worker or all, by their numbers."""
        return {
            number: request
            for number, (address, request) in self.asked.items()
            if isinstance(request, Batch) and (worker is None or address == f"tcp://{worker}:1")
        }

    def of(self, kind: type[Request]) -> list[int]:
        """The numbers of the requests of this kind that have no answer yet."""
        return [number for number, (_, request) in self.asked.items() if isinstance(request, kind)]

    def prepare_of(self, worker: str) -> int | None:
        """The number of the request by which a worker is to be prepared, if it has no answer yet; by address."""
        asked = (number for number, (address, _) in self.asked.items() if address == worker)
        return next((number for number in asked if isinstance(self.asked[number][1], Prepare)), None)

    def play(self, number: int, record: GameRecord) -> None:
        """A batch has been played: all its games ended as in this record."""
        batch = self.batches()[number]
        self.answer(number, played(*(game for task in batch.tasks for game in task.games), record=record))


def played(*done: GameSpec, record: GameRecord, back: Iterable[str] = (), seconds: float = 0.5) -> BatchPlayed:
    """What a worker says of these games, all of which ended as in this record."""
    return BatchPlayed(tuple(record_for(game, record) for game in done), (), tuple(back), seconds, 0.1)


async def until(true: Callable[[], object], what: str) -> None:
    """Wait for something that other tasks and threads do, whatever the clock of the test says."""
    for _ in range(4_000):
        if true():
            return
        await trio.testing.wait_all_tasks_blocked(0.0005)
    raise AssertionError(f"never: {what}")
