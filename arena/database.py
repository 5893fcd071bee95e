"""SQLite as the store uses it: one connection, transactions, and errors as a user can act on them.

What SQLite says of a file that is damaged, or is no store at all, comes out as one clear error, never as a traceback.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from arena.model import ArenaError, UsageError
from arena.printable import printable

BUSY_SECONDS = 30.0
DAMAGE_SHOWN = 10
LONGEST_WORDS = 300
MADE_BY = "a file made by 'arena league' or 'arena match'"

PRAGMAS = (
    "synchronous = FULL",  # a game that was stored outlives a power cut
    "fullfsync = ON",  # on macOS fsync alone leaves it in the disk's cache
    "cell_size_check = ON",  # damage to a page is noticed when it is read
    "trusted_schema = OFF",  # a stranger's file runs nothing
)


class StoreError(ArenaError):
    """The store cannot be read or written; the text says why. What was stored before is still there."""


class Damage(NamedTuple):
    """Something that is not as it was stored: in a game, by its number, or in the store as a whole."""

    game: int | None
    text: str

    def __str__(self) -> str:
        return self.text if self.game is None else f"game {self.game}: {self.text}"


def damage_text(damage: tuple[Damage, ...]) -> str:
    """The first of them, a line each."""
    more = [f"and {len(damage) - DAMAGE_SHOWN} more"] if len(damage) > DAMAGE_SHOWN else []
    return "\n".join(f"    {line}" for line in (*damage[:DAMAGE_SHOWN], *more))


class DamagedError(StoreError):
    """The store holds something that is not as it was stored. `damage` names it."""

    def __init__(self, path: Path, damage: tuple[Damage, ...]) -> None:
        super().__init__(
            f"{path}: this store is damaged, or was changed from outside:\n{damage_text(damage)}\n"
            "'arena verify' checks all of it, and '--salvage' copies what is whole to a new store"
        )
        self.damage = damage


class Database:
    """An open SQLite file. Its errors are `StoreError` and `UsageError`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        """Games are stored from a thread of their own."""
        self._has_written = False
        self._file: tuple[int, int] | None = None
        try:
            # As a whole path: SQLite has names such as ":memory:" that are no files.
            self.connection = sqlite3.connect(
                path.absolute(), timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise _explained(path, error) from None
        self.connection.text_factory = _text

    def prepare(self) -> None:
        """Make it keep what it is given, and believe nothing."""
        for pragma in PRAGMAS:
            self.query(f"PRAGMA {pragma}")
        self._file = _file_at(self._path)

    def prepare_for_salvage(self) -> list[Damage]:
        """Have a file read as far as it goes, and never written; returns what is wrong if that is not all."""
        self.query("PRAGMA query_only = ON")
        try:
            self.query("SELECT count(*) FROM sqlite_schema")
        except StoreError as error:
            self.query("PRAGMA writable_schema = ON")  # else SQLite reads nothing of a file that was cut off
            return [Damage(None, str(error).removeprefix(f"{self._path}: "))]
        return []

    def as_far_as_it_goes(self, statement: str) -> list[tuple[Any, ...]]:
        """What a statement finds until it comes to something that is damaged."""
        found: list[tuple[Any, ...]] = []
        try:
            with self._lock:
                found.extend(self.connection.execute(statement))
        except (sqlite3.Error, UnicodeDecodeError):
            pass
        return found

    def close(self) -> None:
        self.connection.close()

    def query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement; outside a transaction it is one of its own."""
        try:
            with self._lock:
                return self.connection.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # what SQLite says quotes what it found in the file
            raise self._explained(error) from None

    def _explained(self, error: sqlite3.Error | UnicodeDecodeError) -> ArenaError:
        """What SQLite's error means here. Once something has been written, nothing is wrong with what was asked for."""
        if self._has_written and self._file != _file_at(self._path):
            return StoreError(
                f"{self._path}: this store was moved, deleted or replaced while games were played; every game that was "
                "stored before is in the file that was here"
            )
        explained = _explained(self._path, error)
        is_usage = isinstance(explained, UsageError) and self._has_written
        return StoreError(str(explained)) if is_usage else explained

    def number(self, pragma: str) -> int:
        """The value of a pragma that is a number."""
        ((value,),) = self.query(f"PRAGMA {pragma}")
        return int(value)

    @contextmanager
    def transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        """All that is done within, or nothing."""
        with self._lock:
            self.query(begin)
            try:
                yield
                if (
                    begin != "BEGIN"
                ):  # one that only reads has nothing to commit, which fails in a file that was cut off
                    self.query("COMMIT")
                    self._has_written = True
            finally:
                if self.connection.in_transaction:
                    self.query("ROLLBACK")

    def damage(self) -> list[Damage]:
        """What SQLite finds wrong with the file itself."""
        try:
            found = [str(text) for (text,) in self.query(f"PRAGMA integrity_check({DAMAGE_SHOWN})")]
        except StoreError as error:
            return [Damage(None, str(error))]
        return [] if found == ["ok"] else [Damage(None, f"the file: {' '.join(text.split())}") for text in found]


def _file_at(path: Path) -> tuple[int, int] | None:
    """Which file is at a path: its device and its number there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _text(data: bytes) -> str:
    """Text as SQLite holds it, which need not be text in a file that is damaged."""
    return data.decode("utf-8", "surrogateescape")


def _explained(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> ArenaError:
    text = printable(str(error), LONGEST_WORDS)
    if "not a database" in text:
        return UsageError(f"{path}: expected a store ({MADE_BY}), got another file")
    if "full" in text:
        return StoreError(f"{path}: the disk is full; every game that was stored before is still there")
    if "unable to open" in text:
        return UsageError(f"{path}: cannot be opened: is its folder there, and may you write to it?")
    if "readonly" in text:
        return UsageError(f"{path}: cannot be written: the file or its folder is read-only")
    if "locked" in text:
        return StoreError(f"{path}: another program has been using this store for more than {BUSY_SECONDS:g} s")
    return StoreError(f"{path}: the file is damaged, or its disk is: {text}")
