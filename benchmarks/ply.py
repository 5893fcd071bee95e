"""What one ply costs through the whole arena, against the least that two processes need to talk at all.

    python benchmarks/ply.py [--plies 20000] [--rounds 5] [--against CHECKOUT]...

Compiles two C programs. One bounces a line back and forth with another C program over two pipes: the ping-pong. The
other is a bot that answers at once (its piece walks round a square of four squares), so that what is timed in a game
between two of them is the arena: the referee, the rules, the view, the clock, the records and the waiting. A game of
few plies is taken off a game of many, so that starting and ending processes does not count. The same bot that thinks
for two milliseconds shows what sleeping and waking cost: there the arena's processor time is to be looked at.

What a ping-pong costs depends on where its two ends run. On one CPU a round trip is two changes of processes and
nothing else: that is the least there is. On two CPUs it has two wake-ups of a CPU in it, as has a ply of a game whose
bot runs on another CPU than the arena. Two games are set against two ping-pongs at once, each on a CPU of its own.

A CPU that has gone to sleep takes long to wake, and how long is the machine's affair: so a program of idle priority,
which gives way to everything, keeps each CPU awake where two CPUs are used. Where all runs on one CPU there is none: it
never sleeps, and each change to the idle program and back would cost a ping-pong there two microseconds. The runs are
interleaved, because a machine's speed drifts; with `--against` so are those of other checkouts of the arena, each
measured by its own copy of this script, to compare versions. On a busy machine the arena's own processor time, which is
given too, compares better than the time by the clock. Ratios are of the medians. At the end stands each aim, and
whether it is met. Needs a C compiler."""

import argparse
import contextlib
import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import trio

import arena
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec
from arena.game.time_control import TimeControl
from arena.play.runner import play_game
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

THINKING_NS = 2_000_000
BRIEF_NS = 200_000
MOST_PER_PING_PONG = 3.0
"""The aim: a ply on one CPU takes no more than so many round trips of two C programs there."""
MOST_BESIDE_THINKING = 30.0
"""The aim, in microseconds: what a ply takes on one CPU beyond what a bot thinks that thinks for 200 microseconds."""
PLACES = ("ping-pong on one CPU", "on two", "two, each on one")
PATIENT = TimeControl(move_ms=60_000, start_ms=60_000, setup_ms=60_000)
HERE = Path(__file__).resolve().parent.parent

SPINNER = """
import os, sys
parent, cpu = int(sys.argv[1]), int(sys.argv[2])
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == parent:
    pass
"""
"""Keeps a CPU awake as long as its parent lives, and gives way to every other program."""

PING_PONG = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void pin(const char *cpu) {
    cpu_set_t set;
    if (!*cpu) return;
    CPU_ZERO(&set);
    CPU_SET(atoi(cpu), &set);
    sched_setaffinity(0, sizeof set, &set);
}
int main(int argc, char **argv) {
    int to[2], from[2], rounds = atoi(argv[1]);
    char buffer[256];
    if (pipe(to) || pipe(from)) return 1;
    pin(argv[2]);
    if (fork() == 0) {
        pin(argv[3]);
        close(to[1]);
        while (read(to[0], buffer, sizeof buffer) > 0)
            if (write(from[1], "move a4-b4\n", 11) != 11) break;
        return 0;
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < rounds; i++)
        if (write(to[1], "moved red a4-b4\nturn 11 100 100\n", 32) != 32 || read(from[0], buffer, sizeof buffer) < 1)
            return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.3f\n", ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / rounds / 1e3);
    return 0;
}
"""

INSTANT_BOT = r"""
#include <string.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#ifndef THINKING_NS
#define THINKING_NS 0
#endif
static long long now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return moment.tv_sec * 1000000000LL + moment.tv_nsec;
}
static void think(void) { for (long long end = now() + THINKING_NS; THINKING_NS && now() < end;) continue; }
static const char *RED[] = {"move a4-b4\n", "move b4-b3\n", "move b3-a3\n", "move a3-a4\n"};
static const char *BLUE[] = {"move a7-b7\n", "move b7-b8\n", "move b8-a8\n", "move a8-a7\n"};
static void say(const char *text) { if (write(1, text, strlen(text)) < 0) _exit(1); }
int main(void) {
    static char buffer[65536];
    size_t held = 0;
    unsigned step = 0;
    const char **moves = RED;
    for (;;) {
        ssize_t count = read(0, buffer + held, sizeof buffer - held - 1);
        if (count <= 0) return 0;
        held += count;
        buffer[held] = 0;
        char *line = buffer, *end;
        while ((end = strchr(line, '\n'))) {
            *end = 0;
            if (!strncmp(line, "turn ", 5)) think(), say(moves[step++ % 4]);
            else if (!strncmp(line, "hello", 5)) say("ready\n");
            else if (!strncmp(line, "game ", 5)) moves = line[5] == 'b' ? BLUE : RED, step = 0;
            else if (!strcmp(line, "setup")) say("setup FBBS2339M./........../........../2.........\n");
            else if (!strcmp(line, "quit")) return 0;
            line = end + 1;
        }
        held = strlen(line);
        memmove(buffer, line, held + 1);
    }
}
"""


def compile_program(source: str, program: Path, *options: str) -> Path:
    """Compile C source; exits with a message if there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("expected a C compiler (cc or gcc) on the PATH, found none; on Debian: apt-get install gcc libc6-dev")
    code = program.with_suffix(".c")
    code.write_text(source)
    subprocess.run([compiler, "-O2", *options, "-o", str(program), str(code)], check=True)
    return program


