"""The games of one run on a machine of a cluster: batches come in, a `LocalExecutor` plays, what came of them is told.

Nothing is told before the copies of bots have been looked at: what was played by one that has changed does not count.
"""

import sys
from collections.abc import Iterable

import trio

from arena.bots.changed import named
from arena.errors import ArenaError
from arena.game.record import encode_record
from arena.league.executor.cluster.calibration import Calibration, load_now
from arena.league.executor.cluster.copies import Seen, WatchedCopy
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
    Spoilt,
)
from arena.league.executor.cluster.ready_bots import ReadyBots
from arena.league.executor.cluster.under_way import Batches, BatchUnderWay
from arena.league.executor.local import LocalExecutor
from arena.league.executor.pipes import Connection
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
from arena.play.machine import this_machine


class SpoiltError(Exception):
    """Copies of bots have changed, and all has to be made ready again."""


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
        self._batches = Batches()
        self._players: dict[str, set[str]] = {}
        """Who plays, by name, in each game that is here, or was begun before the last look at the copies."""
        self._since_look: set[str] = set()
        """The games that were under way at the last look, or have been begun since."""
        self._one_look = trio.Lock()
        self._is_closed = False

    async def handle(self, asked: Asked) -> None:
        """Do what is asked. Raises `SpoiltError`, when all has been answered, if copies of bots have changed."""
        match asked.request:
            case Batch():
                await self._begin(asked.number, asked.request)
            case Collect():
                told = self._batches.told()
                if told.records:
                    for said in await self._look_at_copies(asked.number):
                        self._batches.note_said(said)
                self._answer(asked.number, told)
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

    async def _begin(self, number: int, batch: Batch) -> None:
        games = [game for task in batch.tasks for game in task.games]
        self._players.update({game.id: {player.name for player in game.players} for game in games})
        new, tasks = self._batches.add(number, batch, load_now())
        if self._is_closed:
            new.give_back()
            tasks = []
        for task in tasks:
            self._send.send_nowait(task)
        if not new.waiting:
            self._answer(number, Done(), is_last=False)
        await self._answer_finished()

    async def play(self) -> None:
        """Play what is sent, until it is closed and all that had been begun is over. Raises as `handle` does."""
        async for outcome in self._executor.play(self._tasks):
            match outcome:
                case Begun(id):
                    self._since_look.add(id)
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
        await self._answer_finished()

    async def _note_over(self, batch: BatchUnderWay) -> None:
        """A game of a batch is over; if it was the last one, so is the batch."""
        if not batch.open:
            await self._answer_finished()

    async def _answer_finished(self) -> None:
        finished = self._batches.take_finished()
        if any(batch.records for batch in finished):
            finished[0].others += await self._look_at_copies(*(batch.number for batch in finished))
        for batch in finished:
            self._answer(batch.number, batch.told())

    async def _look_at_copies(self, *numbers: int) -> list[Said]:
        """Look whether what is about to be told counts, in answer to these requests; returns what there is to tell
        beside it. Raises `SpoiltError` if it does not count, and `ArenaError` if no bot can have brought that about.

        In a sandbox nobody can write to copies, so that those of the bots that have played will do.
        """
        async with self._one_look:
            games = set(self._since_look)
            over = {game for game in games if not self._batches.has_open(game)}
            players = set().union(*(self._players[game] for game in games))
            names = players & self._ready.watched.keys() if self._is_confined else self._ready.watched.keys()
            watched = [self._ready.watched[name] for name in sorted(names)]
            seen = await trio.to_thread.run_sync(_look_at, watched)
            remarks = [
                Said(f"{name}: while it was played, files have come into its folder: {named(one.new)}; its games count")
                for name, one in seen.items()
                if one.new
            ]
            changed = {name: one.changed for name, one in seen.items() if one.changed}
            if not changed:
                self._since_look -= over
                for game in over:
                    self._players.pop(game, None)
                return remarks
            waiting = (*numbers, *self._batches.numbers)
            if self._is_confined:
                how = "; ".join(f"{name}: {words}" for name, words in changed.items())
                error = ArenaError(f"copies of bots have changed, to which no bot can write: {how}")
                for number in waiting:
                    self._answer(number, Refused(str(error)))
                raise error
            for number in waiting:
                self._answer(number, Spoilt(changed, tuple(sorted(players))))
                changed = {}
            raise SpoiltError

    def _answer(
        self, number: int, answer: "Prepared | Missing | Refused | Done | BatchPlayed | Spoilt", *, is_last: bool = True
    ) -> None:
        self._connection.send(Answered(number, answer, is_last))


def _look_at(copies: Iterable[WatchedCopy]) -> dict[str, Seen]:
    return {copy.bot.name: copy.look() for copy in copies}
