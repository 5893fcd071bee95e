"""The arena's side of a cluster: an `Executor` that sends batches of games to the workers of a `Crew`.

What comes back is believed only so far: each record is decoded strictly, is of a game that this worker was sent, and is
judged again (in a thread) before it goes on to be stored. A worker that sends a wrong one, cannot play, or runs another
arena is not used again in this run, and its games are played elsewhere. So are those of a worker that is gone or has
been silent for too long; what it still sends of them is passed over, so that a game comes out once.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence, Set
from contextlib import asynccontextmanager, contextmanager

import msgspec
import trio

from arena.errors import ArenaError
from arena.game.record import GameRecord, RecordError
from arena.game.spec import GameSpec
from arena.league.executor.cluster.batches import COLLECT_SECONDS
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.crew import LONGEST_WHY, Crew
from arena.league.executor.cluster.expected import checked_record
from arena.league.executor.cluster.gate_process import Gate
from arena.league.executor.cluster.ledger import MOST_LOST, Ledger
from arena.league.executor.cluster.messages import (
    Answer,
    Batch,
    BatchPlayed,
    Collect,
    Refused,
    Reply,
    Spoilt,
    Unprepared,
    decode_answer,
    encode,
)
from arena.league.executor.cluster.plan import ClusterPlan
from arena.league.executor.cluster.seat import Seat, SentBatch, Standing
from arena.league.executor.cluster.spoils import Spoils
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
from arena.league.executor.wire import WireError, unpacked
from arena.nursery import open_nursery
from arena.play.played_on import played_on
from arena.printable import printable
from protocol.notation import Reason

LINGER_SECONDS = 0.02
"""How long a batch that is not full waits for further games."""
NAMED = 6
"""Bots that are named of those that played."""
OWN_FAULTS = frozenset({"HOST", "SANDBOX", "REFUSED_BOTS"})
"""Errors that are the machine's, by the names of `ErrorKind`: another one may play the game."""


