"""Commands as a user can type or paste them again."""

import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "arena"


def this_command() -> str:
    """How this program is called: by its name, or by the path that it was called by if a shell finds another one."""
    called = sys.argv[0]
    if Path(called).name != NAME:  # started by some other program
        return NAME
    found = shutil.which(NAME)
    try:
        return NAME if found is not None and os.path.samefile(found, called) else called
    except OSError:
        return NAME


def shell_line(*words: str) -> str:
    """The line that a shell splits into these words. What cannot be shown stands as `$'\\xff'`, as in bash."""
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    plain = (
        chr(byte) if chr(byte).isprintable() and byte < 0x80 and byte not in b"'\\" else f"\\x{byte:02x}"
        for byte in os.fsencode(word)
    )
    return "$'" + "".join(plain) + "'"
