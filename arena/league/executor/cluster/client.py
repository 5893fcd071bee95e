"""The arena's side of a cluster: an `Executor` that sends batches of games to the workers of a `Crew`.

What comes back is believed only so far: each record is decoded strictly, is of a game that this worker was sent, and is
judged again (in a thread) before it goes on to be stored. A worker that sends a wrong one, cannot play, or runs another
arena is not used again in this run, and its games are played elsewhere. So are those of a worker that is gone or has
been silent for too long; what it still sends of them is passed over, so that a game comes out once.
"""

from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

import msgspec
import trio

from arena.errors import ArenaError
from arena.game.record import GameRecord, RecordError
from arena.game.spec import GameSpec
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.crew import LONGEST_WHY, ClusterPlan, Crew
from arena.league.executor.cluster.expected import checked_record
from arena.league.executor.cluster.messages import (
    Answer,
    Batch,
    BatchPlayed,
    Refused,
    Reply,
    Unprepared,
    decode_answer,
    encode,
)
from arena.league.executor.cluster.seat import Seat, SentBatch, Standing
from arena.league.executor.outcomes import OutcomeStream
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    Lost,
    NotPlayed,
    Paused,
    Played,
    Said,
)
from arena.league.executor.wire import WireError
from arena.nursery import open_nursery
from arena.play.played_on import played_on
from arena.printable import printable

LINGER_SECONDS = 0.02
"""How long a batch that is not full waits for further games."""
MOST_LOST = 5
"""So often a game may be lost with its worker."""
OWN_FAULTS = frozenset({"HOST", "SANDBOX", "REFUSED_BOTS"})
"""Errors that are the machine's, by the names of `ErrorKind`: another one may play the game."""


@asynccontextmanager
async def cluster_executor(cargo: Cargo, plan: ClusterPlan) -> AsyncGenerator["ClusterExecutor", None]:
    """A cluster that plays games. At the end none of this run is played any more.

    Raises `ArenaError` if there is no scheduler, or no worker that can play comes within the plan's patience.
    """
    executor = ClusterExecutor(cargo, plan)
    async with open_nursery() as nursery:
        try:
            await executor.begin(nursery)
            yield executor
        finally:
            executor.stop()


