"""Copy untrusted folders without following any link.

Every folder is opened relative to its parent, and only regular files are opened. A file that changes or goes during the
walk is skipped.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from arena.system.user_files import kind_of, open_regular

MOST_FILES = 200_000
MOST_DEPTH = 100
"""The deepest nesting of folders; the trees of node and cargo have some thirty levels."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20

Stamp = tuple[int, int, int, int]
Stamps = dict[str, Stamp]
"""By path, the properties of a file that change whenever it is written or replaced."""


class FilesError(Exception):
    pass


class Entry(NamedTuple):
    """A file or folder: its path in the walk, the open folder that contains it, and its name there."""

    path: str
    folder: int
    name: str
    found: os.stat_result

    @property
    def stamp(self) -> Stamp:
        return self.found.st_ino, self.found.st_ctime_ns, self.found.st_mtime_ns, self.found.st_size


def entries(folder: Path, *, passes_over: bool = False) -> Iterator[Entry]:
    """Yield all that is in a folder and below it, each folder before its content.

    Raises `FilesError` if there are too many, and, unless `passes_over`, `OSError` if a folder cannot be read.
    """
    descriptor = os.open(folder, _FOLDER)
    try:
        for number, entry in enumerate(_entries(descriptor, "", 0, passes_over)):
            if number >= MOST_FILES:
                raise FilesError(f"there are more than {MOST_FILES} files")
            yield entry
    finally:
        os.close(descriptor)


def _entries(folder: int, prefix: str, depth: int, passes_over: bool) -> Iterator[Entry]:
    if depth > MOST_DEPTH:
        raise FilesError(f"{prefix[:60]}...: folders lie in folders, more than {MOST_DEPTH} of them")
    with os.scandir(folder) as listing:
        names = [item.name for _, item in zip(range(MOST_FILES + 1), listing, strict=False)]
    for name in sorted(names):
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue
        yield Entry(prefix + name, folder, name, found)
        if stat.S_ISDIR(found.st_mode):
            try:
                inner = os.open(name, _FOLDER, dir_fd=folder)
            except OSError as error:
                if passes_over or isinstance(error, FileNotFoundError):
                    continue
                raise
            try:
                yield from _entries(inner, f"{prefix}{name}/", depth + 1, passes_over)
            finally:
                os.close(inner)


def size_on_disk(folder: Path) -> int:
    """Return the bytes on disk of a folder's files, ignoring unreadable folders. Raises `FilesError`."""
    total = 0
    with contextlib.suppress(OSError):
        for entry in entries(folder, passes_over=True):
            total += entry.found.st_blocks * 512
    return total


def stamps(folder: Path) -> Stamps:
    return {entry.path: entry.stamp for entry in entries(folder)}


def copy_folder(source: Path, target: Path, most: int, owner: int | None) -> None:
    """Copy a folder's files and links into an empty folder that no other process writes.

    `most` is the limit in bytes, `owner` the user who owns the copies. FIFOs, sockets and devices are left out. Raises
    `FilesError` if there are more bytes, and `OSError`.
    """
    room = most
    for entry in entries(source):
        copy, mode = target / entry.path, entry.found.st_mode
        if stat.S_ISDIR(mode):
            copy.mkdir(0o755)
        elif stat.S_ISLNK(mode):
            copy.symlink_to(os.readlink(entry.name, dir_fd=entry.folder))
        elif stat.S_ISREG(mode):
            room -= entry.found.st_size
            if room < 0:
                raise FilesError(f"its files have more than {most} bytes")
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            _fill(descriptor, entry, (mode & 0o777) | 0o600)
        else:
            continue
        if owner is not None:
            os.chown(copy, owner, owner, follow_symlinks=False)


def put_back(copy: Path, folder: Path, before: Stamps, most: int, link_target: Callable[[str, str], str]) -> None:
    """Copy the changes of a copy back into the folder that it was made from.

    No other process may write to the copy any more. Files that are new, or differ from `before`, replace what is there;
    no file is removed. Files are readable for everybody, and writable for their owner only. `link_target(path, target)`
    returns the text of a link, or raises. Errors, `FilesError` and `OSError` among them, are raised before anything
    changes where possible.
    """
    changed = {entry.path for entry in entries(copy) if before.get(entry.path) != entry.stamp}
    targets, size = dict[str, str](), 0
    for entry in entries(copy):
        if entry.path in changed and stat.S_ISLNK(entry.found.st_mode):
            targets[entry.path] = link_target(entry.path, os.readlink(entry.name, dir_fd=entry.folder))
        elif entry.path in changed and stat.S_ISREG(entry.found.st_mode):
            size += entry.found.st_size
    if size > most:
        raise FilesError(f"its new files have {size} bytes; {most} are allowed")
    root = os.open(folder, _FOLDER)
    try:
        for entry in entries(copy):
            if entry.path not in changed:
                continue
            if stat.S_ISDIR(entry.found.st_mode):
                os.close(_opened_below(root, entry.path))
            elif entry.path in targets or stat.S_ISREG(entry.found.st_mode):
                there = _opened_below(root, os.path.dirname(entry.path))
                try:
                    _place(entry, there, targets.get(entry.path))
                finally:
                    os.close(there)
    finally:
        os.close(root)


def _place(entry: Entry, there: int, target: str | None) -> None:
    draft = f".build-{secrets.token_hex(8)}"
    try:
        if target is not None:
            os.symlink(target, draft, dir_fd=there)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            runs = 0o111 if entry.found.st_mode & 0o111 else 0
            _fill(os.open(draft, flags, 0o600, dir_fd=there), entry, 0o644 | runs)
        os.rename(draft, entry.name, src_dir_fd=there, dst_dir_fd=there)
    except IsADirectoryError:
        raise FilesError(f"{entry.path}: the build makes {kind_of(entry.found.st_mode)} where a folder is") from None
    finally:
        with contextlib.suppress(FileNotFoundError):  # which it is, once it is in its place
            os.unlink(draft, dir_fd=there)


def _opened_below(root: int, path: str) -> int:
    """Open a folder below another, making it if needed, without following links. Raises `FilesError` and `OSError`."""
    here = os.dup(root)
    for name in filter(None, path.split("/")):
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=here)
            inner = os.open(name, _FOLDER, dir_fd=here)
        except NotADirectoryError:
            raise FilesError(f"{path}: the build makes a folder where a file or a link is") from None
        finally:
            os.close(here)
        here = inner
    return here


def _fill(target: int, entry: Entry, mode: int) -> None:
    with open(target, "wb") as copy:
        with open(open_regular(entry.name, entry.folder), "rb") as source:
            left = entry.found.st_size  # not what has been added since then
            while left > 0 and (chunk := source.read(min(left, _CHUNK))):
                copy.write(chunk)
                left -= len(chunk)
        os.fchmod(copy.fileno(), mode)
        copy.flush()
        os.utime(copy.fileno(), ns=(entry.found.st_atime_ns, entry.found.st_mtime_ns))
