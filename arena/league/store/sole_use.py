"""Keep two arenas from playing with one store at the same time, as both would play the same missing games.

A file next to the store is locked by the system (flock). The lock ends with its process or machine; the text in the
file is for people. Reading a store needs no lock, and writing is safe without one: SQLite isolates transactions, and a
stored game is not stored again.

The lock is that of a path: two hard links, or a file that is mounted into a container, have two locks; and it does not
hold between machines on a network file system with local locks.
"""

import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import UsageError
from arena.league.store.database import StoreError
from arena.system.printable import printable
from arena.system.user_files import hold_lock, is_at, release_lock

try:
    import fcntl
except ImportError:  # Windows, where stores are only read
    fcntl = None  # type: ignore[assignment]

ENDING = "-lock"
LONGEST_TEXT = 200
OWN_TEXT = re.compile(rb"process \d+ on [^\n]*, since [-\d]+ [:\d]+ UTC\n|\0+")
"""What an arena writes into the file, or a power cut leaves of it."""


class StoreInUseError(StoreError):
    pass


@contextmanager
def sole_use(store: Path) -> Iterator[None]:
    """Hold the lock of the store at this path, which need not exist yet.

    Raises `StoreInUseError` if another process or thread holds it, and `UsageError` if no file can be made next to the
    store, or another file has its name. A file that no arena has made is neither changed nor removed.
    """
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
                _describe(lock)
            return lock, is_ours
        os.close(lock)  # its last user has just removed it


def _opened(store: Path, path: Path) -> tuple[int, bool]:
    """Open the file, and return whether it is a new one."""
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


def _describe(lock: int) -> None:
    """Write the owner of the lock into its file. On a full disk the text is missing."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    text = f"process {os.getpid()} on {printable(platform.node())}, since {now} UTC\n".encode()
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, text, 0)
