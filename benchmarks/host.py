"""What a competition of `arena host` takes while many people look at it, and what its games lose by that.

    python benchmarks/host.py [--teams 200] [--submissions 1000] [--viewers 500] [--jobs 2] [--seconds 60]

Makes a competition in duels, without sandbox: each team has a bot in the ladder, and older versions that were replaced.
First the ladder plays alone. Then viewers come, each from an address of its own: half of them follow event streams, and
each of the others loads a page, waits some seconds, and loads the next. A page load is timed from its connection to its
last byte. Memory is that of the server's process, when all viewers have come and when they leave. In the end
`arena league` plays a ladder between the same bots. Each of the three is counted for so many seconds after a game.

The viewers take processor time on the same machine, which the games then do not have; it is printed. At the end stands
each aim, and whether it is met.
"""

import argparse
import itertools
import math
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psutil
import trio

from arena.host.accounts import MACHINE, invite, join, team_of
from arena.host.cup_database import FILE, CupDatabase
from arena.host.cup_settings import SETTINGS, load_cup, write_cup
from arena.host.seasons import SeasonLeague, open_season, store_file
from arena.host.submissions import bot_folder
from arena.league.store import Store

BOTS = Path(__file__).parent.parent / "bots"
NAMES = ("drifter", "raider", "forager")
"""Quick bots: a game is mostly the start of its processes, and a store grows fast."""
RULES, TIME = "duel", "5s"
STREAMS = ("/events", "/season-1/events", "/now/events")
PAGES = (
    *("/", "/bots", "/seasons", "/rules", "/submit", "/now.html", "/feed.atom", "/api/ladder", "/health"),
    *("/season-1/index.html", "/season-1/games.html", "/season-1/games/1.html"),
)
PAUSE = 10.0
"""Seconds between two pages of a viewer, on average."""
PATIENCE, WARM = 300.0, 10.0
MOST_MS, MOST_GROWTH, LEAST_GAMES = 100.0, 1.1, 0.9
"""The aims: milliseconds of a page load at p99, memory at the end beside the start, and games beside `arena league`."""
PROGRAM = "import sys; sys.path[:] = sys.argv.pop(1).split(':'); from arena.cli.main import main; main()"
ARENA = (sys.executable, "-c", PROGRAM, ":".join(sys.path))
Where = tuple[str, int]


def make_competition(folder: Path, options: argparse.Namespace) -> list[Path]:
    """Make a competition with its rows and files; return the folders of the bots in the ladder."""
    write_cup(
        folder, title="Cup", address="http://127.0.0.1:8000", rules=RULES, time=TIME, sandbox="auto", jobs=options.jobs
    )
    settings = folder / SETTINGS
    text = settings.read_text().replace('sandbox = "auto"', 'sandbox = "basic"')
    text = text.replace("\n[registration]", '\ntrusted = true\nproxies = ["127.0.0.1"]\n\n[registration]', 1)
    settings.write_text(text)
    cup = load_cup(folder)
    with closing(CupDatabase(folder / FILE, create=True)) as database:
        open_season(database, cup)
        members = []
        for number in range(options.teams):
            account = join(database, cup, invite(database, MACHINE), f"member-{number}", f"Team {number}")
            team = team_of(database, account.id)
            assert team is not None
            members.append((account, team))
        now, ladder = time.time(), []
        with database.change():
            for sent in range(options.submissions):
                account, team = members[sent % options.teams]
                is_last = sent + options.teams >= options.submissions
                name = f"{NAMES[sent % len(NAMES)]}-{sent % options.teams}"
                row = {"bytes": 2000, "sent_as": f"{name}.py", "received": now, "changed": now}
                state = "probation" if is_last else "replaced"
                id = database.insert("submission", team=team.id, account=account.id, bot=name, state=state, **row)
                at = bot_folder(folder, id)
                at.mkdir(parents=True)
                program = (BOTS / f"{NAMES[sent % len(NAMES)]}.py").read_text()
                (at / f"{name}.py").write_text(f"{program}\n# version {sent}\n")
                (at / f"{name}.py").chmod(0o755)
                if is_last:
                    ladder.append(at / f"{name}.py")
    return ladder


