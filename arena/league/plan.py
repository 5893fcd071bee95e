"""The entry of a league (its bots and how they were named), and the plan made from it."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.folders import BotFolders
from arena.bots.spec import BotSpec
from arena.bots.trial import Run
from arena.game.game_spec import Player
from arena.game.time_control import parse_duration
from arena.league.entrants import enrolled, entrants, with_seed
from arena.league.executor.task import PlaySettings
from arena.league.game_specs import Games
from arena.league.league_options import ClusterOptions, Kind, PlayOptions, usable_cpus
from arena.league.option_values import (
    build_limits,
    check_number,
    check_values,
    option_value,
    settings_of,
    store_of,
    time_control,
    times_of_bots,
)
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Format
from arena.league.pairing.round_robin import RoundRobin
from arena.league.settings import Settings
from arena.league.stop import Say
from arena.league.store import sole_use
from arena.sandbox.levels import AUTO, Level, choose

if TYPE_CHECKING:
    from arena.league.executor.cluster.cluster_protocol import ClusterPlan


@dataclass(frozen=True)
class LeagueEntry:
    """The bots and the format of games to play; `games` limits their number.

    If it is `strict`, broken bots are refused; otherwise they are listed (with `skip_broken` left out), and those that
    need a missing program are left out. If `distinct`, copies of one bot are refused. Unless `follow_links`, paths that
    are links are broken bots. `times` are time controls for the paths, None for the usual one. A league that `is_new`
    ignores earlier ones of the store. `archive` is whether copies of the bots are kept; None: if the format has rounds.
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
class Plan:
    """A league or match that is ready to be opened: bots, settings, and the path of its store."""

    kind: Kind
    settings: Settings
    bots: tuple[BotSpec, ...]
    jobs: int
    level: Level
    is_level_chosen: bool
    """Whether the level was left to the arena (`auto`)."""
    affinity: bool
    path: Path
    interpreters: tuple[str, ...]
    format: str
    """The name of the format; empty for the usual one."""
    format_settings: tuple[str, ...]
    """The options of the format, in words."""
    openings: Path | None
    """The file of openings."""
    disqualifies: bool = False
    """Whether bots with many faults play no more."""
    cluster: "ClusterPlan | None" = None
    """The cluster for the games; None for worker processes of this machine."""

    @property
    def players(self) -> tuple[Player, ...]:
        return tuple(bot.player for bot in self.bots)

    @property
    def faults(self) -> dict[str, str]:
        return {bot.name: bot.fault for bot in self.bots if bot.fault is not None}

    @property
    def play_settings(self) -> PlaySettings:
        return PlaySettings(
            bots=self.bots,
            level=self.level,
            usual=self.settings.limits,
            limits=dict(self.settings.bot_limits),
            interpreters=self.interpreters,
            pondering=self.settings.pondering,
            is_pinned=self.affinity,
        )


def _cluster_plan(asked: ClusterOptions, options: PlayOptions) -> "ClusterPlan":
    from arena.league.executor.cluster.cluster_protocol import (  # a league without a cluster loads none of it
        ClusterPlan,
        Tls,
    )

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


@contextlib.contextmanager
def planned(entry: LeagueEntry, options: PlayOptions, say: Say, run: Run) -> Iterator[Plan]:
    """Find and build the bots, and read the settings.

    Within the `with` statement no other arena plays with the store or builds in the bots' folders. Raises `UsageError`,
    `RulesetError` and other `ArenaError`.
    """
    check_values(options)
    cluster = _cluster_plan(options.cluster, options) if options.cluster else None
    level = choose(options.sandbox)
    store = partial(store_of, options, entry.kind)
    found, path = enrolled(
        entry.paths, options, follow_links=entry.follow_links, leave_out=not entry.strict, store=store
    )
    with sole_use(path), BotFolders() as folders:
        options = with_seed(options, path)
        bots = entrants(
            found,
            level,
            options,
            strict=entry.strict,
            skip_broken=entry.skip_broken,
            distinct=entry.distinct,
            store=path,
            folders=folders,
            say=say,
            run=run,
        )
        yield _plan(entry, options, bots, path=path, level=level, cluster=cluster)


def is_pinned(options: PlayOptions, games: int | None) -> bool:
    """Return whether the bots of each game are pinned to a CPU; `games` are planned, if that is known.

    By default they are if every CPU has a game: with fewer, bots with several threads could use the others.
    """
    if options.affinity is not None:
        return options.affinity
    at_a_time = options.jobs if games is None else min(options.jobs, games)
    return hasattr(os, "sched_setaffinity") and options.cluster is None and at_a_time >= usable_cpus()


def _plan(
    entry: LeagueEntry,
    options: PlayOptions,
    bots: Sequence[BotSpec],
    *,
    path: Path,
    level: Level,
    cluster: "ClusterPlan | None",
) -> Plan:
    settings = settings_of(options, bots, times_of_bots(entry.paths, entry.times, bots))
    players = [bot.player for bot in bots]
    games = entry.format(Games(settings), players, entry.rounds, entry.games).planned
    check_number(len(bots), entry.rounds, games)
    return Plan(
        kind=entry.kind,
        settings=settings,
        bots=tuple(bots),
        jobs=options.jobs,
        level=level,
        is_level_chosen=options.sandbox == AUTO,
        affinity=is_pinned(options, games),
        path=path,
        interpreters=options.interpreters,
        format=entry.format.word if isinstance(entry.format, ChosenFormat) else "",
        format_settings=entry.format.settings if isinstance(entry.format, ChosenFormat) else (),
        openings=options.openings,
        cluster=cluster,
        disqualifies=isinstance(entry.format, ChosenFormat) and entry.format.options.disqualify is not None,
    )
