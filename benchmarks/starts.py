"""What it costs to start the two bots of a game and to leave nothing of them behind.

    python benchmarks/starts.py [--games 200] [--rounds 5] [--sandbox basic] [--keep] [--bot BOT]
                                [--against CHECKOUT]...

Compiles a bot that answers at once, and plays games of two plies between two of them, one after another, as a league
does: so what is timed is the start of two processes, the handshake and the set-ups, and their end. The floor is two
such programs started with `subprocess`, told to quit and waited for, which is what nobody can do without. With `--keep`
there are games of pairs in the same processes (`arena league --keep-bots`) as well, two games to two starts.

The runs are interleaved, because a machine's speed drifts; with `--against` so are those of other checkouts of the
arena, to compare versions. On a busy machine the arena's own processor time, which is given too, compares better than
the time by the clock. With `--keep` it ends with the aim, and whether it is met. Needs a C compiler.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import trio
from ply import INSTANT_BOT, compile_program

import arena
from arena.bots.loading import load_bot
from arena.game.game_spec import GameSpec
from arena.game.time_control import TimeControl
from arena.play.game_options import GameOptions
from arena.play.runner import play_game
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.sandbox.levels import Level
from arena.sandbox.reaper import own_every_orphan
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

try:
    from arena.play.game_options import Keeper
except ImportError:  # an older checkout, which is compared with
    Keeper = None  # type: ignore[assignment,misc]

PATIENT = TimeControl(move_ms=60_000, start_ms=60_000, setup_ms=60_000)
HERE = Path(__file__).resolve().parent.parent
PLIES = 2
MOST_KEPT, MOST_KEPT_OTHER = 0.5, 8.0
"""The aim, in milliseconds: what the second game of a pair in the same processes takes, of the compiled bot and of
another."""
WARM_UP = 5
"""Games that do not count: the first ones load modules and fill caches."""


class Cost(NamedTuple):
    """Milliseconds of a game: by the clock, and of the arena's own processor time."""

    wall: float
    cpu: float


def time_games(program: Path, games: int, level: Level, *, is_kept: bool) -> Cost:
    """What a game between two of these programs costs, of so many one after another."""
    bot = load_bot(program)
    other = replace(bot, digest="other")
    ruleset = replace(load_ruleset("duel"), max_plies=PLIES, max_quiet_plies=None)
    spec = GameSpec("starts", variant_of(ruleset), PATIENT, (bot.player, bot.player), (1, 2), 0)

    async def play(options: GameOptions) -> Cost:
        start = used = 0.0
        for number in range(WARM_UP + games):
            if number == WARM_UP:
                start, used = time.perf_counter(), time.process_time()
            record = await play_game(spec, *((bot, other) if number % 2 else (other, bot)), options)
            if is_kept and options.keeper:
                options.keeper.expects_another = not options.keeper.expects_another
            if record.verdict.plies != PLIES:
                sys.exit(f"expected {PLIES} plies, got {record.verdict.plies}: {record.verdict.detail}")
        wall, cpu = time.perf_counter() - start, time.process_time() - used
        return Cost(wall * 1000 / games, cpu * 1000 / games)

    own_every_orphan()
    with Sandbox(PlaySettings([bot], level)) as sandbox:
        options = GameOptions(spawn=sandbox.start)
        return trio.run(play, replace(options, keeper=Keeper()) if is_kept else options)


def time_games_in(checkout: Path, program: Path, options: argparse.Namespace, *, is_kept: bool = False) -> Cost:
    """The same with the arena of a checkout, in a process of its own."""
    line = [sys.executable, str(Path(__file__).resolve()), "--games", str(options.games)]
    line += ["--sandbox", options.sandbox, "--measure", str(program), *(["--keep"] if is_kept else [])]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(line, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{checkout}: {done.stderr}")
    wall, cpu, measured = done.stdout.splitlines()
    if Path(measured) != checkout:
        sys.exit(f"expected to measure the arena in {checkout}, but this Python has that in {measured}")
    return Cost(float(wall), float(cpu))


def time_bare(program: Path, games: int) -> Cost:
    """What it costs to start two programs and to see them end, and no more."""
    bot = load_bot(program)
    start, used = time.perf_counter(), time.process_time()
    for _ in range(games):
        pair = [
            subprocess.Popen(bot.command, env=dict(bot.environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for process in pair:
            process.communicate(b"quit\n")
    return Cost((time.perf_counter() - start) * 1000 / games, (time.process_time() - used) * 1000 / games)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))


def measure(program: Path, options: argparse.Namespace) -> None:
    """Run all of it and print what came of it."""
    checkouts = [HERE, *options.against]
    names = ["two bare starts", "game", *(f"game of {checkout}" for checkout in options.against)]
    if options.keep:
        names.append("game of kept bots")
    runs: list[list[Cost]] = []
    for number in range(1, options.rounds + 1):
        run = [time_bare(program, options.games)]
        run += [time_games_in(checkout, program, options) for checkout in checkouts]
        if options.keep:
            run.append(time_games_in(HERE, program, options, is_kept=True))
        runs.append(run)
        print(f"run {number:3} ms: {words(names, run)}", flush=True)
    print(f"median  ms: {words(names, [median(column) for column in zip(*runs, strict=True)])}")
    for place, checkout in enumerate(options.against, start=2):
        print(f"this against {checkout}: {ratio(runs, 1, place)}")
    if options.keep:
        print(f"kept against new processes: {ratio(runs, len(names) - 1, 1)}")
        new, kept = (median([run[place] for run in runs]).wall for place in (1, len(names) - 1))
        second, most = 2 * kept - new, MOST_KEPT_OTHER if options.bot else MOST_KEPT  # a pair has one start
        verdict = "met" if second <= most else "NOT met"
        print(f"aim: ms of the second game of a kept pair: at most {most:g}, found {second:.2f}: {verdict}")


def ratio(runs: Sequence[Sequence[Cost]], place: int, other: int) -> str:
    """One column against another, in words."""
    wall, used = (statistics.median(run[place][kind] / run[other][kind] for run in runs) for kind in (0, 1))
    return f"{wall:.3f} by the clock, {used:.3f} of processor time"


def words(names: Sequence[str], costs: Sequence[Cost]) -> str:
    """The figures in words."""
    return "; ".join(f"{name} {cost.wall:.2f} (CPU {cost.cpu:.2f})" for name, cost in zip(names, costs, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=200, help="games of each run (default: 200)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all is measured (default: 5)")
    levels = [level.value for level in Level]
    parser.add_argument("--sandbox", choices=levels, default=levels[0], help="isolation level")
    parser.add_argument(
        "--against",
        type=Path,
        action="append",
        default=[],
        metavar="CHECKOUT",
        help="another checkout of the arena to compare this one with, run by run",
    )
    parser.add_argument("--keep", action="store_true", help="measure pairs of games in the same processes, too")
    parser.add_argument("--bot", type=Path, help="a bot to measure instead of the compiled one")
    parser.add_argument("--measure", metavar="BOT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        cost = time_games(Path(options.measure), options.games, Level(options.sandbox), is_kept=options.keep)
        print(*cost, sep="\n")
        print(Path(arena.__file__).parent.parent)
        return
    options.against = [checkout.resolve() for checkout in options.against]
    for checkout in options.against:
        if not (checkout / "arena" / "play" / "runner.py").exists():
            parser.error(f"--against: expected a checkout of the arena, found no arena/play/runner.py in {checkout}")
    with tempfile.TemporaryDirectory() as folder:
        measure(options.bot or compile_program(INSTANT_BOT, Path(folder, "instant")), options)


if __name__ == "__main__":
    main()
