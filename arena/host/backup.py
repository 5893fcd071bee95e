"""Copies of a whole competition while it runs, their restoration, and the check of its versions.

The database is copied before the stores. So a copy may have games that its database has not counted yet, which are
counted when it is played on, but never the reverse.
"""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from arena.errors import ArenaError, UsageError
from arena.host.cup_database import FILE, VERSION, CupDatabase
from arena.host.cup_settings import KEY, SETTINGS, load_cup
from arena.host.seasons import seasons, store_files
from arena.host.submissions import BOTS, RECEIVED
from arena.host.unpack import remove_tree
from arena.league.store import Store
from arena.system.printable import counted, printable

PARTIAL = ".partial"


def backup(folder: Path, to: Path) -> str:
    load_cup(folder)
    with _new_folder(to) as draft:
        _copy_sqlite(folder / FILE, draft / FILE)
        stores = _stores(draft / FILE, folder)
        for path in stores:
            _copy_sqlite(path, draft / path.name)
        for name in (SETTINGS, KEY):
            shutil.copy2(folder / name, draft / name)
        for name in (BOTS, RECEIVED):
            (folder / name).mkdir(mode=0o700, exist_ok=True)
            (draft / name).mkdir(mode=0o700)
            for path in (folder / name).iterdir():
                _copy_files(path, draft / name / path.name)
        bots = len(list((draft / BOTS).iterdir()))
    return f"{counted(len(stores), 'store')} and {counted(bots, 'bot')}"


def restore(source: Path, folder: Path) -> str:
    """Copy a backup to a new folder, after a check that this version can read it. Returns what it has in words."""
    words = upgrade(source)
    with _new_folder(folder) as draft:
        shutil.copytree(source, draft, symlinks=True, dirs_exist_ok=True)
    return words


def upgrade(folder: Path) -> str:
    """Check that this version can read all of a competition. Raises `ArenaError` with what it cannot read."""
    cup = load_cup(folder)
    stores, games = _stores(folder / FILE, folder), 0
    for path in stores:
        with Store(path, create=False) as store:
            store.read_document()
            games += len(store.numbers())
    return f"{printable(cup.title)}: version {VERSION}, {counted(len(stores), 'store')}, {counted(games, 'game')}"


def _stores(file: Path, folder: Path) -> list[Path]:
    with closing(CupDatabase(file)) as database:
        paths = [path for season in seasons(database) for path in store_files(folder, season.number)]
    return [path for path in paths if path.stat().st_size]


@contextmanager
def _new_folder(to: Path) -> Iterator[Path]:
    """Make a folder that gets its name when the body has filled it. Raises `UsageError` if the name is taken."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(f"{printable(str(to))}: expected a new or an empty folder")
    draft = to.with_name(to.name + PARTIAL)
    try:
        remove_tree(draft)
        draft.mkdir(mode=0o700)
        yield draft
        draft.rename(to)
    except (OSError, sqlite3.Error) as error:
        raise ArenaError(f"{printable(str(to))}: cannot be written: {printable(str(error), 200)}") from None


def _copy_sqlite(path: Path, to: Path) -> None:
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)


def _copy_files(path: Path, to: Path) -> None:
    """Copy the files of a submission. What is no file, or vanishes as a submission ends, is left out."""
    try:
        if path.is_dir():
            shutil.copytree(path, to, symlinks=True, copy_function=_copy_file)
        else:
            _copy_file(str(path), str(to))
    except FileNotFoundError:
        return
    except RecursionError:  # a build has made a thousand folders in each other
        remove_tree(to)
    except shutil.Error as error:
        if any("No such file" not in str(problem) for *_, problem in error.args[0]):
            raise


def _copy_file(path: str, to: str) -> None:
    if stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode):
        shutil.copy2(path, to)