@contextmanager
def arena_process(*words: str) -> "Iterator[subprocess.Popen[str]]":
    """Run a command of this arena until the body ends, which must have read what it prints."""
    with subprocess.Popen([*ARENA, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


def games_in(store: Path) -> int:
    """Return the number of games in a store that is played; 0 before there is one."""
    if not store.is_file() or not store.stat().st_size:
        return 0
    with Store(store, create=False) as opened:
        return len(opened.numbers())


async def until(is_so: Callable[[], object], what: str) -> None:
    with trio.move_on_after(PATIENCE) as scope:
        while not is_so():  # noqa: ASYNC110  (another process brings it about)
            await trio.sleep(0.2)
    if scope.cancelled_caught:
        sys.exit(f"{what}: not after {PATIENCE:.0f} seconds")


async def games_a_second(store: Path, seconds: float) -> float:
    """Count the games that a store gets within some seconds, from its first one."""
    await until(lambda: games_in(store), "a first game")
    before, begun = games_in(store), time.monotonic()
    await trio.sleep(seconds)
    return (games_in(store) - before) / (time.monotonic() - begun)


# --- viewers ----------------------------------------------------------------------------------------------------------


def request(path: str, viewer: int) -> bytes:
    """A request of a viewer, whom the server knows by an address of its own."""
    address = f"10.0.{viewer // 250}.{viewer % 250 + 1}"
    lines = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"X-Forwarded-For: {address}", "Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def answer(stream: trio.abc.Stream) -> bytes:
    return b"".join([data async for data in stream])


class Viewers:
    """So many viewers, and what they have got. Loads count while `is_counting`."""

    def __init__(self, where: Where, count: int) -> None:
        self.where, self.count = where, count
        self.is_counting = False
        self.seconds: dict[str, list[float]] = {}
        self.there = self.events = self.failed = 0

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            for number in range(self.count):
                nursery.start_soon(self._follow if number % 2 else self._load, number)

    async def _follow(self, number: int) -> None:
        path = STREAMS[number // 2 % len(STREAMS)]
        while True:
            try:
                async with await trio.open_tcp_stream(*self.where) as stream:
                    await stream.send_all(request(path, number))
                    first = await stream.receive_some()
                    self.failed += not first.startswith(b"HTTP/1.1 200")
                    self.there += 1
                    async for data in stream:
                        self.events += data.count(b"event: ")
                    self.there -= 1
            except (OSError, trio.BrokenResourceError):
                self.failed += 1
            await trio.sleep(1)

    async def _load(self, number: int) -> None:
        chance = random.Random(number)
        while True:
            await trio.sleep(chance.uniform(0, 2 * PAUSE))
            path, begun = chance.choice(PAGES), time.perf_counter()
            try:
                async with await trio.open_tcp_stream(*self.where) as stream:
                    await stream.send_all(request(path, number))
                    is_good = (await answer(stream)).startswith(b"HTTP/1.1 200")
            except (OSError, trio.BrokenResourceError):
                is_good = False
            self.failed += not is_good
            if self.is_counting and is_good:
                self.seconds.setdefault(path, []).append(time.perf_counter() - begun)


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else math.nan


# --- the measurement --------------------------------------------------------------------------------------------------


async def measure_host(
    folder: Path, where: Where, server: psutil.Process, options: argparse.Namespace
) -> tuple[float, float, float, float]:
    """Print what was measured; return games a second alone and with viewers, p99 in ms and the growth of memory."""
    store, own = store_file(SeasonLeague.LADDER, folder, 1), psutil.Process()
    alone = await games_a_second(store, options.seconds)
    print(f"host alone: {alone:.2f} games a second, {server.memory_info().rss / 1e6:.1f} MB")
    viewers = Viewers(where, options.viewers)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(viewers.run)
        await until(lambda: viewers.there == options.viewers // 2, "all event streams")
        await trio.sleep(min(WARM, options.seconds))
        memory, used = server.memory_info().rss, sum(own.cpu_times()[:2])
        viewers.is_counting = True
        watched = await games_a_second(store, options.seconds)
        viewers.is_counting = False
        memory, grown = server.memory_info().rss, server.memory_info().rss / memory
        used = sum(own.cpu_times()[:2]) - used
        there = viewers.there
        nursery.cancel_scope.cancel()
    for path, seconds in sorted(viewers.seconds.items()):
        print(
            f"  {path:24} {len(seconds):5} loads: p50 {1000 * statistics.median(seconds):7.1f} ms, "
            f"p99 {1000 * quantile(seconds, 0.99):7.1f} ms"
        )
    loads = list(itertools.chain(*viewers.seconds.values()))
    p50, p99 = 1000 * quantile(loads, 0.5), 1000 * quantile(loads, 0.99)
    print(f"{len(loads)} page loads, {viewers.failed} failed: p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    print(f"{there} event streams: {viewers.events} events")
    print(f"memory with viewers: {memory / grown / 1e6:.1f} MB at their start, {memory / 1e6:.1f} MB at their end")
    print(f"host with viewers: {watched:.2f} games a second; the viewers took {used / options.seconds:.2f} processors")
    return alone, watched, p99, grown


def measure(options: argparse.Namespace, at: Path) -> None:
    cup = at / "cup"
    bots = make_competition(cup, options)
    print(f"{options.teams} teams, {options.submissions} submissions, {len(bots)} bots in the ladder")
    with arena_process("host", "run", str(cup), "--listen", "127.0.0.1:0") as process:
        assert process.stdout is not None
        found = re.match(r"http://(.*):(\d+)/", process.stdout.readline())
        assert found is not None
        server = psutil.Process(process.pid)
        alone, watched, p99, grown = trio.run(measure_host, cup, (found[1], int(found[2])), server, options)
    store = at / "league.sqlite"
    rules = ("--rules", RULES, "--time", TIME, "--sandbox", "basic", "-j", str(options.jobs))
    ladder = ("--format", "ladder", "--games", "1000000")
    with arena_process("league", "--no-config", *map(str, bots), *ladder, *rules, "--store", str(store)):
        league = trio.run(partial(games_a_second, store, options.seconds))
    print(f"arena league: {league:.2f} games a second")
    share, watched_share = (rate / league if league else math.nan for rate in (alone, watched))  # none in a short time
    for what, value, is_met in (
        (f"ms of a page load at p99: at most {MOST_MS:g}", p99, p99 <= MOST_MS),
        (f"memory at the end beside the start: at most {MOST_GROWTH:g} times", grown, grown <= MOST_GROWTH),
        (f"games beside arena league: at least {LEAST_GAMES:g}", share, share >= LEAST_GAMES),
        (f"with viewers: at least {LEAST_GAMES:g}", watched_share, watched_share >= LEAST_GAMES),
    ):
        print(f"aim: {what}, found {value:.2f}: {'met' if is_met else 'NOT met'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--teams", type=int, default=200, help="teams, each with a bot in the ladder (default: 200)")
    parser.add_argument(
        "--submissions", type=int, default=1000, help="versions of their bots, at least one a team (default: 1000)"
    )
    parser.add_argument("--viewers", type=int, default=500, help="viewers, half of them of events (default: 500)")
    parser.add_argument("--jobs", type=int, default=2, help="games at a time (default: 2)")
    parser.add_argument("--seconds", type=float, default=60, help="seconds of each measurement (default: 60)")
    options = parser.parse_args()
    if options.teams < 2:
        parser.error(f"--teams: expected at least 2, which play each other, got {options.teams}")
    options.submissions = max(options.submissions, options.teams)
    with tempfile.TemporaryDirectory() as folder:
        measure(options, Path(folder))


if __name__ == "__main__":
    main()
