"""Files named or written by users: read without blocking, written atomically, with one error for any fault.

A path may be a FIFO, which a plain read waits on for ever, a terminal, a device or a file of 30 GB. Only regular files
are opened, and a bounded part of them is read. Any parser fault in a TOML file, depth and size included, becomes one
error that names the file.

A written file appears whole: a draft next to it takes its place at the end. Its writer holds a lock on the draft, which
ends with the process. So the next writer recognises and removes the draft of a killed process.
"""

import errno
import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from arena.errors import ArenaError, UsageError
from arena.system.printable import printable, shown

try:
    import fcntl
except ImportError:  # Windows, where drafts stay
    fcntl = None  # type: ignore[assignment]

MOST_BYTES = 1 << 20
"""The largest size of a file that a host writes by hand."""
READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
"""Flags to open a file without waiting for a FIFO and without taking a terminal."""
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)
HOST_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC})
"""Errors of an exhausted machine: they are raised unchanged, as no file and no bot is to blame."""

_DRAFTS_TRIED = 10
"""Attempts to lock a new draft before another writer removes it."""
_DRAFT = re.compile(r"\.arena-[0-9a-f]{16}\.part", re.ASCII)


class FileError(UsageError):
    """A file cannot be read, or is invalid; the text says which file, and why."""


class NotAFileError(OSError):
    """A path leads to something other than a regular file; `kind` says in words what it is."""

    def __init__(self, kind: str) -> None:
        super().__init__(errno.EINVAL, f"expected a file, found {kind}")
        self.kind = kind


def kind_of(mode: int) -> str:
    return next((words for is_kind, words in KINDS if is_kind(mode)), "a file")


# --- reading ----------------------------------------------------------------------------------------------------------


