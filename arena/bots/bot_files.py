"""Read the files of a bot, which its entrant may have prepared with bad intent.

Only regular files are opened, no link is followed out of the folder, and sizes and numbers are bounded before reading.
"""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from arena.bots.covered import Covered, Ignored, Look, Parts, Stamp
from arena.bots.limits import GIB, MIB, size_text
from arena.errors import UsageError
from arena.system.printable import printable
from arena.system.user_files import HOST_ERRORS, NotAFileError, open_regular

BUILD_FOLDERS = frozenset(
    os.fsencode(name) for name in ("__pycache__", "build", "dist", "node_modules", "target", "venv")
)
MOST_BYTES = 2 * GIB
"""The largest total size of the files that a digest covers, holes of sparse files included."""
MOST_FILES = 50_000
"""The most files and folders that are listed."""
CHUNK = MIB
SHOWN_END = 100
"""Messages show this much of the beginning and end of a longer path."""


def look_at(covered: Covered) -> Look:
    """Return the stamps of the covered files, without reading them. Raises `UsageError`."""
    reader = BotFiles(os.fsencode(covered.folder))
    return reader.look(covered, reader.covered_files(covered))


def program_content(covered: Covered) -> bytes | None:
    """Return the hexadecimal SHA-256 of the built program; None where there is none, or it cannot be read."""
    parts = _parts(covered.never, covered.folder)
    if parts is None:
        return None
    reader = BotFiles(os.fsencode(covered.folder))
    source = reader.behind(parts)
    try:
        return None if source is None else reader.content(source)[0]
    except UsageError:
        return None


def behind_link(folder: Path, name: str) -> Path | None:
    """Return the regular file inside a folder, free of links, that a link there leads to; None if there is none."""
    target = BotFiles(os.fsencode(folder)).behind((os.fsencode(name),))
    return None if target is None else folder.joinpath(*map(os.fsdecode, target))


def _parts(path: Path | None, folder: Path) -> Parts | None:
    if path is None or not path.is_relative_to(folder):
        return None
    return tuple(os.fsencode(part) for part in path.relative_to(folder).parts)


def _stamp_of(path: Path | bytes) -> Stamp:
    try:
        return stamp_of_status(os.stat(path))
    except OSError:
        return ()


