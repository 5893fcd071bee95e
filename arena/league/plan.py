"""The entry of a league, the bots that take part, found and built with names that distinguish them, and the plan.

A changed bot is a new player, and the old games stay; a renamed bot is the same player.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.asked import Own, asked_bot
from arena.bots.entering import assign_identities, broken, copies_of_one
from arena.bots.finding import find_entrants, find_one, fitting
from arena.bots.names import given_name
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.game.time_control import parse_duration, parse_time
from arena.league.game_ids import Games
from arena.league.league_options import LARGEST_SEED, ClusterOptions, Kind, PlayOptions, usable_cpus, variant_of
from arena.league.option_values import (
    apart_from_bots,
    build_limits,
    check_number,
    check_values,
    option_value,
    settings_of,
    store_of,
    time_control,
    usual_limits,
)
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Format
from arena.league.pairing.round_robin import RoundRobin
from arena.league.settings import Settings, is_seed
from arena.league.stop import Say
from arena.league.store import Store, is_empty_file, sole_use
from arena.league.store.document import Setting
from arena.processes.folders import BotFolders
from arena.processes.runnable import PlaySettings, runnable
from arena.sandbox.levels import Level, choose
from arena.sandbox.programs import HostPrograms
from arena.system.concurrency import Run
from arena.system.printable import printable

if TYPE_CHECKING:
    from arena.league.executor.cluster.cluster_protocol import ClusterPlan

NAMED = 3
LEFT_OUT = "is left out"
LISTED = "stays in the table; --skip-broken leaves it out, --strict refuses the league"


@dataclass(frozen=True)
class Entrants:
    """The bots of some games, built, with the options they play under and the path of their store."""

    bots: tuple[BotSpec, ...]
    options: PlayOptions
    level: Level
    path: Path

    def play_settings(self, settings: Settings) -> PlaySettings:
        return PlaySettings(
            bots=self.bots,
            level=self.level,
            usual=settings.limits,
            limits=dict(settings.bot_limits),
            interpreters=self.options.interpreters,
            pondering=settings.pondering,
        )


@contextlib.contextmanager
def entrants(
    paths: Sequence[str],
    options: PlayOptions,
    store: Callable[[Sequence[BotSpec]], Path],
    say: Say,
    run: Run,
    *,
    follow_links: bool = True,
    strict: bool = True,
    skip_broken: bool = False,
    distinct: bool = False,
    least: int = 2,
) -> Iterator[Entrants]:
    """Find and build the bots at these paths and give them distinct names, at least `least` of them startable.

    Broken bots are refused if `strict`, left out with `skip_broken`, and listed otherwise. Copies of one bot are
    refused with `distinct`. Within the `with` statement no other arena plays with the store, or builds in the bots'
    folders. Raises `UsageError` with all that is wrong, and other `ArenaError`.
    """
    check_values(options)
    level = choose(options.sandbox)
    found = find_entrants(paths, follow_links=follow_links, asked=options.asked, leave_out=not strict)
    path = apart_from_bots(store(found.bots), found.bots)
    with sole_use(path), BotFolders() as folders:
        played, seed = list[Player](), ""
        if os.path.exists(path) and not is_empty_file(path):
            with Store(path, create=False) as before:
                played, seed = before.players(), before.read_document()[0].games.get(Setting.SEED, "")
        if options.draws_seed and variant_of(options).kind.has_chance:
            options = replace(options, seed=int(seed) if is_seed(seed) else secrets.randbelow(LARGEST_SEED) + 1)
        able = [fitting(bot, variant_of(options), has_openings=options.openings is not None) for bot in found.bots]
        bots = built(able, level, options, say, folders=folders, run=run)
        if options.cluster is not None:
            bots = [_sendable(bot) for bot in bots]
        faults = [bot.fault for bot in bots if bot.fault is not None]
        sound = [bot.name for bot in bots if bot.fault is None]
        if strict and faults:
            raise UsageError("\n".join(faults))
        if len(sound) < least:
            got = f"only {sound[0]}" if sound else "none"
            raise UsageError("\n".join([*faults, *found.remarks, f"expected at least two bots, got {got}"]))
        if distinct and len({bot.digest for bot in bots}) < len(bots):
            alike = " and ".join(printable(str(bot.path)) for bot in bots)
            raise UsageError(f"{alike}: expected two different bots, got the same files twice")
        unsteady = _unsteady(found.bots, bots, {player.digest for player in played})
        named = assign_identities([bot for bot in bots if bot.fault is None] if skip_broken else bots, played)
        renamed = [
            f"{printable(str(bot.path))}: another bot is named {given_name(bot.name)}: this one is listed as {bot.name}"
            for bot in named
            if bot.name != given_name(bot.name)
        ]
        for line in [*found.remarks, *renamed, *copies_of_one(named), *unsteady]:
            say(line)
        for bot in bots if skip_broken else named:
            if bot.fault is not None:
                say(f"broken: {bot.fault}")
                say(f"    {bot.name} {LEFT_OUT if skip_broken else LISTED}")
        yield Entrants(tuple(named), options, level, path)


def _unsteady(found: Sequence[BotSpec], bots: Sequence[BotSpec], played: set[str]) -> list[str]:
    """Return a line for each bot that had played as it was, and differs after its build."""
    lines = []
    for old, new in zip(found, bots, strict=True):
        if new.build and new.fault is None and new.digest != old.digest and old.digest in played:
            names = sorted(name for name, content in new.files.items() if old.files.get(name) != content)
            shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
            lines.append(
                f"{new.name}: its build makes other files each time: {shown or 'too many to name'}; so it is a new bot "
                "in each run, and plays all its games again: name them under ignore in its bot.toml"
            )
    return lines


def _sendable(bot: BotSpec) -> BotSpec:
    from arena.league.executor.cluster.packing import pack_bot

    if bot.fault is None:
        try:
            pack_bot(bot)
        except UsageError as error:
            return broken(bot, str(error))
    return bot


def built(
    bots: Sequence[BotSpec], level: Level, options: PlayOptions, say: Say, *, folders: BotFolders, run: Run
) -> list[BotSpec]:
    """Build the bots that need it, in locked folders; those that cannot be built, or run at this level, are broken."""
    limits = build_limits(options)
    host = HostPrograms(options.interpreters, bots)
    if not options.built and any(bot.build and bot.fault is None for bot in bots):
        from arena.processes.build import build_all  # most leagues build no bot

        bots = build_all(bots, level, limits, host, say, folders=folders, run=run)
    return runnable(level, bots, host, usual_limits(options), run)


def prepared(
    path: str, options: PlayOptions, folders: BotFolders, say: Say, run: Run, *, follow_links: bool = True
) -> tuple[Level, BotSpec]:
    """Return the isolation level, and the bot at a path, built if needed, or broken; a link is, unless `follow_links`.

    Its folder is kept in `folders`. Raises `UsageError` if there is no bot.
    """
    level = choose(options.sandbox)
    (bot,) = built(
        [find_one(asked_bot(path), follow_links=follow_links)], level, options, say, folders=folders, run=run
    )
    return level, bot


@dataclass(frozen=True)
class LeagueEntry:
    """The bots and the format of games to play; `games` limits their number.

    If it is `strict`, broken bots are refused; otherwise they are listed (with `skip_broken` left out), and those that
    need a missing program are left out. If `distinct`, copies of one bot are refused. Unless `follow_links`, paths that
    are links are broken bots. `times` are time controls for the paths, None for the usual one. A league that `is_new`
    ignores earlier ones of the store. `archive` is whether copies of the bots are kept; None: if the format places
    the bots itself.
    """

    paths: Sequence[str]
    kind: Kind
    rounds: int
    games: int | None = None
    strict: bool = True
    skip_broken: bool = False
    distinct: bool = False
    follow_links: bool = True
    format: Format = RoundRobin
    times: Sequence[str | None] = ()
    is_new: bool = False
    archive: bool | None = None


@dataclass(frozen=True)
class Plan(Entrants):
    """A league or match that is ready to be opened."""

    entry: LeagueEntry
    settings: Settings
    is_pinned: bool
    """Whether the bots of each game share a CPU."""
    cluster: "ClusterPlan | None" = None
    """The cluster for the games; None for worker processes of this machine."""

    @property
    def players(self) -> tuple[Player, ...]:
        return tuple(bot.player for bot in self.bots)

    @property
    def faults(self) -> dict[str, str]:
        return {bot.name: bot.fault for bot in self.bots if bot.fault is not None}

    @property
    def chosen(self) -> ChosenFormat | None:
        """The format that was chosen by options, if one was."""
        return self.entry.format if isinstance(self.entry.format, ChosenFormat) else None

    @property
    def format(self) -> str:
        """The name of the format; empty for the usual one."""
        return self.chosen.word if self.chosen else ""


@contextlib.contextmanager
def planned(entry: LeagueEntry, options: PlayOptions, say: Say, run: Run) -> Iterator[Plan]:
    """Find and build the bots, and read the settings: see `entrants`."""
    cluster = _cluster_plan(options.cluster, options) if options.cluster else None
    if entry.times:
        own = [Own(time=option_value("time", parse_time, text)) if text else Own() for text in entry.times]
        words = map(asked_bot, entry.paths)
        options = replace(options, asked=tuple(replace(word, own=one) for word, one in zip(words, own, strict=True)))
    with entrants(
        entry.paths,
        options,
        partial(store_of, options, entry.kind),
        say,
        run,
        follow_links=entry.follow_links,
        strict=entry.strict,
        skip_broken=entry.skip_broken,
        distinct=entry.distinct,
    ) as entered:
        bots, options = entered.bots, entered.options
        settings = settings_of(options, bots)
        games = entry.format(Games(settings), [bot.player for bot in bots], entry.rounds, entry.games).planned
        check_number(len(bots), entry.rounds, games)
        pinned = is_pinned(options, games)
        yield Plan(bots, options, entered.level, entered.path, entry, settings, pinned, cluster)


def _cluster_plan(asked: ClusterOptions, options: PlayOptions) -> "ClusterPlan":
    # a league without a cluster loads none of it
    from arena.league.executor.cluster.cluster_protocol import ClusterPlan, Tls

    asked.check()
    tls = None
    if asked.ca and asked.cert and asked.key:
        tls = Tls(asked.ca.absolute(), asked.cert.absolute(), asked.key.absolute())
    return ClusterPlan(
        address="" if asked.local else asked.address,
        local=asked.local,
        tls=tls,
        jobs=max(1, options.jobs // asked.local) if asked.local else asked.jobs or 0,
        build=build_limits(options),
        time=time_control(options),
        is_calibrated=asked.calibrate,
        patience=option_value("--cluster-wait", parse_duration, asked.wait) / 1000,
    )


def is_pinned(options: PlayOptions, games: int | None) -> bool:
    """Return whether the bots of each game are pinned to a CPU: by default if every CPU has a game."""
    if options.affinity is not None:
        return options.affinity
    at_a_time = options.jobs if games is None else min(options.jobs, games)
    return hasattr(os, "sched_setaffinity") and options.cluster is None and at_a_time >= usable_cpus()
