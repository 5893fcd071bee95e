"""What can be told of a program by how its file begins, and by how a command names it.

The kernel runs a file that it knows by its first bytes (ELF, Mach-O, what a host has registered), or a text file that
begins with `#!`. Any other it refuses, game after game: that is found out before the first one, and said with the cure.
"""

import json
import os
import shlex
import shutil
from pathlib import Path

from arena.system.printable import printable

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
    """Whether a file that begins so is a program of the kinds that are known everywhere."""
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
    """What to add to "there is no such program" where the first word of a command is near to one that there is.

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
