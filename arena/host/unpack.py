"""The files of a submission, unpacked from what a stranger has sent: a tar, a zip, or one program.

Only regular files and folders are taken, below the folder, up to a number of files and of bytes that are really
unpacked; anything else is refused with its name. What a tar has besides its files (long names, say) is read into memory
by the library, so the bytes behind its compression are counted, too.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import shutil
import stat
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from arena.bots.names import PROGRAM_ENDINGS
from arena.errors import UsageError
from arena.host.cup_settings import Submissions
from arena.sandbox.launch import DISK_ERRORS
from arena.system.printable import printable

PIECE = 1 << 16
INNER = ".inner"
LONGEST_PART, DEEPEST = 120, 20
"""The longest name of a file or folder in bytes, and the most of them in a path: so that no path is too long."""
PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
TAR_OVERHEAD = 4096
"""Bytes for each file of a tar besides its content: its headers, with a long name, and the rest of a block."""
LEFT_BY_SYSTEMS = ("__MACOSX", ".DS_Store")
"""Names that the archives of some systems have besides the files."""
BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, MemoryError),
    *(ValueError, NotImplementedError, RuntimeError),
)
"""What the libraries raise for archives that are damaged, encrypted, or packed in a way that they do not know."""
OF_MACHINE = DISK_ERRORS | {errno.EACCES, errno.EPERM, errno.ENOENT}
"""Errors that no archive can cause."""


_Member = tuple[str, IO[bytes] | None, bool]
"""The name of a file in an archive, its content, and whether it is a program; a folder has no content."""


class UnpackError(UsageError):
    """The submission cannot be unpacked; the text says why, for its author."""


def unpack(source: BinaryIO, folder: Path, name: str, limits: Submissions) -> None:
    """Unpack a submission into a new folder; a single program gets the name `name`.

    Raises `UnpackError`, and `OSError` for a fault of the machine.
    """
    os.umask(0o022)  # files are readable for all users, as those of a build are: the folder of the competition is not
    folder.mkdir()
    try:
        start = source.read(8)
        source.seek(0)
        if start.startswith(b"PK"):
            _take(_of_zip(source), folder, limits)
        elif start.startswith((b"#!", b"\x7fELF")) or name.endswith(PROGRAM_ENDINGS):
            _take(iter([(name, source, True)]), folder, limits)
        else:
            opener = next((opener for magic, opener in PACKED if start.startswith(magic)), None)
            with _Counted(source if opener is None else opener(source), limits) as plain:
                _take(_of_tar(plain), folder, limits)
                while plain.read():
                    pass  # to the end, where the compression has its check of the whole
        _lift(folder)
    except UnpackError:
        shutil.rmtree(folder)
        raise
    except BROKEN as error:
        shutil.rmtree(folder)
        if isinstance(error, OSError) and error.errno in OF_MACHINE:
            raise
        words = printable(str(error), 200) or type(error).__name__
        expected = "expected a tar (also .gz, .bz2 or .xz), a zip, or one program"
        raise UnpackError(f"{expected}; this cannot be unpacked: {words}") from None


def _of_zip(source: BinaryIO) -> Iterator[_Member]:
    with zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if info.is_dir():
                yield info.filename, None, False
            elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise _refused(info.filename, "files and folders only, found a link or a device")
            else:
                with archive.open(info) as content:
                    yield info.filename, content, bool(mode & 0o100)


class _Counted(io.RawIOBase):
    """A stream of a tar without compression, up to what its files and their headers may have."""

    def __init__(self, stream: object, limits: Submissions) -> None:
        self._stream = cast(BinaryIO, stream)
        self._limits = limits
        self._left = (limits.unpacked_mib << 20) + TAR_OVERHEAD * (limits.files + 16)

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(PIECE if size < 0 else size)
        self._left -= len(data)
        if self._left < 0:
            raise _too_large(self._limits)
        return data


def _of_tar(source: _Counted) -> Iterator[_Member]:
    with tarfile.open(fileobj=cast(BinaryIO, source), mode="r|") as archive:
        for info in archive:
            if info.isdir():
                yield info.name, None, False
            elif not info.isreg():
                raise _refused(info.name, "files and folders only, found a link or a device")
            else:
                yield info.name, archive.extractfile(info), bool(info.mode & 0o100)


def _refused(name: str, expected: str) -> UnpackError:
    return UnpackError(f"{printable(name, 100)}: expected {expected}")


def _too_large(limits: Submissions) -> UnpackError:
    return UnpackError(f"expected at most {limits.unpacked_mib} MiB of files after unpacking")


def _take(members: Iterator[_Member], folder: Path, limits: Submissions) -> None:
    files, left = 0, limits.unpacked_mib << 20
    for name, content, is_program in members:
        files += 1
        if files > limits.files:
            raise UnpackError(f"expected at most {limits.files} files and folders")
        inner = _checked(name)
        if any(part in LEFT_BY_SYSTEMS for part in inner.parts):
            continue
        try:
            (folder / (inner if content is None else inner.parent)).mkdir(parents=True, exist_ok=True)
            if content is None:
                continue
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(folder / inner, flags, 0o755 if is_program else 0o644)
        except (FileExistsError, NotADirectoryError):
            raise _refused(name, "each file once, and it is in the archive twice") from None
        with open(descriptor, "wb") as file:
            while piece := content.read(min(PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise _too_large(limits)
                file.write(piece)


def _checked(name: str) -> PurePosixPath:
    """Return the path of a member below the folder. Raises `UnpackError`."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise _refused(name, "names in UTF-8") from None
    path = PurePosixPath(name)
    parts = [part for part in path.parts if part != "."]
    if path.is_absolute() or ".." in parts or "\\" in name:
        raise _refused(name, "names of files below the folder")
    if len(parts) > DEEPEST or any(len(part.encode()) > LONGEST_PART for part in parts):
        raise _refused(name, f"names of at most {LONGEST_PART} bytes, {DEEPEST} folders deep")
    if any(printable(part) != part for part in parts):
        raise _refused(name, "names without control characters")
    return PurePosixPath(*parts)


def _lift(folder: Path) -> None:
    """If a folder has one folder and nothing else, put what is in that in its place. Raises `UnpackError` if empty."""
    inner = list(folder.iterdir())
    if not inner:
        raise UnpackError("expected a bot, and the archive is empty")
    if len(inner) == 1 and inner[0].is_dir():
        aside = folder.with_name(f"{folder.name}{INNER}")
        inner[0].rename(aside)
        folder.rmdir()
        aside.rename(folder)


def remove(folder: Path) -> None:
    """Remove the files of a submission, if they are there, and what an interrupted `unpack` has left."""
    for path in (folder, folder.with_name(f"{folder.name}{INNER}")):
        remove_tree(path)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, also thousands of folders in each other, which `shutil` cannot."""
    subprocess.run(["rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)
