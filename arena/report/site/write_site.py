"""`arena report`: write the pages of a store to a new folder, which then takes the place of the old one."""

import json
import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path

import msgspec

from arena.errors import ArenaError, UsageError
from arena.league.league_options import usable_cpus
from arena.league.store import Store
from arena.report.site.charts import histogram
from arena.report.site.game_page import GameLinks, GamePages
from arena.report.site.page_frame import FOLDER
from arena.report.site.pages import PlayedGames, SiteContents
from arena.report.site.site_contents import SitePlan, read_site
from arena.system.printable import printable
from arena.system.user_files import draft_folder, remove_drafts
from arena.version import __version__
from protocol.seats import Color

MARK = "arena-site.json"
PAGES = re.compile(
    rf"{re.escape(MARK)}|(index|crosstable|rounds|rules|embed|games(-\d+)?)\.html|games\.js|static/[a-z-]+\.(css|js|svg)"
    r"|bots/\d+\.html|games/\d+\.(html|js|json)"
)
"""The files of a site: a folder with other files is not replaced."""


def refuse_other_folder(out: Path) -> None:
    try:
        if not out.parent.is_dir():
            raise UsageError(f"{out}: there is no folder {out.parent}")
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise UsageError(f"{out}: expected a folder or a new path; it is something else")
        if not out.is_dir():
            return
        if out.samefile("."):
            raise UsageError(f"{out}: expected another folder than the current one: the site replaces the whole folder")
        if any(out.iterdir()) and not (out / MARK).is_file():
            raise UsageError(
                f"{out}: expected an empty folder, or one with a site in it ({MARK}): nothing is overwritten"
            )
        for path in out.rglob("*"):
            if not path.is_dir() and not PAGES.fullmatch(path.relative_to(out).as_posix()):
                raise UsageError(
                    f"{out}: expected only a site, as it is replaced whole; {path.relative_to(out)} is no page"
                )
    except OSError as error:  # a name that is too long, a folder that may not be searched
        raise UsageError(f"{out}: the pages cannot be written: {error.strerror or error}") from error


@contextmanager
def new_folder_for(out: Path) -> Iterator[Path]:
    """Yield a new folder next to `out` that takes its place if the body succeeds."""
    remove_drafts(out.parent)
    try:
        with draft_folder(out.parent) as folder:
            yield folder
            mask = os.umask(0)
            os.umask(mask)
            folder.chmod(0o777 & ~mask)
            if out.exists():
                refuse_other_folder(out)  # it may have changed meanwhile
                old = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
                out.rename(old / "old")
                folder.rename(out)
                shutil.rmtree(old)
            else:
                folder.rename(out)
    except OSError as error:
        raise ArenaError(f"{out}: the pages cannot be written: {error.strerror or error}") from error


class Written(msgspec.Struct, frozen=True):
    """The first page, games in the list, games with pages, bytes; and by game why it has no page."""

    index: str
    games: int
    pages: int
    size: int
    faults: dict[int, str]


def write_site(store: Store, out: Path, plan: SitePlan) -> tuple[Written, SiteContents]:
    """Write the site of a store to a folder; return the counts and the contents. Raises as `read_site` does."""
    refuse_other_folder(out)
    contents = read_site(store, plan)
    with new_folder_for(out) as folder:
        for name in ("bots", "games", "static"):
            (folder / name).mkdir()
        for path in (FOLDER / "static").iterdir():
            shutil.copyfile(path, folder / "static" / path.name)
        played = _write_games(store.path, folder / "games", contents)
        for name in contents.names():
            text = contents.text(name, played)
            assert text is not None
            _write(folder / name, text)
        mark = {"made_by": f"arena {__version__}", "for": contents.game_pages.reader.text}
        _write(folder / MARK, json.dumps(mark) + "\n")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    pages = len(contents.numbers) - len(played.faults)
    return Written(printable(str(out / "index.html")), contents.table.games, pages, size, played.faults), contents


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


WORTH_A_PROCESS = 30
"""Games for which another process is worth its start."""
COMEBACK = 3
"""A game is listed as a comeback if its winner was once behind by at least so many pieces."""
SHARE = 100
"""The most games that a process writes for one order, so that Ctrl-C has not long to wait."""


def _write_games(store: Path, folder: Path, contents: SiteContents) -> PlayedGames:
    pages, games = contents.game_pages, [(number, contents.links[number]) for number in contents.numbers]
    count = min(usable_cpus(), len(games) // WORTH_A_PROCESS)
    if count < 2:
        return _write_share(store, folder, pages, games)
    played = PlayedGames()
    size = min(SHARE, -(-len(games) // count))
    shares = [games[start : start + size] for start in range(0, len(games), size)]
    pool = ProcessPoolExecutor(count, get_context("spawn"), _begin)
    try:
        for share in pool.map(partial(_write_share, store, folder, pages), shares):
            played.faults |= share.faults
            played.behind |= share.behind
            for name, times in share.times.items():
                played.times[name] += times
    except BrokenExecutor as error:
        raise ArenaError("a process that writes pages has ended") from error
    finally:
        pool.shutdown(cancel_futures=True)
    return played


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _write_share(store: Path, folder: Path, pages: GamePages, games: Sequence[tuple[int, GameLinks]]) -> PlayedGames:
    played = PlayedGames()
    with Store(store, create=False) as opened:
        for number, links in games:
            stored = opened.stored(number)
            try:
                text = pages.of(stored, links)
            except ArenaError as error:
                played.faults[number] = str(error)
                continue
            _write(folder / f"{number}.html", text.page)
            _write(folder / f"{number}.js", text.script)
            _write(folder / f"{number}.json", text.record)
            if text.behind >= COMEBACK:
                played.behind[number] = text.behind
            record = stored.record
            for color in Color if record else ():
                if record and (name := pages.called.get(record.players[color])) is not None:
                    played.times[name] += histogram(record.of_side(color, record.times_us))
    return played
