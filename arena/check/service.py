"""`arena check` as a service: from a path and options to the result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import trio

from arena.bots.languages import language_of
from arena.bots.spec import BotSpec
from arena.check.situations import (
    Checked,
    Extent,
    Failure,
    Mark,
    Situation,
    SituationGroup,
    SituationOutcome,
    script,
    spread,
)
from arena.check.stored_game import Replayed, StoredGame, replay, seated
from arena.check.talk import Times
from arena.check.trying import BotTrial
from arena.errors import UsageError, suggest
from arena.game import Game
from arena.league.league_options import PlayOptions, variant_of
from arena.league.option_values import check_values, time_control, usual_limits
from arena.league.plan import prepared
from arena.league.stop import Say, run_games
from arena.league.versions import Versions
from arena.processes.folders import BotFolders
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.levels import Level
from arena.system.concurrency import Run
from arena.system.printable import printable
from protocol.seats import Reason

Begins = Callable[[int, int, Situation], None]
"""Called before each situation with its number from 0, their number, and the situation."""

READY = Situation("ready", "is a bot that a league could start", SituationGroup.READY, "", plies=0)
OF_2012 = "ucc-2012"
"""The rules that bots which speak the protocol of that name are made for."""
FILES = Situation("files", "leaves its own files as they are", SituationGroup.FILES, "", plies=0)


@dataclass(frozen=True)
class CheckOptions:
    """The extent of a check: `rules` are the variants that the bot is for (none: all), `only` the keys of situations
    (none: all).

    `play` are the options of a league, of which the game and the isolation and time limits of bots are used.
    """

    play: PlayOptions
    rules: tuple[str, ...] = ()
    extent: Extent = Extent.USUAL
    only: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Tried:
    outcomes: Sequence[SituationOutcome]
    times: Times
    declared: str = ""
    author: str = ""
    memory: int = 0


def check_bot(path: str, options: CheckOptions, say: Say, begins: Begins, run: Run = trio.run) -> Checked:
    """Try the bot at a path; a broken bot fails the first situation, and the others are not tried.

    Raises `UsageError` if there is no bot, and other `ArenaError`.
    """
    check_values(options.play)
    time_control(options.play)  # report its errors before building
    with BotFolders() as folders:
        level, bot = prepared(path, options.play, folders, say, run, follow_links=False)
        return _checked(level, bot, options, begins, run)


def _checked(level: Level, bot: BotSpec, options: CheckOptions, begins: Begins, run: Run) -> Checked:
    time = time_control(options.play)
    usual = variant_of(options.play)
    game = usual.kind
    main = OF_2012 if bot.is_of_2012 and OF_2012 in game.variant_names() else usual.name
    situations = tuple(script(game, options.rules, options.extent, main))
    _check_keys(options.only, [*(situation.key for situation in situations), FILES.key])
    limits = usual_limits(options.play)
    if bot.fault is not None:
        tried = _not_started(bot, situations)
    else:
        with Sandbox(PlaySettings([bot], level, limits, interpreters=options.play.interpreters)) as held:
            run_games(run, held.try_out)
            trial = BotTrial(game, bot, held, time, options.play.seed)
            outcomes = run_games(run, _try_all, trial, bot, situations, options.only, begins)
        tried = _Tried(outcomes, trial.times, trial.declared, trial.author, trial.memory)
    limit = time.move_ms if time.move_ms is not None else time.bank_ms
    return Checked(
        name=bot.name,
        path=printable(str(bot.path)),
        digest=bot.digest,
        language=language_of(bot).value,
        declared=tried.declared,
        author=tried.author,
        level=f"{level.value}: {limits.text}",
        outcomes=(*tried.outcomes, *_left_out(options, game)),
        start=spread(tried.times.start, time.start_ms),
        setup=spread(tried.times.setup, time.setup_ms if game.has_setups else None),
        move=spread(tried.times.move, limit),
        memory=tried.memory,
        memory_limit=limits.memory,
        variant_words=game.variant_words,
    )


def _not_started(bot: BotSpec, situations: Sequence[Situation]) -> _Tried:
    words = (bot.fault or "").partition("\n")[0]
    printed = tuple(bot.fault_output.splitlines())
    failure = Failure(0, Reason.NO_START, words, hint=bot.fault_hint, stderr=printed)
    outcomes = [SituationOutcome(READY, Mark.FAILED, failure=failure)]
    left = [SituationOutcome(situation, Mark.NOT_TRIED, "the bot did not start") for situation in (*situations, FILES)]
    return _Tried(outcomes + left, Times())


def _left_out(options: CheckOptions, game: Game) -> list[SituationOutcome]:
    if len(game.tried_variants()) == 1 or (not options.rules and options.extent is not Extent.QUICK):
        return []
    word, several = game.variant_words
    why = f"only the {word}s of --rules are checked" if options.rules else f"--quick checks one {word}"
    others = Situation("other-rules", f"plays under all other {several}", SituationGroup.RULES, "")
    return [SituationOutcome(others, Mark.NOT_APPLICABLE, why)]


def replay_bot(path: str, options: PlayOptions, game: StoredGame, say: Say, run: Run = trio.run) -> Replayed:
    """Replay a stored game with the bot at a path. Raises `UsageError` if it had no part in it, and as `check_bot`
    does.
    """
    check_values(options)
    with BotFolders() as folders:
        level, bot = prepared(path, options, folders, say, run)
        return _replayed(level, bot, options, game, run)


def _replayed(level: Level, bot: BotSpec, options: PlayOptions, game: StoredGame, run: Run) -> Replayed:
    if bot.fault is not None:
        raise UsageError(bot.fault)
    game = seated(game, bot)
    with Sandbox(PlaySettings([bot], level, usual_limits(options), interpreters=options.interpreters)) as held:
        run_games(run, held.try_out)
        return run_games(run, replay, game, bot, held)


def _check_keys(only: frozenset[str], known: Sequence[str]) -> None:
    for key in sorted(only.difference(known)):
        raise UsageError(f"--only: there is no situation {printable(key)!r} here; {suggest(key, known)}")


async def _try_all(
    trial: BotTrial, bot: BotSpec, situations: Sequence[Situation], only: frozenset[str], begins: Begins
) -> list[SituationOutcome]:
    wanted = [situation for situation in situations if not only or situation.key in only]

    def begin(situation: Situation, number: int) -> None:
        begins(number, len(wanted) + 1, situation)

    tried = {outcome.situation.key: outcome for outcome in await trial.run(wanted, begin)}
    left = [SituationOutcome(situation, Mark.NOT_TRIED, "not among --only") for situation in situations]
    return [*(tried.get(outcome.situation.key, outcome) for outcome in left), await _files(bot)]


async def _files(bot: BotSpec) -> SituationOutcome:
    """Check that the bot is unchanged: a league drops the games of one that has changed."""
    versions = Versions()
    await versions.are_unchanged([bot])
    for mark, lines in ((Mark.FAILED, versions.errors()), (Mark.PARTLY, versions.remarks())):
        if lines:
            hint = "write logs and caches to /tmp or to standard error, or name the files under ignore in bot.toml"
            return SituationOutcome(FILES, mark, "", Failure(0, None, "; ".join(lines), "own-folder", hint))
    return SituationOutcome(FILES, Mark.PASSED)
