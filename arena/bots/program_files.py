"""Program files: the links that lead to them, and how they begin. Nothing is opened on the way to one.

The kernel runs a file that it knows by its first bytes (ELF, Mach-O, what a host has registered), or a text file that
begins with `#!`. It refuses any other, game after game: that is found out before the first one, and said with the cure.
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
"""As many links as Linux follows in one path."""


@dataclass(frozen=True)
class Link:
    """A symbolic link: where it is, with no link left in the path of its folder, and the text that it holds."""

    place: Path
    target: str


@dataclass(frozen=True)
class Trail:
    """The way that a path leads: all links in their order, and what is at the end, which is no link.

    `stages` are the whole path as it is at each link, resolved that far, and the end.
    """

    links: tuple[Link, ...]
    end: Path
    stages: tuple[Path, ...]

    @property
    def places(self) -> tuple[Path, ...]:
        """Where each link is, and the end."""
        return (*(link.place for link in self.links), self.end)


def follow(path: Path) -> Trail:
    """Follow an absolute path to its end. Raises `OSError`, as opening it would, if there is none."""
    here, links, stages = Path("/"), list[Link](), list[Path]()
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
        stages.append(Path(place, *reversed(waiting)))
        if len(links) > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        if target.startswith("/"):
            here = Path("/")
        waiting += reversed(target.split("/"))
    return Trail(tuple(links), here, (*stages, here))


def links_out(folder: Path, names: Iterable[str]) -> Iterator[Link]:
    """Yield those of the files in a folder that are links out of it."""
    root = Path(os.path.realpath(folder))
    for name in names:
        with suppress(OSError, ValueError):
            place = root / name
            if place.is_symlink() and not Path(os.path.realpath(place)).is_relative_to(root):
                yield Link(Path(name), os.readlink(place))


def at_its_folder(path: Path) -> Path:
    """Return the same path with no link left in the path of its folder. Raises `OSError`."""
    return Path(os.path.realpath(path.parent, strict=True), path.name)


FIRST_LINE = 256
"""Bytes of a script that the kernel looks at."""
SCRIPT_MARK = b"#!"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BINARY_MARKS = (
    b"\x7fELF",
    *(bytes.fromhex(magic) for magic in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe")),  # Mach-O
)
LONGEST_SHOWN = 200


def is_meant_to_run(start: bytes) -> bool:
    """Return whether a file that begins so is a program of the kinds that are known everywhere."""
    return start.startswith((SCRIPT_MARK, *BINARY_MARKS))


def text_fault(start: bytes, name: str) -> str | None:
    """Why the system will not run a file that begins so, if it is a text file without `#!`; None for anything else.

    `name` is the file's, for the cure. What has a NUL in it is no text: somebody may have registered its kind.
    """
    if is_meant_to_run(start) or b"\0" in start:
        return None
    if start.startswith(BYTE_ORDER_MARK + SCRIPT_MARK):
        return "a byte order mark stands before its #!, so the system cannot run it: save it as UTF-8 without one"
    cure = (
        "add #!/usr/bin/env python3 as the first line, or chmod -x"
        if name.endswith(".py")
        else "expected a program, or a script whose first line names what runs it, such as #!/bin/sh"
    )
    return f"it can be executed, but is a text file without a #! line, which the system cannot run: {cure}"


def command_hint(folder: Path, word: str, path: str) -> str:
    """Suggest a program where there is none of the name that is the first word of a command.

    `folder` is the bot's, `path` where programs without a slash are looked for.
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
    return f"; each word stands by itself: {_shown(json.dumps(words, ensure_ascii=False))}" if first else ""


def _shown(text: str) -> str:
    return printable(text, LONGEST_SHOWN)
