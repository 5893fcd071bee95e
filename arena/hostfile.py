"""Files that somebody else has named or written, read without ever waiting, and with one sentence for what goes wrong.

A path may stand for a FIFO, at which a plain read waits for ever, a terminal, a device or a file of 30 GB. What is
opened is a regular file and nothing else, and a bounded part of it is read. Whatever the parser makes of a TOML file,
depth and size included, ends in one error that names the file.

What is written appears whole: a draft beside it takes its place at the end. Its writer holds a lock on it, which is
gone with the process, so that the next writer can tell a draft that somebody who was killed has left, and removes it.
"""

import errno
import os
import re
import secrets
import shutil
import stat
import tomllib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from arena.errors import ArenaError, UsageError
from arena.printable import printable, shown

try:
    import fcntl
except ImportError:  # Windows, where drafts stay
    fcntl = None  # type: ignore[assignment]

MOST_BYTES = 1 << 20
"""What a file that a host writes by hand may have."""
READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
"""How a file is opened that may turn out to be something else: no FIFO is waited for, no terminal taken."""
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link"),
)


HOST_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC})
"""What the system says when it is the machine that has run out of something: nothing is wrong with the file, no bot is
to blame for it, and such an error goes on as it is."""


DRAFTS_TRIED = 10
"""Another writer may take a draft that is not held yet for one that was left, once or twice."""
_DRAFT = re.compile(r"\.arena-[0-9a-f]{16}\.part", re.ASCII)


class FileError(UsageError):
    """The file cannot be read, or is not what it should be; the text says which file, and why."""


class NotAFileError(OSError):
    """What was to be opened is no regular file; `kind` says in words what it is."""

    def __init__(self, kind: str) -> None:
        super().__init__(errno.EINVAL, f"expected a file, found {kind}")
        self.kind = kind


def kind_of(mode: int) -> str:
    """What a file of this mode is, in words."""
    return next((words for is_kind, words in KINDS if is_kind(mode)), "a file")


