"""Files that somebody else has named or written, read without ever waiting, and with one sentence for what goes wrong.

A path may stand for a FIFO, at which a plain read waits for ever, a terminal, a device or a file of 30 GB. What is
opened is a regular file and nothing else, and a bounded part of it is read. Whatever the parser makes of a TOML file,
depth and size included, ends in one error that names the file.
"""

import errno
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from arena.errors import UsageError
from arena.printable import printable, shown

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


class FileError(UsageError):
    """The file cannot be read, or is not what it should be; the text says which file, and why."""


def kind_of(mode: int) -> str:
    """What a file of this mode is, in words."""
    return next((words for is_kind, words in KINDS if is_kind(mode)), "a file")


def read_file(path: Path, where: str = "", most: int = MOST_BYTES, what: str = "a file") -> bytes:
    """The content of a regular file of at most so many bytes.

    Raises `FileError` that names the file, as `where` or else by its path, and says what was expected; `OSError` where
    the machine has run out of something.
    """
    where = where or printable(str(path))
    try:
        # Looked at before it is opened, too: opening is enough to make some devices act.
        _check_regular(path.stat().st_mode, where, what)
        with open(os.open(path, READ | getattr(os, "O_BINARY", 0)), "rb") as file:
            _check_regular(os.fstat(file.fileno()).st_mode, where, what)
            content = file.read(most + 1)
    except OSError as error:
        if error.errno in HOST_ERRORS:
            raise
        raise FileError(f"{where}: cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL, or half a surrogate pair
        raise FileError(f"{where}: cannot be read: this is no path") from None
    if len(content) > most:
        raise FileError(f"{where}: expected {what} of at most {most // 1024} KiB, got a longer one")
    return content


def _check_regular(mode: int, where: str, what: str) -> None:
    if not stat.S_ISREG(mode):
        raise FileError(f"{where}: expected {what}, got {kind_of(mode)}")


def read_toml(path: Path, where: str = "", most: int = MOST_BYTES) -> dict[str, Any]:
    """The tables of a TOML file of at most so many bytes. Raises `FileError` as `read_file` does."""
    where = where or printable(str(path))
    return parse_toml(read_file(path, where, most, "a TOML file"), where)


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """The tables in the bytes of a TOML file; `where` names it in errors. Raises `FileError`."""
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(f"{where}: not valid TOML: it is not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise FileError(f"{where}: not valid TOML: it is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError is one; so is what int() says of 10,000 digits
        raise FileError(f"{where}: not valid TOML: {shown(error)}") from None
