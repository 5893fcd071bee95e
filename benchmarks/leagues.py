"""What whole leagues cost, through the worker processes and into a store: plies on every core, and games that are over
at once.

    python benchmarks/leagues.py [--jobs 4] [--plies 20000] [--games 400] [--rounds 5]

Compiles a bot that answers at once, and plays leagues between two of it as `arena league` does: by worker processes,
each game stored before it counts. Two games of each slot are long; there the plies of a second are counted. The others
have two plies: what is timed is the start and the end of two processes, and all that the parent does for a game.

Each is played by one worker and by `--jobs` of them (the usable CPUs, if nothing is said), pinned (`--affinity`) and
not. The runs are interleaved, because a machine's speed drifts, and ratios are those within a run, of which the median
counts. The clock runs while anything is played, without the start of the workers. Beside it stands the processor time
of all processes, of which the clock of a busy machine does not tell: the parent's, the workers', and that of the bots.

What `--jobs` workers gain is compared with one worker that is pinned: one that is not is slower, the more so the more
CPUs there are. At the end stands the aim, for each kind of game pinned and not, and whether it is met.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import psutil
import trio
from ply import INSTANT_BOT, compile_program

from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec
from arena.game.time_control import TimeControl
from arena.league.executor.local import local_executor
from arena.league.league_options import usable_cpus
from arena.league.pairing.pairing import Pairing
from arena.league.play_missing import LeagueRun
from arena.league.store import GameRow, Store
from arena.league.stored_league import GamesBetween, StoredWalk
from arena.processes.runnable import PlaySettings
from arena.report.progress import Progress
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

PATIENT = TimeControl(move_ms=60_000, start_ms=60_000, setup_ms=60_000)
"""Nobody is to lose on time on a busy machine: that would cut off what is being measured."""
SHORT = 2
"""Plies of a game that is over at once."""
LEAST_SHARE = 0.8
"""The aim: of what so many pinned workers would play if each played as much as one alone."""
LONG_GAMES = 2
"""Long games of each slot."""


class Cost(NamedTuple):
    """Seconds of a league: by the clock, and of processor time."""

    wall: float
    parent: float
    workers: float
    bots: float

    @property
    def cpu(self) -> float:
        return self.parent + self.workers + self.bots


def specs(bot: BotSpec, games: int, plies: int) -> list[GameSpec]:
    """So many games of so many plies."""
    ruleset = replace(load_ruleset("duel"), max_plies=plies, max_quiet_plies=None)
    return [
        GameSpec(f"{number:016x}", variant_of(ruleset), PATIENT, (bot.player, bot.player), (1, 2), number)
        for number in range(games)
    ]


class Listed(Pairing):
    """A pairing that gives out a list of games, as one batch."""

    def __init__(self, games: Sequence[GameSpec]) -> None:
        self._games = games
        self._batches = iter([games])

    @property
    def planned(self) -> int:
        return len(self._games)

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        del results
        return next(self._batches, None)


def time_league(bot: BotSpec, games: Sequence[GameSpec], jobs: int, pinned: bool) -> Cost:
    """What a league costs."""

    async def play(store: Store) -> Cost:
        async with local_executor(PlaySettings((bot,), is_pinned=pinned), jobs) as executor:
            workers = psutil.Process().children()
            before = [worker.cpu_times() for worker in workers]
            begun, used = time.perf_counter(), time.process_time()
            bots = {bot.player: bot}
            walk = StoredWalk(Listed(games), GamesBetween(store, bots))
            await LeagueRun(walk, bots, store, Progress()).play(executor)
            wall, used = time.perf_counter() - begun, time.process_time() - used
            after = [worker.cpu_times() for worker in workers]
            pairs = list(zip(before, after, strict=True))
            return Cost(
                wall,
                used,
                sum(new.user + new.system - old.user - old.system for old, new in pairs),
                sum(
                    new.children_user + new.children_system - old.children_user - old.children_system
                    for old, new in pairs
                ),
            )

    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "games.sqlite"), create=True) as store:
        cost = trio.run(play, store)
        rows = store.rows()
    wrong = {f"{row.plies} plies, {row.detail}" for row in rows if row.reason is not Reason.PLY_CAP}
    if len(rows) != len(games) or wrong:
        sys.exit(f"expected {len(games)} games to their last plies, got {len(rows)}; {', '.join(wrong)}")
    return cost


class Case(NamedTuple):
    """A league: of long games or of short ones, with so many games at a time, pinned or not."""

    is_long: bool
    jobs: int
    pinned: bool

    @property
    def words(self) -> str:
        kind = "long" if self.is_long else "short"
        return f"{kind} -j{self.jobs}{' --affinity' if self.pinned else ''}"


def measure(bot: BotSpec, options: argparse.Namespace) -> None:
    """Run all of it and print what came of it."""
    cases = [Case(*case) for case in product((True, False), (1, options.jobs), (False, True))]
    if options.only:
        cases = [case for case in cases if case.is_long == (options.only == "long")]
    long_games = specs(bot, LONG_GAMES * options.jobs, options.plies)
    short_games = specs(bot, options.games, SHORT)
    runs: list[dict[Case, Cost]] = []
    for number in range(1, options.rounds + 1):
        run = {}
        for case in cases:
            games = long_games[: LONG_GAMES * case.jobs] if case.is_long else short_games
            cost = time_league(bot, games, case.jobs, case.pinned)
            units = options.plies * len(games) if case.is_long else len(games)
            run[case] = Cost(*(seconds * 1e6 / units for seconds in cost))
        runs.append(run)
        print(f"run {number:3}", flush=True)
        for case in cases:
            print(f"    {line(case, run[case])}", flush=True)
    print("median")
    for case in cases:
        print(f"    {line(case, Cost(*map(statistics.median, zip(*(run[case] for run in runs), strict=True))))}")
    for many in [case for case in cases if case.jobs > 1]:
        one = Case(many.is_long, jobs=1, pinned=True)
        share = statistics.median(run[one].wall / run[many].wall for run in runs) / many.jobs
        more = statistics.median(run[many].cpu / run[one].cpu for run in runs)
        print(
            f"aim: {many.words}: at least {LEAST_SHARE:g} of {many.jobs} times {one.words}, found {share:.2f}: "
            f"{'met' if share >= LEAST_SHARE else 'NOT met'}; {more:.2f} times the processor time for each"
        )


def line(case: Case, cost: Cost) -> str:
    """The figures in words: microseconds of a ply, or of a game of two."""
    return (
        f"{case.words:24} {cost.wall:8.1f} us, {1e6 / cost.wall:8.0f} a second; CPU {cost.cpu:8.1f}: "
        f"parent {cost.parent:.1f}, workers {cost.workers:.1f}, bots {cost.bots:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jobs", type=int, default=usable_cpus(), help="games at a time (default: the CPUs)")
    parser.add_argument("--plies", type=int, default=20_000, help="plies of a long game (default: 20000)")
    parser.add_argument("--games", type=int, default=400, help="short games of a league (default: 400)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all is measured (default: 5)")
    parser.add_argument("--only", choices=["long", "short"], help="only leagues of these games")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(load_bot(compile_program(INSTANT_BOT, Path(folder, "instant"))), options)


if __name__ == "__main__":
    main()
