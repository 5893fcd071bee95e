"""Play the missing games of a league: the pairing gives games out, an executor plays them, and the outcome is told.

Each game is stored as soon as it is over, before it is reported and before the pairing receives its result.
"""

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import trio

from arena.bots.spec import BotSpec
from arena.errors import ArenaError
from arena.game.faults import lost_by
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.league.executor.task import (
    Begun,
    Executor,
    Failed,
    GameTask,
    Lost,
    Notice,
    NotPlayed,
    Outcome,
    Paused,
    Played,
    Watched,
)
from arena.league.store import GameRow, Store
from arena.league.stored_league import StoredWalk
from arena.league.versions import Versions
from arena.play.game_events import EventsDropped, GameFinished, WatchedEvent
from arena.play.machine import worker_of
from arena.system.printable import counted

TELLING_REPEATS = 3
"""Repeated games that make it significant that one bot was in all of them."""

Watch = Callable[[WatchedEvent], None]


class Watcher(Protocol):
    """Receives what happens, in the task that plays the games, so its methods must not wait."""

    def finished(self, row: GameRow, record: GameRecord) -> None:
        """Report that a game was stored."""

    def remark(self, text: str) -> None:
        """Report a line for people."""

    def closing(self, under_way: int) -> None:
        """Report that no further game is begun; `under_way` games are played to their end. By default, do nothing."""
        return


@dataclass(frozen=True)
class Forfeits:
    """The games that one bot has lost for one reason that is its own fault: their number, and the first of them."""

    name: str
    reason: str
    count: int
    first: GameRow
    words: str
    stderr: str
    worker: str = ""

    @property
    def text(self) -> str:
        where = f" on worker {self.worker}" if self.worker else ""
        lost = f"{self.name} forfeited {counted(self.count, 'game')} ({self.reason})"
        return f"{lost}; the first, game {self.first.number}{where}: {self.words}"


@dataclass(frozen=True)
class LeagueOutcome:
    error: ArenaError | None
    is_complete: bool
    changed: tuple[str, ...] = ()
    """A line for each bot that has changed during the league, and was played no more."""
    remarks: tuple[str, ...] = ()
    """A line for each bot with new files in its folder."""
    forfeits: tuple[Forfeits, ...] = ()
    dropped: int = 0
    """Games under way that were stopped, or could not be judged."""
    repeated: tuple[str, int] | None = None
    """A bot that alone took part in all games that had to be played again, and the number of these games."""
    unstored: int = 0


