"""The files of a submission, unpacked from what a stranger has sent: a tar, a zip, or one program.

Nothing in an archive is trusted. Only regular files and folders are taken, below the folder, up to a number of files
and of bytes that are really unpacked; anything else is refused with its name. Links are refused, since a bot has no
need of them; so are names that are no UTF-8, have a part `..`, or are too long or too deep. What a tar has besides its
files (long names, say) is read into memory by the library, so the bytes behind its compression are counted, too.

The files are readable for all users, as those of a build are: the folder of the competition is not.
"""

import bz2
import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from arena.bots.names import PROGRAM_ENDINGS
from arena.errors import ArenaError
from arena.sandbox.launch import disk_fault
from arena.system.printable import printable

PIECE = 1 << 16
INNER = ".inner"
LONGEST_PART, DEEPEST = 200, 20
"""The longest name of a file or folder in bytes, and the most of them in a path."""
ARCHIVES = "a tar (also .gz, .bz2 or .xz), a zip, or one program"
PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
TAR_OVERHEAD = 4096
"""Bytes for each file of a tar besides its content: its headers, with a long name, and the rest of a block."""
LEFT_BY_SYSTEMS = ("__MACOSX", ".DS_Store")
"""Names that the archives of some systems have besides the files."""
BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    MemoryError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)
"""What the libraries raise for archives that are damaged, encrypted, or packed in a way that they do not know."""


class UnpackError(ArenaError):
    """The submission cannot be unpacked; the text says why, for its author."""


@dataclass(frozen=True)
class UnpackLimits:
    files: int
    bytes: int


def unpack(source: BinaryIO, folder: Path, name: str, limits: UnpackLimits) -> None:
    """Unpack a submission into a new folder; a single program gets the name `name`. Raises `UnpackError`.

    If all files are in one folder of the archive, that folder is taken for the whole.
    """
    _make(folder)
    try:
        start = source.read(8)
        source.seek(0)
        if start.startswith(b"PK"):
            _take(_of_zip(source), folder, limits)
        elif start.startswith((b"#!", b"\x7fELF")) or name.endswith(PROGRAM_ENDINGS):
            _take(iter([_Member(name, source, is_program=True)]), folder, limits)
        else:
            opener = next((opener for magic, opener in PACKED if start.startswith(magic)), None)
            with _Counted(source if opener is None else opener(source), limits) as plain:
                _take(_of_tar(plain), folder, limits)
                while plain.read():
                    pass  # to the end, where the compression has its check of the whole
        _lift(folder)
        _refuse_nothing(folder)
    except UnpackError:
        shutil.rmtree(folder)
        raise
    except BROKEN as error:
        shutil.rmtree(folder)
        _raise_disk_fault(error)
        words = printable(getattr(error, "strerror", None) or str(error), 200) or type(error).__name__
        raise UnpackError(f"expected {ARCHIVES}; this cannot be unpacked: {words}") from None


@dataclass(frozen=True)
class _Member:
    """A file in an archive; without a `content` it is a folder."""

    name: str
    content: IO[bytes] | None
    is_program: bool = False


def _of_zip(source: BinaryIO) -> Iterator[_Member]:
    with zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            kind = stat.S_IFMT(mode)
            if info.is_dir():
                yield _Member(info.filename, None)
            elif kind not in (0, stat.S_IFREG):
                raise UnpackError(f"{_shown(info.filename)}: expected files and folders only, found a link or a device")
            else:
                with archive.open(info) as content:
                    yield _Member(info.filename, content, bool(mode & 0o100))


class _Counted(io.RawIOBase):
    """A stream of a tar without compression, up to what its files and their headers may have."""

    def __init__(self, stream: object, limits: UnpackLimits) -> None:
        self._stream = cast(BinaryIO, stream)
        self._limits = limits
        self._left = limits.bytes + TAR_OVERHEAD * (limits.files + 16)

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
                yield _Member(info.name, None)
            elif not info.isreg():
                raise UnpackError(f"{_shown(info.name)}: expected files and folders only, found a link or a device")
            else:
                yield _Member(info.name, archive.extractfile(info), bool(info.mode & 0o100))


def _too_large(limits: UnpackLimits) -> UnpackError:
    return UnpackError(f"expected at most {limits.bytes >> 20} MiB of files after unpacking")


def _take(members: Iterator[_Member], folder: Path, limits: UnpackLimits) -> None:
    files, left = 0, limits.bytes
    for member in members:
        files += 1
        if files > limits.files:
            raise UnpackError(f"expected at most {limits.files} files and folders")
        inner = _checked(member.name)
        if any(part in LEFT_BY_SYSTEMS for part in inner.parts):
            continue
        path = folder / inner
        try:
            _make_folders(folder, inner if member.content is None else inner.parent)
            if member.content is None:
                continue
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, 0o600)
        except (FileExistsError, NotADirectoryError):
            raise UnpackError(f"{_shown(member.name)} is in the archive twice") from None
        with open(descriptor, "wb") as file:
            while piece := member.content.read(min(PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise _too_large(limits)
                file.write(piece)
            os.fchmod(descriptor, 0o755 if member.is_program else 0o644)


def _make(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)


def _make_folders(folder: Path, inner: PurePosixPath) -> None:
    for part in inner.parts:
        folder /= part
        if not folder.is_dir():
            _make(folder)


def _raise_disk_fault(error: BaseException) -> None:
    """Raise `HostError` if an error is that of a full disk, which is not the archive's fault."""
    fault = disk_fault(error, "a submission cannot be unpacked") if isinstance(error, OSError) else None
    if fault is not None:
        raise fault from error


def _checked(name: str) -> PurePosixPath:
    """Return the path of a member below the folder. Raises `UnpackError`."""
    try:
        encoded = name.encode("utf-8")
    except UnicodeEncodeError:
        raise UnpackError(f"{_shown(name)}: expected names in UTF-8") from None
    path = PurePosixPath(name)
    parts = [part for part in path.parts if part != "."]
    if path.is_absolute() or ".." in parts or b"\0" in encoded or "\\" in name:
        raise UnpackError(f"{_shown(name)}: expected names of files below the folder")
    if len(parts) > DEEPEST or any(len(part.encode()) > LONGEST_PART for part in parts):
        raise UnpackError(f"{_shown(name)}: expected names of at most {LONGEST_PART} bytes, {DEEPEST} folders deep")
    if any(printable(part) != part for part in parts):
        raise UnpackError(f"{_shown(name)}: expected names without control characters")
    return PurePosixPath(*parts)


def _refuse_nothing(folder: Path) -> None:
    if not any(folder.iterdir()):
        raise UnpackError("the archive is empty")


def _lift(folder: Path) -> None:
    """If a folder has one folder and nothing else, put what is in that in its place."""
    inner = list(folder.iterdir())
    if len(inner) != 1 or not inner[0].is_dir():
        return
    aside = folder.with_name(f"{folder.name}{INNER}")
    inner[0].rename(aside)
    folder.rmdir()
    aside.rename(folder)


def _shown(name: str) -> str:
    return printable(name, 100)


def remove(folder: Path) -> None:
    """Remove the files of a submission, if they are there, and what an interrupted `unpack` has left."""
    for path in (folder, folder.with_name(f"{folder.name}{INNER}")):
        with suppress(FileNotFoundError):
            shutil.rmtree(path)
