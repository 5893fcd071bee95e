"""`arena report`: write the pages of a store to a folder.

The pages are written to a new folder next to it, which then takes its place: a reader sees the old site or the new one.
Only an empty folder or an earlier site is replaced. A process for each CPU makes the pages of many games: it reads a
`Job` from standard input and answers with `GamesWritten`.
"""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord
from arena.league.league_options import usable_cpus
from arena.league.store import Store
from arena.report.game_list import ShownNames
from arena.report.site.charts import histogram
from arena.report.site.game_page import GameTexts
from arena.report.site.page_frame import FOLDER
from arena.report.site.site_contents import PlayedGames, SiteContents, SitePlan, read_site
from arena.system.printable import printable
from arena.system.user_files import draft_folder, remove_drafts
from arena.version import __version__
from protocol.seats import Color

MARK = "arena-site.json"
"""The file that marks a folder as a site."""
PAGES = re.compile(
    rf"{re.escape(MARK)}|(index|crosstable|rounds|rules|games(-\d+)?)\.html|games\.js|static/arena\.(css|js)"
    r"|bots/\d+\.html|games/\d+\.(html|js)"
)
"""The files of a site: a folder with other files is not replaced."""


def refuse_other_folder(out: Path) -> None:
    """Raise `UsageError` for a path that is not a site, or in a missing folder."""
    try:
        _refuse_other_folder(out)
    except OSError as error:  # a name that is too long, a folder that may not be searched
        raise UsageError(f"{out}: the pages cannot be written: {error.strerror or error}") from error


def _refuse_other_folder(out: Path) -> None:
    if not out.parent.is_dir():
        raise UsageError(f"{out}: there is no folder {out.parent}")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out}: expected a folder or a new path; it is something else")
    if not out.is_dir():
        return
    if out.samefile("."):
        raise UsageError(f"{out}: expected another folder than the current one: the site replaces the whole folder")
    if any(out.iterdir()) and not (out / MARK).is_file():
        raise UsageError(f"{out}: expected an empty folder, or one with a site in it ({MARK}): nothing is overwritten")
    for folder, _, names in os.walk(out):
        for name in names:
            inside = (Path(folder) / name).relative_to(out).as_posix()
            if not PAGES.fullmatch(inside):
                raise UsageError(f"{out}: expected only a site, as it is replaced whole; {inside} is no page")


@contextmanager
def new_folder_for(out: Path) -> Iterator[Path]:
    """Yield a new folder next to `out` that takes its place if the body succeeds."""
    remove_drafts(out.parent)
    try:
        with draft_folder(out.parent) as folder:
            yield folder
            folder.chmod(0o777 & ~_umask())
            if out.exists():
                refuse_other_folder(out)  # it may have changed meanwhile
                old = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
                out.rename(old / "old")
                folder.rename(out)
                shutil.rmtree(old)
            else:
                folder.rename(out)
    except OSError as error:
        raise ArenaError(f"{out}: the pages cannot be written: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    """Return the system's error text; `shutil` raises a list of all failures with paths."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        words = str(error.args[0][0][-1])
        number = re.match(r"\[Errno (\d{1,4})\] ", words)
        return os.strerror(int(number[1])) if number else words
    return error.strerror or str(error)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Written(msgspec.Struct, frozen=True):
    """The first page, games in the list, games with pages, bytes; and by game why it has no page."""

    index: str
    games: int
    pages: int
    size: int
    faults: dict[int, str]


def write_site(store: Store, out: Path, plan: SitePlan) -> tuple[Written, SiteContents]:
    """Write the site of a store to a folder; return the counts and the contents.

    Raises `UsageError` for a folder that is not a site, and as `read_site` does.
    """
    refuse_other_folder(out)
    contents = read_site(store, plan)
    with new_folder_for(out) as folder:
        shutil.copytree(FOLDER / "static", folder / "static")
        for name in ("bots", "games"):
            (folder / name).mkdir()
        done = write_games(Job(str(store.path), str(folder), contents.numbers, contents.game_texts))
        played = PlayedGames(done.times, done.faults)
        for name in contents.names():
            text = contents.text(name, played)
            assert text is not None
            _write(folder / name, text)
        _write(folder / MARK, json.dumps({"made_by": f"arena {__version__}", "for": contents.reader.text}) + "\n")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    pages = len(contents.numbers) - len(done.faults)
    return Written(printable(str(out / "index.html")), contents.table.games, pages, size, done.faults), contents


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


WORTH_A_PROCESS = 30
"""Games for which another process is worth its start."""
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = sys.argv[1:]; "
    "from arena.report.site.write_site import main; main()"
)
"""The program of a process that writes games; Ctrl-C is handled by its parent."""


class Job(msgspec.Struct, frozen=True):
    store: str
    folder: str
    numbers: tuple[int, ...]
    texts: GameTexts


class GamesWritten(msgspec.Struct):
    """The result of a `Job`: times of moves by bot as of `histogram`, by game why it has no page, and the error that
    ended it.
    """

    times: dict[str, dict[int, int]] = msgspec.field(default_factory=dict)
    faults: dict[int, str] = msgspec.field(default_factory=dict)
    errno: int = 0
    failure: str = ""

    def count(self, name: str, counts: dict[int, int]) -> None:
        self.times[name] = dict(Counter(self.times.get(name, {})) + Counter(counts))


def write_games(job: Job) -> GamesWritten:
    """Write the pages of games with all CPUs. Raises `OSError` if files cannot be written, else `ArenaError`."""
    count = min(usable_cpus(), len(job.numbers) // WORTH_A_PROCESS)
    if count < 2:
        return _write_here(job)
    processes = [_start(msgspec.structs.replace(job, numbers=job.numbers[place::count])) for place in range(count)]
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
            for name, counts in share.times.items():
                done.count(name, counts)
            done.faults |= share.faults
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
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    try:
        done = _write_here(job)
    except OSError as error:
        done = GamesWritten(errno=error.errno or errno.EIO)
    except ArenaError as error:
        done = GamesWritten(failure=str(error))
    sys.stdout.buffer.write(msgspec.json.encode(done))


def _write_here(job: Job) -> GamesWritten:
    folder, done = Path(job.folder) / "games", GamesWritten()
    with Store(Path(job.store), create=False) as store:
        for number in job.numbers:
            stored = store.stored(number)
            try:
                text = job.texts.of(stored)
            except ArenaError as error:
                done.faults[number] = str(error)
                continue
            _write(folder / f"{number}.html", text.page)
            _write(folder / f"{number}.js", text.script)
            if stored.record is not None:
                _count_times(done, stored.record, job.texts.called)
    return done


def _count_times(done: GamesWritten, record: GameRecord, shown: ShownNames) -> None:
    for color in Color:
        if (name := shown.get(record.players[color])) is not None:
            done.count(name, histogram(record.of_side(color, record.times_us)))
