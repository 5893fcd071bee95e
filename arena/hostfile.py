"""Files that a user names, read without ever waiting, and with one sentence for each way in which that goes wrong.

A name may stand for a FIFO, at which a plain read waits for ever, a terminal, a device or a file of 30 GB. Only a
regular file of a size that makes sense is read.
"""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from arena.printable import printable

LARGEST = 1 << 20
"""Bytes that a file written by hand may have."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class FileError(Exception):
    """The file cannot be read, or does not say what it should; the text says which file, and why."""


def kind_of(mode: int) -> str | None:
    """What a path stands for, in words, from its `st_mode`; None for a regular file."""
    return next((words for is_kind, words in _KINDS if is_kind(mode)), None)


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """The content of a regular file of at most so many bytes. Raises `FileError`."""
    try:
        kind = kind_of(path.stat().st_mode)  # before it is opened: that alone may wake a device
        if kind:
            raise FileError(f"{path}: cannot be read: expected a file, got {kind}")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            if kind_of(os.fstat(descriptor).st_mode):
                raise FileError(f"{path}: cannot be read: it has just been replaced")
            content = file.read(largest + 1)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL, or half a surrogate pair
        raise FileError(f"{printable(str(path))}: cannot be read: this is no path") from None
    if len(content) > largest:
        raise FileError(f"{path}: cannot be read: expected at most {largest} bytes")
    return content


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises `FileError`."""
    try:
        text = read_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not valid TOML: not a text in UTF-8 (byte {error.start})") from None
    return parse_toml(text.replace("\r\n", "\n"), str(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a text in TOML; `where` names it in errors. Raises `FileError`."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FileError(f"{where}: not valid TOML: its values lie too deep in one another") from None
    except ValueError as error:  # TOMLDecodeError, or a number with thousands of digits
        raise FileError(f"{where}: not valid TOML: {printable(str(error), 200)}") from None
