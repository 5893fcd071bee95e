"""Replay a stored game as a service: the same bots, colours, seeds, rules, clocks, limits and sandbox.

The bots are found by their digests, without running any program. The result is where the new game, which is not stored,
first differs from the record.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice
from pathlib import Path

import trio

from arena.bots.archive import copies_in
from arena.bots.asked import AskedBot
from arena.bots.entering import as_player, may_be, place_of
from arena.bots.finding import bots_at
from arena.bots.limits import Limits, read_limits
from arena.bots.loading import load_bot
from arena.bots.samples import PREFIX, SAMPLES, bot_path, sample_file, split_word
from arena.bots.spec import BotSpec
from arena.errors import ArenaError, UsageError
from arena.game.game_spec import GameSpec, Player, is_person
from arena.game.record import GameRecord
from arena.game.recorded import spec_of
from arena.league.executor.task import GameTask
from arena.league.game_ids import return_game
from arena.league.league_options import PlayOptions
from arena.league.plan import built
from arena.league.saved import play_alone
from arena.league.stop import Say, StopRequest, run_games
from arena.league.trust import bot_line, is_archived, is_trusted, level_for, limits_for, sandbox_for, untrusted_text
from arena.league.versions import Versions
from arena.processes.folders import BotFolders
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.levels import Level
from arena.system.concurrency import Run
from arena.system.printable import SHOWN, printable
from protocol.seats import Color

MOST_LOOKED_AT = 500
DIGITS = 12


@dataclass(frozen=True)
class RerunOptions:
    """Options for replaying a game. `bots` are paths by colour; the others are looked for in the `archive` and `near`.

    `arguments` by colour and `sandbox` are the host's; `known_arguments` by digest, `places`, `limits` by name and
    `last_sandbox` are those of the store.
    """

    bots: Mapping[Color, str] = field(default_factory=dict)
    arguments: Mapping[Color, tuple[str, ...]] = field(default_factory=dict)
    known_arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    near: Sequence[Path] = ()
    archive: Path | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Limits] = field(default_factory=dict)
    changed_bots: bool = False
    sandbox: str | None = None
    last_sandbox: str | None = None
    interpreters: tuple[str, ...] = ()


@dataclass(frozen=True)
class BotFinder:
    """Finds the bots of one game: at a path, among the sample bots, in the folders `near`, and in the `archive`.

    With `changed_bots` a changed bot is accepted. Each bot is looked for with the arguments that it was started with.
    """

    options: RerunOptions

    def at(self, path: str, player: Player, arguments: tuple[str, ...] = ()) -> BotSpec:
        """Return the bot at a path, or in a folder of bots there. Raises `UsageError` if the player is not there."""
        paths = bots_at(bot_path(path))
        same = [bot for bot in _loaded(paths, arguments) if may_be(bot, player)]
        only = paths[0] if len(paths) == 1 else bot_path(path)
        asked = AskedBot(f"{split_word(path)[0]}{only}", arguments=arguments)
        return self.checked(same[0] if same else load_bot(only, asked), player)

    def anywhere(self, player: Player, named: str, arguments: tuple[str, ...] = ()) -> list[BotSpec]:
        """Return the places of the player's bot, the likeliest first; `named` is its name in errors."""

        def unlikely(bot: BotSpec) -> tuple[bool, bool]:
            return place_of(bot) != self.options.places.get(player.digest), not is_called_so(bot)

        def is_called_so(bot: BotSpec) -> bool:
            return player.name in (bot.name, bot.path.parent.name)

        archive = self.options.archive
        near = list(_loaded(self._entries(), arguments))
        archived = _loaded(copies_in(archive, player.digest), arguments) if archive else ()
        samples = list(_loaded(map(sample_file, SAMPLES), arguments))
        same = [bot for bot in (*near, *archived, *samples) if may_be(bot, player)]
        namesakes = [bot for bot in (*near, *samples) if is_called_so(bot)]
        if found := sorted(same, key=unlikely) or sorted(namesakes, key=unlikely)[:1]:
            return [self.checked(bot, player) for bot in found]
        folders = ["this folder" if folder == Path() else printable(str(folder)) for folder in self.options.near]
        looked = " or ".join(["the sample bots", *folders])
        more = "" if arguments else f", and its arguments, if it had some, with --arguments {named}=WORDS"
        raise UsageError(
            f"{named}: no bot with the digest {player.digest[:DIGITS]} was found{_with(arguments)}; looked for it in "
            f"{looked}; say where it is with --bot {named}=PATH{more}"
        )

    def checked(self, bot: BotSpec, player: Player) -> BotSpec:
        """Return the same bot as this player. Raises `UsageError` if it has changed, unless it may differ."""
        if not (self.options.changed_bots or may_be(bot, player)):
            raise UsageError(
                f"{printable(str(bot.path))}: expected {player.name} as it played, digest {player.digest[:DIGITS]}, "
                f"got {bot.digest[:DIGITS]}{_with(bot.arguments)}: its files have changed since, or it had other "
                f"arguments; restore them, say its arguments with --arguments NAME=WORDS, or pass --changed-bots to "
                "play with it as it is now"
            )
        return replace(as_player(bot, player.digest), name=player.name)

    def _entries(self) -> Iterator[Path]:
        for folder in self.options.near:
            try:
                with os.scandir(folder) as entries:
                    found = sorted(Path(each.path) for each in islice(entries, MOST_LOOKED_AT) if not each.is_symlink())
            except OSError:
                continue
            for path in found:
                yield from bots_at(path)


