"""Program files: the links that lead to them, and how they begin.

The kernel runs a file that it knows by its first bytes (ELF, Mach-O, registered formats), or a text file that begins
with `#!`. It refuses any other, game after game: that is reported before the first game, with the cure. Files are not
opened while links are followed.
"""

import errno
import json
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arena.system.printable import printable

MOST_LINKS = 40
"""The number of links that Linux follows in one path."""


@dataclass(frozen=True)
class Link:
    """A symbolic link: its place, in a folder free of links, and its text."""

    place: Path
    target: str


def is_program(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def links_of(path: Path) -> tuple[Link, ...]:
    """Return the links that an absolute path leads through, in order. Raises `OSError`, as opening it would."""
    here, links = Path("/"), list[Link]()
    waiting = list(reversed(path.parts[1:]))
    while waiting:
        name = waiting.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = here.parent
            continue
        place = here / name
        try:
            target = os.readlink(place)
        except OSError as error:
            if error.errno != errno.EINVAL:  # which it is for all that is there and no link
                raise
            here = place
            continue
        links.append(Link(place, target))
        if len(links) > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        if target.startswith("/"):
            here = Path("/")
        waiting += reversed(target.split("/"))
    return tuple(links)


def links_out(folder: Path, names: Iterable[str]) -> Iterator[Link]:
    """Yield those of the files in a folder that are links out of it."""
    root = Path(os.path.realpath(folder))
    for name in names:
        with suppress(OSError, ValueError):
            place = root / name
            if place.is_symlink() and not Path(os.path.realpath(place)).is_relative_to(root):
                yield Link(Path(name), os.readlink(place))


def at_its_folder(path: Path) -> Path:
    """Return the same path with its folder resolved, but not its last component. Raises `OSError`."""
    return Path(os.path.realpath(path.parent, strict=True), path.name)


FIRST_LINE = 256
"""Bytes of a script that the kernel reads."""
SCRIPT_MARK = b"#!"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BINARY_MARKS = (
    b"\x7fELF",
    *(bytes.fromhex(magic) for magic in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe")),  # Mach-O
)
LONGEST_SHOWN = 200


def is_meant_to_run(start: bytes) -> bool:
    return start.startswith((SCRIPT_MARK, *BINARY_MARKS))


def text_fault(start: bytes, name: str) -> str | None:
    """Return why the system will not run a file that begins so, if it is a text file without `#!`; otherwise None.

    `name` is the file's, for the cure. A file with a NUL is no text: its format may be registered.
    """
    if is_meant_to_run(start) or b"\0" in start:
        return None
    if start.startswith(BYTE_ORDER_MARK + SCRIPT_MARK):
        return "there is a byte order mark before its #!, so the system cannot run it: save it as UTF-8 without one"
    cure = (
        "add #!/usr/bin/env python3 as the first line, or chmod -x"
        if name.endswith(".py")
        else "expected a program, or a script with a first line that names its interpreter, such as #!/bin/sh"
    )
    return f"it can be executed, but is a text file without a #! line, which the system cannot run: {cure}"


def command_hint(folder: Path, word: str, path: str) -> str:
    """Suggest a program if the first word of a command names none.

    `folder` is the bot's; programs without a slash are searched in `path`.
    """
    if "/" not in word and os.path.isfile(folder / word):
        return f'; did you mean "./{_shown(word)}"?'
    try:
        words = shlex.split(word)
    except ValueError:
        return ""
    if len(words) < 2:
        return ""
    first = os.path.isfile(folder / words[0]) if "/" in words[0] else shutil.which(words[0], path=path) is not None
    return f"; each word is a string of its own: {_shown(json.dumps(words, ensure_ascii=False))}" if first else ""


def _shown(text: str) -> str:
    return printable(text, LONGEST_SHOWN)
