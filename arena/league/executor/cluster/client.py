"""The arena's side of a cluster: an `Executor` that sends batches of games to the workers of a `Crew`.

What comes back is believed only so far (`arena.league.executor.cluster.answers`): each record is decoded strictly, is
of a game that this worker was sent, and is judged again before it goes on to be stored. A worker that sends a wrong
one, cannot play, or runs another arena is not used again in this run, and its games are played elsewhere. So are those
of a worker that is gone or has been silent for too long; what it still sends of them is passed over, so that a game
comes out once.
"""

from collections.abc import AsyncGenerator, Iterable, Set
from contextlib import asynccontextmanager

import trio

from arena.counted import counted
from arena.errors import ArenaError
from arena.league.executor.cluster.answers import Answers
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.crew import Crew
from arena.league.executor.cluster.gate_process import Gate
from arena.league.executor.cluster.ledger import MOST_LOST, Ledger
from arena.league.executor.cluster.messages import Batch, Reply, encode
from arena.league.executor.cluster.plan import ClusterPlan
from arena.league.executor.cluster.seat import Seat, SentBatch
from arena.league.executor.outcomes import OutcomeStream
from arena.league.executor.task import Begun, GameTask, Lost, NotPlayed, Outcome, Paused, Said
from arena.nursery import open_nursery

LINGER_SECONDS = 0.02
"""How long a batch that is not full waits for further games."""


@asynccontextmanager
async def cluster_executor(cargo: Cargo, plan: ClusterPlan) -> AsyncGenerator["ClusterExecutor", None]:
    """A cluster that plays games. At the end none of this run is played any more.

    The outcomes end with an `ArenaError` if there is no scheduler, or no worker that can play comes within the plan's
    patience. Raises `ArenaError`.
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
        self._is_begun = False
        """Whether the first workers are ready."""
        self._answers = Answers(cargo, self._crew, self._ledger, self)

    async def begin(self, nursery: trio.Nursery) -> None:
        """Begin to connect: as soon as a worker is ready, games are asked for. Raises `ArenaError`."""
        self._nursery = nursery
        for name, why in self._cargo.unsent.items():
            self._crew.left_out.add(name, why)
        await self._crew.start(nursery)
        nursery.start_soon(self._dispatch)
        nursery.start_soon(self._answers.collect, nursery)

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
            return self._crew.is_gone and not self._answers.judging
        return self._feeding is None and not self._ledger.open

    def failed(self, error: ArenaError) -> None:
        """See `Owner.failed`."""
        self._fail(error)

    def lost_sight(self) -> None:
        """See `Owner.lost_sight`."""
        self._drop_unreachable()

    def _drop_unreachable(self) -> None:
        """Who wants no further game does not wait for games of which nothing can be heard."""
        if self._is_closed and not self._crew.is_reachable and not self._answers.judging:
            self._ledger.open.clear()
            self.changed()

    # --- what is told to it -------------------------------------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        """See `Teller.is_closed`."""
        return self._is_closed

    @property
    def is_stopped(self) -> bool:
        """See `Teller.is_stopped`."""
        return self._is_stopped

    def tell(self, outcome: Outcome) -> None:
        """See `Teller.tell`."""
        self._tell(outcome)

    def judged(self) -> None:
        """See `Teller.judged`."""
        self._drop_unreachable()
        self.changed()

    async def until_changed(self) -> None:
        """See `Teller.until_changed`."""
        await self._wait()

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
        if self._answers.is_careful:
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
            if seat and self._ledger.put_off and not self._waiting and not self._is_closed:
                with trio.move_on_after(LINGER_SECONDS):
                    await self._wait()
                    continue
                self._ledger.take_up()
            elif seat is None or not self._waiting or self._is_closed:
                await self._wait()
            elif self._answers.is_careful:
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
        batch.sent_at = seat.asked_at = trio.current_time()
        batch.work_us = seat.calibration.work_us
        self._crew.send(seat, batch, encode(Batch(self._cargo.run.id, batch.tasks)))
        self.tell_begun(seat)
        self.changed()  # there is room for further games

    def tell_begun(self, seat: Seat) -> None:
        """See `Teller.tell_begun`: of the games that a worker has, as many are under way as it can play at a time."""
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
            self._ledger.put_off.extend(back)  # it shows more who has changed copies if others are played before
        elif spec := self._ledger.put_back(back, counts=counts):
            words = f"game {spec.id} ({spec.names}) was not played: {MOST_LOST} times {why}"
            self.failed(ArenaError(words))
        elif back and self._crew.is_connected:
            count = sum(len(task.games) for task in back)
            self.said(f"{why}: {'1 game is' if count == 1 else f'{count} games are'} played elsewhere")

    def answered(self, seat: Seat, number: int, reply: Reply) -> None:
        """See `Owner.answered`."""
        assert self._nursery is not None
        self._nursery.start_soon(self._answers.take, seat, number, seat.sent[number], reply)


def _workers_text(seats: list[Seat]) -> str:
    games = sum(seat.slots for seat in seats)
    workers = counted(len(seats), "worker")
    return f"{workers}, {games} game{'' if games == 1 else 's'} at a time so far"
