"""Keep two arenas from playing with one store at the same time, as both would play the same missing games.

A file next to the store is locked by the system (flock). The lock ends with its process or machine; the text in the
file is for people. A file with another text is neither written to nor removed. Reading a store needs no lock, and
writing is safe without one: SQLite isolates transactions, and a stored game is not stored again.

The lock is that of a path: two hard links, or a file that is mounted into a container, have two locks; and it does not
hold between machines on a network file system with local locks.
"""

import errno
import os
import platform
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import UsageError
from arena.league.store.damage import StoreError
from arena.system.printable import printable
from arena.system.user_files import hold_lock, is_at, kind_of, release_lock

try:
    import fcntl
except ImportError:  # Windows, where stores are only read
    fcntl = None  # type: ignore[assignment]

ENDING = "-lock"
LONGEST_TEXT = 200
START = b"process "
"""The start of the text that arenas write; a power cut can leave zeros instead."""


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
                _refuse_foreign(path, lock)
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
        except UsageError:
            os.close(lock)
            raise
        except OSError as error:
            os.close(lock)
            raise StoreError(f"{path}: cannot be locked: {error.strerror}") from None
        os.close(lock)  # its last user has just removed it


def _opened(store: Path, path: Path) -> int:
    flags = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        try:
            lock = os.open(path, flags | os.O_RDWR, 0o666)
        except PermissionError:  # it may be what another user's arena has left; to lock it, reading is enough
            lock = os.open(path, flags & ~os.O_CREAT | os.O_RDONLY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR) and os.path.lexists(path):
            raise UsageError(
                f"{path}: expected a file or none, got {kind_of(path.lstat().st_mode)}; remove it"
            ) from None
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreError(f"{path}: the disk is full; every game that was stored before is still there") from None
        raise UsageError(
            f"{store}: cannot be opened: is its folder there, and may you write to it? ({error.strerror})"
        ) from None
    mode = os.fstat(lock).st_mode
    if not stat.S_ISREG(mode):
        os.close(lock)
        raise UsageError(f"{path}: expected a file or none, got {kind_of(mode)}; remove it")
    return lock


def _refuse_foreign(path: Path, lock: int) -> None:
    text = os.pread(lock, LONGEST_TEXT, 0)
    if text.strip(b"\0") and not text.startswith(START):
        raise UsageError(
            f"{path}: expected no file, or what an arena left here, got a file with something else in it; it was left "
            "as it is: move it or remove it"
        )


def _describe(lock: int) -> None:
    """Write the owner of the lock into its file. On a full disk the text is missing."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    text = f"process {os.getpid()} on {printable(platform.node())}, since {now} UTC\n".encode()
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, text, 0)
