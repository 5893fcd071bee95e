"""Whether thousands of games leave anything behind: memory, descriptors and children of the parent and of each worker.

    python benchmarks/flat.py [--games 3000] [--jobs 4] [--steps 6]

Compiles a bot that answers at once, and plays games of few plies between two of it, by worker processes and into a
store, all by the same workers. After each step, when no game is under way, it prints what every process has. The first
step loads modules and fills caches: what counts is that the later ones are alike. Needs a C compiler.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple, Self

import psutil
import trio
from leagues import Listed, specs
from ply import INSTANT_BOT, compile_program

from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.league.executor.local import local_executor
from arena.league.league_options import usable_cpus
from arena.league.play_missing import LeagueRun
from arena.league.store import Store
from arena.league.stored_league import GamesBetween, StoredWalk
from arena.processes.runnable import PlaySettings
from arena.report.progress import Progress

PLIES = 20


class Held(NamedTuple):
    """What a process has: KiB of memory of its own, descriptors, children, threads."""

    memory: int
    descriptors: int
    children: int
    threads: int

    @classmethod
    def of(cls, process: psutil.Process) -> Self:
        memory = process.memory_full_info().uss // 1024
        return cls(memory, process.num_fds(), len(process.children()), process.num_threads())

    @property
    def words(self) -> str:
        return f"{self.memory:6} KiB {self.descriptors:3} fds {self.children} children {self.threads} threads"


async def measure(bot: BotSpec, store: Store, options: argparse.Namespace) -> None:
    """Play in steps, and print after each what the processes have."""
    games = specs(bot, options.games, PLIES)
    first: list[Held] = []
    held: list[Held] = []
    async with local_executor(PlaySettings((bot,)), options.jobs) as executor:
        parent = psutil.Process()
        for step in range(1, options.steps + 1):
            begin, end = (options.games * number // options.steps for number in (step - 1, step))
            bots, missing = {bot.player: bot}, Listed(games[begin:end])
            await LeagueRun(StoredWalk(missing, GamesBetween(store, bots)), bots, store, Progress()).play(executor)
            held = [Held.of(process) for process in (parent, *parent.children())]
            first = first or held
            print(f"{end:6} games: " + "; ".join(one.words for one in held), flush=True)
    if len({row.id for row in store.rows()}) != options.games:
        sys.exit(f"expected {options.games} games, got {len({row.id for row in store.rows()})}")
    grown = [
        f"{new.memory - old.memory:+} KiB {new.descriptors - old.descriptors:+} fds"
        for old, new in zip(first, held, strict=True)
    ]
    print(f"since the first step: parent {grown[0]}; workers {', '.join(grown[1:])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=3000, help="how many are played (default: 3000)")
    parser.add_argument("--jobs", type=int, default=usable_cpus(), help="games at a time (default: the CPUs)")
    parser.add_argument("--steps", type=int, default=6, help="in how many steps (default: 6)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "games.sqlite"), create=True) as store:
        bot = load_bot(compile_program(INSTANT_BOT, Path(folder, "instant")))
        trio.run(measure, bot, store, options)


if __name__ == "__main__":
    main()