def open_regular(path: Path | bytes | str, folder: int | None = None, *, follow: bool = False) -> int:
    """A descriptor to read a regular file by, its path from an open folder on, if one is given.

    `follow` says that it may be the end of a link. Raises `NotAFileError` for anything else, and does not open it:
    opening is enough to make some devices act. Raises `OSError` as the system does.
    """
    _check_regular(os.stat(path, dir_fd=folder, follow_symlinks=follow))
    flags = READ | getattr(os, "O_BINARY", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    descriptor = os.open(path, flags, dir_fd=folder)
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
    """What keeps a file from being read is a `FileError` that names it as `where`, and says that `what` was expected.

    `OSError` goes on where the machine has run out of something.
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
        raise FileError(f"{where}: cannot be read: this is no path") from None


def read_start(path: Path, size: int, *, follow: bool = False) -> bytes:
    """The first bytes of a regular file, at most `size`. Raises `OSError` as `open_regular` does, which says what
    `follow` is."""
    descriptor = open_regular(path, follow=follow)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def read_file(path: Path, where: str = "", most: int = MOST_BYTES, what: str = "a file") -> bytes:
    """The content of a regular file of at most so many bytes.

    Raises `FileError` that names the file, as `where` or else by its path, and says what was expected; `OSError` where
    the machine has run out of something.
    """
    where = where or printable(str(path))
    with file_errors(where, what), open(open_regular(path, follow=True), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise FileError(f"{where}: expected {what} of at most {most // 1024} KiB, got a longer one")
    return content


def read_lines(path: Path, most: int, what: str = "a file") -> Iterator[bytes]:
    """The lines of a regular file, each with its line feed, one after the other. One that has more bytes than `most`
    is given with its first `most` + 1, and is the last.

    Raises `FileError` as `read_file` does.
    """
    where = printable(str(path))
    with file_errors(where, what), open(open_regular(path, follow=True), "rb") as file:
        while line := file.readline(most + 1):
            yield line
            if len(line) > most:
                return


def refuse_existing(path: Path) -> None:
    """Raise `FileError` if there is anything at a path: nothing of the user's is overwritten unasked."""
    try:
        found = os.path.lexists(path)
    except ValueError:
        raise FileError(f"{printable(str(path))}: cannot be written: this is no path") from None
    if found:
        raise FileError(f"{printable(str(path))}: expected a file that does not exist yet; '--force' replaces it")


@contextmanager
def written_whole(path: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """A file that appears at the path whole, durably, when the block ends, and not at all if it raises.

    What is there is left alone unless `replace` is set. Raises `FileError` if there is something, or what is there is
    no file, and `ArenaError` if it cannot be written.
    """
    where = printable(str(path))
    if not replace:
        refuse_existing(path)
    try:
        target = Path(os.path.realpath(path))
        if target.exists():
            _check_regular(target.stat())
    except NotAFileError as error:
        raise FileError(f"{where}: expected a file to replace, found {error.kind}") from None
    except ValueError:
        raise FileError(f"{where}: cannot be written: this is no path") from None
    except OSError as error:
        raise ArenaError(f"{where}: cannot be written: {error.strerror or error}") from None
    remove_drafts(target.parent)
    draft = None
    try:
        draft, descriptor = _new_draft(target.parent)
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not replace:
            refuse_existing(path)  # it may have come meanwhile
        draft.replace(target)
    except OSError as error:
        raise ArenaError(f"{where}: cannot be written: {error.strerror or error}") from None
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink()


def _new_draft(folder: Path) -> tuple[Path, int]:
    """A new file in a folder, open for writing and held. Raises `OSError`."""
    for _ in range(DRAFTS_TRIED):
        draft = _draft_in(folder)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        if _is_held(draft, descriptor):
            return draft, descriptor
        os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


@contextmanager
def draft_folder(parent: Path) -> Iterator[Path]:
    """A new folder, which nobody else may look into, for what is to take another one's place when it is whole. At the
    end it is removed, if it is still there. Raises `OSError`."""
    for _ in range(DRAFTS_TRIED):
        draft = _draft_in(parent)
        draft.mkdir(mode=0o700)
        descriptor = None if fcntl is None else os.open(draft, os.O_RDONLY)
        if descriptor is None or _is_held(draft, descriptor):
            break
        os.close(descriptor)
    else:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def _draft_in(folder: Path) -> Path:
    return folder / f".arena-{secrets.token_hex(8)}.part"


def _is_held(draft: Path, descriptor: int) -> bool:
    """Mark an open draft as one that is being written, as long as it is open; False if somebody has just removed it."""
    if fcntl is not None:
        with suppress(OSError):  # where there are no locks nobody removes it either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    return is_at(draft, descriptor)


def remove_drafts(folder: Path) -> None:
    """Remove the drafts in a folder that nobody is writing any more: who was killed leaves one behind."""
    with suppress(OSError), os.scandir(folder) as entries:
        left = [Path(entry.path) for entry in entries if _DRAFT.fullmatch(entry.name)]
        for draft in left if fcntl is not None else ():
            with suppress(OSError):
                _remove_if_left(draft)


def _remove_if_left(draft: Path) -> None:
    """Raises `OSError`, among others where it is being written."""
    descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_at(draft, descriptor, follow_symlinks=False):
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISDIR(mode):
                shutil.rmtree(draft, ignore_errors=True)
            elif stat.S_ISREG(mode):
                draft.unlink()
    finally:
        os.close(descriptor)


def read_toml(path: Path, where: str = "", most: int = MOST_BYTES) -> dict[str, Any]:
    """The tables of a TOML file of at most so many bytes. Raises `FileError` as `read_file` does."""
    where = where or printable(str(path))
    return parse_toml(read_file(path, where, most, "a TOML file"), where)


def is_at(path: Path, descriptor: int, *, follow_symlinks: bool = True) -> bool:
    """Whether an open file is still the one at the path."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=follow_symlinks), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """The tables in the bytes of a TOML file; `where` names it in errors. Raises `FileError`."""
    if data.startswith(BOM_UTF8):
        raise FileError(
            f"{where}: not valid TOML: it begins with a byte order mark; save it as UTF-8 without one (BOM)"
        )
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(f"{where}: not valid TOML: it is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise FileError(f"{where}: not valid TOML: it is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; so is what int() says of 10,000 digits
        raise FileError(f"{where}: not valid TOML: {shown(error)}") from None
