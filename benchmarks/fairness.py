"""What bots are charged beyond what they took, with one game at a time and with many.

    python benchmarks/fairness.py [--games 1 8 64] [--sleep 5] [--seconds 10] [--ruleset duel] [--load] [--affinity]
    python benchmarks/fairness.py --hostile [KIND...] [--games 8] ...
    python benchmarks/fairness.py --viewers 200 [--turns 3] [--games 64] ...

Compiles a bot that sleeps so many milliseconds a move, by the kernel's clock, and notes with each move how long it was
from having read its `turn` to writing its answer. Games between two of them are played as a league plays them: so many
at a time, by worker processes, one after another, each started, ended and stored. What the arena charged less what the
bot itself measured is what the arena added: the pipes, the system's choice of who runs, and answers that wait until the
arena has time to read them. It is given in milliseconds: the 1st percentile (below 0 is what bots are given), the
median, the 99th percentile and the worst. The CPU is that of the parent and its workers, in shares of one. Charged less
the sleep has the bot's own waiting for the machine in it too: that is what bots feel, whoever is to blame.

Only moves count that were made while all games were under way, neither in the first second nor after the time was over.
With `--load` a program that spins is added for each CPU. The aim: at 64 games at a time, 99 of 100 moves are charged
less than 1 ms more than they took, and 99 of 100 no more than 1 ms less.

With `--hostile` the games of honest bots are played first alone, and then beside one game against a bad neighbour of
each kind, which does what it can to make the arena slow or to win time (`sleeper.c` says what). The neighbour sleeps
and measures as the others do, so that what it was charged less what it slept shows what it gains: nothing, if that is
not below what honest bots get. (full-pipe cannot see when its turn begins. It takes it that its opponent needs no more
than its sleep; what that needs more looks like a gain.) One that loses is started again. The aim: 99 of 100 moves of
the honest are charged less than 1 ms more than they took. Needs a C compiler.

With `--viewers` the games are played in turns: without pages, and with pages served as `arena league --serve` does, to
so many viewers, of whom half follow standings and half games under way. They are a process of this machine, of the
lowest priority. The aim: the same figures.
"""

import argparse
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import psutil
import trio

from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.executor.local import local_executor
from arena.league.executor.task import Failed, GameTask, Played, Watched
from arena.league.store import Store
from arena.processes.process import BotProcess
from arena.processes.runnable import PlaySettings
from arena.sandbox.launch import Launch
from arena.stratego.game import variant_of
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.web.address import Address, listen
from arena.web.beside import GameStored, LiveSetup, ServerBeside
from protocol.notation import Color

SOURCE = Path(__file__).with_name("sleeper.c")
PAGES = Path(__file__).with_name("pages.py")
HOSTILE = "hostile"
"""The bad neighbour's name."""
WARM_UP = 1.0
"""Seconds that pass before moves count: the games of the first moment all start at once."""
PATIENT = TimeControl(move_ms=2000, start_ms=60_000, setup_ms=60_000)
"""Nobody is to lose on time here: that would cut off what is being measured."""

HEAD = "{:>5} {:>6} {:>8} {:>5}   {:^35}   {:^35}".format(
    "games", "played", "moves", "arena", "charged less slept (ms)", "charged less nominal (ms)"
)
TITLE = " ".join([" " * 12, " counted", "  CPU", *["       p1   median      p99    worst "] * 2])
SHARES = (0.01, 0.5, 0.99, 1)
MOST_US = 1000
"""The aim: how much more or less than it took 98 of 100 moves may be charged."""

KINDS = {
    "memory": "50 processes that share 200M",
    "forks": "a process that forks and buries for ever",
    "orphans": "processes without parents, for ever",
    "zombies": "50 dead processes that nobody buries",
    "stderr": "a flood of standard error",
    "notes": "900 notes before each answer",
    "lines": "900 empty lines before each answer",
    "spinners": "a spinning process for each CPU",
    "threads": "50 threads that wake up 1000 times a second",
    "full-pipe": "its own input full, thinking before it makes room",
    "slow-start": "short games, and a start of 300 ms of CPU time each",
}
"""Bad neighbours, and what each has."""
HOSTILE_PLIES = 300
"""Games beside a bad neighbour end after so many plies, so that its starts and ends count too."""
OVERTIME = 60.0
"""Seconds after the time is over in which all games must have ended."""


