"""Write a site to a folder: `arena report`.

The pages are written to a folder beside it first, which takes its place at the end: a reader sees the old site or the
new one. Only an empty folder, or one that a site was written to before, is ever replaced.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from arena.errors import ArenaError, UsageError
from arena.league.store import Store
from arena.report.site.game_files import Job, write_games
from arena.report.site.page_frame import FOLDER
from arena.report.site.site_contents import PlayedGames, SiteContents, SitePlan, read_site
from arena.system.printable import printable
from arena.system.user_files import draft_folder, remove_drafts
from arena.version import __version__

MARK = "arena-site.json"
"""A file that says that a folder holds a site, and nothing else: it may be replaced."""
PAGES = re.compile(
    rf"{re.escape(MARK)}|(index|crosstable|rounds|rules|games(-\d+)?)\.html|(games|words)\.js|static/arena\.(css|js)"
    r"|bots/\d+\.html|games/\d+\.(html|js)"
)
"""What a site consists of: a folder with anything else in it is not replaced."""


def refuse_other_folder(out: Path) -> None:
    """Raises `UsageError` for a path with something that is no site and no empty folder, or more than a site, and for
    one in a folder that is not there, or that the system cannot look at."""
    try:
        _refuse_other_folder(out)
    except OSError as error:  # a name that is too long, a folder that may not be searched
        raise UsageError(f"{out}: the pages cannot be written: {error.strerror or error}") from error


def _refuse_other_folder(out: Path) -> None:
    if not out.parent.is_dir():
        raise UsageError(f"{out}: expected a folder to make it in; there is no folder {out.parent}")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out}: expected a folder, or nothing yet, and it is something else")
    if not out.is_dir():
        return
    if out.samefile("."):
        raise UsageError(f"{out}: expected another folder than the current one, which is replaced as a whole")
    if any(out.iterdir()) and not (out / MARK).is_file():
        raise UsageError(f"{out}: expected an empty folder, or one with a site in it ({MARK}): nothing is overwritten")
    for folder, _, names in os.walk(out):
        for name in names:
            inside = (Path(folder) / name).relative_to(out).as_posix()
            if not PAGES.fullmatch(inside):
                raise UsageError(
                    f"{out}: expected a site and nothing else, as it is replaced whole: {inside} is no page"
                )


@contextmanager
def new_folder_for(out: Path) -> Iterator[Path]:
    """A new folder beside `out`, which takes its place at the end, if nothing has gone wrong."""
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
    """What the system says of it. `shutil` has a list of all that failed, with paths that are nobody's business."""
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
    """What was written: the first page, games in the list, games with pages, bytes; and of which games there is no
    page, and why."""

    index: str
    games: int
    pages: int
    size: int
    faults: dict[int, str]


def write_site(store: Store, out: Path, plan: SitePlan) -> tuple[Written, SiteContents]:
    """Write the site of a store to a folder; returns what was written, and what it was made from.

    Raises `UsageError` for a folder that holds something else, and as `read_site` does."""
    refuse_other_folder(out)
    contents = read_site(store, plan)
    with new_folder_for(out) as folder:
        shutil.copytree(FOLDER / "static", folder / "static")
        for name in ("bots", "games"):
            (folder / name).mkdir()
        done = write_games(Job(str(store.path), str(folder), contents.numbers, contents.game_texts))
        _write_league(contents, folder, PlayedGames(done.times, done.faults))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    pages = len(contents.numbers) - len(done.faults)
    return Written(printable(str(out / "index.html")), contents.table.games, pages, size, done.faults), contents


def _write_league(contents: SiteContents, folder: Path, played: PlayedGames) -> None:
    for name in contents.names():
        text = contents.text(name, played)
        assert text is not None
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    mark = {"made_by": f"arena {__version__}", "for": contents.reader.text}
    (folder / MARK).write_text(json.dumps(mark) + "\n", encoding="utf-8", newline="\n")
