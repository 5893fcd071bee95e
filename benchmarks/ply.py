"""What one ply costs through the whole arena, against the least that two processes need to talk at all.

    python benchmarks/ply.py [--plies 20000] [--rounds 5]

Compiles two C programs. One bounces a line back and forth with another C program over two pipes: the ping-pong. The
other is a bot that answers at once (its piece walks round a square of four squares), so that what is timed in a game
between two of them is the arena: the referee, the rules, the view, the clock, the records and the waiting. A game of
few plies is taken off a game of many, so that starting and ending processes does not count.

What a ping-pong costs depends on where the system puts its two ends: on one CPU a round trip is no more than a change
of processes (3 us here), on two it is two wake-ups (10 us and more, 25 us from deep idle). So it is measured twice:
left to the system, and with its ends kept on two CPUs, as the arena and the bot that it waits for are most of the time.

The runs are interleaved, because a machine's speed drifts. Ratios are of the medians: the time of a ply to the time of
a ping-pong, with one game at a time and with two (wall time over all plies of both). Needs a C compiler.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import trio

from arena.bots import BotSpec, load_bot
from arena.match import play_game
from arena.model import GameSpec, TimeControl
from arena.rules.loading import load_ruleset

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
#include <unistd.h>
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
            if (!strncmp(line, "turn ", 5)) say(moves[step++ % 4]);
            else if (!strncmp(line, "hello", 5)) say("ready\n");
            else if (!strncmp(line, "game blue", 9)) moves = BLUE;
            else if (!strcmp(line, "setup")) say("setup FBBS2339M./........../........../2.........\n");
            else if (!strcmp(line, "quit")) return 0;
            line = end + 1;
        }
        held = strlen(line);
        memmove(buffer, line, held + 1);
    }
}
"""


ROW = "{:7} ping-pong {:5.1f} us (left to the system {:5.1f} us)   ply: one game {:5.1f} us, two games {:5.1f} us"


def compile_program(source: str, program: Path) -> Path:
    """Compile C source; exits with a message if there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("expected a C compiler (cc or gcc) on the PATH, found none; on Debian: apt-get install gcc libc6-dev")
    code = program.with_suffix(".c")
    code.write_text(source)
    subprocess.run([compiler, "-O2", "-o", str(program), str(code)], check=True)
    return program


def ping_pong(program: Path, rounds: int, cpus: tuple[str, str]) -> float:
    """Microseconds of one round trip between two C programs, each on its CPU (empty: where the system likes)."""
    command = [str(program), str(rounds), *cpus]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


async def play(bot: BotSpec, plies: int) -> None:
    ruleset = replace(load_ruleset("duel"), max_plies=plies, max_quiet_plies=None)
    spec = GameSpec("ply", ruleset, TimeControl(), (bot.player, bot.player), (1, 2), 0)
    record = await play_game(spec, bot, bot)
    if record.verdict.plies != plies:
        sys.exit(f"the game ended too early: {record.verdict.detail}")


def time_games(bot: BotSpec, plies: int, games: int) -> float:
    """Seconds that so many games of so many plies take, all at once."""

    async def all_of_them() -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(games):
                nursery.start_soon(play, bot, plies)

    start = time.perf_counter()
    trio.run(all_of_them)
    return time.perf_counter() - start


def time_ply(bot: BotSpec, plies: int, games: int) -> float:
    """Microseconds of one ply: a long game less a short one, over all plies that the one has more."""
    short = plies // 10
    return (time_games(bot, plies, games) - time_games(bot, short, games)) / ((plies - short) * games) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--plies", type=int, default=20_000, help="plies of the long game (default: 20000)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all is measured (default: 5)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bouncer = compile_program(PING_PONG, Path(folder, "ping-pong"))
        bot = load_bot(compile_program(INSTANT_BOT, Path(folder, "instant")))
        cpus = sorted(os.sched_getaffinity(0))
        apart = (str(cpus[0]), str(cpus[-1]))
        rows = []
        for _ in range(options.rounds):
            pings = (ping_pong(bouncer, options.plies, apart), ping_pong(bouncer, options.plies, ("", "")))
            rows.append((*pings, time_ply(bot, options.plies, 1), time_ply(bot, options.plies, 2)))
            print(ROW.format("run", *rows[-1]))
    base, together, one, two = (statistics.median(column) for column in zip(*rows, strict=True))
    print(ROW.format("median", base, together, one, two))
    if len(cpus) < 2:
        print("this machine has one CPU: the ping-pong could not be kept on two")
    print(f"against the ping-pong on two CPUs: {one / base:.1f}x   {two / base:.1f}x")
    print(f"one game at a time: {one / together:.1f}x   two games at a time: {two / together:.1f}x")


if __name__ == "__main__":
    main()