def _loaded(paths: Iterable[Path], arguments: tuple[str, ...]) -> Iterator[BotSpec]:
    for path in {os.path.realpath(path): path for path in paths}.values():
        try:
            yield load_bot(path, AskedBot(str(path), arguments=arguments) if arguments else None)
            yield load_bot(path, AskedBot(f"{PREFIX}{path}", arguments=arguments))
        except (UsageError, OSError):
            continue


def _with(arguments: tuple[str, ...]) -> str:
    return f" with the arguments {printable(shlex.join(arguments), SHOWN)}" if arguments else ""


class Part(Enum):
    SETUP = "set-up"
    ACTION = "action"
    END = "end"
    """Only one of the games has ended at this ply, or the games have different results."""


@dataclass(frozen=True)
class FirstDifference:
    """The first difference of two games: its ply (0: before the game), side, and the two set-ups or actions, if any."""

    part: Part
    ply: int
    color: Color
    recorded: str | None
    played: str | None


@dataclass(frozen=True)
class Rerun:
    recorded: GameRecord
    played: GameRecord
    difference: FirstDifference | None


def sandbox_asked(record: GameRecord, options: RerunOptions) -> str:
    """Return the level for replaying a game: the host's, or that of the record, if no weaker one than the store's.

    Raises `ArenaError` if neither bot was started in the game.
    """
    people = [player.name for player in record.players if is_person(player)]
    if people:
        raise UsageError(
            f"{' and '.join(people)} took part as a person, and a person cannot be run again; look at the game with "
            "'arena show', and check it with 'arena verify'"
        )
    if record.used is not None and not any(record.confinement):
        raise ArenaError("neither bot was started in this game: there is no game to play again")
    return sandbox_for(options.sandbox, _said(record, options))


def _said(record: GameRecord, options: RerunOptions) -> list[str | None]:
    return [options.last_sandbox, *(word.partition(": ")[0] for word in record.confinement)]


def rerun(
    record: GameRecord,
    options: RerunOptions,
    say: Say,
    run: Run = trio.run,
    begins: Callable[[Level], None] = lambda level: None,
) -> Rerun:
    """Replay a recorded game; `begins` is called when both bots have been found and may be run.

    Raises `UsageError` if a bot is not found or has changed, and `ArenaError`.
    """
    sandbox_asked(record, options)
    level = level_for(options.sandbox, _said(record, options))
    spec = spec_of(record)
    if record.interrupted:
        say("the recorded game was interrupted and resumed; now it is played in one sitting")
    if not any(record.confinement):
        say("the record has no isolation level: the bots have the usual limits")
    limits = {}
    for color, player in zip(Color, record.players, strict=True):
        said = read_limits(record.confinement[color].partition(": ")[2]) or Limits()
        limits[player.name] = limits_for(color, player.name, said, options.limits, where="the record", say=say)
    with BotFolders() as folders:
        bots = _bots(record, level, options, say, folders=folders, run=run)
        begins(level)
        settings = PlaySettings(
            bots=bots,
            level=level,
            limits=limits,
            interpreters=options.interpreters,
            pondering=record.pondered_us is None,
        )
        with Sandbox(settings) as held:
            run_games(run, held.try_out)
            played = run_games(run, _play, record, spec, settings, say)
    return Rerun(record, played, difference(record, played))


