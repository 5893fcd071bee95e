"""The files that SQLite looks for beside a store, looked at before SQLite does: they come with a store from a stranger.

SQLite acts on them when a store is opened, even if it is only read: a rollback journal that names a super-journal has
that file deleted, wherever it lies, and a write-ahead log takes the place of what the store itself holds. The arena
never attaches a second database and never uses a log, so its own stores have neither. What they can have is a plain
rollback journal, if a game was being stored when the arena was killed; that one SQLite has to see.

The formats: https://www.sqlite.org/fileformat2.html and, for the end of a journal, `readSuperJournal` in `pager.c`.
"""

import os
import stat
from pathlib import Path

from arena.errors import UsageError
from arena.hostfile import READ, kind_of
from arena.printable import printable

JOURNAL = "-journal"
LOGS = ("-wal", "-shm")
SUPER_JOURNAL_END = bytes.fromhex("d9d505f920a163d7")
"""A journal that ends in these bytes has the path of a super-journal before them; SQLite looks at nothing else."""
HEADER_START = b"SQLite format 3\0"
HEADER_BYTES = 20
LOG_FORMAT = 2
"""In the bytes 18 and 19 of a store's header: it is to be written, or read, through a write-ahead log."""
ADVICE = "do not trust this store; to look into it all the same, remove that file and run 'arena verify' first"


def check_before_opening(path: Path) -> None:
    """Raise `UsageError` if SQLite may not open the file at `path`, which is given without links, as it finds it."""
    journal, *logs = (path.with_name(path.name + ending) for ending in (JOURNAL, *LOGS))
    if _is_file(journal) and _end_of(journal) == SUPER_JOURNAL_END:
        raise UsageError(
            f"{_shown(journal)}: expected the journal of an 'arena' that was killed, got one that has SQLite delete "
            f"another file as soon as the store is opened; arena never writes such a journal: {ADVICE}"
        )
    for log in logs:
        if _is_file(log):
            raise UsageError(
                f"{_shown(log)}: expected no such file, got a write-ahead log, which arena never writes and which says "
                f"something else than the store: {ADVICE}"
            )
    if LOG_FORMAT in _formats_of(path):
        raise UsageError(
            f"{_shown(path)}: expected a store as arena makes it, got one that was set to a write-ahead log by another "
            "program (if that was you, set it back there: PRAGMA journal_mode = DELETE)"
        )


def _is_file(path: Path) -> bool:
    """Whether there is a file; raises `UsageError` for anything else, links of both kinds included: SQLite writes to
    the journal of a store that it opens for writing, and through a hard link that would destroy another file."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UsageError(f"{_shown(path)}: cannot be looked at: {error.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(f"{_shown(path)}: expected a file or none, got {kind_of(found.st_mode)}: {ADVICE}")
    if found.st_nlink > 1:
        raise UsageError(
            f"{_shown(path)}: expected a file of its own or none, got one with {found.st_nlink} names (hard links), "
            f"which was left as it is: {ADVICE} (if the links are yours, use copies of both files)"
        )
    return True


def _end_of(journal: Path) -> bytes:
    """Its last bytes; none if it has just been deleted, as it is when a transaction ends."""
    return _read(journal, -len(SUPER_JOURNAL_END), len(SUPER_JOURNAL_END))


def _formats_of(path: Path) -> bytes:
    """The formats for writing and reading in the header; none if there is no file yet, or another one than SQLite's."""
    header = _read(path, 0, HEADER_BYTES)
    return header[18:] if header.startswith(HEADER_START) else b""


def _read(path: Path, start: int, size: int) -> bytes:
    """So many bytes from `start`, which counts from the end if it is negative."""
    flags = READ | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            length = os.fstat(file.fileno()).st_size
            file.seek(start if start >= 0 else max(0, length + start))
            return file.read(size)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"{_shown(path)}: cannot be opened: {error.strerror}") from None


def _shown(path: Path) -> str:
    return printable(str(path))
