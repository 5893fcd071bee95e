"""The program beside a dask worker that plays: bots unpacked and built, then the worker processes of this machine.

It is told what to do over one pipe and answers over another, and ends with its parent, as a worker process does: then
the bots are killed. It serves one run.
"""

import contextlib
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar, TypeVarTuple

import trio

from arena.bots import BotSpec
from arena.bots.changed import Change, compare
from arena.bots.look import Look
from arena.bots.sandbox import reaper
from arena.bots.sandbox.programs import HostPrograms
from arena.bots.sandbox.rlimits import use_all_descriptors
from arena.errors import ArenaError
from arena.game.record import encode_record
from arena.league.executor import child_process
from arena.league.executor.cluster.cache import Cache, cache_folder
from arena.league.executor.cluster.calibration import Calibration, load_now, measure
from arena.league.executor.cluster.carrying import settings_of
from arena.league.executor.cluster.messages import (
    Answered,
    Asked,
    Batch,
    BatchPlayed,
    Close,
    Collect,
    Done,
    Missing,
    Prepare,
    Prepared,
    Refused,
    RunInfo,
    to_station,
)
from arena.league.executor.cluster.under_way import Batches, BatchUnderWay
from arena.league.executor.local import LocalExecutor, local_executor, usable_cpus
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    Lost,
    NotPlayed,
    Paused,
    Played,
    Said,
    Watched,
)
from arena.league.executor.wire import Connection, unpacked
from arena.league.executor.worker import known_fault
from arena.nursery import background
from arena.play.machine import this_machine

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class _GoneError(Exception):
    """The parent is gone."""


class Station:
    """The games of one run on this machine."""

    def __init__(
        self, connection: Connection, executor: LocalExecutor, bots: tuple[BotSpec, ...], calibration: Calibration
    ) -> None:
        self._connection = connection
        self._calibration = calibration
        self._executor = executor
        self._looks: dict[str, tuple[BotSpec, Look]] = {bot.name: (bot, bot.look) for bot in bots if bot.look}
        self._send, self._tasks = trio.open_memory_channel[GameTask](sys.maxsize)
        self._batches = Batches()
        self._is_closed = False

    async def handle(self, asked: Asked) -> None:
        match asked.request:
            case Batch():
                self._begin(asked.number, asked.request)
            case Collect():
                told = self._batches.told()
                changed = await trio.to_thread.run_sync(self._changed) if told.records else ""
                self._answer(asked.number, Refused(changed) if changed else told)
            case Close():
                self.close()
                self._answer(asked.number, Done())
            case Prepare():
                slots = self._executor.slots
                self._answer(asked.number, Prepared(slots, this_machine(), self._calibration))

    def close(self) -> None:
        """Begin no game any more. What was not begun is given back once all others are over: until then a worker
        process may begin it."""
        self._is_closed = True
        self._executor.close()

    def _begin(self, number: int, batch: Batch) -> None:
        new, tasks = self._batches.add(number, batch, load_now())
        if self._is_closed:
            new.give_back()
            tasks = []
        for task in tasks:
            self._send.send_nowait(task)
        if not new.waiting:
            self._answer(number, Done(), is_last=False)
        self._answer_finished()

    async def play(self) -> None:
        """Play what is sent, until it is closed and all that had been begun is over."""
        async for outcome in self._executor.play(self._tasks):
            match outcome:
                case Begun(id):
                    if begun := self._batches.note_begun(id, trio.current_time()):
                        self._answer(begun.number, Done(), is_last=False)
                case Played():
                    record = encode_record(outcome.record)
                    await self._note_over(self._batches.note_played(outcome.id, record, trio.current_time()))
                case NotPlayed() | Failed():
                    assert outcome.id is not None
                    await self._note_over(self._batches.note_other(outcome.id, outcome))
                case Lost(id):
                    self._batches.note_lost(id)
                case Said():
                    self._batches.note_said(outcome)
                case Watched() | Paused():
                    pass
        self._batches.give_back()
        self._answer_finished()

    async def _note_over(self, batch: BatchUnderWay) -> None:
        """A game of a batch is over; if it was the last one, it is looked whether the bots are what they were."""
        if not batch.open:
            self._batches.remove(batch)
            changed = await trio.to_thread.run_sync(self._changed) if batch.records else ""
            self._answer(batch.number, Refused(changed) if changed else batch.told())

    def _answer_finished(self) -> None:
        for batch in self._batches.take_finished():
            self._answer(batch.number, batch.told())

    def _changed(self) -> str:
        """Which bot is not what its digest says any more, in words."""
        for name, (bot, known) in list(self._looks.items()):
            look, change = compare(bot, known)
            self._looks[name] = bot, look
            if isinstance(change, Change) and not change.is_only_new:
                what = change.fault or ", ".join(f"{file} {how}" for file, how in change.files.items())
                return f"the files of {name} in {bot.path} have changed while it played: {what}"
        return ""

    def _answer(
        self, number: int, answer: "Prepared | Missing | Refused | Done | BatchPlayed", *, is_last: bool = True
    ) -> None:
        self._connection.send(Answered(number, answer, is_last))