def open_regular(path: Path | bytes | str, *, follow: bool = False) -> int:
    """Open a regular file for reading and return its descriptor.

    `follow` allows a link at the end of the path. Raises `NotAFileError` for anything else without opening it, as
    opening is enough to make some devices act. Raises `OSError` as the system does.
    """
    _check_regular(os.stat(path, follow_symlinks=follow))
    flags = READ | getattr(os, "O_BINARY", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    descriptor = os.open(path, flags)
    try:
        _check_regular(os.fstat(descriptor))  # it may be another by now
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotAFileError(kind_of(found.st_mode))


@contextmanager
def file_errors(where: str, what: str) -> Iterator[None]:
    """Raise errors of reading as `FileError`, which names the file as `where` and says that `what` was expected.

    `OSError` is raised unchanged where the machine has run out of something.
    """
    try:
        yield
    except NotAFileError as error:
        raise FileError(f"{where}: expected {what}, got {error.kind}") from None
    except OSError as error:
        if error.errno in HOST_ERRORS:
            raise
        raise FileError(f"{where}: cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL, or half a surrogate pair
        raise FileError(f"{where}: cannot be read: this is not a valid path") from None


def read_start(path: Path, size: int, *, follow: bool = False) -> bytes:
    """Return the first bytes of a regular file, at most `size`. Raises `OSError` as `open_regular` does."""
    descriptor = open_regular(path, follow=follow)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def read_file(path: Path, where: str = "", most: int = MOST_BYTES, what: str = "a file") -> bytes:
    """Return the content of a regular file of at most `most` bytes. Raises as `file_errors` does."""
    where = where or printable(str(path))
    with file_errors(where, what), open(open_regular(path, follow=True), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise FileError(f"{where}: expected {what} of at most {most // 1024} KiB, got a longer one")
    return content


def read_lines(path: Path, most: int, what: str = "a file") -> Iterator[bytes]:
    """Yield the lines of a regular file, each with its line feed. Raises as `file_errors` does.

    A line of more than `most` bytes is cut to `most` + 1, and is the last.
    """
    with file_errors(printable(str(path)), what), open(open_regular(path, follow=True), "rb") as file:
        while line := file.readline(most + 1):
            yield line
            if len(line) > most:
                return


def read_toml(path: Path, where: str = "", most: int = MOST_BYTES) -> dict[str, Any]:
    """Return the tables of a TOML file of at most `most` bytes. Raises as `file_errors` does."""
    where = where or printable(str(path))
    return parse_toml(read_file(path, where, most, "a TOML file"), where)


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """Parse the bytes of a TOML file; `where` names it in errors. Raises `FileError`."""
    if data.startswith(BOM_UTF8):
        raise FileError(
            f"{where}: not valid TOML: it begins with a byte order mark; save it as UTF-8 without one (BOM)"
        )
    import tomllib  # most commands read no TOML, and start sooner

    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(f"{where}: not valid TOML: it is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise FileError(f"{where}: not valid TOML: it is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; so is what int() says of 10,000 digits
        raise FileError(f"{where}: not valid TOML: {shown(error)}") from None


# --- writing ----------------------------------------------------------------------------------------------------------


def refuse_existing(path: Path) -> None:
    try:
        found = os.path.lexists(path)
    except ValueError:
        raise FileError(f"{printable(str(path))}: cannot be written: this is not a valid path") from None
    if found:
        remedy = "" if os.path.isdir(path) else "; '--force' replaces it"
        raise FileError(f"{printable(str(path))}: expected a file that does not exist yet{remedy}")


@contextmanager
def written_whole(path: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """Yield a file that appears at the path whole, durably, when the block ends, and not at all if it raises.

    It has the permissions of a file that it replaces. Raises `FileError` if the path exists and is no file, or
    `replace` is not set, and `ArenaError` if the file cannot be written.
    """
    where = printable(str(path))
    if not replace:
        refuse_existing(path)
    mode = None
    try:
        target = Path(os.path.realpath(path))
        if target.exists():
            _check_regular(status := target.stat())
            mode = status.st_mode & 0o777
    except NotAFileError as error:
        raise FileError(f"{where}: expected a file to replace, found {error.kind}") from None
    except ValueError:
        raise FileError(f"{where}: cannot be written: this is not a valid path") from None
    except OSError as error:
        raise ArenaError(f"{where}: cannot be written: {error.strerror or error}") from None
    remove_drafts(target.parent)
    draft = None
    try:
        draft, descriptor = _new_draft(target.parent)
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(descriptor, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not replace:
            refuse_existing(path)  # it may have come meanwhile
        draft.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        raise ArenaError(f"{where}: cannot be written: {error.strerror or error}") from None
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink()


def sync_folder(folder: Path) -> None:
    """Sync a folder, where the file system can, so that a new name survives a power cut."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _new_draft(folder: Path) -> tuple[Path, int]:
    for _ in range(_DRAFTS_TRIED):
        draft = _draft_in(folder)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        if _is_locked(draft, descriptor):
            return draft, descriptor
        os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


@contextmanager
def draft_folder(parent: Path) -> Iterator[Path]:
    """Yield a new private folder that is to replace another one when it is complete. Raises `OSError`.

    The folder is removed at the end, if it is still there.
    """
    for _ in range(_DRAFTS_TRIED):
        draft = _draft_in(parent)
        draft.mkdir(mode=0o700)
        descriptor = None if fcntl is None else os.open(draft, os.O_RDONLY)
        if descriptor is None or _is_locked(draft, descriptor):
            break
        os.close(descriptor)
    else:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    try:
        yield draft
    finally:
        _remove_folder(draft)
        if descriptor is not None:
            os.close(descriptor)


def _draft_in(folder: Path) -> Path:
    return folder / f".arena-{os.urandom(8).hex()}.part"


def _is_locked(draft: Path, descriptor: int) -> bool:
    """Lock an open draft; return False if another writer has just removed it."""
    if fcntl is not None:
        with suppress(OSError):  # without locks no writer removes it either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    return is_at(draft, descriptor)


def _remove_folder(folder: Path) -> None:
    import shutil  # most commands write no folder, and start sooner

    shutil.rmtree(folder, ignore_errors=True)


def remove_drafts(folder: Path) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        left = [Path(entry.path) for entry in entries if _DRAFT.fullmatch(entry.name)]
        for draft in left if fcntl is not None else ():
            with suppress(OSError):
                _remove_if_left(draft)


def _remove_if_left(draft: Path) -> None:
    """Remove a draft. Raises `OSError`, for example if it is being written."""
    descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_at(draft, descriptor, follow_symlinks=False):
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode):
                _remove_folder(draft)
            elif stat.S_ISREG(mode):
                draft.unlink()
    finally:
        os.close(descriptor)


def is_at(path: Path, descriptor: int, *, follow_symlinks: bool = True) -> bool:
    """Whether an open file is still the one at the path."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=follow_symlinks), os.fstat(descriptor))
    except FileNotFoundError:
        return False


# --- locks that are held for longer than a call -----------------------------------------------------------------------

# Such a lock (flock) ends when its last descriptor is closed, however its process ends. A forked child has the
# descriptors, too, and would hold the locks until it ends; so it closes them.
_locks: set[int] = set()


def hold_lock(descriptor: int) -> None:
    """Keep the descriptor of a lock from forked children."""
    _locks.add(descriptor)


def release_lock(descriptor: int) -> None:
    _locks.discard(descriptor)
    os.close(descriptor)


def _close_in_child() -> None:
    for descriptor in _locks:
        os.close(descriptor)
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