def difference(recorded: GameRecord, played: GameRecord) -> FirstDifference | None:
    """Return the first difference of two games under the same rules, times aside; None if they are the same."""
    for color in Color:
        if recorded.setups[color] != played.setups[color]:
            return FirstDifference(Part.SETUP, 0, color, recorded.setups[color], played.setups[color])
    for ply, (before, now) in enumerate(zip(recorded.actions, played.actions, strict=False), start=1):
        if before != now:
            return FirstDifference(Part.ACTION, ply, recorded.mover(ply), before, now)
    ends = [(record.verdict.result, record.verdict.reason, record.verdict.plies) for record in (recorded, played)]
    if ends[0] == ends[1]:
        return None
    common = min(len(recorded.actions), len(played.actions))
    longer = max(recorded, played, key=lambda record: len(record.actions))
    before_next, now_next = (
        record.actions[common] if len(record.actions) > common else None for record in (recorded, played)
    )
    is_begun = None not in recorded.setups
    return FirstDifference(Part.END, common + 1 if is_begun else 0, longer.mover(common + 1), before_next, now_next)


def _bots(
    record: GameRecord, level: Level, options: RerunOptions, say: Say, *, folders: BotFolders, run: Run
) -> tuple[BotSpec, BotSpec]:
    finder = BotFinder(options)
    found, problems = [], []
    for color, player in zip(Color, record.players, strict=True):
        arguments = options.arguments.get(color, options.known_arguments.get(player.digest, ()))
        try:
            if color in options.bots:
                candidates = [finder.at(options.bots[color], player, arguments)]
            else:
                candidates = finder.anywhere(player, color.word, arguments)
        except UsageError as error:
            problems.append(str(error))
            continue
        trusted = [bot for bot in candidates if _may_run(bot, color, level, options)]
        bot = (trusted or candidates)[0]
        found.append(bot)
        if not trusted:
            words = "" if _has_own_words(bot, color, options) else f" with --arguments {color.word}=WORDS"
            problems.append(untrusted_text(color, bot, f"--bot {color.word}=PATH{words}"))
    if problems:
        raise UsageError("\n".join(problems))
    for color, bot in zip(Color, found, strict=True):
        say(f"{color.word}: {bot.name} is {bot_line(bot)}")
    bots = built(found, level, PlayOptions(interpreters=options.interpreters), say, folders=folders, run=run)
    faults = [bot.fault for bot in bots if bot.fault is not None]
    if faults:
        raise UsageError("\n".join(faults))
    red, blue = (finder.checked(bot, player) for bot, player in zip(bots, record.players, strict=True))
    return red, blue


def _may_run(bot: BotSpec, color: Color, level: Level, options: RerunOptions) -> bool:
    is_named = color in options.bots and _has_own_words(bot, color, options)
    is_known = is_named or is_archived(bot, options.archive, options.places)
    return is_trusted(bot, level, options.sandbox, options.places, is_named=is_known)


def _has_own_words(bot: BotSpec, color: Color, options: RerunOptions) -> bool:
    return color in options.arguments or not bot.arguments


async def _play(record: GameRecord, spec: GameSpec, settings: PlaySettings, say: Say) -> GameRecord:
    versions = Versions()
    task = GameTask(return_game(spec), then=spec) if record.kept and any(record.kept) else GameTask(spec)
    played = await play_alone(settings, task, spec, StopRequest(), say)
    if not await versions.are_unchanged(settings.bots):
        raise ArenaError("\n".join([*versions.errors(), "what was played does not count"]))
    assert isinstance(played, GameRecord), "an executor tells what came of each game"
    return played