@contextlib.contextmanager
def awake(cpus: Sequence[int]) -> Iterator[None]:
    """Keep CPUs from going to sleep."""
    line = [sys.executable, "-I", "-S", "-c", SPINNER, str(os.getpid())]
    with contextlib.ExitStack() as stack:
        for cpu in cpus:
            spinner = stack.enter_context(subprocess.Popen([*line, str(cpu)]))
            stack.callback(spinner.kill)
        yield


def ping_pong(program: Path, rounds: int, places: Sequence[tuple[int, int]]) -> float:
    """Microseconds of one round trip between two C programs on these two CPUs; with several pairs at once, wall time
    over all round trips."""
    pairs = [
        subprocess.Popen([str(program), str(rounds), *map(str, cpus)], stdout=subprocess.PIPE, text=True)
        for cpus in places
    ]
    return max(float(pair.communicate()[0]) for pair in pairs) / len(pairs)


async def play(bot: BotSpec, plies: int) -> None:
    ruleset = replace(load_ruleset("duel"), max_plies=plies, max_quiet_plies=None)
    spec = GameSpec("ply", variant_of(ruleset), PATIENT, (bot.player, bot.player), (1, 2), 0)
    record = await play_game(spec, bot, bot)
    if record.verdict.plies != plies:
        sys.exit(f"the game ended too early: {record.verdict.detail}")


class Cost(NamedTuple):
    """Microseconds of a ply: by the clock, and of the arena's own processor time."""

    wall: float
    cpu: float


def time_games(bot: BotSpec, plies: int, games: int) -> tuple[float, float]:
    """Seconds that so many games of so many plies take, all at once, and the arena's processor time for them."""

    async def all_of_them() -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(games):
                nursery.start_soon(play, bot, plies)

    start, used = time.perf_counter(), time.process_time()
    trio.run(all_of_them)
    return time.perf_counter() - start, time.process_time() - used


def time_ply(bot: BotSpec, plies: int, games: int) -> Cost:
    """What one ply costs: a long game less a short one, over all plies that the one has more."""
    short = plies // 10
    time_games(bot, short, games)  # what the first game imports is not timed
    both = zip(time_games(bot, plies, games), time_games(bot, short, games), strict=True)
    return Cost(*((of_long - of_short) / ((plies - short) * games) * 1e6 for of_long, of_short in both))