def stamp_of_status(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@dataclass
class FileListing:
    """The content of a bot's folder: `files` and links, the `folders` that they may be in, and what is `left_out`.

    Left out are hidden names, build folders and ignored names; `ignored_folders` are the folders among the last.
    """

    files: set[Parts] = field(default_factory=set)
    folders: set[Parts] = field(default_factory=set)
    ignored_folders: set[Parts] = field(default_factory=set)
    left_out: set[Parts] = field(default_factory=set)


class BotFiles:
    def __init__(self, root: bytes) -> None:
        self._root = root
        self._left = MOST_BYTES

    def covered_files(self, covered: Covered) -> list[Parts]:
        if covered.only is not None:
            return [(os.fsencode(covered.only),)]
        excepted = _parts(covered.never, covered.folder)
        found = self.listing(covered.ignored).files
        for path in covered.always:
            parts = _parts(path, covered.folder)
            if parts and self.has_content(parts):
                found.add(parts)
        return sorted(parts for parts in found if parts != excepted)

    def look(self, covered: Covered, files: Sequence[Parts]) -> Look:
        """Return the stamps of these files; one that has gone meanwhile is left out."""
        at = time.time_ns()
        stamps = {parts: stamp for parts in files if (stamp := self._stamp(parts))}
        return Look(covered, stamps, _stamp_of(covered.never) if covered.never else None, at)

    def _stamp(self, parts: Parts) -> Stamp:
        path = self._path(parts)
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unreadable(parts, error) from None
        target = self.behind(parts) if stat.S_ISLNK(status.st_mode) else None
        return stamp_of_status(status) + (_stamp_of(self._path(target)) if target else ())

    def listing(self, ignored: Ignored) -> FileListing:
        """List the folder, without looking inside what is left out."""
        found = FileListing()
        seen = 0
        waiting: list[Parts] = [()]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(self._path(folder)) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > MOST_FILES:
                            raise UsageError(f"{self._shown(())}: more than {MOST_FILES} files and folders are in it")
                        self._list(entry, (*folder, entry.name), ignored, found, waiting)
            except FileNotFoundError as error:
                if not folder:
                    raise self._unreadable(folder, error) from None
                # else it was removed after it was listed: a running bot makes and removes folders
            except OSError as error:
                raise self._unreadable(folder, error) from None
        return found

    def _list(
        self, entry: "os.DirEntry[bytes]", parts: Parts, ignored: Ignored, found: FileListing, waiting: list[Parts]
    ) -> None:
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(b".") or (is_folder and entry.name in BUILD_FOLDERS):
            found.left_out.add(parts)
        elif ignored.matches([os.fsdecode(part) for part in parts]):
            found.left_out.add(parts)
            if is_folder:
                found.ignored_folders.add(parts)
        elif is_folder:
            found.folders.add(parts)
            waiting.append(parts)
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            found.files.add(parts)  # a FIFO, a socket or a device has no content to tell versions by

    def has_content(self, parts: Parts) -> bool:
        with suppress(OSError):
            mode = os.lstat(self._path(parts)).st_mode
            return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
        return False

    def link(self, parts: Parts) -> bytes | None:
        try:
            return os.readlink(self._path(parts))
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise self._unreadable(parts, error) from None

    def behind(self, parts: Parts) -> Parts | None:
        """Return the regular file of the folder that a link leads to; None if there is none."""
        end = os.path.realpath(self._path(parts))
        with suppress(OSError):
            if end.startswith(self._root + b"/") and stat.S_ISREG(os.lstat(end).st_mode):
                return tuple(end[len(self._root) + 1 :].split(b"/"))
        return None

    def content(self, parts: Parts, most_kept: int = 0) -> tuple[bytes, bytes | None]:
        """Return the hexadecimal SHA-256 of a regular file, and its bytes if there are at most `most_kept`."""
        content = hashlib.sha256()
        kept = bytearray()  # bytes would be copied with each piece
        with self._opened(parts) as descriptor:
            expected, size = os.fstat(descriptor).st_size, 0
            self._take(expected, parts)
            while data := os.read(descriptor, CHUNK):
                content.update(data)
                size += len(data)
                kept += data[: most_kept + 1 - len(kept)]
                if size > expected:  # it grows while it is read
                    self._take(len(data), parts)
        return content.hexdigest().encode(), bytes(kept) if 0 < len(kept) <= most_kept else None

    def copy(self, parts: Parts, target: Path) -> None:
        """Copy a file, or the file of the folder that a link leads to. Any other link is copied as a link."""
        link = self.link(parts)
        source = parts if link is None else self.behind(parts)
        if source is None:
            target.symlink_to(os.fsdecode(link or b""))
            return
        with self._opened(source) as descriptor, target.open("xb") as copy:
            status = os.fstat(descriptor)
            self._take(status.st_size, parts)
            while data := os.read(descriptor, CHUNK):
                copy.write(data)
            os.chmod(copy.fileno(), 0o755 if status.st_mode & 0o100 else 0o644)

    def _take(self, size: int, parts: Parts) -> None:
        self._left -= size
        if self._left < 0:
            raise UsageError(
                f"{self._shown(parts)}: the files of a bot may have {size_text(MOST_BYTES)} together, "
                "and with this one they have more"
            )

    @contextmanager
    def _opened(self, parts: Parts) -> Iterator[int]:
        try:
            file = open_regular(self._path(parts))
        except OSError as error:
            raise self._unreadable(parts, error) from None
        try:
            yield file
        except OSError as error:
            raise self._unreadable(parts, error) from None
        finally:
            os.close(file)

    def _path(self, parts: Parts) -> bytes:
        return b"/".join((self._root, *parts))

    def _shown(self, parts: Parts) -> str:
        inner = os.fsdecode(b"/".join(parts))
        if len(inner) > 2 * SHOWN_END:
            inner = f"{inner[:SHOWN_END]}...{inner[-SHOWN_END:]}"
        return printable(os.path.join(os.fsdecode(self._root), inner) if inner else os.fsdecode(self._root))

    def _unreadable(self, parts: Parts, error: OSError) -> UsageError | OSError:
        if error.errno in HOST_ERRORS:
            return error
        if isinstance(error, NotAFileError):
            return UsageError(f"{self._shown(parts)}: expected a file, got {error.kind}")
        return UsageError(f"{self._shown(parts)}: cannot be read: {error.strerror}")
