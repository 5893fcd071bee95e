"""Copies of a whole competition while it runs, their restoration, and the check of its versions.

The database is copied before the stores. So a copy may have games that its database has not counted yet, which are
counted when it is played on, but never the reverse.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from arena.errors import ArenaError, UsageError
from arena.host.cup_database import FILE, VERSION, CupDatabase
from arena.host.cup_settings import KEY, SETTINGS, load_cup
from arena.host.seasons import challenge_store, final_store, ladder_store, seasons
from arena.host.submissions import bot_folder, received_file
from arena.league.store import Store
from arena.system.printable import counted, printable

PARTIAL = ".partial"


def backup(folder: Path, to: Path) -> str:
    """Copy a competition, which may be running, to a new folder; return what was copied in words."""
    load_cup(folder)
    draft = _new_draft(to)
    with closing(CupDatabase(folder / FILE)) as database:
        database.copy_to(draft / FILE)
    with closing(CupDatabase(draft / FILE)) as copied:
        numbers = [season.number for season in seasons(copied)]
        submissions = copied.value("select coalesce(max(id), 0) from submission")
    stores = _stores(folder, numbers)
    for path in stores:
        _copy_store(path, draft / path.name)
    for name in (SETTINGS, KEY):
        shutil.copy2(folder / name, draft / name)
    bots = 0
    for number in range(1, submissions + 1):
        bots += _copy(bot_folder(folder, number), bot_folder(draft, number))
        _copy(received_file(folder, number), received_file(draft, number))
    draft.rename(to)
    return f"{counted(len(stores), 'store')} and {counted(bots, 'bot')}"


def restore(source: Path, folder: Path) -> str:
    """Copy a backup to a new folder, after a check that this version can read it. Returns what it has in words."""
    words = upgrade(source)
    draft = _new_draft(folder)
    shutil.copytree(source, draft, symlinks=True, dirs_exist_ok=True)
    draft.rename(folder)
    return words


def upgrade(folder: Path) -> str:
    """Check that this version can read all of a competition. Raises `ArenaError` with what it cannot read."""
    cup = load_cup(folder)
    with closing(CupDatabase(folder / FILE)) as database:
        numbers = [season.number for season in seasons(database)]
    stores, games = _stores(folder, numbers), 0
    for path in stores:
        with Store(path, create=False) as store:
            store.read_document()
            games += len(store.numbers())
    return f"{printable(cup.title)}: version {VERSION}, {counted(len(stores), 'store')}, {counted(games, 'game')}"


def _stores(folder: Path, numbers: list[int]) -> list[Path]:
    paths = (store(folder, number) for number in numbers for store in (ladder_store, final_store, challenge_store))
    return [path for path in paths if path.is_file() and path.stat().st_size]


def _new_draft(to: Path) -> Path:
    """Make the folder in which a copy is made before it gets its name. Raises `UsageError` if the name is taken."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UsageError(f"{printable(str(to))}: expected a new or an empty folder")
    draft = to.with_name(to.name + PARTIAL)
    try:
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
    except OSError as error:
        raise ArenaError(f"{printable(str(draft))}: cannot be made: {error.strerror}") from None
    return draft


def _copy_store(path: Path, to: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(to)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as error:
        raise ArenaError(f"{printable(str(path))}: cannot be copied: {error}") from None


def _copy(path: Path, to: Path) -> bool:
    """Copy a file or folder, if it is there. What vanishes meanwhile is left out, as its submission is gone."""
    to.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        if path.is_dir():
            shutil.copytree(path, to, symlinks=True)
        else:
            shutil.copy2(path, to)
    except FileNotFoundError:
        return False
    except shutil.Error as error:
        gone = all("No such file" in str(problem) for _, _, problem in error.args[0])
        if not gone:
            raise ArenaError(f"{printable(str(path))}: cannot be copied: {printable(str(error), 200)}") from None
    except OSError as error:
        raise ArenaError(f"{printable(str(path))}: cannot be copied: {error.strerror}") from None
    return True
