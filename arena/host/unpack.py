"""The files of a submission, unpacked from what a stranger has sent: a tar, a zip, or one program.

Nothing in an archive is trusted. Only regular files and folders are taken, below the folder, up to a number of files
and of bytes that are really unpacked; anything else is refused with its name. Links are refused, since a bot has no
need of them; so are names that are no UTF-8, have a part `..`, or are too long or too deep.
"""

import io
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
from typing import IO, BinaryIO

from arena.errors import ArenaError
from arena.system.printable import printable

PIECE = 1 << 16
LONGEST_PART, DEEPEST = 200, 20
"""The longest name of a file or folder in bytes, and the most of them in a path."""
ARCHIVES = "a tar (also .gz, .bz2 or .xz), a zip, or one program"
BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
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
    folder.mkdir(mode=0o700)
    try:
        start = source.read(8)
        source.seek(0)
        if start.startswith(b"PK"):
            _take(_of_zip(source), folder, limits)
        elif start.startswith((b"#!", b"\x7fELF")):
            _take(iter([_Member(name, io.BytesIO(source.read(limits.bytes + 1)), is_program=True)]), folder, limits)
        else:
            _take(_of_tar(source), folder, limits)
        _lift(folder)
        _refuse_nothing(folder)
    except UnpackError:
        shutil.rmtree(folder)
        raise
    except BROKEN as error:
        shutil.rmtree(folder)
        words = printable(str(error), 200) or type(error).__name__
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


def _of_tar(source: BinaryIO) -> Iterator[_Member]:
    with tarfile.open(fileobj=source, mode="r|*") as archive:
        for info in archive:
            if info.isdir():
                yield _Member(info.name, None)
            elif not info.isreg():
                raise UnpackError(f"{_shown(info.name)}: expected files and folders only, found a link or a device")
            else:
                yield _Member(info.name, archive.extractfile(info), bool(info.mode & 0o100))


def _take(members: Iterator[_Member], folder: Path, limits: UnpackLimits) -> None:
    files, left = 0, limits.bytes
    for member in members:
        files += 1
        if files > limits.files:
            raise UnpackError(f"expected at most {limits.files} files and folders")
        path = folder / _checked(member.name)
        if member.content is None:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            continue
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            descriptor = os.open(path, flags, 0o700 if member.is_program else 0o600)
        except FileExistsError:
            raise UnpackError(f"{_shown(member.name)} is in the archive twice") from None
        with open(descriptor, "wb") as file:
            while piece := member.content.read(min(PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise UnpackError(f"expected at most {limits.bytes >> 20} MiB of files after unpacking")
                file.write(piece)


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
    aside = folder.with_name(f"{folder.name}.inner")
    inner[0].rename(aside)
    folder.rmdir()
    aside.rename(folder)


def _shown(name: str) -> str:
    return printable(name, 100)


def remove(folder: Path) -> None:
    """Remove the files of a submission, if they are there."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
