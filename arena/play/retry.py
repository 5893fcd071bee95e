"""Repeats games until they can be judged: no bot loses because the arena was suspended or its sandbox failed.

A game is void if the arena was suspended in it, if the kernel has killed a bot because the machine had no memory left,
if this machine has kept a bot from a CPU until it was late (all `VoidGameError`), or if a bot did not start because
the sandbox failed. So is a game in which a kept process does not set up again; new processes play it. A void game of a
league is not stored; a game that can be paused is resumed.

A game is repeated at most `MOST_EXCUSED` times because a bot was kept from a CPU: then the bot loses on time.
"""

from collections.abc import Callable
from dataclasses import replace

from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, History
from arena.play.game_options import MOST_EXCUSED, MOST_TRIES, GameOptions, Interrupt, VoidGameError
from arena.play.runner import play_game, play_on
from arena.sandbox.bwrap import COMPLAINT
from arena.system.printable import counted
from protocol.seats import Reason

Say = Callable[[str], None]
Bots = tuple[BotSpec, BotSpec]


class _Excuses:
    """Counts the tries of one game in which the machine has kept a bot from a CPU, up to `MOST_EXCUSED`."""

    def __init__(self, options: GameOptions) -> None:
        self.options = options
        self._count = 0

    def words(self, error: VoidGameError) -> str:
        """Return why a try did not count, and allow no further excuse after the last one."""
        if not error.is_excused:
            return error.why
        self._count += 1
        if self._count == MOST_EXCUSED:
            self.options = replace(self.options, excuses_delays=False)
        return f"{error.why} ({self._count} of at most {MOST_EXCUSED} times)"


async def play_with_retries(game: GameSpec, bots: Bots, options: GameOptions, say: Say) -> GameRecord:
    """Play a game. A bot that does not start loses only if the sandbox works.

    Raises `ArenaError` if the sandbox does not work any more. If it failed but works again, the game is repeated once.
    Raises `VoidGameError` if the arena was suspended in all of `MOST_TRIES`; `say` gets a line for each try before.
    """
    excuses = _Excuses(options)
    record = await _play_until_judged(game, bots, excuses, say)
    if _was_spoiled(record):
        say(f"game {game.id} ({game.names}) is played again in new processes: {record.verdict.detail}")
        record = await _play_until_judged(game, bots, excuses, say)
    if await _is_unstarted(record, bots, options) and any(text.startswith(COMPLAINT) for text in record.stderr):
        return await _play_until_judged(game, bots, excuses, say)
    return record


async def _play_until_judged(game: GameSpec, bots: Bots, excuses: _Excuses, say: Say) -> GameRecord:
    for _ in range(MOST_TRIES - 1):
        try:
            return await play_game(game, *bots, excuses.options)
        except VoidGameError as error:
            say(f"game {game.id} ({game.names}) is played again: {excuses.words(error)}")
    return await play_game(game, *bots, excuses.options)


def _was_spoiled(record: GameRecord) -> bool:
    """Whether a game did not begin, perhaps because a bot had played another one in its process."""
    return record.verdict.reason.is_forfeit and None in record.setups and bool(record.kept)


async def _is_unstarted(record: GameRecord, bots: Bots, options: GameOptions) -> bool:
    """Whether a started bot did not answer. Raises `ArenaError` if the sandbox does not work any more."""
    if record.verdict.reason is not Reason.NO_START or any(bot.fault is not None for bot in bots):
        return False
    if options.try_out is None:
        return False
    await options.try_out()
    return True


async def play_on_with_retries(
    game: GameSpec,
    bots: Bots,
    history: History | None,
    interrupt: Interrupt,
    *,
    options: GameOptions,
    say: Say,
) -> GameRecord | History | None:
    """Play from the `history` to the verdict or until `interrupt` stops the game; return what `play_on` does.

    After a suspension of the arena the game resumes before the interrupted turn, and `say` gets a line for it; if it
    happens again and again, the game is interrupted there. Raises `ArenaError` if a bot did not start because the
    sandbox does not work any more.
    """
    latest, excuses = history, _Excuses(options)
    for _ in range(MOST_TRIES):
        try:
            played = await play_on(game, bots, latest, interrupt, excuses.options)
        except VoidGameError as error:
            latest = error.history or latest
            done = len(latest.actions) if latest else 0
            say(f"going on after {counted(done, 'ply', 'plies')}: {excuses.words(error)}")
        else:
            if isinstance(played, GameRecord):
                await _is_unstarted(played, bots, options)
            was_played = played is not None or latest is history
            return played if was_played else latest  # interrupted before the bots had started again
    return latest
