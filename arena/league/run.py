"""Playing what is missing: so many games at a time, each stored as soon as it is over."""

from collections.abc import Callable, Mapping, Sequence

import trio

from arena.bots import BotSpec
from arena.bots.sandbox.bwrap import COMPLAINT
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.league.store import GameRow, Store
from arena.league.versions import Versions
from arena.play.runner import MOST_TRIES, ArenaStoppedError, GameOptions, play_game
from protocol.notation import Reason

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

    def close(self) -> None:
        """Begin no game any more. Those under way are played to their end."""
        self.is_closing = True


class _Failure:
    """The first error that stops a league."""

    error: ArenaError | None = None


async def play_missing(
    games: Sequence[GameSpec],
    bots: Mapping[Player, BotSpec],
    store: Store,
    places: Sequence[GameOptions],
    finished: Finished,
    *,
    versions: Versions,
    say: Say = lambda line: None,
    session: Session | None = None,
) -> None:
    """Play the games that the store does not hold yet, one in each of the places, and store each when it is over.

    `finished` is called with the stored row and the record of each, `say` with a line for each game that is played
    again because the arena was stopped in it. A bot that changes (`versions` tells which) is played no more, and a game
    that was played across the change is not stored; the others go on. To stop early, close the `session`: then the
    games under way are played and stored. Cancelling this stops them, and they are not stored. Raises `ArenaError` if
    the store or the machine fails; all games stored before stay. A game that cannot be judged however often it is
    played is left out; then that is raised at the end.
    """
    stored = store.ids()
    missing = [game for game in games if game.id not in stored]
    waiting = iter(missing)
    one_writer = trio.CapacityLimiter(1)
    failure = _Failure()
    session = session or Session()

    async def play_and_store(game: GameSpec, options: GameOptions) -> None:
        red, blue = (bots[player] for player in game.players)
        if not await versions.are_unchanged((red, blue)):
            return
        try:
            record = await _play(game, red, blue, options, say)
        except ArenaError:
            if await versions.are_unchanged((red, blue)):
                raise
            return  # what does not work is the bot that has changed
        with trio.CancelScope(shield=True):  # a game that has been played is not lost to Ctrl-C
            if not await versions.are_unchanged((red, blue)):
                return
            row = await trio.to_thread.run_sync(store.add, record, limiter=one_writer)
        finished(row, record)

    async def work(options: GameOptions, scope: trio.CancelScope) -> None:
        for game in waiting:
            if session.is_closing:
                return
            session.under_way += 1
            is_dropped = True
            try:
                await play_and_store(game, options)
                is_dropped = False
            except ArenaStoppedError as error:
                is_dropped = False
                failure.error = failure.error or ArenaError(
                    f"game {game.id} was not played, in {MOST_TRIES} tries: {error}"
                )
                continue
            except ArenaError as error:
                failure.error = failure.error or error
                session.close()
                scope.cancel()
                return
            finally:
                session.under_way -= 1
                session.dropped += is_dropped

    async with trio.open_nursery() as nursery:
        for options in places[: len(missing)]:
            nursery.start_soon(work, options, nursery.cancel_scope)
    if failure.error:
        raise failure.error


async def _play(game: GameSpec, red: BotSpec, blue: BotSpec, options: GameOptions, say: Say) -> GameRecord:
    """Play a game. A bot that does not start loses it only if what holds the bots is not to blame.

    Raises `ArenaError` if that does not work any more. Where it said something, but works again, the game is played
    once more: it may have been at its limits for a moment, and a bot that says so itself gains nothing by it.
    """
    record = await _play_fairly(game, red, blue, options, say)
    were_started = red.fault is None and blue.fault is None
    if record.verdict.reason is Reason.NO_START and were_started and options.try_out is not None:
        await options.try_out((red, blue))
        if any(text.startswith(COMPLAINT) for text in record.stderr):
            return await _play_fairly(game, red, blue, options, say)
    return record


async def _play_fairly(game: GameSpec, red: BotSpec, blue: BotSpec, options: GameOptions, say: Say) -> GameRecord:
    """Play a game again as long as the arena was stopped in it so that it cannot be judged."""
    for _ in range(MOST_TRIES - 1):
        try:
            return await play_game(game, red, blue, options)
        except ArenaStoppedError as error:
            say(f"game {game.id} is played again: {error.why}")
    return await play_game(game, red, blue, options)
