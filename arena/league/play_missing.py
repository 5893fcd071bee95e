"""Play the missing games of a league: the pairing gives games out, an executor plays them, and the outcome is told.

Each game is stored as soon as it is over, before it is reported and before the pairing receives its result.
"""

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import trio

from arena.bots.spec import BotSpec
from arena.errors import ArenaError
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.verdict import lost_by
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
from arena.league.pairing.pairing import Pairing
from arena.league.store import GameRow, Store
from arena.league.stored_league import GamesBetween
from arena.league.versions import Versions
from arena.play.game_events import EventsDropped, GameFinished, WatchedEvent
from arena.play.machine import worker_of
from arena.system.printable import counted

TELLING_REPEATS = 3
"""Repeated games that make it significant that one bot was in all of them."""


class RunProgress:
    """The observable progress of a run.

    `dropped` games were stopped, or could not be judged; `unstored` were over, and could not be stored. `is_complete`:
    the pairing has no more games, and all that it has given out are stored.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self.dropped = 0
        self.unstored = 0
        self.repeats: list[tuple[Player, Player]] = []
        """The players of each repeated game."""
        self.is_closing = False
        self.is_complete = False
        self.on_close: Callable[[], None] = lambda: None
        """Called by `close`; set by the player of the games."""

    def in_all_repeats(self) -> tuple[str, int] | None:
        """Return the name of the one bot that was in all repeated games, and their number.

        None without exactly one such bot, or with fewer than `TELLING_REPEATS` games.
        """
        if len(self.repeats) < TELLING_REPEATS:
            return None
        common = set[Player].intersection(*map(set, self.repeats))
        return (common.pop().name, len(self.repeats)) if len(common) == 1 else None

    def close(self) -> None:
        """Begin no further game; those under way are played to their end."""
        self.is_closing = True
        self.on_close()


Finished = Callable[[GameRow, GameRecord], None]
Say = Callable[[str], None]
Watch = Callable[[WatchedEvent], None]


async def play_missing(
    pairing: Pairing,
    bots: Mapping[Player, BotSpec],
    store: Store,
    executor: Executor,
    finished: Finished,
    *,
    versions: Versions,
    say: Say = lambda line: None,
    session: RunProgress | None = None,
    keep_bots: bool = False,
    watch: Watch = lambda event: None,
    stored: GamesBetween | None = None,
    missing: Iterable[GameSpec] = (),
) -> None:
    """Have the executor play the pairing's games that the store lacks, and store each when it is over.

    `stored` are the stored games of its players and of their older versions that it has not received yet, `missing` the
    games that it has given out before. `finished` receives the stored row and the
    record of each game, `say` a line for each game that is repeated, `watch` the events of the games. With `keep_bots`
    two consecutive games that are a pair are played in the same processes.

    A game that was played across a change of a bot (see `versions`) is not stored, and the bot is played no more. To
    stop early, close the `session`: the games under way are played and stored; cancelling this stops them. Raises
    `ArenaError` if the store or the machine fails, or at the end if games were left out; stored games stay.
    """
    session, stored = session or RunProgress(), stored or GamesBetween(store, bots)
    run = _Run(pairing, bots, store, executor, versions, session, keep_bots, stored, deque(missing))
    run.session.on_close = executor.close
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run.write, finished)
            await run.hear(say, watch)
    finally:
        run.session.dropped += run.session.under_way
        run.session.under_way = 0
        run.session.is_complete = run.is_complete()
    if run.failure:
        raise run.failure


def _is_return(first: GameSpec, second: GameSpec) -> bool:
    return first.pair_seed == second.pair_seed and first.players == second.players[::-1]


@dataclass
class _Run:
    _pairing: Pairing
    _bots: Mapping[Player, BotSpec]
    _store: Store
    _executor: Executor
    _versions: Versions
    session: RunProgress
    _keep_bots: bool
    _stored: GamesBetween
    _given: deque[GameSpec]
    """Games from the pairing that have not been handled yet."""
    failure: ArenaError | None = None
    """The first error that stops the league, or is raised at its end."""
    _results: list[GameRow] = field(default_factory=list)
    """The stored games that the pairing has given out and not received."""
    _open: dict[str, GameSpec] = field(default_factory=dict)
    """The games that are to be played, are played or wait to be stored."""
    _left_out: int = 0
    """Games that were given out and get no result."""
    _has_result: trio.Event = field(default_factory=trio.Event)
    """Set when a game was settled since the last call of the pairing."""
    _ended: list[Played | Failed] = field(default_factory=list)
    """Outcomes that have not been handled yet."""
    _has_news: trio.Event = field(default_factory=trio.Event)
    _is_over: bool = False
    _is_exhausted: bool = False
    """Whether the pairing has no more games."""

    def _bots_of(self, game: str) -> tuple[BotSpec, ...]:
        return tuple(self._bots[player] for player in self._open[game].players)

    async def _tasks(self) -> AsyncIterator[GameTask]:
        following: GameSpec | None = None
        while not self.session.is_closing:
            game = following or await self._next_missing()
            following = None
            if game is None:
                return
            task = GameTask(game)
            if self._keep_bots:
                following = await self._next_missing(waits=False)
                if following and _is_return(game, following):
                    task, following = GameTask(game, then=following), None
            if await self._versions.were_unchanged(self._bots_of(task.id)):
                yield task
            else:
                for spec in task.games:
                    self._settle(spec.id, None)

    async def _next_missing(self, *, waits: bool = True) -> GameSpec | None:
        """Return the next game that is not stored; None if there is none, or (unless it `waits`) none before others are
        over.
        """
        while True:
            if self._given:
                game = self._given.popleft()
                self._open[game.id] = game
                return game
            await trio.lowlevel.checkpoint()
            if self.session.is_closing or self._is_exhausted:
                return None
            self._has_result = trio.Event()
            batch = self._pairing.next(self._take_results())
            self._is_exhausted = batch is None
            if batch:
                stored = await self._stored_of(batch)
                self._results += stored.values()
                self._given.extend(game for game in batch if game.id not in stored)
            elif batch is None or not waits:
                return None
            elif self._open:
                await self._has_result.wait()
            else:
                assert self._left_out, "the pairing waits for results, and has those of all its games"
                return None

    async def _stored_of(self, games: Sequence[GameSpec]) -> dict[str, GameRow]:
        if not self._stored.left:
            return {}
        rows = await trio.to_thread.run_sync(self._stored.take, games) if self._open else self._stored.take(games)
        return {row.id: row for row in rows}

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

    def is_complete(self) -> bool:
        """Return whether the pairing has no more games, and all that it gave out are stored."""
        if self._given or self._open or self._left_out:
            return False
        # It may have been closed at the end, and the pairing not been asked again.
        return self._is_exhausted or self._pairing.next(self._take_results()) is None

    async def hear(self, say: Say, watch: Watch) -> None:
        """Handle the outcomes of the executor to the end; a cancellation loses none."""
        outcomes = self._executor.play(self._tasks())
        try:
            await self._hear(outcomes, say, watch)
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                self._executor.stop()
                await self._hear(outcomes, say, watch)
            raise
        finally:
            self._is_over = True
            self._has_news.set()

    async def _hear(self, outcomes: AsyncIterator[Outcome], say: Say, watch: Watch) -> None:
        try:
            async for outcome in outcomes:
                self._note(outcome, say, watch)
        except ArenaError as error:
            self._fail(error)

    def _note(self, outcome: Outcome, say: Say, watch: Watch) -> None:
        match outcome:
            case Begun():
                self.session.under_way += 1
            case Lost() | Paused():
                self.session.under_way -= 1
            case NotPlayed():
                self.session.under_way -= 1
                self.failure = self.failure or ArenaError(outcome.why)
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
                    self.session.repeats.append(self._open[again].players)
                say(line)

    def _fail(self, error: ArenaError) -> None:
        self.failure = self.failure or error
        self.session.close()
        self._executor.stop()

    async def write(self, finished: Finished) -> None:
        """Store all games that have ended, waiting ones in one transaction."""
        with trio.CancelScope(shield=True):  # a game that has been played is not lost to Ctrl-C
            while self._ended or not self._is_over:
                await self._has_news.wait()
                self._has_news = trio.Event()
                if self._is_over:
                    self._has_news.set()
                ended, self._ended = self._ended, []
                if ended:
                    await self._write(ended, finished)

    async def _write(self, ended: Sequence[Played | Failed], finished: Finished) -> None:
        bots = {bot.player: bot for outcome in ended if outcome.id for bot in self._bots_of(outcome.id)}
        changed = await self._versions.changed_of(bots.values())
        counted = [one for one in ended if one.id and changed.isdisjoint(self._open[one.id].players)]
        for outcome in counted:
            if isinstance(outcome, Failed):  # with a bot that has changed, it is that which does not work
                self._fail(outcome.error())
                self.session.dropped += 1
        records = [outcome.record for outcome in counted if isinstance(outcome, Played)]
        rows: list[GameRow] = []
        try:
            rows = await trio.to_thread.run_sync(self._store.add_all, records)
        except ArenaError as error:
            self._fail(error)
            self.session.unstored += len(records)
        finally:
            self.session.under_way -= len(ended)
            stored = {row.id: row for row in rows}
            for outcome in ended:
                if outcome.id:
                    self._settle(outcome.id, stored.get(outcome.id))
        for row, record in zip(rows, records, strict=False):
            finished(row, record)


class Watcher(Protocol):
    """Receives events in the task that plays the games, so its methods must not wait."""

    def finished(self, row: GameRow, record: GameRecord) -> None:
        pass

    def remark(self, text: str) -> None:
        pass

    def closing(self, under_way: int) -> None:
        """Report that no further game is begun; `under_way` games are played to their end."""


@dataclass(frozen=True)
class Forfeits:
    """The games that one bot has lost for one reason that is its own fault: their number, and the first of them.

    `words` describe the first loss. Where both bots had a fault, they describe only this one's.
    """

    name: str
    reason: str
    count: int
    first: GameRow
    words: str
    stderr: str
    """The end of the bot's standard error in the first one."""
    worker: str = ""
    """The worker of a cluster that has played the first one."""

    @property
    def text(self) -> str:
        where = f" on worker {self.worker}" if self.worker else ""
        lost = f"{self.name} forfeited {counted(self.count, 'game')} ({self.reason})"
        return f"{lost}; the first, game {self.first.number}{where}: {self.words}"


