"""The tables of a store, making them in a new file, and refusing a file that has others.

A table that another program defined can hold columns that are computed when they are read, of any size, and triggers
that run as games are stored. So the definitions in a file have to be these, word for word.
"""

import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

from arena.errors import UsageError, nearest
from arena.league.store.database import Database
from arena.league.store.faults import MADE_BY
from arena.league.store.game_row import digest_of
from arena.league.store.kept import Kept, encode_document
from arena.system.printable import printable
from arena.system.user_files import kind_of

APPLICATION_ID = 0x53747241  # "StrA", in the file's header
VERSION = 1

TABLES = (
    "CREATE TABLE settings (document BLOB NOT NULL, digest BLOB NOT NULL)",
    "CREATE TABLE players (number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL,"
    " UNIQUE (digest, name))",
    """CREATE TABLE games (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    red INTEGER NOT NULL, blue INTEGER NOT NULL,
    result TEXT NOT NULL, reason TEXT NOT NULL, plies INTEGER NOT NULL, detail TEXT NOT NULL,
    red_moves INTEGER NOT NULL, red_us INTEGER NOT NULL, red_slowest_us INTEGER NOT NULL,
    blue_moves INTEGER NOT NULL, blue_us INTEGER NOT NULL, blue_slowest_us INTEGER NOT NULL,
    seconds REAL NOT NULL, red_cpu_us INTEGER, blue_cpu_us INTEGER,
    pair_seed INTEGER NOT NULL, started REAL NOT NULL,
    record_digest BLOB NOT NULL, row_digest BLOB NOT NULL
)""",
    "CREATE INDEX games_of_red ON games (red)",
    "CREATE INDEX games_of_blue ON games (blue)",
    "CREATE TABLE records (number INTEGER PRIMARY KEY, record BLOB NOT NULL)",
)
"""A record is some twenty times as large as its row: with the records between them, all rows are read through them."""
NAMES_LOOKED_AT = 1000
BESIDE = ("-lock", "-wal", "-shm", "-journal")
"""Endings of files that stand next to a store and are none."""


def is_fresh(path: Path, create: bool) -> bool:
    """Return whether there is nothing at `path` yet. Raises `UsageError` if no store can be opened or made there."""
    try:
        is_there = path.exists()
        if path.is_dir() or (is_there and not path.is_file()):
            raise UsageError(f"{path}: expected a store ({MADE_BY}), got {kind_of(path.stat().st_mode)}")
        if not create and not is_there:
            raise UsageError(f"{path}: there is no such store{_near(path)}")
        fresh = not is_there or path.stat().st_size == 0
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: cannot be opened: {why}") from None
    if fresh and not create:
        raise UsageError(f"{path}: expected a store ({MADE_BY}), got an empty file")
    return fresh


def _near(path: Path) -> str:
    """Suggest files of nearly that name in the folder."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        names = [entry.name for entry in islice(entries, NAMES_LOOKED_AT)]
        near = nearest(path.name, [name for name in names if not name.endswith(BESIDE)])
        return printable(f"; did you mean {' or '.join(near)}?") if near else ""
    return ""


def is_empty_file(path: Path) -> bool:
    """Return whether the file is empty: SQLite makes it so, until the tables of a new store are in it."""
    return path.is_file() and path.stat().st_size == 0


def make_tables(database: Database) -> None:
    """Make an empty store, unless another process has made it in the meantime."""
    with database.transaction():
        if database.number("user_version") == 0:
            for statement in TABLES:
                database.query(statement)
            document = encode_document({}, Kept())
            database.query("INSERT INTO settings VALUES (?, ?)", document, digest_of(document))
            database.query(f"PRAGMA application_id = {APPLICATION_ID}")
            database.query(f"PRAGMA user_version = {VERSION}")


def check_tables(database: Database) -> None:
    """Raise `UsageError` if the file is no store, or one of another version."""
    path = database.path
    with database.transaction("BEGIN"):
        if database.number("application_id") != APPLICATION_ID:
            raise UsageError(f"{path}: expected a store made by 'arena', got another program's SQLite file")
        version = database.number("user_version")
        if version != VERSION:
            raise UsageError(
                f"{path}: this store has format {version}, and this version of arena reads format {VERSION}: use the "
                "version that made it; nothing was changed in it"
            )
        found = database.query("SELECT sql FROM sqlite_schema")
    if {sql for (sql,) in found if sql is not None} != set(TABLES):
        raise UsageError(
            f"{path}: expected a store made by 'arena', with the tables of its format {VERSION}, got others: they were "
            "damaged, or made or changed by another program, and none of them was read"
        )
