"""The file of a store: its tables, and the lock next to it, so that two arenas do not play the same missing games.

The definitions in a file have to be exactly `TABLES`: those of another program can have computed columns of any size,
and triggers. The lock is that of a path and ends with its process; it does not hold between machines on a network file
system with local locks. Reading a store needs none.
"""

import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import UsageError
from arena.league.store.database import MADE_BY, Database, StoreError
from arena.league.store.document import Kept, encode_document
from arena.league.store.game_row import digest_of
from arena.system.printable import printable
from arena.system.user_files import hold_lock, is_at, kind_of, release_lock

try:
    import fcntl
except ImportError:  # Windows, where stores are only read
    fcntl = None  # type: ignore[assignment]

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
"""A record is some twenty times as large as its row: in one table, reading rows would read the records."""


def is_fresh(path: Path, create: bool) -> bool:
    """Return whether `path` is free or an empty file. Raises `UsageError` if no store can be opened or made there."""
    try:
        is_there = path.exists()
        if path.is_dir() or (is_there and not path.is_file()):
            raise UsageError(f"{path}: expected a store ({MADE_BY}), got {kind_of(path.stat().st_mode)}")
        if not create and not is_there:
            raise UsageError(f"{path}: there is no such store")
        fresh = not is_there or path.stat().st_size == 0
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: cannot be opened: {why}") from None
    if fresh and not create:
        raise UsageError(f"{path}: expected a store ({MADE_BY}), got an empty file")
    return fresh


def is_empty_file(path: Path) -> bool:
    """Return whether the file is empty, as SQLite makes it before the tables of a new store are in it."""
    return path.is_file() and path.stat().st_size == 0


def make_tables(database: Database) -> None:
    with database.transaction():
        if database.number("user_version") == 0:
            for statement in TABLES:
                database.query(statement)
            document = encode_document({}, Kept())
            database.query("INSERT INTO settings VALUES (?, ?)", document, digest_of(document))
            database.query(f"PRAGMA application_id = {APPLICATION_ID}")
            database.query(f"PRAGMA user_version = {VERSION}")


def check_tables(database: Database) -> None:
    path = database.path
    with database.transaction("BEGIN"):
        if database.number("application_id") != APPLICATION_ID:
            raise UsageError(f"{path}: expected a store made by 'arena', got another program's SQLite file")
        version = database.number("user_version")
        if version != VERSION:
            raise UsageError(
                f"{path}: this store has format {version}, and this version of arena reads format {VERSION}: use the "
                "version that made it; it was not changed"
            )
        found = database.query("SELECT sql FROM sqlite_schema")
    if {sql for (sql,) in found if sql is not None} != set(TABLES):
        raise UsageError(
            f"{path}: expected a store made by 'arena', with the tables of its format {VERSION}, got others: they were "
            "damaged, or made or changed by another program, and none of them was read"
        )


ENDING = "-lock"
LONGEST_TEXT = 200
OWN_TEXT = re.compile(rb"process \d+ on [^\n]*, since [-\d]+ [:\d]+ UTC\n|\0+")


class StoreInUseError(StoreError):
    pass


@contextmanager
def sole_use(store: Path) -> Iterator[None]:
    """Hold the lock of the store at this path, which need not exist yet. Raises `StoreInUseError` and `UsageError`."""
    if fcntl is None:
        yield
        return
    path = Path(os.path.realpath(store))
    path = path.with_name(path.name + ENDING)
    lock, is_ours = _locked(store, path)
    try:
        yield
    finally:
        with suppress(OSError):
            if is_ours and is_at(path, lock):
                path.unlink()  # before the release: a process that has opened it sees that it was removed
        release_lock(lock)


def _locked(store: Path, path: Path) -> tuple[int, bool]:
    """Return the locked file, and whether an arena has made it: an empty file may be anybody's."""
    while True:
        lock, is_new = _opened(store, path)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_there, text = is_at(path, lock), os.pread(lock, LONGEST_TEXT + 1, 0)
        except BlockingIOError:
            who = printable(os.pread(lock, LONGEST_TEXT, 0).decode("utf-8", "replace").strip())
            os.close(lock)
            raise StoreInUseError(
                f"{store}: another arena is playing with this store{f' ({who})' if who else ''}; two would play the "
                "same games. Wait for it or stop it; 'arena standings', 'games' and 'show' can be used meanwhile"
            ) from None
        except OSError as error:
            os.close(lock)
            raise StoreError(f"{path}: cannot be locked: {error.strerror}") from None
        if text and not OWN_TEXT.fullmatch(text):
            os.close(lock)
            raise UsageError(
                f"{path}: expected no file of this name, or one that locks {path.name.removesuffix(ENDING)}; got a "
                "file with other contents, which stays as it is: move it, or name another store"
            )
        if is_there:
            is_ours = is_new or bool(text)
            hold_lock(lock)
            if is_ours:
                now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
                who = f"process {os.getpid()} on {printable(platform.node())}, since {now} UTC\n"
                with suppress(OSError):  # on a full disk the text is missing
                    os.ftruncate(lock, 0)
                    os.pwrite(lock, who.encode(), 0)
            return lock, is_ours
        os.close(lock)  # its last user has just removed it


def _opened(store: Path, path: Path) -> tuple[int, bool]:
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        while True:
            with suppress(FileExistsError):
                return os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666), True
            with suppress(FileNotFoundError):  # its last user has just removed it
                try:
                    return os.open(path, flags | os.O_RDWR), False
                except PermissionError:  # another user's arena may have left it; to lock it, reading is enough
                    return os.open(path, flags | os.O_RDONLY), False
    except OSError as error:
        raise UsageError(
            f"{store}: cannot be locked by a file {path.name}: is its folder there, and may you write to it? "
            f"({error.strerror})"
        ) from None