class ClusterExecutor(OutcomeStream):
    """An `Executor`; made by `cluster_executor`. It pauses no game that has been sent."""

    def __init__(self, cargo: Cargo, plan: ClusterPlan) -> None:
        super().__init__()
        self._cargo = cargo
        self._crew = Crew(cargo, plan, self)
        self._plan = plan
        self._open: dict[str, GameSpec] = {}
        """The games that were asked for and have not come out, by their ids."""
        self._lost: Counter[str] = Counter()
        self._checking = 0
        """Batches whose records are just being judged."""

    async def begin(self, nursery: trio.Nursery) -> None:
        """Connect, and wait until a worker is ready. Raises `ArenaError`."""
        self._nursery = nursery
        await self._crew.start(nursery)
        nursery.start_soon(self._dispatch)
        ready = await self._crew.until_ready()
        if self._error:
            raise self._error
        self.said(f"cluster {self._plan.name}: {_workers_text(ready)}; others may come")

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """See `Executor.close`."""
        if self._is_closed:
            return
        self._is_closed = True
        self._drop(self._waiting)
        self._waiting.clear()
        if self._feeding:
            self._feeding.cancel()
        self._crew.close()
        self.changed()

    def stop(self) -> None:
        """See `Executor.stop`."""
        self.close()
        self._is_stopped = True
        self._crew.stop()
        self.changed()

    def interrupt(self, game: str) -> None:
        """See `Executor.interrupt`. A game that has been sent to a worker is played to its end."""
        for task in [task for task in self._waiting if task.id == game and task.can_pause]:
            self._waiting.remove(task)
            del self._open[game]
            self._tell(Paused(game, task.history))

    @property
    def _is_over(self) -> bool:
        """Whether no outcome will come any more."""
        if self._is_stopped:
            return self._crew.is_gone and not self._checking
        return self._feeding is None and not self._open

    def failed(self, error: ArenaError) -> None:
        """See `Owner.failed`."""
        self._fail(error)

    # --- sending ------------------------------------------------------------------------------------------------------

    def _take_task(self, task: GameTask) -> None:
        self._open.update({game.id: game for game in task.games})
        self._waiting.append(task)
        self.changed()

    async def _until_there_is_room(self) -> None:
        await trio.lowlevel.checkpoint()
        while (seat := self._roomiest()) is None or len(self._waiting) >= seat.size:
            await self._wait()

    def _roomiest(self) -> Seat | None:
        """The worker that is to get the next batch; None if all have enough."""
        free = [seat for seat in self._crew.seats.values() if seat.has_room]
        return min(free, key=lambda seat: (len(seat.sent), seat.games / seat.slots), default=None)

    async def _dispatch(self) -> None:
        """Send batches while there are games and room: full ones, and what there is when no further game comes."""
        while not self._is_stopped:
            seat = self._roomiest()
            if seat is None or not self._waiting or self._is_closed:
                await self._wait()
            elif len(self._waiting) >= seat.size or self._feeding is None:
                self._send(seat, seat.size)
            else:
                count = len(self._waiting)
                with trio.move_on_after(LINGER_SECONDS):
                    await self._wait()
                    continue
                if len(self._waiting) == count and seat.has_room:
                    self._send(seat, count)

    def _send(self, seat: Seat, most: int) -> None:
        """Send a worker games that wait; a pair is one task, and counts as two games."""
        tasks: list[GameTask] = []
        count = 0
        while self._waiting and count < most:
            task = self._waiting.popleft()
            tasks.append(_scaled(task, seat.time_percent))
            count += len(task.games)
        assert seat.calibration is not None
        batch = SentBatch(tuple(tasks), work_us=seat.calibration.work_us)
        batch.open = {game.id: GameTask(game) for game in batch.specs.values()}
        self._crew.send(seat, batch, encode(Batch(self._cargo.run.id, batch.tasks)))
        self._tell_begun(seat)

    def _tell_begun(self, seat: Seat) -> None:
        """Tell that games are under way: of those that a worker has, as many as it can play at a time."""
        under_way = sum(len(batch.begun) for batch in seat.sent.values())
        for batch in seat.sent.values():
            for game in batch.open.keys() - batch.begun:
                if under_way >= seat.slots:
                    return
                batch.begun.add(game)
                under_way += 1
                self._tell(Begun(game))

    # --- what becomes of batches --------------------------------------------------------------------------------------

    def said(self, line: str) -> None:
        """See `Owner.said`."""
        self._tell(Said(line))

    def lost(self, batches: Iterable[SentBatch], why: str, *, counts: bool) -> None:
        """See `Owner.lost`: what nothing has come of is played by another worker."""
        back: list[GameTask] = []
        for batch in batches:
            games = [game for game in batch.open if game in self._open]
            for game in batch.begun.intersection(games):
                self._tell(Lost(game))
            batch.open.clear()
            batch.begun.clear()
            back += _paired(batch.tasks, [GameTask(self._open[game]) for game in games])
        if self._is_closed:
            self._drop(back)
            return
        for spec in (spec for task in back for spec in task.games):
            self._lost[spec.id] += counts
            if self._lost[spec.id] >= MOST_LOST:
                words = f"game {spec.id} ({spec.names}) was not played: {MOST_LOST} times {why}"
                self.failed(ArenaError(words))
                return
        self._waiting.extendleft(reversed(back))
        if back and self._crew.is_connected:
            count = sum(len(task.games) for task in back)
            self.said(f"{why}: {'1 game is' if count == 1 else f'{count} games are'} played elsewhere")

    def _drop(self, tasks: Iterable[GameTask]) -> None:
        """What was not begun, or is lost with its worker, will not be played."""
        for task in tasks:
            for game in task.games:
                self._open.pop(game.id, None)

    def answered(self, seat: Seat, number: int, reply: Reply) -> None:
        """See `Owner.answered`."""
        self._checking += 1
        assert self._nursery is not None
        self._nursery.start_soon(self._take, seat, number, reply)

    async def _take(self, seat: Seat, number: int, reply: Reply) -> None:
        """Judge what a worker sends of a batch, and tell it."""
        with trio.CancelScope(shield=True):
            try:
                await self._take_answer(seat, number, reply)
            finally:
                self._checking -= 1
                self.changed()

    async def _take_answer(self, seat: Seat, number: int, reply: Reply) -> None:
        batch = seat.sent[number]
        if seat.standing is Standing.REFUSED:  # its games are played elsewhere
            del seat.sent[number]
            return
        answer: Answer = Unprepared()
        records: list[GameRecord] = []
        fault = ""
        if not reply.lost:
            try:
                answer = decode_answer(reply.data)
                if isinstance(answer, BatchPlayed):
                    records = await trio.to_thread.run_sync(_judged, answer.records, batch.specs)
            except WireError as error:
                fault = f"it sends what is no message: {error}"
            except RecordError as error:
                fault = f"it sent a wrong record: {error}"
        seat.sent.pop(number, None)
        if fault:
            self._crew.refuse(seat, fault)
        elif isinstance(answer, Refused):
            self._crew.refuse(seat, answer.why)
        elif isinstance(answer, BatchPlayed):
            seat.note_speed(len(records), answer.seconds)
            for record in records:
                self._come_out(batch, record.id, Played(_on(record, seat.name, answer.load, batch.work_us)))
            seat.played += len(records)
            self._take_others(seat, batch, answer)
        self.lost([batch], self._why_again(seat, reply, answer), counts=not reply.lost or reply.is_fault)
        if isinstance(answer, Unprepared) and not self._is_closed:
            self._crew.prepare_again(seat)
        self._tell_begun(seat)

    def _why_again(self, seat: Seat, reply: Reply, answer: Answer) -> str:
        if reply.lost:
            return f"worker {seat.name} has not played what it was sent ({printable(reply.lost, 300)})"
        if isinstance(answer, Unprepared):
            return f"what plays on worker {seat.name} has been started again"
        return f"worker {seat.name} has not played all that it was sent"

    def _come_out(self, batch: SentBatch, game: str, outcome: Played | NotPlayed | Failed) -> None:
        """A game is over, unless it came out before: then this is a second one of it, and passed over."""
        batch.open.pop(game, None)
        if self._open.pop(game, None) is None:
            return
        told = [one for seat in self._crew.seats.values() for one in seat.sent.values() if game in one.begun]
        was_begun = bool(told) or game in batch.begun
        for one in (batch, *told):  # it may have been sent to another worker as well
            one.begun.discard(game)
        self._waiting = deque(task for waiting in self._waiting for task in _without(waiting, game))
        self._lost.pop(game, None)
        if not was_begun:
            self._tell(Begun(game))
        self._tell(outcome)

    def _take_others(self, seat: Seat, batch: SentBatch, answer: BatchPlayed) -> None:
        """What else has come of a batch. What is the machine's fault refuses the worker."""
        for other in answer.others:
            match other:
                case Said(line):
                    self.said(f"worker {seat.name}: {printable(line, LONGEST_WHY)}")
                case Failed(id, kind, text) if id in batch.open:
                    if kind in OWN_FAULTS:
                        self._crew.refuse(seat, text)
                    else:
                        words = f"worker {seat.name}: {printable(text, LONGEST_WHY, lines=True)}"
                        self._come_out(batch, id, Failed(id, "ARENA", words, 1))
                case NotPlayed(id, why) if id in batch.open:
                    words = f"worker {seat.name}: {printable(why, LONGEST_WHY, lines=True)}"
                    self._come_out(batch, id, NotPlayed(id, words))
                case _:
                    self._crew.refuse(seat, "it tells of games that it was not sent")