@dataclass
class Tally:
    """What came of the games of one size."""

    moves: list[tuple[float, float]] = field(default_factory=list)
    """Of each move that counts: microseconds charged beyond what the bot measured, and beyond the sleep asked for."""
    games: int = 0
    cpu: float = 0.0
    """The share of one CPU that the arena took."""
    gained: list[tuple[float, float]] = field(default_factory=list)
    """The same as `moves`, of the bad neighbour's."""
    lost: Counter[str] = field(default_factory=Counter)
    """How often the bad neighbour forfeited, by reason."""
    hostile_games: int = 0


@dataclass(frozen=True)
class Plan:
    """What is played, and where files go."""

    bot: BotSpec
    ruleset: Ruleset
    sleep_us: int
    seconds: float
    folder: Path
    hostile: str = ""


def compile_bot(folder: Path) -> BotSpec:
    """Compile the sleeping bot; exits with a message if there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        sys.exit("expected a C compiler (cc or gcc) on the PATH, found none; on Debian: apt-get install gcc libc6-dev")
    program = folder / "sleeper"
    subprocess.run([compiler, "-O2", "-pthread", "-o", str(program), str(SOURCE)], check=True)
    return load_bot(program)


def seat(plan: Plan, kind: str) -> BotSpec:
    """The bot of this kind, told how long to sleep, what its reports' names begin with, and what else to do."""
    settings = {
        "SLEEPER_US": str(plan.sleep_us),
        "SLEEPER_REPORT": str(plan.folder / kind),
        "SLEEPER_ATTACK": plan.hostile if kind == HOSTILE else "",
    }
    return replace(plan.bot, name=kind, digest=kind, environment={**plan.bot.environment, **settings})


def count_moves(tally: Tally, plan: Plan, record: GameRecord, since: float) -> None:
    """Add the moves of a game that were made in the time that counts; a bad neighbour has Red."""
    is_hostile = record.players[0].name == HOSTILE
    reports = [plan.folder / f"{player.name}-{seed}" for player, seed in zip(record.players, record.seeds, strict=True)]
    if record.verdict.reason.is_forfeit:
        if not is_hostile or record.verdict.result.winner is not Color.BLUE:
            sys.exit(f"a game was forfeited: {record.verdict.detail}")
        tally.lost[record.verdict.reason.value] += 1
    first, last = (since + WARM_UP) * 1e9, (since + plan.seconds) * 1e9
    for color, path in zip(Color, reports, strict=True):
        moves = tally.gained if is_hostile and color is Color.RED else tally.moves
        charged = record.times_us[color::2]  # Red starts
        measured = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        path.unlink(missing_ok=True)
        # One that has been killed has not reported; who resigns has measured an action that is not in the record.
        for charged_us, (read_at, took) in zip(charged, measured, strict=not is_hostile):
            if first < int(read_at) < last:
                moves.append((charged_us - int(took) / 1000, charged_us - plan.sleep_us))
    if is_hostile:
        tally.hostile_games += 1
    else:
        tally.games += 1


class Pages:
    """Pages of a store that are served beside games, and their viewers."""

    def __init__(self, store: Path, viewers: int) -> None:
        listening = listen(Address("127.0.0.1", 0))
        setup = LiveSetup(
            store=os.fsencode(store),
            listening=listening.socket.fileno(),
            host=str(listening.address),
            reader="all",
            shows_all=False,
            delay=0.0,
            known_as=(),
        )
        self.server = ServerBeside(setup, listening, print)
        line = [sys.executable, str(PAGES), "--watch", listening.url, "--viewers", str(viewers)]
        self._viewers = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._viewers.stdout is not None
        self._viewers.stdout.readline()

    def end(self) -> None:
        self._viewers.kill()
        self._viewers.communicate()
        self.server.end()


