"""TOML files that somebody else has written, read so that nothing in them but text can come of it.

What is opened is a regular file and nothing else (a FIFO would wait for ever), a bounded part of it is read, and
whatever the parser makes of it, depth and size included, ends in one error that names the file.
"""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from arena.model import UsageError
from arena.printable import printable, shown

MOST_BYTES = 16 * 1024
"""What a bot.toml may have: the worst, one key of 8,000 parts, takes the parser a second; with twice as many, four."""
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


def kind_of(mode: int) -> str:
    """What a file of this mode is, in words."""
    return next((words for is_kind, words in KINDS if is_kind(mode)), "a file")


def read_toml(path: Path, where: str = "", most: int = MOST_BYTES) -> dict[str, Any]:
    """The tables of a TOML file of at most so many bytes.

    Raises `UsageError` that names the file, as `where` or else by its path.
    """
    where = where or printable(str(path))
    try:
        # Looked at before it is opened, too: opening is enough to make some devices act.
        _check_regular(path.stat().st_mode, where)
        descriptor = os.open(path, READ)
    except OSError as error:
        raise UsageError(f"{where}: cannot be read: {error.strerror}") from None
    with open(descriptor, "rb") as file:
        _check_regular(os.fstat(descriptor).st_mode, where)
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise UsageError(f"{where}: cannot be read: {error.strerror}") from None
    if len(data) > most:
        raise UsageError(f"{where}: expected a TOML file of at most {most // 1024} KiB, got a longer one")
    return parse_toml(data, where)


def _check_regular(mode: int, where: str) -> None:
    if not stat.S_ISREG(mode):
        raise UsageError(f"{where}: expected a TOML file, got {kind_of(mode)}")


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """The tables in the bytes of a TOML file; `where` names it in errors. Raises `UsageError`."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{where}: not valid TOML: it is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise UsageError(f"{where}: not valid TOML: it is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; so is what int() says of 10,000 digits
        raise UsageError(f"{where}: not valid TOML: {shown(error)}") from None
