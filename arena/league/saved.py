"""One game that can be interrupted, saved in a file and resumed, as a service: see `arena.league.league`."""

import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from arena.bots.spec import BotSpec
from arena.errors import ArenaError, UsageError
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, History
from arena.game.time_control import TimeControl
from arena.league.executor.local import local_executor
from arena.league.executor.task import Begun, Failed, GameTask, Notice, NotPlayed, Paused, Played
from arena.league.game_ids import Games
from arena.league.league_options import Kind, PlayOptions
from arena.league.option_values import settings_of, store_of
from arena.league.plan import entrants
from arena.league.stop import Say, StopRequest, Wish, run_games
from arena.league.store import GameRow, Store
from arena.league.versions import Versions, note_versions
from arena.play.saved_game import refuse_to_overwrite, save_game, saved_game
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.system.concurrency import Run, background
from arena.system.printable import printable


@dataclass(frozen=True)
class PreparedGame:
    """A game that is ready to be played, from its beginning or from its history on; `store` is for its result."""

    spec: GameSpec
    bots: tuple[BotSpec, BotSpec]
    history: History | None
    store: Store
    """Stays open while the game is played, so that a replaced file is noticed."""
    file: Path
    held: Sandbox
    seed: int
    usual_time: TimeControl | None = None
    """The time of the match, if a bot has its own."""


@dataclass(frozen=True)
class AlreadyPlayed:
    """The game is in the store already, and is not played again."""

    row: GameRow
    store: Path


@dataclass(frozen=True)
class GameOutcome:
    """The outcome of a game: stored as a row, or saved after so many plies; neither if nothing was played.

    `why_not` is why an interrupted game cannot be resumed; `changed` has a line for each bot that has changed, so that
    the game does not count.
    """

    row: GameRow | None = None
    plies: int | None = None
    why_not: str = ""
    changed: tuple[str, ...] = ()


@contextlib.contextmanager
def begin_game(
    paths: Sequence[str], options: PlayOptions, file: Path, say: Say, run: Run = trio.run
) -> Iterator[PreparedGame | AlreadyPlayed]:
    """Prepare the first game of a match so that it can be interrupted. Raises `ArenaError`."""
    check_place(file)
    refuse_to_overwrite(file)
    if options.openings is not None:
        raise UsageError("--pause and --openings cannot be used together: an opening is for a pair of games")
    with entrants(paths, options, partial(store_of, options, Kind.MATCH), say, run) as entered:
        options, bots = entered.options, entered.bots
        _refuse_unsaveable(bots)
        settings = settings_of(options, bots)
        red, blue = bots
        players = (red.player, blue.player)
        with Store(entered.path, create=True) as store:
            store.agree(settings.described(players), players)
            for line in note_versions(store, bots):
                say(line)
            if {player.digest for player in store.kept().entrants} != {player.digest for player in players}:
                store.keep(planned=1, meets_all=True, format="", disqualified=(), not_counted=())
            store.keep(entrants=players, sandbox=entered.level.value)
            spec = Games(settings).game(*players, 0)
            if row := store.row(spec.id):
                yield AlreadyPlayed(row, store.path)
                return
            with Sandbox(entered.play_settings(settings)) as held:
                usual_time = settings.time if settings.bot_times else None
                yield PreparedGame(spec, (red, blue), None, store, file, held, settings.seed, usual_time)


def play_prepared(
    prepared: PreparedGame, pause_after: int | None, stop: StopRequest, say: Say, run: Run = trio.run
) -> GameOutcome:
    """Play until the game is over and stored, or interrupted, by `stop` or after so many plies.

    Raises `ArenaError` if the machine, a sandbox or the store fails; then no game is stored, and the file is unchanged.
    """
    versions = Versions()
    played = run_games(run, _play, prepared, pause_after, stop, versions, say)
    return keep(prepared, played, versions, say)


def keep(
    prepared: PreparedGame, played: GameRecord | History | None, versions: Versions, say: Say, why_not: str = ""
) -> GameOutcome:
    """Store the game, or save its history in its file, if its bots are unchanged. Raises `ArenaError`."""
    if versions.errors():
        return GameOutcome(changed=tuple(versions.errors()))
    for line in versions.remarks():
        say(line)
    if isinstance(played, GameRecord):
        row = prepared.store.add(played)
        prepared.store.refuse_changed()
        return GameOutcome(row)
    if played is None or why_not:
        return GameOutcome(why_not="" if played is None else why_not)
    saved = saved_game(
        prepared.spec,
        played,
        prepared.bots,
        prepared.store.path,
        settings=prepared.held.settings,
        seed=prepared.seed,
        usual_time=prepared.usual_time,
    )
    save_game(saved, prepared.file)
    return GameOutcome(plies=len(played.actions))


def check_place(file: Path) -> None:
    try:
        has_folder, is_other = file.parent.is_dir(), file.exists() and not file.is_file()
    except OSError as error:  # a name that is too long, a folder that may not be searched
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
    if not has_folder:
        raise UsageError(f"{file}: cannot be written: there is no folder {file.parent}")
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"{file}: cannot be written: you may not make files in {file.parent}")
    if is_other:
        raise UsageError(f"{file}: expected a file to save the game in, or none yet")


def _refuse_unsaveable(bots: Sequence[BotSpec]) -> None:
    for bot in bots:
        try:
            str(bot.path.resolve()).encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(
                f"{printable(str(bot.path.resolve()))}: --pause saves the paths of the bots: expected a path in UTF-8"
            ) from None


async def _play(
    prepared: PreparedGame, pause_after: int | None, stop: StopRequest, versions: Versions, say: Say
) -> GameRecord | History | None:
    task = GameTask(prepared.spec, can_pause=True, history=prepared.history, pause_after=pause_after)
    played = await play_alone(prepared.held.settings, task, prepared.spec, stop, say)
    await versions.are_unchanged(prepared.bots)
    return played


async def play_alone(
    settings: PlaySettings, task: GameTask, game: GameSpec, stop: StopRequest, say: Say
) -> GameRecord | History | None:
    """Play one task in a worker; return the record of its `game`, or the history if `stop` was requested in it."""
    ending: Played | Paused | None = None

    async def tasks() -> AsyncIterator[GameTask]:
        yield task

    async with local_executor(settings, 1) as executor:

        async def interrupt_when_asked() -> None:
            await stop.wait_beyond(Wish.GO_ON)
            executor.interrupt(game.id)

        async with background(interrupt_when_asked):
            async for outcome in executor.play(tasks()):
                match outcome:
                    case Notice(line):
                        say(line)
                    case Begun() if stop.wish is not Wish.GO_ON:
                        executor.interrupt(game.id)  # it was asked for before there was anything to interrupt
                    case Failed():
                        raise outcome.error()
                    case NotPlayed(_, why):
                        raise ArenaError(why)
                    case Played() | Paused() if outcome.id == game.id:
                        ending = outcome
    if ending is None:
        return None
    return ending.record if isinstance(ending, Played) else ending.history