@asynccontextmanager
async def cluster_executor(cargo: Cargo, plan: ClusterPlan) -> AsyncGenerator["ClusterExecutor", None]:
    """A cluster that plays games. At the end none of this run is played any more.

    The outcomes end with an `ArenaError` if there is no scheduler, or no worker that can play comes within the plan's
    patience. Raises `HostError`.
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

    def __init__(self, cargo: Cargo, plan: ClusterPlan, gate: Gate | None = None) -> None:
        super().__init__()
        self._cargo = cargo
        self._crew = Crew(cargo, plan, self, gate)
        self._plan = plan
        self._ledger = Ledger(self._waiting)
        self._bots = frozenset(unpacked(bot.bot.name) for bot in cargo.run.bots)
        self._spoils = Spoils()
        self._is_begun = False
        """Whether the first workers are ready."""
        self._checking = 0
        """Answers whose records are just being judged."""

    async def begin(self, nursery: trio.Nursery) -> None:
        """Begin to connect: as soon as a worker is ready, games are asked for. Raises `HostError`."""
        self._nursery = nursery
        for name, why in self._cargo.unsent.items():
            self._crew.left_out.add(name, why)
        await self._crew.start(nursery)
        nursery.start_soon(self._dispatch)
        nursery.start_soon(self._collect)

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """See `Executor.close`."""
        if self._is_closed:
            return
        self._is_closed = True
        self._ledger.drop_waiting()
        if self._feeding:
            self._feeding.cancel()
        self._crew.close()
        self._drop_unreachable()
        self.changed()

    def stop(self) -> None:
        """See `Executor.stop`."""
        self.close()
        self._is_stopped = True
        self._crew.stop()
        self.changed()

    def interrupt(self, game: str) -> None:
        """See `Executor.interrupt`. A game that has been sent to a worker is played to its end."""
        if task := self._ledger.drop_paused(game):
            self._tell(Paused(game, task.history))

    @property
    def _is_over(self) -> bool:
        """Whether no outcome will come any more."""
        if self._is_stopped:
            return self._crew.is_gone and not self._checking
        return self._feeding is None and not self._ledger.open

    def failed(self, error: ArenaError) -> None:
        """See `Owner.failed`."""
        self._fail(error)

    def lost_sight(self) -> None:
        """See `Owner.lost_sight`."""
        self._drop_unreachable()

    def _drop_unreachable(self) -> None:
        """Who wants no further game does not wait for games of which nothing can be heard."""
        if self._is_closed and not self._crew.is_reachable and not self._checking:
            self._ledger.open.clear()
            self.changed()

    # --- sending ------------------------------------------------------------------------------------------------------

    def _take_task(self, task: GameTask) -> None:
        self._ledger.add(task)
        if not self._left_out.isdisjoint(player.name for player in task.players):
            self._tell_left_out(self._ledger.leave_out_waiting(self._left_out))
        self.changed()

    @property
    def _left_out(self) -> Set[str]:
        return self._crew.left_out.reasons.keys()

    def left_out(self, bot: str, words: str) -> None:
        """See `Owner.left_out`: its games that wait, and all that are still to come, are not played."""
        self.said(words)
        self._tell_left_out(self._ledger.leave_out_waiting({bot}))
        self.changed()

    def _tell_left_out(self, tasks: Iterable[GameTask]) -> None:
        """Tell of the games of bots that are left out."""
        for task in tasks:
            name = next(player.name for player in task.players if player.name in self._left_out)
            for game in task.games:
                if self._ledger.come_out(game.id):
                    self._tell(Begun(game.id))
                    self._tell(NotPlayed(game.id, self._crew.left_out.reasons[name], left_out=True))

    async def _until_there_is_room(self) -> None:
        await trio.lowlevel.checkpoint()
        while (seat := self._roomiest()) is None or len(self._waiting) >= seat.size:
            await self._wait()

    def _roomiest(self) -> Seat | None:
        """The worker that is to get the next batch; None if all have enough."""
        free = [seat for seat in self._crew.seats.values() if seat.has_room] if self._is_begun else []
        if self._spoils.is_careful:
            free = [seat for seat in free if not seat.sent]
        return min(free, key=lambda seat: (len(seat.sent), seat.games / seat.slots), default=None)

    async def _dispatch(self) -> None:
        """Send batches while there are games and room: full ones, and what there is when no further game comes."""
        ready = await self._crew.until_ready()
        if ready:
            self.said(f"cluster {self._plan.name}: {_workers_text(ready)}; others may come")
            self._is_begun = True
            self.changed()
        while not self._is_stopped:
            seat = self._roomiest()
            if seat is None or not self._waiting or self._is_closed:
                await self._wait()
            elif self._spoils.is_careful:
                self._send(seat, 1)
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
        """Send a worker games that wait."""
        assert seat.calibration is not None
        batch = self._ledger.take_batch(most, seat.time_percent)
        batch.sent_at, batch.work_us = trio.current_time(), seat.calibration.work_us
        self._crew.send(seat, batch, encode(Batch(self._cargo.run.id, batch.tasks)))
        self._tell_begun(seat)
        self.changed()  # there is room for further games

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
        """See `Owner.lost`: what nothing has come of is played by another worker. With no `why`, that is told already,
        and other games come first."""
        back: list[GameTask] = []
        for batch in batches:
            left = self._ledger.still_open(batch)
            for game in batch.begun.intersection(game.id for task in left for game in task.games):
                self._tell(Lost(game))
            batch.open.clear()
            batch.begun.clear()
            back += left
        back, left_out = self._ledger.leave_out(back, self._left_out)
        self._tell_left_out(left_out)
        if self._is_closed:  # what is lost with its worker will not be played
            self._ledger.drop(back)
        elif not why:
            self._ledger.put_last(back)
        elif spec := self._ledger.put_back(back, counts=counts):
            words = f"game {spec.id} ({spec.names}) was not played: {MOST_LOST} times {why}"
            self.failed(ArenaError(words))
        elif back and self._crew.is_connected:
            count = sum(len(task.games) for task in back)
            self.said(f"{why}: {'1 game is' if count == 1 else f'{count} games are'} played elsewhere")

    def answered(self, seat: Seat, number: int, reply: Reply) -> None:
        """See `Owner.answered`."""
        assert self._nursery is not None
        self._nursery.start_soon(self._take, seat, number, seat.sent[number], reply)

    async def _take(self, seat: Seat, number: int, batch: SentBatch, reply: Reply) -> None:
        """Judge what a worker sends of a batch, and tell it."""
        with trio.CancelScope(shield=True):
            with trio.move_on_after(COLLECT_SECONDS):
                while seat.is_collecting and self._crew.is_reachable:  # what that brings is missing here
                    await self._wait()
            with self._being_judged():
                await self._take_answer(seat, number, batch, reply)

    @contextmanager
    def _being_judged(self) -> Iterator[None]:
        self._checking += 1
        try:
            yield
        finally:
            self._checking -= 1
            self._drop_unreachable()
            self.changed()

    async def _take_answer(self, seat: Seat, number: int, batch: SentBatch, reply: Reply) -> None:
        if seat.standing is Standing.REFUSED:  # its games are played elsewhere
            seat.sent.pop(number, None)
            return
        answer: Answer = Unprepared()
        if not reply.lost:
            try:
                answer = decode_answer(reply.data)
            except WireError as error:
                answer = Refused(f"it sends what is no message: {error}")
        records = await self._judge(seat, answer, batch.specs)
        self._take_played(seat, [batch], answer, records)
        seat.sent.pop(number, None)
        is_told = isinstance(answer, Spoilt) or seat.standing is Standing.COMING
        counts = not is_told and (not reply.lost or reply.is_fault)
        self.lost([batch], "" if is_told else self._why_again(seat, reply, answer), counts=counts)
        if isinstance(answer, Unprepared | Spoilt) and not self._is_closed:
            self._crew.prepare_again(seat)
        self._tell_begun(seat)

    async def _judge(self, seat: Seat, answer: Answer, wanted: dict[str, GameSpec]) -> list[GameRecord]:
        """The records in what a worker answers; none if one of them is wrong, for which it is refused."""
        if not isinstance(answer, BatchPlayed):
            return []
        try:
            return await trio.to_thread.run_sync(_judged, answer.records, wanted)
        except RecordError as error:
            self._crew.refuse(seat, f"it sent a wrong record: {error}")
            return []

    def _take_played(self, seat: Seat, batches: list[SentBatch], answer: Answer, records: list[GameRecord]) -> None:
        """Tell what has come of games of these batches."""
        if isinstance(answer, Refused):
            self._crew.refuse(seat, answer.why)
        elif isinstance(answer, Spoilt):
            self._take_spoilt(seat, answer)
        elif isinstance(answer, BatchPlayed) and seat.standing is not Standing.REFUSED:
            seat.note_speed(len(records), answer.seconds)
            work_us = {game: batch.work_us for batch in batches for game in batch.specs}
            started = [record for record in records if record.verdict.reason is not Reason.NO_START]
            self._spoils.note_clean({player.name for record in started for player in record.players})
            for record in records:
                played = _on(record, seat.name, answer.load, work_us[record.id])
                self._come_out(batches, record.id, Played(played))
            seat.played += len(records)
            self._take_others(seat, batches, answer)

    def _take_spoilt(self, seat: Seat, spoilt: Spoilt) -> None:
        """Bots' copies on a worker have changed: they are made anew, unless that has happened too often."""
        if not self._bots.issuperset((*spoilt.changed, *spoilt.players)):
            self._crew.refuse(seat, "it tells of bots that do not take part")
            return
        if not spoilt.changed:
            return
        for name, how in spoilt.changed.items():
            words = f"its copy on worker {seat.name} has changed while {_few(spoilt.players)} played there"
            self.said(f"{name}: {words}: {printable(how, 300)}; what was played there is played again")
        for name, why in self._spoils.note(spoilt.changed, spoilt.players).items():
            self._crew.left_out.add(name, why)

    # --- what is over of batches that are not -------------------------------------------------------------------------

    async def _collect(self) -> None:
        """Ask workers from time to time what has come of batches that take long."""
        while not self._is_stopped:
            with trio.move_on_after(COLLECT_SECONDS / 2):
                while not self._is_stopped:
                    await self._wait()
            late = trio.current_time() - COLLECT_SECONDS / 2
            for seat in self._crew.seats.values():
                has_more = any(len(batch.open) > 1 and batch.sent_at < late for batch in seat.sent.values())
                if has_more and seat.standing is Standing.READY and not seat.is_silent and not seat.is_collecting:
                    seat.is_collecting = True
                    assert self._nursery is not None
                    self._nursery.start_soon(self._collect_from, seat)

    async def _collect_from(self, seat: Seat) -> None:
        with trio.CancelScope(shield=True):
            before = list(seat.sent.values())
            answer = await self._crew.ask(seat, encode(Collect(self._cargo.run.id)))
            with self._being_judged():
                batches = [*before, *(batch for batch in seat.sent.values() if batch not in before)]
                wanted = {id: game for batch in batches for id, game in batch.specs.items()}
                if answer:
                    self._take_played(seat, batches, answer, await self._judge(seat, answer, wanted))
                    self._tell_begun(seat)
                seat.is_collecting = False

    def _why_again(self, seat: Seat, reply: Reply, answer: Answer) -> str:
        if reply.lost:
            return f"worker {seat.name} has not played what it was sent ({printable(reply.lost, 300)})"
        if isinstance(answer, Unprepared):
            return f"what plays on worker {seat.name} has been started again"
        return f"worker {seat.name} has not played all that it was sent"

    def _come_out(self, batches: list[SentBatch], game: str, outcome: Played | NotPlayed | Failed) -> None:
        """A game is over, unless it came out before: then this is a second one of it, and passed over."""
        for batch in batches:
            batch.open.pop(game, None)
        if not self._ledger.come_out(game):
            return
        told = [one for seat in self._crew.seats.values() for one in seat.sent.values() if game in one.begun]
        was_begun = bool(told) or any(game in batch.begun for batch in batches)
        for one in (*batches, *told):  # it may have been sent to another worker as well
            one.begun.discard(game)
        if not was_begun:
            self._tell(Begun(game))
        self._tell(outcome)

    def _take_others(self, seat: Seat, batches: list[SentBatch], answer: BatchPlayed) -> None:
        """What else has come of a batch. What is the machine's fault refuses the worker."""
        is_open = {game for batch in batches for game in batch.open}
        for other in answer.others:
            match other:
                case Said(line):
                    self.said(f"worker {seat.name}: {printable(line, LONGEST_WHY)}")
                case Failed(id, kind, text) if id in is_open:
                    if kind in OWN_FAULTS:
                        self._crew.refuse(seat, text)
                    else:
                        words = f"worker {seat.name}: {printable(text, LONGEST_WHY, lines=True)}"
                        self._come_out(batches, id, Failed(id, "ARENA", words, 1))
                case NotPlayed(id, why) if id in is_open:
                    words = f"worker {seat.name}: {printable(why, LONGEST_WHY, lines=True)}"
                    self._come_out(batches, id, NotPlayed(id, words))
                case _:
                    self._crew.refuse(seat, "it tells of games that it was not sent")


def _few(names: Sequence[str]) -> str:
    """Names in one line."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _judged(records: Iterable[bytes], wanted: dict[str, GameSpec]) -> list[GameRecord]:
    """The records of a batch. Raises `RecordError` for the first that is wrong: then none of them counts."""
    right: list[GameRecord] = []
    for data in records:
        record = checked_record(data, wanted)
        del wanted[record.id]
        right.append(record)
    return right


def _on(record: GameRecord, worker: str, load: float, work_us: int) -> GameRecord:
    """The record with the worker that it has come from: its name is the arena's to say, and not the worker's."""
    machine = played_on(record.machine or "", worker, load, work_us)
    return msgspec.structs.replace(record, machine=machine)


def _workers_text(seats: list[Seat]) -> str:
    games = sum(seat.slots for seat in seats)
    workers = "1 worker" if len(seats) == 1 else f"{len(seats)} workers"
    return f"{workers}, {games} game{'' if games == 1 else 's'} at a time so far"
