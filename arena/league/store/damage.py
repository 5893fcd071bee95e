"""Errors of a store: clear messages for errors of SQLite, damage by game, and files that are no store."""

import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from arena.errors import ArenaError, UsageError
from arena.system.printable import printable
from arena.system.user_files import file_errors, read_start

START = 64
RECORDS_START = b'{"'
STORE_START = b"SQLite format 3\0"
"""The first bytes of every store."""
STORE_OR_FILE = "a store or a file of game records ('arena export')"
SALVAGE = "'arena verify' says what of it can be read, and '--salvage' copies that to a new store"
_VIEW = re.compile(rb'\{"schema":\d{1,9},"view":"(red|blue|public)",')


def is_record_file(path: Path) -> bool:
    """Return whether a file begins like a file of records: with a JSON object in one line."""
    return _start(path).startswith(RECORDS_START)


def other_file(path: Path) -> str:
    start = _start(path)
    view = _VIEW.match(start)
    if view:
        side = view[1].decode()
        return f"what {side} may know of games, as 'arena export --view' writes it for other programs"
    if start.startswith(RECORDS_START):
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


def _start(path: Path) -> bytes:
    with suppress(OSError, ValueError):
        return read_start(path, START, follow=True)
    return b""


DAMAGE_SHOWN = 10
LARGEST_PAGE = 1 << 16
"""The most bytes by which a file grows at once."""
LONGEST_WORDS = 300
MADE_BY = "a file made by 'arena league' or 'arena match'"
CORRUPT = ("malformed", "not a database")
"""Messages of SQLite for a file that is damaged, or too short."""
TO_ROLL_BACK = "SQLITE_READONLY_ROLLBACK"
"""SQLite's error if it would have to roll a transaction back first, in a file that it may only read."""
BUSY_SECONDS = 30.0


class StoreError(ArenaError):
    """The store cannot be read or written; the text says why. Games that were stored before are still there."""


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


def size_of(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def explained(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> ArenaError:
    """Translate an error of SQLite. May read the file, so the caller holds `LOCK`."""
    text = printable(str(error), LONGEST_WORDS)
    if "not a database" in text:
        return UsageError(f"{path}: expected a store ({MADE_BY}), got {other_file(path)}")
    from arena.sandbox.rlimits import file_size_limit  # loaded only if there is an error

    most = file_size_limit()
    name = getattr(error, "sqlite_errorname", "")
    is_at_most = most is not None and "full" in text and size_of(path) + LARGEST_PAGE > most
    if is_at_most or (most is not None and name.startswith("SQLITE_IOERR")):
        return StoreError(
            f"{path}: cannot grow: a file of this process may have {most} bytes (RLIMIT_FSIZE, 'ulimit -f'), a limit "
            "of before the start or changed since; every "
            f"game that was stored before is still there ({text})"
        )
    if "full" in text:
        return StoreError(f"{path}: the disk is full; every game that was stored before is still there")
    if "unable to open" in text:
        return UsageError(f"{path}: cannot be opened: is its folder there, and may you write to it?")
    if name == TO_ROLL_BACK:
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
