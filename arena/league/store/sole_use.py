"""One arena at a time plays with a store: two that found the same games missing would both play them.

A file beside the store is locked by the system (flock). The lock is gone with its process, however that ends, and with
its machine; the text in the file is for people. A file with another text in its place is neither written to nor
removed. Reading a store needs no lock, and writing to it is safe without: SQLite keeps transactions apart, and a game
that is stored is not stored again.

The lock is that of a path. A store that is given twice, by two hard links or as a single file mounted into a
container, is locked twice; nor does it hold between machines on a network file system that is mounted with local locks.
"""

import errno
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.errors import UsageError
from arena.league.store.faults import StoreError
from arena.system.printable import printable
from arena.system.user_files import hold_lock, is_at, kind_of, release_lock

try:
    import fcntl
except ImportError:  # Windows, where stores are only read
    fcntl = None  # type: ignore[assignment]

ENDING = "-lock"
LONGEST_TEXT = 200
START = b"process "
"""How what arenas write begins; a power cut can leave zeros of it."""


class StoreInUseError(StoreError):
    """Another arena is playing with the store."""


@contextmanager
def sole_use(store: Path) -> Iterator[None]:
    """Be the only one who plays with the store at this path, which need not be there yet.

    Raises `StoreInUseError` if somebody else is, another thread of this process included, and `UsageError` if no file
    can be made beside the store.
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
                path.unlink()  # before the lock is given up: whoever has opened it sees that it is no longer the one
        release_lock(lock)


def _locked(store: Path, path: Path) -> int:
    """The descriptor of the lock file, locked."""
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
    """Raise `UsageError` for a file that no arena wrote, which would be overwritten. Raises `OSError`."""
    text = os.pread(lock, LONGEST_TEXT, 0)
    if text.strip(b"\0") and not text.startswith(START):
        raise UsageError(
            f"{path}: expected no file, or what an arena left here, got a file with something else in it; it was left "
            "as it is: move it or remove it"
        )


def _describe(lock: int) -> None:
    """Write the owner of the lock into its file. On a full disk the text is missing."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    text = f"process {os.getpid()} on {printable(socket.gethostname())}, since {now} UTC\n".encode()
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, text, 0)