class LeagueRun:
    """Plays the games that a store lacks, and stores each when it is over.

    `walk` are the games that the store has. With `keep_bots` two consecutive games that are a pair are played in the
    same processes.
    """

    def __init__(
        self,
        walk: StoredWalk,
        bots: Mapping[Player, BotSpec],
        store: Store,
        watcher: Watcher,
        watch: Watch | None = None,
        *,
        keep_bots: bool = False,
    ) -> None:
        self.walk, self._bots, self._store, self._keep_bots = walk, bots, store, keep_bots
        self.watcher = watcher
        self.watch = watch
        self.numbers: set[int] = set()
        """The numbers of the games that this run has stored."""
        self.under_way = self.dropped = self.unstored = 0
        self.repeats: list[tuple[Player, Player]] = []
        self.is_closing = self.is_complete = False
        self.on_stored: Callable[[GameRow], None] = lambda row: None
        self._executor: Executor | None = None
        self._versions = Versions()
        self._first: dict[tuple[str, str], Forfeits] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._failure: ArenaError | None = None
        """The first error that stops the league, or is raised at its end."""
        self._given = deque(walk.missing)
        self._results: list[GameRow] = []
        """The stored games that the pairing has given out and not received."""
        self._open: dict[str, GameSpec] = {}
        """The games that are to be played, are played or wait to be stored."""
        self._left_out = 0
        """Games that were given out and get no result."""
        self._has_result = trio.Event()
        self._ended: list[Played | Failed] = []
        self._has_news = trio.Event()
        self._is_over = self._is_exhausted = False

    def close(self) -> None:
        """Begin no further game; those under way are played to their end."""
        self.is_closing = True
        if self._executor:
            self._executor.close()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self.numbers.add(row.number)
        self.on_stored(row)
        self.watcher.finished(row, record)
        for color, fault in record.verdict.fault_by_loser.items():
            words = f"{lost_by(row.players, color, fault.reason)}: {fault.words}"
            key = name, reason = row.players[color].name, fault.reason.value
            worker = worker_of(record.machine or "")
            self._first.setdefault(key, Forfeits(name, reason, 1, row, words, record.stderr[color], worker))
            self._counts[key] += 1

    def outcome(self, error: ArenaError | None) -> LeagueOutcome:
        in_all = set[Player].intersection(*map(set, self.repeats)) if len(self.repeats) >= TELLING_REPEATS else set()
        return LeagueOutcome(
            error=error,
            is_complete=self.is_complete,
            changed=tuple(self._versions.errors()),
            remarks=tuple(self._versions.remarks()),
            forfeits=tuple(replace(first, count=self._counts[key]) for key, first in self._first.items()),
            dropped=self.dropped,
            unstored=self.unstored,
            repeated=(in_all.pop().name, len(self.repeats)) if len(in_all) == 1 else None,
        )

    async def play(self, executor: Executor) -> None:
        """Have the executor play the missing games.

        A game that was played across a change of a bot is not stored, and the bot is played no more. To stop early,
        `close` this: the games under way are played and stored; cancelling stops them. Raises `ArenaError` if the store
        or the machine fails, or at the end if games were left out; stored games stay.
        """
        self._executor = executor
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._write_all)
                await self._hear_all(executor)
        finally:
            self.dropped += self.under_way
            self.under_way = 0
            self.is_complete = self._has_all()
        if self._failure:
            raise self._failure

    def _bots_of(self, game: str) -> tuple[BotSpec, ...]:
        return tuple(self._bots[player] for player in self._open[game].players)

    async def _tasks(self) -> AsyncIterator[GameTask]:
        following: GameSpec | None = None
        while not self.is_closing:
            game = following or await self._next_missing()
            following = None
            if game is None:
                return
            task = GameTask(game)
            if self._keep_bots:
                following = await self._next_missing(waits=False)
                if following and (game.pair_seed, game.players) == (following.pair_seed, following.players[::-1]):
                    task, following = GameTask(game, then=following), None
            if await self._versions.were_unchanged(self._bots_of(task.id)):
                yield task
            else:
                for spec in task.games:
                    self._settle(spec.id, None)

    async def _next_missing(self, *, waits: bool = True) -> GameSpec | None:
        """Return the next game that is not stored; None if there is none, or (unless it `waits`) not yet."""
        while True:
            if self._given:
                game = self._given.popleft()
                self._open[game.id] = game
                return game
            await trio.lowlevel.checkpoint()
            if self.is_closing or self._is_exhausted:
                return None
            self._has_result = trio.Event()
            batch = self.walk.pairing.next(self._take_results())
            self._is_exhausted = batch is None
            if batch:
                take, in_thread = self.walk.stored.take, self._open and self.walk.stored.left
                rows = await trio.to_thread.run_sync(take, batch) if in_thread else take(batch)
                self._results += rows
                found = {row.id for row in rows}
                self._given.extend(game for game in batch if game.id not in found)
            elif batch is None or not waits:
                return None
            elif self._open:
                await self._has_result.wait()
            else:
                assert self._left_out, "the pairing waits for results, and has those of all its games"
                return None

    def _take_results(self) -> list[GameRow]:
        results, self._results = self._results, []
        return results

    def _settle(self, game: str, row: GameRow | None) -> None:
        del self._open[game]
        if row is None:
            self._left_out += 1
        else:
            self._results.append(row)
        self._has_result.set()

    def _has_all(self) -> bool:
        """Return whether the pairing has no more games, and all that it gave out are stored."""
        if self._given or self._open or self._left_out:
            return False
        # It may have been closed at the end, and the pairing not been asked again.
        return self._is_exhausted or self.walk.pairing.next(self._take_results()) is None

    async def _hear_all(self, executor: Executor) -> None:
        """Handle the outcomes of the executor to the end; a cancellation loses none."""
        outcomes = executor.play(self._tasks())
        try:
            await self._hear(outcomes)
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                executor.stop()
                await self._hear(outcomes)
            raise
        finally:
            self._is_over = True
            self._has_news.set()

    async def _hear(self, outcomes: AsyncIterator[Outcome]) -> None:
        watch = self.watch or (lambda event: None)
        try:
            async for outcome in outcomes:
                self._note(outcome, watch)
        except ArenaError as error:
            self._fail(error)

    def _note(self, outcome: Outcome, watch: Watch) -> None:
        match outcome:
            case Begun():
                self.under_way += 1
            case Lost() | Paused():
                self.under_way -= 1
            case NotPlayed():
                self.under_way -= 1
                self._failure = self._failure or ArenaError(outcome.why)
                self._settle(outcome.id, None)
            case Watched(events, dropped):
                for event in events:
                    watch(event)
                if dropped:
                    watch(EventsDropped(dropped))
            case Played() | Failed():
                if isinstance(outcome, Played):
                    watch(GameFinished(outcome.record))
                self._ended.append(outcome)
                self._has_news.set()
            case Notice(line, again):
                if again in self._open:
                    self.repeats.append(self._open[again].players)
                self.watcher.remark(line)

    def _fail(self, error: ArenaError) -> None:
        self._failure = self._failure or error
        self.close()
        assert self._executor is not None
        self._executor.stop()

    async def _write_all(self) -> None:
        """Store all games that have ended, waiting ones in one transaction."""
        with trio.CancelScope(shield=True):  # a game that has been played is not lost to Ctrl-C
            while self._ended or not self._is_over:
                await self._has_news.wait()
                self._has_news = trio.Event()
                if self._is_over:
                    self._has_news.set()
                ended, self._ended = self._ended, []
                if ended:
                    await self._write(ended)

    async def _write(self, ended: Sequence[Played | Failed]) -> None:
        bots = {bot.player: bot for outcome in ended if outcome.id for bot in self._bots_of(outcome.id)}
        changed = await self._versions.changed_of(bots.values())
        counts = [one for one in ended if one.id and changed.isdisjoint(self._open[one.id].players)]
        for outcome in counts:
            if isinstance(outcome, Failed):  # with a bot that has changed, it is that which does not work
                self._fail(outcome.error())
                self.dropped += 1
        records = [outcome.record for outcome in counts if isinstance(outcome, Played)]
        rows: list[GameRow] = []
        try:
            rows = await trio.to_thread.run_sync(self._store.add_all, records)
        except ArenaError as error:
            self._fail(error)
            self.unstored += len(records)
        finally:
            self.under_way -= len(ended)
            stored = {row.id: row for row in rows}
            for outcome in ended:
                if outcome.id:
                    self._settle(outcome.id, stored.get(outcome.id))
        for row, record in zip(rows, records, strict=False):
            self.finished(row, record)
