"""Commands as a user can type or paste them again."""

import os
import shlex
import sys
from pathlib import Path

NAME = "arena"


def started_as_module() -> bool:
    """Whether this program was started by `python -m arena`."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name == "arena.__main__"


def this_command() -> tuple[str, ...]:
    """The words that call this program: its name, or the path that it was called by if a shell finds another one.

    That is `python -m arena` where it was started so, by the Python that runs it.
    """
    if started_as_module():
        return (_this_python(), "-m", NAME)
    called = sys.argv[0]
    if Path(called).name != NAME:  # started by some other program
        return (NAME,)
    found = _found_by_shell(NAME)
    try:
        return (NAME,) if found is not None and os.path.samefile(found, called) else (called,)
    except OSError:
        return (NAME,)


def _this_python() -> str:
    """What a shell calls this Python by. Links are not followed: an environment is known by the path of its Python."""
    name = os.path.basename(sys.executable)
    found = _found_by_shell(name)
    return name if found is not None and os.path.abspath(found) == sys.executable else sys.executable


def _found_by_shell(name: str) -> str | None:
    import shutil  # here, for it takes longer to import than the rest of this module, and `arena --help` needs it not

    return shutil.which(name)


def shell_line(*words: str) -> str:
    """The line that a shell splits into these words. What cannot be shown stands as `$'\\xff'`, as in bash."""
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    plain = (
        chr(byte) if chr(byte).isprintable() and byte < 0x80 and byte not in b"'\\" else f"\\x{byte:02x}"
        for byte in os.fsencode(word)
    )
    return "$'" + "".join(plain) + "'"