class Program:
    """The life of a station: it is prepared, and then it plays."""

    def __init__(self, incoming: int, outgoing: int, parent: int) -> None:
        self._connection = Connection(incoming, outgoing, to_station)
        self._parent = parent
        self._early: list[Asked] = []
        """What has been asked and not been looked at yet."""

    async def _next(self) -> Asked:
        while not self._early:
            self._early += await self._connection.receive()
            if not self._early:
                raise _GoneError
        return self._early.pop(0)

    def _run(self, function: "Callable[[*Ts], Awaitable[T]]", /, *arguments: *Ts) -> T:
        """Run something to its end, unless the parent is gone before."""

        async def watched() -> T:
            results: list[T] = []
            async with background() as nursery:
                nursery.start_soon(child_process.until_gone, self._parent, nursery.cancel_scope)
                nursery.start_soon(self._connection.write)
                results.append(await function(*arguments))
            if not results:
                raise _GoneError
            return results[0]

        return trio.run(watched)

    def main(self) -> None:
        run, bots, number = self._prepare()
        self._run(self._serve, run, bots, number)

    def _prepare(self) -> tuple[RunInfo, tuple[BotSpec, ...], int]:
        """Wait until all bots of the run are here, and build them."""
        cache = Cache(cache_folder())
        while True:
            asked = self._run(self._next)
            if not isinstance(asked.request, Prepare):
                self._connection.send(Answered(asked.number, Refused("it is not ready to play")))
                continue
            run = asked.request.run
            if missing := cache.missing(run.bots):
                self._connection.send(Answered(asked.number, Missing(missing)))
                continue
            try:
                return run, self._load(cache, run), asked.number
            except Exception as error:
                self._connection.send(Answered(asked.number, Refused(str(_told(error)))))

    def _load(self, cache: Cache, run: RunInfo) -> tuple[BotSpec, ...]:
        sent = [cache.find(bot) for bot in run.bots]
        host = HostPrograms(tuple(map(unpacked, run.interpreters)), sent)
        say = partial(print, file=sys.stderr, flush=True)
        return tuple(
            cache.built(bot, found, run.level, run.build, host=host, say=say, run=self._run) if found.build else found
            for bot, found in zip(run.bots, sent, strict=True)
        )

    async def _serve(self, run: RunInfo, bots: tuple[BotSpec, ...], number: int) -> None:
        try:
            calibration = await trio.to_thread.run_sync(measure)  # while nothing else is done here
            async with local_executor(settings_of(run, bots), run.jobs or len(usable_cpus())) as executor:
                station = Station(self._connection, executor, bots, calibration)
                await station.handle(Asked(number, Prepare(run)))
                async with background(station.play):
                    while True:
                        await station.handle(await self._next())
        except Exception as error:
            if isinstance(error, _GoneError):
                raise
            refused = Refused(str(_told(error)))
            while True:  # the parent has the last word
                self._connection.send(Answered(number, refused))
                number = (await self._next()).number


def _told(error: Exception) -> ArenaError:
    """The error as one for users, if it is one; else it is raised."""
    fault = known_fault(error)
    if fault is None:
        raise error
    return fault


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Run a station that is told what to do over one descriptor and answers over another."""
    child_process.begin(incoming, outgoing)
    use_all_descriptors()
    reaper.claim_all_orphans()
    with contextlib.suppress(_GoneError):
        Program(incoming, outgoing, parent).main()
