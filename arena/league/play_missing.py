"""Playing the missing games of a league: the pairing gives games out and an executor plays them.

Each game is stored as soon as it is over, before it is reported and before the pairing is told its result.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import trio

from arena.bots.spec import BotSpec
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.league.executor import (
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

TELLING_REPEATS = 3
"""So many times games have to be played again before it tells anything that one bot was in all of them."""


class RunProgress:
    """Games that are being played, as it is seen from outside: how many there are, and whether more are begun.

    `dropped` are those that were stopped, or could not be judged; `unstored` were over, and could not be stored.
    `is_complete` tells whether there is no more to play: the pairing has no more games, and all that it has given out
    are stored.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self.dropped = 0
        self.unstored = 0
        self.repeats: list[tuple[Player, Player]] = []
        """Who was to play, each time that a game had to be played again."""
        self.is_closing = False
        self.is_complete = False
        self.on_close: Callable[[], None] = lambda: None
        """What is to be told of `close`; set by who plays the games."""

    def in_all_repeats(self) -> tuple[str, int] | None:
        """The name of the one bot that was in all games that had to be played again, and how many times that was.

        None if there is no such bot or more than one, or if it was less than `TELLING_REPEATS` times.
        """
        if len(self.repeats) < TELLING_REPEATS:
            return None
        common = set[Player].intersection(*map(set, self.repeats))
        return (common.pop().name, len(self.repeats)) if len(common) == 1 else None

    def close(self) -> None:
        """Begin no game any more. Those under way are played to their end."""
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
) -> None:
    """Have the executor play the pairing's games that the store does not hold yet, and store each when it is over.

    The pairing is asked for games as there is room for them, and told the results: those that are stored already when
    it gives their games out, the others as they are stored. `stored` are the stored games of its players and of
    their older versions; by default those between `bots`.

    `finished` is called with the stored row and the record of each game, `say` with a line for each game that is played
    again because the arena was stopped in it, and `watch` with what happens in the games, if the executor tells that.
    With `keep_bots`, two games that follow one another and are a pair are played in the same processes.

    A bot that changes (`versions` tells which) is played no more, and a game that was played across the change is not
    stored; the others go on. A game that cannot be judged however often it is played is left out, and so is one of a
    bot that the executor plays no more, of which the `session` has a line.

    To stop early, close the `session`: the games under way are played and stored. Cancelling this stops them, and they
    are not stored. Raises `ArenaError` if the store or the machine fails, or at the end if games were left out; all
    games stored before stay.
    """
    run = _Run(
        pairing,
        bots,
        store,
        executor,
        versions=versions,
        session=session or RunProgress(),
        keep_bots=keep_bots,
        stored=stored or GamesBetween(store, bots),
    )
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
    """Whether two games are a pair: the same two players, colours swapped."""
    return first.pair_seed == second.pair_seed and first.players == second.players[::-1]


class _Run:
    """The games of one call of `play_missing`."""

    def __init__(
        self,
        pairing: Pairing,
        bots: Mapping[Player, BotSpec],
        store: Store,
        executor: Executor,
        *,
        versions: Versions,
        session: RunProgress,
        keep_bots: bool,
        stored: GamesBetween,
    ) -> None:
        self.session = session
        self.failure: ArenaError | None = None
        """The first error that stops the league, or is raised at its end."""
        self._keep_bots = keep_bots
        self._pairing = pairing
        self._stored = stored
        self._results: list[GameRow] = []
        """The games that the pairing has given out and that are stored."""
        self._given: deque[GameSpec] = deque()
        """What the pairing has given out and nobody has looked at yet."""
        self._open: dict[str, GameSpec] = {}
        """The games that are to be played, are played or wait to be stored."""
        self._left_out = 0
        """Games that were given out and get no result."""
        self._has_result = trio.Event()
        """Whether a game has been dealt with since the pairing was asked the last time."""
        self._bots = bots
        self._store = store
        self._executor = executor
        self._versions = versions
        self._ended: list[Played | Failed] = []
        """What has not been dealt with yet."""
        self._has_news = trio.Event()
        self._is_over = False
        self._is_exhausted = False
        """Whether the pairing has no more games."""

    def _bots_of(self, game: str) -> tuple[BotSpec, ...]:
        return tuple(self._bots[player] for player in self._open[game].players)

    # --- asking -------------------------------------------------------------------------------------------------------

    async def _tasks(self) -> AsyncIterator[GameTask]:
        """The games that are missing, as the pairing gives them out."""
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
        """The next game not stored; None if there is none, or (unless it `waits`) none before others are over."""
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
            stored = await self._stored_of(batch or ())
            self._results += stored.values()
            self._given.extend(game for game in batch or () if game.id not in stored)
            if batch is None or not (batch or waits):
                return None
            if not batch:
                if not self._open:
                    assert self._left_out, "the pairing waits for results, and has those of all its games"
                    return None
                await self._has_result.wait()

    async def _stored_of(self, games: Sequence[GameSpec]) -> dict[str, GameRow]:
        """The rows of those of the games that are stored already, by id."""
        if not self._stored.left:
            return {}
        rows = await trio.to_thread.run_sync(self._stored.take, games) if self._open else self._stored.take(games)
        return {row.id: row for row in rows}

    def _take_results(self) -> list[GameRow]:
        """The results that the pairing has not been told of."""
        results, self._results = self._results, []
        return results

    def _settle(self, game: str, row: GameRow | None) -> None:
        """A game has been dealt with: stored as this row, or left out."""
        del self._open[game]
        if row is None:
            self._left_out += 1
        else:
            self._results.append(row)
        self._has_result.set()

    def is_complete(self) -> bool:
        """Whether the pairing has no more games, and all that it gave out are stored."""
        if self._given or self._open or self._left_out:
            return False
        # It may have been closed at the end, and the pairing not been asked again.
        return self._is_exhausted or self._pairing.next(self._take_results()) is None

    # --- hearing ------------------------------------------------------------------------------------------------------

    async def hear(self, say: Say, watch: Watch) -> None:
        """Take what the executor tells, to the end. What it told when this was cancelled is not lost."""
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

    # --- storing ------------------------------------------------------------------------------------------------------

    async def write(self, finished: Finished) -> None:
        """Store all games that have ended, those that wait in one transaction."""
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
