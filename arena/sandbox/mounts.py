"""Find out, before a bot's first game, what it needs where little of the machine is visible."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arena.bots.entering import own_files
from arena.bots.program_files import Link
from arena.bots.spec import BotSpec, base_environment
from arena.errors import UsageError
from arena.sandbox.launch import SandboxError
from arena.sandbox.programs import SYSTEM, HostPrograms, find_program, is_within
from arena.system.printable import printable

HOME = "/bot"
"""The folder of a bot's own files inside the sandbox."""


@dataclass(frozen=True)
class Mounts:
    """The mounts of one bot. Paths in `words` and `environment` are those inside.

    `own` is the bot's file or folder, shown at `place`; `folders` and `links` of the machine are shown at their own
    paths. `extras` are the variables of bot.toml.
    """

    own: Path
    place: str
    folders: tuple[Path, ...]
    words: tuple[str, ...]
    environment: Mapping[str, str]
    extras: Mapping[str, str] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


def mounts_of(bot: BotSpec, host: HostPrograms | None = None) -> Mounts:
    """Find out what is shown to a bot; `host` has the programs to run it, and the other bots.

    Raises `UsageError` if the bot cannot be run where little is visible, or would see another bot, and `SandboxError`
    if the host's programs cannot be shown.
    """
    host = host or HostPrograms((), [bot])
    own, shown, program = own_files(bot), host.shown, find_program(bot, host)
    place = HOME if own.is_dir() else f"{HOME}/{own.name}"
    visible = (*SYSTEM, *shown.folders)

    def inside(text: str) -> str:
        """Replace the bot's own path by the one inside, in a word of the command or the environment."""
        if not os.path.isabs(text) or "\0" in text:
            return text
        path = Path(os.path.realpath(Path(text).parent), Path(text).name)
        return str(place / path.relative_to(own)) if path.is_relative_to(own) else text

    host.refuse_rivals(bot)
    if os.geteuid() == 0:
        _check_readable(own, Path(program.command[0]), host.installations)
    base = base_environment()
    path = [inside(str(folder)) for folder in (*program.path, Path("/usr/bin"), Path("/bin"))]
    environment = {
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": os.pathsep.join(dict.fromkeys(each for each in path if is_within(Path(each), (*visible, Path(HOME))))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **shown.environment,
    }
    java = bot.environment.get("JAVA_HOME")
    if java and "\0" not in java and is_within(Path(os.path.realpath(java)), visible):
        environment["JAVA_HOME"] = os.path.realpath(java)
    return Mounts(
        own=own,
        place=place,
        folders=shown.folders,
        words=tuple(inside(word) for word in program.command),
        environment=environment,
        extras={
            name: inside(value) for name, value in bot.environment.items() if base.get(name) != value and name != "PATH"
        },
        links=shown.links,
    )


def _check_readable(own: Path, program: Path, folders: tuple[Path, ...]) -> None:
    """Raise `UsageError` if files that a bot of root needs cannot be read by an unused user id.

    That is `SandboxError` for folders of the host.
    """
    ways = [place for place in (program, *program.parents) if place.is_relative_to(own)]
    for path in dict.fromkeys((own, *ways, *folders)):
        mode = path.stat().st_mode
        runs = stat.S_ISDIR(mode) or path == program
        if not mode & stat.S_IROTH or (runs and not mode & stat.S_IXOTH):
            refusal = SandboxError if path in folders else UsageError
            raise refusal(
                printable(
                    f"{path}: started by root, bots run as a user without files, and others may not read this: "
                    f"chmod -R o+rX {own if path.is_relative_to(own) else path}"
                )
            )