@dataclass(frozen=True)
class LeagueOutcome:
    error: ArenaError | None
    is_complete: bool
    """Whether all games are played and stored."""
    changed: tuple[str, ...]
    """A line for each bot that has changed during the league, and was played no more."""
    remarks: tuple[str, ...]
    """A line for each bot with new files in its folder."""
    forfeits: tuple[Forfeits, ...]
    dropped: int
    """Games under way that were stopped, or could not be judged."""
    repeated: tuple[str, int] | None = None
    """A bot that alone took part in all games that had to be played again, and the number of these games."""
    unstored: int = 0
    """Finished games that could not be stored."""


class PlayState:
    """The state of a league that plays; forfeits are counted for each bot and reason.

    `numbers` are those of the league's stored games, which are added to it.
    """

    def __init__(self, watcher: Watcher, watch: Watch | None, numbers: set[int]) -> None:
        self._numbers = numbers
        self.watcher = watcher
        self.watch = watch
        self.versions = Versions()
        self.session = RunProgress()
        self._first: dict[tuple[str, str], Forfeits] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._numbers.add(row.number)
        self.watcher.finished(row, record)
        for color, fault in record.verdict.fault_by_loser.items():
            words = f"{lost_by(row.players, color, fault.reason)}: {fault.words}"
            key = name, reason = row.players[color].name, fault.reason.value
            worker = worker_of(record.machine or "")
            self._first.setdefault(key, Forfeits(name, reason, 1, row, words, record.stderr[color], worker))
            self._counts[key] += 1

    def forfeits(self) -> tuple[Forfeits, ...]:
        return tuple(replace(first, count=self._counts[key]) for key, first in self._first.items())
