"""The pages and scripts of games, written to the folder of a site: by this process, or by several.

To play a game again and put it on a page takes some milliseconds, and no game needs another. So many games are shared
out over processes, one a CPU, which read the store themselves. Such a process is told everything in one message at its
standard input, and answers with one.
"""

import errno
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec

from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.league.league_options import usable_cpus
from arena.league.store import Store
from arena.report.roster import ShownNames
from arena.report.site.charts import histogram
from arena.report.site.game_page import GameTexts
from protocol.notation import Color

WORTH_A_PROCESS = 30
"""Games from which on another process is worth its start."""
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = sys.argv[1:]; "
    "from arena.report.site.game_files import main; main()"
)
"""Ctrl-C is for the process that has started these: it ends them."""


class Job(msgspec.Struct, frozen=True):
    """The games of `numbers` of a store, for the site in `folder`."""

    store: str
    folder: str
    numbers: tuple[int, ...]
    texts: GameTexts


class GamesWritten(msgspec.Struct):
    """What came of it: `times` counts each bot's moves as `charts.histogram` does; of each game of `faults` it is said
    why it has no page. `errno` is the error of the system that ended it early, `failure` any other one."""

    times: dict[str, dict[int, int]] = msgspec.field(default_factory=dict)
    faults: dict[int, str] = msgspec.field(default_factory=dict)
    errno: int = 0
    failure: str = ""

    def add(self, other: "GamesWritten") -> None:
        for name, counts in other.times.items():
            self.times[name] = dict(Counter(self.times.get(name, {})) + Counter(counts))
        self.faults |= other.faults


def write_games(job: Job) -> GamesWritten:
    """Write them, by as many processes as there are CPUs. Raises `OSError` where files cannot be written, and
    `ArenaError` if anything else fails."""
    count = min(usable_cpus(), len(job.numbers) // WORTH_A_PROCESS)
    if count < 2:
        with Store(Path(job.store), create=False) as store:
            return write_here(store, job)
    shares = [job.numbers[place::count] for place in range(count)]
    processes = [_start(msgspec.structs.replace(job, numbers=share)) for share in shares]
    done = GamesWritten()
    try:
        for process in processes:
            said, _ = process.communicate()
            if process.returncode:
                raise ArenaError(f"a process that writes pages ended with exit code {process.returncode}")
            share = msgspec.json.decode(said, type=GamesWritten)
            if share.errno:
                raise OSError(share.errno, os.strerror(share.errno))
            if share.failure:
                raise ArenaError(share.failure)
            done.add(share)
    finally:
        for process in processes:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
    return done


def _start(job: Job) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(job))
    process.stdin.close()
    process.stdin = None
    return process


def main() -> None:
    """What such a process does."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    try:
        with Store(Path(job.store), create=False) as store:
            done = write_here(store, job)
    except OSError as error:
        done = GamesWritten(errno=error.errno or errno.EIO)
    except ArenaError as error:
        done = GamesWritten(failure=str(error))
    sys.stdout.buffer.write(msgspec.json.encode(done))


def write_here(store: Store, job: Job) -> GamesWritten:
    """Write the games in this process."""
    folder, done = Path(job.folder) / "games", GamesWritten()
    for number in job.numbers:
        stored = store.stored(number)
        try:
            text = job.texts.of(stored)
        except ArenaError as error:
            done.faults[number] = str(error)
            continue
        (folder / f"{number}.html").write_text(text.page, encoding="utf-8", newline="\n")
        (folder / f"{number}.js").write_text(text.script, encoding="utf-8", newline="\n")
        if stored.record is not None:
            _count_times(done, stored.record, job.texts.called)
    return done


def _count_times(done: GamesWritten, record: GameRecord, shown: ShownNames) -> None:
    blue_starts = dict(record.rules).get("starts") == Color.BLUE.word
    for color in Color:
        name = shown.get(record.players[color])
        if name is not None:
            counted = Counter(done.times.get(name, {})) + Counter(histogram(record.times_us[color ^ blue_starts :: 2]))
            done.times[name] = dict(counted)
