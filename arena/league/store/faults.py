"""What can be wrong with a store: errors as a user can act on them, and damage by the game that it is in.

What SQLite says of a file that is damaged, full, locked, or no store at all, comes out as one clear error.
"""

import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

from arena.errors import ArenaError, UsageError
from arena.league.store.other_files import SALVAGE, other_file
from arena.system.printable import printable

DAMAGE_SHOWN = 10
LARGEST_PAGE = 1 << 16
"""What a file grows by at once, at most."""
LONGEST_WORDS = 300
MADE_BY = "a file made by 'arena league' or 'arena match'"
CORRUPT = ("malformed", "not a database")
"""Messages of SQLite for a file that is damaged, or too short."""
TO_ROLL_BACK = "SQLITE_READONLY_ROLLBACK"
"""What SQLite says if it would have to undo a transaction first, in a file that it may only read."""
BUSY_SECONDS = 30.0


class StoreError(ArenaError):
    """The store cannot be read or written; the text says why. What was stored before is still there."""


class StoreChangedError(StoreError):
    """The file at the path is no longer what this process has opened and written: another one has its place, or another
    program has written over it."""


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


def size_of(path: Path) -> int:
    """The bytes of a file; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def explained(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> ArenaError:
    """What an error of SQLite means for a file. The file may be looked at: `LOCK` is held meanwhile."""
    text = printable(str(error), LONGEST_WORDS)
    if "not a database" in text:
        return UsageError(f"{path}: expected a store ({MADE_BY}), got {other_file(path)}")
    from arena.bots.sandbox.rlimits import file_size_limit  # not loaded where nothing is wrong

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
