"""Resume a saved game, whose file may come from anyone.

Its ids, seeds and settings must be those that its league gives. Programs, sandbox and limits count only within the
limits of `arena.league.trust`.
"""

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import msgspec
import trio

from arena.bots.entering import assign_identities, place_of
from arena.bots.limits import Limits
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.game_spec import is_person
from arena.league.game_ids import Games, misfit, pair_seed_of, rounds_tried
from arena.league.saved import AlreadyPlayed, PreparedGame, check_place
from arena.league.settings import Settings, other_times
from arena.league.stop import Say, run_games
from arena.league.store import Kept, Store, is_empty_file, sole_use
from arena.league.trust import is_trusted, level_for, limits_for, untrusted_text
from arena.play.saved_game import SavedGame
from arena.processes.folders import BotFolders
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.levels import Level
from arena.system.concurrency import Run
from arena.system.printable import printable
from protocol.seats import Color


@dataclass(frozen=True)
class ResumeOptions:
    sandbox: str | None = None
    bots: Mapping[Color, str] = field(default_factory=dict)
    interpreters: tuple[str, ...] = ()


@contextlib.contextmanager
def resume_game(
    saved: SavedGame, file: Path, options: ResumeOptions, say: Say, run: Run = trio.run
) -> Iterator[PreparedGame | AlreadyPlayed]:
    """Prepare to resume a saved game. Raises `ArenaError`, also for bots or interpreters that only the file names."""
    check_place(file)
    bots = saved.load_bots(options.bots)
    _refuse_unnamed(saved.interpreters, options.interpreters)
    path = Path(saved.store)
    if not os.path.exists(path):
        say(f"store: {path} (a new one)")
    elif Path.cwd() not in Path(os.path.realpath(path)).parents:
        say(f"store: {path} (outside this folder)")
    with sole_use(path), BotFolders() as folders:
        folders.play_from(bots, say, run)
        # Path.exists raises an error for a name that is too long
        is_new = not os.path.exists(path) or is_empty_file(path)
        kept, known = Kept(), dict[str, Limits]()
        if not is_new:
            with Store(path, create=False) as before:
                kept, known = before.kept(), before.limits()
        level = level_for(options.sandbox, [saved.sandbox, kept.sandbox])
        red, blue = (
            limits if bot.is_person else limits_for(color, bot.name, limits, known, where="the saved game", say=say)
            for color, bot, limits in zip(Color, bots, saved.limits, strict=True)
        )
        saved = msgspec.structs.replace(saved, limits=(red, blue))
        if is_new:
            _refuse_untrusted(bots, level, options, kept.places)
        with Store(path, create=True) as store:
            rounds = rounds_tried(store.last_number()) if any(saved.persons) else range(1)
            game = agree(saved, store, bots, rounds)
            if game is not None and (row := store.row(game)):
                yield AlreadyPlayed(row, store.path)
                return
            _refuse_untrusted(bots, level, options, kept.places)
            note_places(store, bots, level)
            programs = [bot for bot in bots if not bot.is_person]
            limits = {bot.name: limits for bot, limits in zip(bots, saved.limits, strict=True)}
            settings = PlaySettings(programs, level, saved.limits[0], limits, options.interpreters, saved.pondering)
            with Sandbox(settings) as held:
                run_games(run, held.try_out)
                yield PreparedGame(saved.spec, bots, saved.history, store, file, held, saved.seed, saved.usual_time)


def _refuse_unnamed(of_file: Sequence[str], named: Sequence[str]) -> None:
    """Raise `UsageError` for an interpreter that only the file names: bots could read the files there."""
    known = {os.path.abspath(path) for path in named}
    missing = [path for path in of_file if os.path.abspath(path) not in known]
    if missing:
        options = " ".join(f"--interpreter {shlex.quote(path)}" for path in missing)
        raise UsageError(
            "the saved game starts bots with programs outside the system, whose folders bots could read: if you trust "
            f"the file, pass {printable(options)}"
        )


def _refuse_untrusted(bots: Sequence[BotSpec], level: Level, options: ResumeOptions, places: Mapping[str, str]) -> None:
    way = "its path before --resume" if any(bot.is_person for bot in bots) else ""
    problems = [
        untrusted_text(color, bot, *([] if bot.arguments else [way or f"--bot {color.word}=PATH"]))
        for color, bot in zip(Color, bots, strict=True)
        if not bot.is_person
        and not is_trusted(bot, level, options.sandbox, places, is_named=color in options.bots and not bot.arguments)
    ]
    if problems:
        raise UsageError("\n".join(problems))


def note_places(store: Store, bots: Sequence[BotSpec], level: Level) -> None:
    """Store the sandbox level of these bots, and the places where they are trusted without a sandbox."""
    if level is Level.BASIC:
        store.set_places({bot.player.digest: place_of(bot) for bot in bots if not bot.is_person})
    store.keep(sandbox=level.value)


def agree(paused: SavedGame, store: Store, bots: Sequence[BotSpec] = (), rounds: range = range(1)) -> str | None:
    """Check that a saved game's settings agree with those of its store, for one of the `rounds` of its players.

    Returns the id under which the store holds the game already, perhaps under the present identities of the `bots`.
    Raises `UsageError` if they do not agree, or if such settings do not give the game.
    """
    spec = paused.spec
    words = misfit(spec)
    if words:
        raise UsageError(f"this is not a paused game: {words}")
    settings = _settings(paused, rounds)
    store.agree(settings.described(spec.players), spec.players)
    if spec.id in store:
        return spec.id
    if any(paused.persons):  # their other games are of other rounds
        return None
    games = Games(settings)
    entered = [bot.player for bot in assign_identities(bots, store.players())]
    for players in (spec.players, entered):
        for red, blue in pairwise(players):
            game = games.game(red, blue, 0)
            if game.id in store:
                return game.id
    return None


def _settings(paused: SavedGame, rounds: range = range(1)) -> Settings:
    """Return the settings of the match in which this is a game of one of the `rounds`. Raises `UsageError`."""
    spec, players = paused.spec, paused.spec.players
    own = tuple(sorted(zip((player.name for player in players), paused.limits, strict=True)))
    time = paused.usual_time or spec.time
    of_bots = (one for player, one in zip(players, spec.times, strict=True) if not is_person(player))
    if len({other_times(one) for one in (time, *of_bots)}) > 1:
        raise UsageError(
            "this is not a paused game: the clocks of the two sides differ in more than the time for moves"
        )
    own_times = {player.digest: own for player, own in zip(players, spec.times, strict=True) if own != time}
    for variant in spec.kind.unsettled(spec.variant, spec.pair_seed):
        settings = Settings(
            variant,
            time,
            paused.seed,
            bot_limits=own,
            pondering=paused.pondering,
            bot_times=tuple(own_times.items()),
            names_told=spec.names_told,
        )
        common = Games(settings).common(players)
        if any(pair_seed_of(common, players, number) == spec.pair_seed for number in rounds):
            return settings
    raise UsageError("this is not a paused game: its seeds do not follow from its rules, times and players")
