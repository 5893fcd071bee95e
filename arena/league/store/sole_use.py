"""Keep two arenas from playing with one store at the same time, as both would play the same missing games.

A file next to the store is locked by the system (flock). The lock ends with its process or machine; the text in the
file is for people. Reading a store needs no lock, and writing is safe without one: SQLite isolates transactions, and a
stored game is not stored again.

The lock is that of a path: two hard links, or a file that is mounted into a container, have two locks; and it does not
hold between machines on a network file system with local locks.
"""

import os
import platform
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


class StoreInUseError(StoreError):
    pass


@contextmanager
def sole_use(store: Path) -> Iterator[None]:
    """Hold the lock of the store at this path, which need not exist yet.

    Raises `StoreInUseError` if another process or thread holds it, and `UsageError` if no file can be made next to the
    store.
    """
    if fcntl is None:
        yield
        return
    path = Path(os.path.realpath(store))
    path = path.with_name(path.name + ENDING)
    lock = _locked(store, path)
    try:
        yield
    finally:
        with suppress(OSError):
            if is_at(path, lock):
                path.unlink()  # before the release: a process that has opened it sees that it was removed
        release_lock(lock)


def _locked(store: Path, path: Path) -> int:
    while True:
        lock = _opened(store, path)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_at(path, lock):
                hold_lock(lock)
                _describe(lock)
                return lock
        except BlockingIOError:
            text = printable(os.pread(lock, LONGEST_TEXT, 0).decode("utf-8", "replace").strip())
            os.close(lock)
            raise StoreInUseError(
                f"{store}: another arena is playing with this store{f' ({text})' if text else ''}; two would play the "
                "same games. Wait for it or stop it; 'arena standings', 'games' and 'show' can be used meanwhile"
            ) from None
        except OSError as error:
            os.close(lock)
            raise StoreError(f"{path}: cannot be locked: {error.strerror}") from None
        os.close(lock)  # its last user has just removed it


def _opened(store: Path, path: Path) -> int:
    flags = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        try:
            return os.open(path, flags | os.O_CREAT | os.O_RDWR, 0o666)
        except PermissionError:  # it may be what another user's arena has left; to lock it, reading is enough
            return os.open(path, flags | os.O_RDONLY)
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
