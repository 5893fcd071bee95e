"""What is to be known about one bot to run it where little is visible, found out once, before its first game.

Here it is said what a bot is shown of the machine, and refused what could not work or would show too much: so that a
mistake is told in a sentence, by its path, and not game after game by a program that does not start.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.bots import BotSpec, base_environment
from arena.confine.interpreters import SYSTEM, find_program, is_within, own_files
from arena.model import UsageError

HOME = "/bot"
"""Where a bot finds its own files."""


@dataclass(frozen=True)
class Recipe:
    """All about one bot that takes time to find out. Paths in `words` and `environment` are those inside.

    `own` is the bot's file or folder, which is shown at `place`; `folders` are what else of the machine is shown beside
    the system, at their own paths. `extras` are the variables that the bot's bot.toml sets.
    """

    own: Path
    place: str
    folders: tuple[Path, ...]
    words: tuple[str, ...]
    environment: Mapping[str, str]
    extras: Mapping[str, str]


def recipe(bot: BotSpec, others: Sequence[BotSpec] = ()) -> Recipe:
    """What is to be known to start a bot. `others` are bots whose files it must not see.

    Raises `UsageError` if the bot cannot be run where little is visible, or would see another bot.
    """
    own, program = own_files(bot), find_program(bot)
    place = HOME if own.is_dir() else f"{HOME}/{own.name}"

    def inside(text: str) -> str:
        """A word of the command or a value of the environment, with the bot's own path as it is inside."""
        path = Path(text)
        if not path.is_absolute() or not (path.parent.resolve() / path.name).is_relative_to(own):
            return text
        return str(place / (path.parent.resolve() / path.name).relative_to(own))

    visible = (*SYSTEM, *program.folders)
    _refuse_rivals(bot, own, visible, others)
    if os.geteuid() == 0:
        _check_readable(own, program.command, program.folders)
    base = base_environment()
    environment = {
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": _inner_path(program.command[0], bot.environment.get("PATH", ""), visible),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **program.environment,
    }
    java = bot.environment.get("JAVA_HOME")
    if java and is_within(Path(java).resolve(), visible):
        environment["JAVA_HOME"] = java
    return Recipe(
        own=own,
        place=place,
        folders=program.folders,
        words=tuple(inside(word) for word in program.command),
        environment=environment,
        extras={name: inside(value) for name, value in bot.environment.items() if base.get(name) != value},
    )


def _inner_path(program: str, path: str, visible: tuple[Path, ...]) -> str:
    """The PATH inside: the program's own folder, and what is visible of the bot's PATH outside."""
    folders = [str(Path(program).parent), *path.split(os.pathsep), "/usr/bin", "/bin"]
    return os.pathsep.join(folder for folder in dict.fromkeys(folders) if is_within(Path(folder), visible))


def _refuse_rivals(bot: BotSpec, own: Path, visible: tuple[Path, ...], others: Sequence[BotSpec]) -> None:
    """Raise `UsageError` if one bot's files, of another or of its own, are where all that use that folder see them."""
    for folder in visible:
        if own.is_relative_to(folder):
            raise UsageError(
                f"{bot.path}: every bot that needs {folder} could read this one there: move it out of that folder"
            )
    for other in others:
        theirs = own_files(other)
        if theirs != own and is_within(theirs, (own, *visible)):
            raise UsageError(f"{bot.path}: this bot could read {other.path}: move one of them out of the other's reach")


def _check_readable(own: Path, words: Sequence[str], folders: Sequence[Path]) -> None:
    """Raise `UsageError` if what a bot needs cannot be read by a user that nobody is, as bots of root run."""
    needed = {own, *folders}
    for word in words:
        path = Path(word)
        if path.is_absolute() and path.is_relative_to(own) and path.exists():
            needed.update(parent for parent in (path, *path.parents) if parent.is_relative_to(own))
    for path in sorted(needed):
        mode = path.stat().st_mode
        runs = stat.S_ISDIR(mode) or str(path) == words[0]
        if not mode & stat.S_IROTH or (runs and not mode & stat.S_IXOTH):
            raise UsageError(
                f"{path}: started by root, bots run as a user that owns nothing, and others may not read this: "
                f"chmod -R o+rX {own if path.is_relative_to(own) else path}"
            )