async def play_all(plan: Plan, games: int, load: bool, pinned: bool, viewers: int = 0) -> Tally:
    """Play so many games at a time, and one against a bad neighbour if the plan has one, until the time is over."""
    tally = Tally()
    honest, hostile = seat(plan, "honest"), seat(plan, HOSTILE)
    finished: list[GameRecord] = []
    beside: set[str] = set()
    """The game against the bad neighbour that is under way or about to be."""

    async def tasks() -> AsyncIterator[GameTask]:
        for number in count(1):
            if time.monotonic() > since + plan.seconds:
                return
            red = hostile if plan.hostile and not beside else honest
            if red is hostile:
                beside.add(str(number))
            seeds = (2 * number, 2 * number + 1)
            players = (red.player, honest.player)
            yield GameTask(GameSpec(str(number), variant_of(plan.ruleset), PATIENT, players, seeds, number))

    async def watch_cpu() -> None:
        workers = psutil.Process().children()
        await trio.sleep(WARM_UP)
        used, start = cpu_seconds(workers), time.monotonic()
        await trio.sleep(plan.seconds - WARM_UP)
        tally.cpu = (cpu_seconds(workers) - used) / (time.monotonic() - start)

    async with AsyncExitStack() as stack:
        path = plan.folder / f"{games}-{plan.hostile}-{time.monotonic_ns()}.sqlite"
        store = stack.enter_context(Store(path, create=True))
        pages = Pages(path, viewers) if viewers else None
        if pages:
            stack.callback(pages.end)
        settings = PlaySettings((honest, hostile), is_pinned=pinned, is_watched=pages is not None)
        executor = await stack.enter_async_context(local_executor(settings, games + bool(plan.hostile)))
        nursery = await stack.enter_async_context(trio.open_nursery())
        nursery.start_soon(watch_cpu)
        if load:
            for process in spinners(plan):
                stack.push_async_callback(process.end, 0)
        since = time.monotonic()
        with trio.move_on_after(plan.seconds + OVERTIME) as scope:
            async for outcome in executor.play(tasks()):
                if isinstance(outcome, Failed):
                    raise outcome.error()
                if isinstance(outcome, Watched) and pages:
                    for event in outcome.events:
                        pages.server.watch(event)
                if isinstance(outcome, Played):
                    beside.discard(outcome.id)
                    row = await trio.to_thread.run_sync(store.add, outcome.record)
                    if pages:
                        pages.server.tell(GameStored(row.id, row.number, "over"))
                    finished.append(outcome.record)
        if scope.cancelled_caught:
            print(f"games were still going on {OVERTIME:g} s after the time was over; they were dropped")
    for record in finished:
        count_moves(tally, plan, record, since)
    return tally


def cpu_seconds(workers: Sequence[psutil.Process]) -> float:
    """Processor time of the arena: of this process and of its workers, without the bots."""
    return time.process_time() + sum(sum(worker.cpu_times()[:2]) for worker in workers)


def spinners(plan: Plan) -> Iterator[BotProcess]:
    """Start a program that spins for each CPU."""
    for _ in os.sched_getaffinity(0):
        yield BotProcess.start(Launch((*plan.bot.command, "spin"), plan.folder, plan.bot.environment))


def figures(moves: Sequence[tuple[float, float]]) -> Iterator[str]:
    """For each column of the moves, its figures in milliseconds."""
    for column in zip(*moves, strict=True):
        ordered = sorted(column)
        shares = (ordered[int(share * (len(ordered) - 1))] for share in SHARES)
        yield " ".join(f"{value / 1000:8.3f}" for value in shares)


def row(games: int, tally: Tally) -> str:
    cells = [f"{games:5} {tally.games:6} {len(tally.moves):8} {tally.cpu:5.0%}"]
    return "   ".join([*cells, *figures(tally.moves)])


def aim(games: int, moves: Sequence[tuple[float, float]]) -> str:
    """Say whether moves are charged as they are to be."""
    ordered = sorted(charged for charged, _ in moves)
    low, high = (ordered[int(share * (len(ordered) - 1))] / 1000 for share in (0.01, 0.99))
    is_met = low * 1000 >= -MOST_US and high * 1000 <= MOST_US
    return (
        f"aim: {games} games at a time: p1 and p99 within {MOST_US / 1000:g} ms, found {low:.3f} and {high:.3f}: "
        f"{'met' if is_met else 'NOT met'}"
    )


