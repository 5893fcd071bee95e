"""Folders of strangers as a whole: their digest, and how they are removed. No link in them is followed."""

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path

from arena.bots.sandbox import files
from arena.hostfile import open_regular

_CHUNK = 1 << 20


def tree_digest(folder: Path) -> str:
    """The SHA-256 of all that is in a folder: names, contents, texts of links, and what can be run. No link is
    followed. Raises `FilesError` and `OSError`."""
    whole = hashlib.sha256()
    for entry in files.entries(folder):
        mode = entry.found.st_mode
        content = b""
        if stat.S_ISLNK(mode):
            content = os.fsencode(os.readlink(entry.name, dir_fd=entry.folder))
        elif stat.S_ISREG(mode):
            content = _content(entry)
        kind = b"%o %d" % (stat.S_IFMT(mode), bool(mode & 0o100) and stat.S_ISREG(mode))
        name = os.fsencode(entry.path)
        whole.update(b"%s %d %s %d %s\n" % (kind, len(name), name, len(content), content))
    return whole.hexdigest()


def _content(entry: files.Entry) -> bytes:
    content = hashlib.sha256()
    with open(open_regular(entry.name, entry.folder), "rb") as file:
        while data := file.read(_CHUNK):
            content.update(data)
    return content.digest()


def remove(place: Path) -> None:
    """Remove a folder, a file or a link, as far as that can be done. No link is followed."""
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            place.unlink()
            return
        _open_up(place)
        for folder, names, _ in os.walk(place):  # from the top on: what is closed can be opened by its owner
            for name in names:
                _open_up(Path(folder, name))
        shutil.rmtree(place, ignore_errors=True)


def _open_up(folder: Path) -> None:
    with contextlib.suppress(OSError):
        mode = os.lstat(folder).st_mode
        if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
            folder.chmod(0o700)