def _judged(records: Iterable[bytes], wanted: dict[str, GameSpec]) -> list[GameRecord]:
    """The records of a batch. Raises `RecordError` for the first that is wrong: then none of them counts."""
    right: list[GameRecord] = []
    for data in records:
        record = checked_record(data, wanted)
        del wanted[record.id]
        right.append(record)
    return right


def _scaled(task: GameTask, percent: int | None) -> GameTask:
    """The same games with clocks that are scaled so."""
    if percent is None:
        return task
    spec, then = (game and msgspec.structs.replace(game, time_percent=percent) for game in (task.spec, task.then))
    assert spec is not None
    return msgspec.structs.replace(task, spec=spec, then=then)


def _on(record: GameRecord, worker: str, load: float, work_us: int) -> GameRecord:
    """The record with the worker that it has come from: its name is the arena's to say, and not the worker's."""
    machine = played_on(record.machine or "", worker, load, work_us)
    return msgspec.structs.replace(record, machine=machine)


def _without(task: GameTask, game: str) -> list[GameTask]:
    """What is left of a task when one of its games has come out."""
    if task.id == game:
        return [GameTask(task.then)] if task.then else []
    return [task.alone if task.then and task.then.id == game else task]


def _paired(tasks: Iterable[GameTask], back: Iterable[GameTask]) -> list[GameTask]:
    """Games that come back, as tasks: pairs that were one task are one again, if neither has come out."""
    left = {task.id: task for task in back}
    found = []
    for task in tasks:
        first = left.pop(task.id, None)
        second = left.pop(task.then.id, None) if task.then else None
        if first and second:
            found.append(GameTask(first.spec, then=second.spec))
        else:
            found += [one for one in (first, second) if one]
    return found


def _workers_text(seats: list[Seat]) -> str:
    games = sum(seat.slots for seat in seats)
    workers = "1 worker" if len(seats) == 1 else f"{len(seats)} workers"
    return f"{workers}, {games} game{'' if games == 1 else 's'} at a time so far"
