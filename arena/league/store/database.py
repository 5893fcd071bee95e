"""One connection to SQLite, with transactions, and with clear messages for errors and for files that are no store."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from arena.errors import ArenaError, UsageError
from arena.system.printable import printable
from arena.system.user_files import file_errors, read_start

START = 64
RECORDS_START = b'{"'
STORE_START = b"SQLite format 3\0"
STORE_OR_FILE = "a store or a file of game records ('arena export')"
SALVAGE = "'arena verify' says what of it can be read, and '--salvage' copies that to a new store"


def is_record_file(path: Path) -> bool:
    """Return whether a file begins like a file of records: with a JSON object in one line."""
    with suppress(OSError, ValueError):
        return read_start(path, START, follow=True).startswith(RECORDS_START)
    return False


def other_file(path: Path) -> str:
    if is_record_file(path):
        return "a file of game records; 'arena import STORE FILE' makes a store of it, or adds to one"
    return "another file"


def refuse_other_files(path: Path) -> None:
    """Raise `UsageError` unless there is a file that begins like a store or a file of records."""
    where = printable(str(path))
    with file_errors(where, STORE_OR_FILE):
        try:
            start = read_start(path, START, follow=True)
        except FileNotFoundError:
            raise UsageError(f"{where}: expected {STORE_OR_FILE}, and there is no file") from None
    if not start:
        raise UsageError(f"{where}: expected {STORE_OR_FILE}, got an empty file")
    if not start.startswith(STORE_START) and not start.startswith(RECORDS_START):
        raise UsageError(f"{where}: expected {STORE_OR_FILE}, got another file")


DAMAGE_SHOWN = 10
LONGEST_WORDS = 300
MADE_BY = "a file made by 'arena league' or 'arena match'"
CORRUPT = ("malformed", "not a database")
TO_ROLL_BACK = "SQLITE_READONLY_ROLLBACK"
BUSY_SECONDS = 30.0


class StoreError(ArenaError):
    """The store cannot be read or written. Games that were stored before are still there."""


class StoreChangedError(StoreError):
    """The file at the path is no longer the one that this process has opened."""


class Damage(NamedTuple):
    """A change since storing: in a game, by its number, or in the store as a whole."""

    game: int | None
    text: str

    def __str__(self) -> str:
        return self.text if self.game is None else f"game {self.game}: {self.text}"


def damage_text(damage: tuple[Damage, ...]) -> str:
    more = [f"and {len(damage) - DAMAGE_SHOWN} more"] if len(damage) > DAMAGE_SHOWN else []
    return "\n".join(f"    {line}" for line in (*damage[:DAMAGE_SHOWN], *more))


class DamagedError(StoreError):
    def __init__(self, path: Path, damage: tuple[Damage, ...]) -> None:
        super().__init__(
            f"{path}: this store is damaged, or was changed from outside:\n{damage_text(damage)}\n"
            "'arena verify' checks all of it, and '--salvage' copies what is whole to a new store"
        )
        self.damage = damage


def explained(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> ArenaError:
    text = printable(str(error), LONGEST_WORDS)
    if "not a database" in text:
        return UsageError(f"{path}: expected a store ({MADE_BY}), got {other_file(path)}")
    if "full" in text:
        return StoreError(f"{path}: the disk is full; every game that was stored before is still there")
    if "unable to open" in text:
        return UsageError(f"{path}: cannot be opened: is its folder there, and may you write to it?")
    if getattr(error, "sqlite_errorname", "") == TO_ROLL_BACK:
        return UsageError(
            f"{path}: a game was being stored when arena was killed, which has to be undone before anything is read: "
            "the file and its folder must be writable for that"
        )
    if "readonly" in text:
        return UsageError(f"{path}: cannot be written: the file or its folder is read-only")
    if "locked" in text:
        return StoreError(f"{path}: another program has been using this store for more than {BUSY_SECONDS:g} s")
    if any(words in text for words in CORRUPT):
        return StoreError(f"{path}: expected a sound store, got one with pages that are damaged ({text}); {SALVAGE}")
    return StoreError(f"{path}: the file is damaged, or its disk is: {text}")


PRAGMAS = (
    "synchronous = FULL",  # a game that was stored outlives a power cut
    "fullfsync = ON",  # on macOS fsync alone leaves it in the disk's cache
    "cell_size_check = ON",  # damage to a page is noticed when it is read
    "trusted_schema = OFF",  # a stranger's file runs no code
)
LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 256 << 20),  # bytes of a value or a row; a record has a small part of it
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 64 << 10),  # of a statement, and of a definition in the file
    (sqlite3.SQLITE_LIMIT_COLUMN, 100),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
)
LOCK = threading.RLock()
"""Held by every use of a store in this process, which under POSIX loses all its locks on a file when it closes any
descriptor of it."""


class Database:
    def __init__(self, path: Path, write: bool) -> None:
        self.path = path
        self._file = Path(os.path.realpath(path))
        self._has_written = False
        self._opened: tuple[int, int] | None = None
        # As a whole path: SQLite has names such as ":memory:" that are no files.
        name = str(self._file) if write else _address(self._file)
        try:
            self.connection = sqlite3.connect(
                name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=not write
            )
        except sqlite3.Error as error:
            with LOCK:
                raise explained(self.path, error) from None
        self.connection.text_factory = _text
        for limit, value in LIMITS:
            self.connection.setlimit(limit, value)

    def prepare(self) -> None:
        for pragma in PRAGMAS:
            self.query(f"PRAGMA {pragma}")
        self._opened = _file_at(self.path)  # None for a new one, which is there when something is written

    def prepare_for_salvage(self) -> None:
        self.query("PRAGMA query_only = ON")
        self.query("PRAGMA writable_schema = ON")  # otherwise SQLite does not read a file that was cut off

    def close(self) -> None:
        self.connection.close()

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement; outside a transaction it is one of its own."""
        try:
            with LOCK:
                try:
                    return self.connection.execute(statement, values).fetchall()
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorname != TO_ROLL_BACK:
                        raise
                    # SQLite rolls a killed program's transaction back if the connection may write.
                    with closing(sqlite3.connect(self._file, timeout=BUSY_SECONDS)) as writer:
                        writer.execute("SELECT count(*) FROM sqlite_schema")
                    return self.connection.execute(statement, values).fetchall()
        except OverflowError:
            raise StoreError(f"{self.path}: a number is larger than the store can keep (64 bits)") from None
        except UnicodeEncodeError:
            raise StoreError(f"{self.path}: expected text that can be stored as UTF-8") from None
        except (sqlite3.Error, UnicodeDecodeError) as error:  # what SQLite says quotes what it found in the file
            raise self._explained(error) from None

    def _explained(self, error: sqlite3.Error | UnicodeDecodeError) -> ArenaError:
        self.refuse_moved()
        with LOCK:
            found = explained(self.path, error)
        return StoreError(str(found)) if isinstance(found, UsageError) and self._has_written else found

    def refuse_moved(self) -> None:
        """Raise `StoreError` if the file at the path is no longer the open one, which can still be written on Unix."""
        now = _file_at(self.path)
        if self._opened not in (None, now):
            raise StoreChangedError(
                f"{self.path}: this store was moved, deleted or replaced while it was open, or its disk was: "
                f"{'another file is there now' if now else 'there is no file now'}; every game that was stored before "
                "is in the file that was here"
            )

    def size(self) -> int:
        return self.number("page_count") * self.number("page_size")

    def number(self, pragma: str) -> int:
        ((value,),) = self.query(f"PRAGMA {pragma}")
        return int(value)

    @contextmanager
    def transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        with LOCK:
            if self.connection.in_transaction:  # part of that one
                yield
                return
            self.query(begin)
            try:
                yield
                if begin != "BEGIN":  # to commit what was only read fails in a file that was cut off
                    self.query("COMMIT")
                    self._has_written = True
                    self._opened = self._opened or _file_at(self.path)
            finally:
                if self.connection.in_transaction:
                    self.query("ROLLBACK")

    def damage(self) -> list[Damage]:
        try:
            faults = [str(text) for (text,) in self.query("PRAGMA integrity_check")]
        except StoreError as error:
            return [Damage(None, str(error).removeprefix(f"{self.path}: ").removesuffix(f"; {SALVAGE}"))]
        if faults == ["ok"]:
            return []
        faults = [line for text in faults for line in text.splitlines() if not line.startswith("***")] or faults
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        return [Damage(None, f"the file: {printable(faults[0], LONGEST_WORDS)}{more}")]


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _address(file: Path) -> str:
    """Return the URI for opening a file read-only. It has no host, so a share of Windows is all path."""
    path = file.as_posix()
    return f"file://{'' if path.startswith('/') else '/'}{quote(os.fsencode(path))}?mode=ro"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
