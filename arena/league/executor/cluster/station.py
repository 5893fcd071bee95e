"""The program beside a dask worker that plays: bots unpacked and built, then the worker processes of this machine.

It is told what to do over one pipe and answers over another, and ends with its parent, as a worker process does: then
the bots are killed. It serves one run.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar, TypeVarTuple

import trio

from arena.bots.changed import named
from arena.bots.sandbox import reaper
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.rlimits import use_all_descriptors
from arena.bots.starting import RefusedBotsError
from arena.errors import ArenaError
from arena.game.record import encode_record
from arena.league.executor.cluster.cache import Cache, cache_folder
from arena.league.executor.cluster.calibration import Calibration, load_now, measure
from arena.league.executor.cluster.carrying import settings_of
from arena.league.executor.cluster.copies import Copies, Seen, WatchedCopy
from arena.league.executor.cluster.messages import (
    Answered,
    Asked,
    Batch,
    BatchPlayed,
    Close,
    Done,
    Missing,
    Prepare,
    Prepared,
    Refused,
    RunInfo,
    Spoilt,
    Unable,
    to_station,
)
from arena.league.executor.cluster.ready_bots import Preparation, ReadyBots
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
    sendable,
)
from arena.league.executor.wire import Connection
from arena.league.executor.worker import known_fault
from arena.league.executor.worker_main import PASSED_OVER, until_gone
from arena.nursery import background
from arena.play.machine import this_machine

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class _GoneError(Exception):
    """The parent is gone."""


class _SpoiltError(Exception):
    """Copies of bots have changed, and all has to be made ready again."""


class UnderWay:
    """A batch whose games are played, and what has come of them so far."""

    def __init__(self, number: int, batch: Batch) -> None:
        self.number = number
        games = [game for task in batch.tasks for game in task.games]
        self.waiting = {game.id for game in games}
        """Those that have not been begun."""
        self.open = set(self.waiting)
        self.players = {game.id: {player.name for player in game.players} for game in games}
        self.records: list[bytes] = []
        self.others: list[NotPlayed | Failed | Said] = []
        self.back: list[str] = []
        self.begun_at = trio.current_time()
        self.load = load_now()

    def names(self, games: Iterable[str]) -> set[str]:
        """Who plays in these games, by name."""
        return set().union(*(self.players[game] for game in games))

    def give_back(self) -> None:
        """What has not been begun will not be."""
        self.back += sorted(self.waiting)
        self.open -= self.waiting
        self.waiting.clear()

    def answer(self) -> BatchPlayed:
        seconds = trio.current_time() - self.begun_at
        return BatchPlayed(tuple(self.records), tuple(self.others), tuple(self.back), seconds, self.load)


class Station:
    """The games of one run on this machine."""

    def __init__(
        self,
        connection: Connection,
        executor: LocalExecutor,
        ready: ReadyBots,
        calibration: Calibration,
        *,
        is_confined: bool,
    ) -> None:
        """`is_confined`: a sandbox keeps bots from writing to their copies."""
        self._connection = connection
        self._calibration = calibration
        self._is_confined = is_confined
        self._executor = executor
        self._ready = ready
        self._send, self._tasks = trio.open_memory_channel[GameTask](sys.maxsize)
        self._batches: list[UnderWay] = []
        self._is_closed = False

    def handle(self, asked: Asked) -> None:
        match asked.request:
            case Batch():
                self._begin(asked.number, asked.request)
            case Close():
                self.close()
                self._answer(asked.number, Done())
            case Prepare():
                slots = self._executor.slots
                self._answer(asked.number, Prepared(slots, this_machine(), self._calibration, self._ready.remarks))

    def close(self) -> None:
        """Begin no game any more. What was not begun is given back once all others are over: until then a worker
        process may begin it."""
        self._is_closed = True
        self._executor.close()

    def _begin(self, number: int, batch: Batch) -> None:
        under_way = UnderWay(number, batch)
        if self._is_closed:
            under_way.give_back()
            self._answer(number, under_way.answer())
            return
        self._batches.append(under_way)
        for task in batch.tasks:
            self._send.send_nowait(task)

    async def play(self) -> None:
        """Play what is sent, until it is closed and all that had been begun is over.

        Raises `_SpoiltError`, when it has answered all batches, if copies of bots have changed.
        """
        async for outcome in self._executor.play(self._tasks):
            match outcome:
                case Begun(id):
                    self._note_begun(id)
                case Played():
                    self._of(outcome.id).records.append(encode_record(outcome.record))
                    await self._note_over(outcome.id)
                case NotPlayed() | Failed():
                    assert outcome.id is not None
                    self._of(outcome.id).others.append(outcome)
                    await self._note_over(outcome.id)
                case Lost(id):
                    self._of(id).waiting.add(id)
                case Said() if self._batches:
                    self._batches[0].others.append(outcome)
                case Said() | Watched() | Paused():
                    pass
        for batch in self._batches:
            batch.give_back()
        if self._batches:
            await self._look_at_copies()
        self._answer_finished()

    def _of(self, game: str) -> UnderWay:
        return next(batch for batch in self._batches if game in batch.open)

    def _note_begun(self, game: str) -> None:
        batch = self._of(game)
        batch.waiting.discard(game)
        if not batch.waiting:
            self._answer(batch.number, Done(), is_last=False)

    async def _note_over(self, game: str) -> None:
        batch = self._of(game)
        batch.open.discard(game)
        if not batch.open:
            await self._look_at_copies()
        self._answer_finished()

    async def _look_at_copies(self) -> None:
        """Look whether what is about to be answered counts. Raises `_SpoiltError`, with all batches answered, if not.

        In a sandbox nobody can write to copies, so that a look at those of the bots that play will do.
        """
        names = set(self._ready.watched)
        if self._is_confined:
            names &= set().union(*(batch.names(batch.players) for batch in self._batches))
        watched = [self._ready.watched[name] for name in sorted(names)]
        seen = await trio.to_thread.run_sync(_look_at, watched)
        for name, one in seen.items():
            if one.new:
                files = f"files have come into its folder: {named(one.new)}"
                self._batches[0].others.append(Said(f"{name}: while it was played, {files}; its games count"))
        changed = {name: one.changed for name, one in seen.items() if one.changed}
        if not changed:
            return
        players = set().union(*(batch.names(batch.players.keys() - batch.waiting) for batch in self._batches))
        for batch in self._batches:
            self._answer(batch.number, Spoilt(changed, tuple(sorted(players))))
            changed = {}
        raise _SpoiltError

    def _answer_finished(self) -> None:
        for batch in [batch for batch in self._batches if not batch.open]:
            self._batches.remove(batch)
            self._answer(batch.number, batch.answer())

    def _answer(
        self, number: int, answer: "Prepared | Missing | Refused | Done | BatchPlayed | Spoilt", *, is_last: bool = True
    ) -> None:
        self._connection.send(Answered(number, answer, is_last))


def _look_at(copies: Iterable[WatchedCopy]) -> dict[str, Seen]:
    return {copy.bot.name: copy.look() for copy in copies}


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
                nursery.start_soon(until_gone, self._parent, nursery.cancel_scope)
                nursery.start_soon(self._connection.write)
                results.append(await function(*arguments))
            if not results:
                raise _GoneError
            return results[0]

        return trio.run(watched)

    def main(self) -> None:
        cache = Cache(cache_folder())
        while True:
            asked = self._run(self._next)
            if isinstance(asked.request, Prepare):
                answer = self._prepare_and_serve(cache, asked.request.run, asked.number)
                if answer is None:
                    break
            else:
                answer = Refused("it is not ready to play")
            self._connection.send(Answered(asked.number, answer))
        self._connection.flush_all()

    def _prepare_and_serve(self, cache: Cache, run: RunInfo, number: int) -> "Missing | Unable | Refused | None":
        """Play a run to its end; or else why that cannot be done. None: it has to be prepared again by another one."""
        say = partial(print, file=sys.stderr, flush=True)
        try:
            with Copies(cache) as copies:
                ready = Preparation(cache, copies, run, say=say, run=self._run).prepare()
                if not isinstance(ready, ReadyBots):
                    return ready
                self._run(self._serve, run, ready, number)
        except RefusedBotsError as error:
            return Unable({sendable(name): sendable(why) for name, why in error.problems.items()})
        except _SpoiltError:
            return None
        except Exception as error:
            if isinstance(error, _GoneError):
                raise
            return Refused(str(_told(error)))
        return None

    async def _serve(self, run: RunInfo, ready: ReadyBots, number: int) -> None:
        is_ready = False
        try:
            calibration = await trio.to_thread.run_sync(measure)  # while nothing else is done here
            async with local_executor(settings_of(run, ready.bots), run.jobs or len(usable_cpus())) as executor:
                station = Station(
                    self._connection, executor, ready, calibration, is_confined=run.level is not Level.DEFAULT
                )
                station.handle(Asked(number, Prepare(run)))
                is_ready = True
                async with background(station.play):
                    while True:
                        station.handle(await self._next())
        except Exception as error:
            if isinstance(error, _GoneError | _SpoiltError) or not is_ready:
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
    for number in PASSED_OVER:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    for descriptor in (incoming, outgoing):
        os.set_inheritable(descriptor, False)
    use_all_descriptors()
    reaper.claim_all_orphans()
    with contextlib.suppress(_GoneError):
        Program(incoming, outgoing, parent).main()