class Case(NamedTuple):
    """Something that is measured: so many games at once between bots that think or do not, on one CPU or on all."""

    name: str
    games: int = 1
    program: str = "instant"
    on_one_cpu: bool = False

    def plies(self, plies: int) -> int:
        """How many plies the long game has, if that of instant bots has so many."""
        return plies if self.program == "instant" else max(200, plies // 20)


CASES = (
    Case("one game"),
    Case("two games", games=2),
    Case("one game on one CPU", on_one_cpu=True),
    Case("one game of bots that think", program="thinking"),
    Case("one game on one CPU of bots that think for 0.2 ms", program="brief", on_one_cpu=True),
)

ON_CPUS = (
    "import os, sys; os.sched_setaffinity(0, map(int, sys.argv[1].split(','))); os.execv(sys.argv[2], sys.argv[2:])"
)


def time_ply_in(checkout: Path, folder: Path, plies: int, case: Case, cpus: Sequence[int]) -> Cost:
    """The same with the arena of a checkout, in a process of its own: the checkout's own script measures."""
    program = folder / case.program
    script = checkout / "benchmarks" / "ply.py"
    measuring = [str(script), "--plies", str(case.plies(plies)), "--measure", str(program), str(case.games)]
    wanted = ",".join(map(str, cpus[:1] if case.on_one_cpu else cpus))
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-c", ON_CPUS, wanted, sys.executable, *measuring],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    if done.returncode:
        sys.exit(f"{checkout}: {done.stderr}")
    wall, cpu, measured = done.stdout.splitlines()
    if Path(measured) != checkout:
        sys.exit(f"expected to measure the arena in {checkout}, but this Python has that in {measured}")
    return Cost(float(wall), float(cpu))


@dataclass(frozen=True)
class Run:
    """What one run found: microseconds of a round trip in each place, and of a ply in each checkout and case."""

    pings: tuple[float, ...]
    plies: tuple[tuple[Cost, ...], ...]

    def words(self, checkouts: Sequence[Path]) -> str:
        """The figures in words."""
        words = [f"{name} {took:.1f}" for name, took in zip(PLACES, self.pings, strict=True)]
        for checkout, costs in zip(checkouts, self.plies, strict=True):
            figures = (
                f"{case.name} {cost.wall:.1f} (CPU {cost.cpu:.1f})" for case, cost in zip(CASES, costs, strict=True)
            )
            words.append(f"{'ply' if checkout == HERE else f'{checkout.name} ply'}: {', '.join(figures)}")
        return "; ".join(words)


def median_of(runs: Sequence[Run]) -> Run:
    """The median of each figure."""
    pings = tuple(statistics.median(column) for column in zip(*(run.pings for run in runs), strict=True))
    plies = tuple(
        tuple(
            Cost(*(statistics.median(kind) for kind in zip(*costs, strict=True))) for costs in zip(*column, strict=True)
        )
        for column in zip(*(run.plies for run in runs), strict=True)
    )
    return Run(pings, plies)


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Run all of it and print what came of it."""
    cpus = sorted(os.sched_getaffinity(0))
    first, last = cpus[0], cpus[-1]
    bouncer = compile_program(PING_PONG, folder / "ping-pong")
    compile_program(INSTANT_BOT, folder / "instant")
    compile_program(INSTANT_BOT, folder / "thinking", f"-DTHINKING_NS={THINKING_NS}")
    compile_program(INSTANT_BOT, folder / "brief", f"-DTHINKING_NS={BRIEF_NS}")
    places = ([(first, first)], [(first, last)], [(first, first), (last, last)])
    checkouts = [HERE, *options.against]
    runs = []
    for number in range(1, options.rounds + 1):
        pings = []
        for pairs in places:
            with awake(cpus if any(one != other for one, other in pairs) else ()):
                pings.append(ping_pong(bouncer, options.plies, pairs))
        by_case = []
        for measured in CASES:
            with awake(() if measured.on_one_cpu else cpus):
                by_case.append([time_ply_in(checkout, folder, options.plies, measured, cpus) for checkout in checkouts])
        runs.append(Run(tuple(pings), tuple(zip(*by_case, strict=True))))
        print(f"run {number:3} us: {runs[-1].words(checkouts)}", flush=True)
    median = median_of(runs)
    print(f"median  us: {median.words(checkouts)}")
    if len(cpus) < 2:
        print("this machine has one CPU: no ping-pong could be kept on two")
    on_one, on_two, pair = median.pings
    for checkout, (one, two, pinned, _, _) in zip(checkouts, median.plies, strict=True):
        print(
            f"{checkout}: one game {one.wall / on_one:.1f} times the ping-pong on one CPU, and "
            f"{pinned.wall / on_one:.1f} times if it is on one CPU itself; {one.wall / on_two:.1f} times that on two; "
            f"two games {two.wall / pair:.1f} times two ping-pongs"
        )
    for place, checkout in enumerate(options.against, start=1):
        for case, name in enumerate(case.name for case in CASES):
            walls, used = (
                statistics.median(run.plies[0][case][kind] / run.plies[place][case][kind] for run in runs)
                for kind in (0, 1)
            )
            print(f"this against {checkout}: {name} {walls:.3f} by the clock, {used:.3f} of processor time")
    _, _, pinned, _, brief = median.plies[0]
    print(aim("a ply on one CPU, in ping-pongs there", pinned.wall / on_one, MOST_PER_PING_PONG))
    words = "us of a ply on one CPU beside 200 us of thinking"
    print(aim(words, brief.wall - BRIEF_NS / 1000, MOST_BESIDE_THINKING))


def aim(what: str, found: float, most: float) -> str:
    """Say whether a figure is as low as it is to be."""
    return f"aim: {what}: at most {most:g}, found {found:.1f}: {'met' if found <= most else 'NOT met'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--plies", type=int, default=20_000, help="plies of the long game (default: 20000)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all is measured (default: 5)")
    parser.add_argument(
        "--against",
        type=Path,
        action="append",
        default=[],
        metavar="CHECKOUT",
        help="another checkout of the arena to compare this one with, run by run",
    )
    parser.add_argument("--measure", nargs=2, metavar=("BOT", "GAMES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        program, games = options.measure
        gc.disable()  # one search for garbage, of some 20 ms, may fall into the long game or into the short one
        print(*time_ply(load_bot(Path(program)), options.plies, int(games)), sep="\n")
        print(Path(arena.__file__).parent.parent)
        return
    options.against = [checkout.resolve() for checkout in options.against]
    for checkout in options.against:
        if not (checkout / "benchmarks" / "ply.py").exists():
            parser.error(f"--against: expected a checkout of the arena, found no benchmarks/ply.py in {checkout}")
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options)


if __name__ == "__main__":
    main()
