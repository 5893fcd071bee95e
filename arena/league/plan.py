"""The entry of a league (its bots and how they were named), and the plan made from it."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arena.bots.spec import BotSpec
from arena.game.game_spec import Player
from arena.game.time_control import parse_duration
from arena.league.entrants import entrants
from arena.league.executor.task import PlaySettings
from arena.league.game_ids import Games
from arena.league.league_options import ClusterOptions, Kind, PlayOptions, usable_cpus
from arena.league.option_values import (
    build_limits,
    check_number,
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
from arena.sandbox.levels import Level
from arena.system.concurrency import Run

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
    """A league or match that is ready to be opened: its bots, settings, and the path of its store."""

    entry: LeagueEntry
    options: PlayOptions
    settings: Settings
    bots: tuple[BotSpec, ...]
    level: Level
    path: Path
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

    def play_settings(self, *, is_watched: bool) -> PlaySettings:
        return PlaySettings(
            bots=self.bots,
            level=self.level,
            usual=self.settings.limits,
            limits=dict(self.settings.bot_limits),
            interpreters=self.options.interpreters,
            pondering=self.settings.pondering,
            is_pinned=self.is_pinned,
            is_watched=is_watched,
        )


@contextlib.contextmanager
def planned(entry: LeagueEntry, options: PlayOptions, say: Say, run: Run) -> Iterator[Plan]:
    """Find and build the bots, and read the settings: see `entrants`."""
    cluster = _cluster_plan(options.cluster, options) if options.cluster else None
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
        settings = settings_of(options, bots, times_of_bots(entry.paths, entry.times, bots))
        games = entry.format(Games(settings), [bot.player for bot in bots], entry.rounds, entry.games).planned
        check_number(len(bots), entry.rounds, games)
        yield Plan(entry, options, settings, bots, entered.level, entered.path, is_pinned(options, games), cluster)


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
