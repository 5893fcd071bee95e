"""How this arena was installed and started: its name in a shell, and missing parts of the installation or machine."""

import importlib.util
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from arena.errors import UsageError

NAME = "arena"


def started_as_module() -> bool:
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name == "arena.__main__"


def arena_line(*words: str, game: str = "") -> str:
    """Return the line that calls this program with these words: by its name, or its path if a shell finds another one.

    The words for a `game` that is not installed say where it is.
    """
    import shutil  # commands that print no line start sooner

    called = sys.argv[0]
    if started_as_module():
        program = [sys.executable, "-m", NAME]
    elif Path(called).name == NAME and shutil.which(NAME) not in (None, called):
        program = [called]
    else:
        program = [NAME]
    file = None
    if game:
        from arena.game.registry import file_of

        file = file_of(game)
    return shlex.join([*program, *words, *(("--game", file) if file else ())])


SERVING = ("jinja2", "starlette", "hypercorn")


def needs(packages: Sequence[str], extra: str, command: str) -> None:
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise UsageError(
            f"{command} needs the extra {extra!r} of stratego-arena, which is not installed: "
            f"python -m pip install {' '.join(missing)}"
        )


def refuse_windows() -> None:
    """Raise `UsageError` on Windows: the arena waits for the pipes of bots as only Unix can."""
    if sys.platform == "win32":
        raise UsageError(
            "bots run on Linux and macOS; on Windows run arena in WSL 2, where all of it works "
            "(stores can be read here: arena standings, games, show)"
        )