def hostile_row(tally: Tally) -> str:
    """What the honest get beside a bad neighbour, and what it gets."""
    honest, *_ = [*figures(tally.moves), ""]
    hostile, *_ = [*figures(tally.gained), ""]
    lost = ", ".join(f"{reason} {count}" for reason, count in tally.lost.items())
    words = f"{tally.hostile_games} games" + (f", lost by {lost}" if lost else "")
    return f"{len(tally.moves):8} {tally.cpu:5.0%}   {honest:35}   {hostile:35}   {words}"


def play_beside(plan: Plan, games: int, kinds: Sequence[str], options: argparse.Namespace) -> None:
    """Games of honest bots alone, and then beside each kind of bad neighbour."""
    head = f"{'':12} {'counted':>8} {'arena':>5}   {f'{games} games: charged less slept (ms)':^35}   "
    print(f"{head}{'bad neighbour: charged less slept (ms)':^38}")
    print(f"{'neighbour':12} {'moves':>8} {'CPU':>5}{TITLE[TITLE.index('  CPU') + 5 :]}")
    aims = []
    for kind in ("", *kinds):
        beside = replace(plan, hostile=kind, ruleset=replace(plan.ruleset, max_plies=HOSTILE_PLIES))
        tally = trio.run(play_all, beside, games, options.load, options.affinity)
        print(f"{kind or 'none':12} {hostile_row(tally)}", flush=True)
        aims.append(aim(games, tally.moves).replace("aim:", f"aim: beside {kind or 'none'}:"))
        gc.collect()
    print(*aims, sep="\n")


def play_watched(plan: Plan, games: int, options: argparse.Namespace) -> None:
    """Games without pages and with pages and their viewers, in turns."""
    for turn in range(options.turns):
        for viewers in (0, options.viewers)[:: -1 if turn % 2 else 1]:
            tally = trio.run(play_all, plan, games, options.load, options.affinity, viewers)
            print(f"{row(games, tally)}   {viewers} viewers", flush=True)
            gc.collect()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, nargs="+", help="games at a time (default: 1 8 64; with --hostile: 8)")
    parser.add_argument("--sleep", type=float, default=5, help="milliseconds that a bot sleeps a move (default: 5)")
    parser.add_argument("--seconds", type=float, default=10, help="how long each number is played (default: 10)")
    parser.add_argument("--ruleset", default="duel", help="what is played, at random (default: duel)")
    parser.add_argument("--load", action="store_true", help="add a program that spins for each CPU")
    parser.add_argument("--affinity", action="store_true", help="pin each worker and its bots to a CPU")
    parser.add_argument(
        "--hostile",
        nargs="*",
        choices=KINDS,
        metavar="KIND",
        help=f"play beside bad neighbours: {'; '.join(f'{kind}: {words}' for kind, words in KINDS.items())}",
    )
    parser.add_argument("--viewers", type=int, metavar="N", help="play without pages and with so many viewers of them")
    parser.add_argument("--turns", type=int, default=3, help="with --viewers: how often both are played (default: 3)")
    options = parser.parse_args()
    if options.seconds <= WARM_UP:
        parser.error(f"--seconds: expected more than {WARM_UP:g}, the seconds before moves count")
    ruleset = replace(load_ruleset(options.ruleset), max_quiet_plies=None)
    print(f"bots that sleep {options.sleep:g} ms a move, {options.ruleset}, {len(os.sched_getaffinity(0))} CPUs")
    with tempfile.TemporaryDirectory() as folder:
        bot = compile_bot(Path(folder))
        plan = Plan(bot, ruleset, round(options.sleep * 1000), options.seconds, Path(folder))
        if options.hostile is not None:
            for games in options.games or [8]:
                play_beside(plan, games, options.hostile or list(KINDS), options)
            return
        print(HEAD)
        print(TITLE)
        if options.viewers is not None:
            for games in options.games or [64]:
                play_watched(plan, games, options)
            return
        aims = []
        for games in options.games or [1, 8, 64]:
            tally = trio.run(play_all, plan, games, options.load, options.affinity)
            print(row(games, tally), flush=True)
            aims.append(aim(games, tally.moves))
            gc.collect()
        print(*aims, sep="\n")


if __name__ == "__main__":
    main()
