"""Playing what is missing: an executor plays, and each game is stored as soon as it is over, before it is reported."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import trio

from arena.bots import BotSpec
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.league.executor import Begun, Executor, Failed, GameTask, Lost, NotPlayed, Outcome, Paused, Played, Said
from arena.league.store import GameRow, Store
from arena.league.versions import Versions

Finished = Callable[[GameRow, GameRecord], None]
Say = Callable[[str], None]


class Session:
    """Games that are being played, as it is seen from outside: how many there are, and whether more are begun.

    `dropped` are those that were stopped, or could not be stored.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self.dropped = 0
        self.is_closing = False
        self.on_close: Callable[[], None] = lambda: None
        """What is to be told of `close`; set by who plays the games."""

    def close(self) -> None:
        """Begin no game any more. Those under way are played to their end."""
        self.is_closing = True
        self.on_close()


async def play_missing(
    games: Sequence[GameSpec],
    bots: Mapping[Player, BotSpec],
    store: Store,
    executor: Executor,
    finished: Finished,
    *,
    versions: Versions,
    say: Say = lambda line: None,
    session: Session | None = None,
) -> None:
    """Have the executor play the games that the store does not hold yet, and store each when it is over.

    `finished` is called with the stored row and the record of each, `say` with a line for each game that is played
    again because the arena was stopped in it. A bot that changes (`versions` tells which) is played no more, and a game
    that was played across the change is not stored; the others go on. To stop early, close the `session`: then the
    games under way are played and stored. Cancelling this stops them, and they are not stored. Raises `ArenaError` if
    the store or the machine fails; all games stored before stay. A game that cannot be judged however often it is
    played is left out; then that is raised at the end.
    """
    stored = store.ids()
    missing = [game for game in games if game.id not in stored]
    run = _Run(missing, bots, store, executor, versions=versions, session=session or Session())
    run.session.on_close = executor.close
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run.write, finished)
            await run.hear(say)
    finally:
        run.session.dropped += run.session.under_way
        run.session.under_way = 0
    if run.failure:
        raise run.failure


class _Run:
    """The games of one call of `play_missing`."""

    def __init__(
        self,
        missing: Sequence[GameSpec],
        bots: Mapping[Player, BotSpec],
        store: Store,
        executor: Executor,
        *,
        versions: Versions,
        session: Session,
    ) -> None:
        self.session = session
        self.failure: ArenaError | None = None
        """The first error that stops the league, or is raised at its end."""
        self._games = {game.id: game for game in missing}
        self._bots = bots
        self._store = store
        self._executor = executor
        self._versions = versions
        self._ended: list[Played | Failed] = []
        """What has not been dealt with yet."""
        self._has_news = trio.Event()
        self._is_over = False

    def _bots_of(self, game: str) -> tuple[BotSpec, ...]:
        return tuple(self._bots[player] for player in self._games[game].players)

    async def _tasks(self) -> AsyncIterator[GameTask]:
        for game in self._games.values():
            if self.session.is_closing:
                return
            if await self._versions.were_unchanged(self._bots_of(game.id)):
                yield GameTask(game)

    # --- hearing ------------------------------------------------------------------------------------------------------

    async def hear(self, say: Say) -> None:
        """Take what the executor tells, to the end. What it told when this was cancelled is not lost."""
        outcomes = self._executor.play(self._tasks())
        try:
            await self._hear(outcomes, say)
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                self._executor.stop()
                await self._hear(outcomes, say)
            raise
        finally:
            self._is_over = True
            self._has_news.set()

    async def _hear(self, outcomes: AsyncIterator[Outcome], say: Say) -> None:
        try:
            async for outcome in outcomes:
                self._note(outcome, say)
        except ArenaError as error:
            self._fail(error)

    def _note(self, outcome: Outcome, say: Say) -> None:
        match outcome:
            case Begun():
                self.session.under_way += 1
            case Lost() | Paused():
                self.session.under_way -= 1
            case NotPlayed():
                self.session.under_way -= 1
                self.failure = self.failure or ArenaError(outcome.why)
            case Played() | Failed():
                self._ended.append(outcome)
                self._has_news.set()
            case Said(line):
                say(line)

    def _fail(self, error: ArenaError) -> None:
        self.failure = self.failure or error
        self.session.close()
        self._executor.stop()

    # --- storing ------------------------------------------------------------------------------------------------------

    async def write(self, finished: Finished) -> None:
        """Deal with all games that have ended, those that wait at a time together."""
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
        counted = [one for one in ended if one.id and changed.isdisjoint(self._games[one.id].players)]
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
            self.session.dropped += len(records)
        finally:
            self.session.under_way -= len(ended)
        for row, record in zip(rows, records, strict=False):
            finished(row, record)
