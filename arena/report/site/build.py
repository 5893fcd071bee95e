"""A site written to a folder: `arena report`."""

import json
import shutil
from pathlib import Path

import msgspec

from arena.league.store import Store
from arena.printable import printable
from arena.report.site.contents import Played, SiteContents, SitePlan, read_site
from arena.report.site.folder import MARK, new_folder_for, refuse_other_folder
from arena.report.site.frame import FOLDER
from arena.report.site.game_files import Job, write_games
from arena.version import __version__


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
        _write_league(contents, folder, Played(done.times, done.faults))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    pages = len(contents.numbers) - len(done.faults)
    return Written(printable(str(out / "index.html")), contents.table.games, pages, size, done.faults), contents


def _write_league(contents: SiteContents, folder: Path, played: Played) -> None:
    for name in contents.names():
        text = contents.text(name, played)
        assert text is not None
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    mark = {"made_by": f"arena {__version__}", "for": contents.reader.text}
    (folder / MARK).write_text(json.dumps(mark) + "\n", encoding="utf-8", newline="\n")
