"""What is to be known about one bot to run it where little is visible, found out once, before its first game.

Here it is said what a bot is shown of the machine, and refused what could not work or would show too much: so that a
mistake is told in a sentence, by its path, and not game after game by a program that does not start.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.bots.program_files import Link, follow
from arena.bots.samples import is_packaged
from arena.bots.sandbox.launch import SandboxError
from arena.bots.sandbox.programs import SYSTEM, HostPrograms, is_within, own_files
from arena.bots.sandbox.runtimes import Program, Trial, find_program
from arena.bots.spec import BotSpec, base_environment
from arena.errors import UsageError
from arena.system.printable import printable

HOME = "/bot"
"""Where a bot finds its own files."""


@dataclass(frozen=True)
class Mounts:
    """All about one bot that takes time to find out. Paths in `words` and `environment` are those inside.

    `own` is the bot's file or folder, which is shown at `place`; `folders` and `links` are what else of the machine is
    shown beside the system, at their own paths. `extras` are the variables that the bot's bot.toml sets. `trials`
    show whether the host's programs that it needs can be run; there is none if it is run by its own.
    """

    own: Path
    place: str
    folders: tuple[Path, ...]
    words: tuple[str, ...]
    environment: Mapping[str, str]
    extras: Mapping[str, str] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    trials: tuple[Trial, ...] = ()


class Rivals:
    """Where the files of bots are that others must not see, looked up once for all of them.

    Broken bots do not count, for they are not started: nobody breaks another by what he is not. Nor do the sample bots
    of the installed package, which anybody may read.
    """

    def __init__(self, bots: Sequence[BotSpec] = ()) -> None:
        self._within: dict[Path, list[tuple[int, Path, Path]]] = {}
        """For each place, bots whose files are there or below it: number, files, path. The first, and the first whose
        files are others: one of the two is another than any bot."""
        for number, bot in enumerate(bots):
            files = own_files(bot)
            if bot.fault is not None or is_packaged(files):
                continue
            for place in (files, *files.parents):
                found = self._within.setdefault(place, [])
                if not found or (len(found) == 1 and found[0][1] != files):
                    found.append((number, files, bot.path))

    def seen_by(self, own: Path, visible: Sequence[Path]) -> Path | None:
        """The path of the first bot that one with these files of its own sees where these folders are visible."""
        places = {own, *visible}
        seen = [each for place in places for each in self._within.get(place, ()) if each[1] != own]
        return min(seen)[2] if seen else None


def mounts_of(bot: BotSpec, rivals: Rivals | None = None, host: HostPrograms | None = None) -> Mounts:
    """Find out what is shown to a bot. `rivals` are bots whose files it must not see, `host` what else may run it.

    Raises `UsageError` if the bot cannot be run where little is visible, or would see another bot.
    """
    host = host or HostPrograms((), [bot])
    own, program = own_files(bot), find_program(bot, host)
    place = HOME if own.is_dir() else f"{HOME}/{own.name}"

    def inside(text: str) -> str:
        """Return a word of the command or a value of the environment, with the bot's own path as it is inside."""
        if not os.path.isabs(text) or "\0" in text:
            return text
        path = Path(os.path.realpath(Path(text).parent), Path(text).name)
        return str(place / path.relative_to(own)) if path.is_relative_to(own) else text

    visible = (*SYSTEM, *program.folders)
    refuse_rivals(bot, own, visible, rivals or Rivals())
    if os.geteuid() == 0:
        _check_readable(own, program, host)
    base = base_environment()
    environment = {
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": _inner_path([Path(program.command[0]).parent, *program.path], visible, inside),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **program.environment,
    }
    java = bot.environment.get("JAVA_HOME")
    if java and "\0" not in java and is_within(Path(os.path.realpath(java)), visible):
        environment["JAVA_HOME"] = java
    return Mounts(
        own=own,
        place=place,
        folders=program.folders,
        words=tuple(inside(word) for word in program.command),
        environment=environment,
        extras={
            name: inside(value) for name, value in bot.environment.items() if base.get(name) != value and name != "PATH"
        },
        links=program.links,
        trials=program.trials,
    )


def _inner_path(folders: Sequence[Path], visible: tuple[Path, ...], inside: Callable[[str], str]) -> str:
    """The PATH inside: the program's own folder, and what is visible there of the folders that the bot's PATH names."""
    seen = (*visible, Path(HOME))
    places = [Path(inside(str(folder))) for folder in (*folders, Path("/usr/bin"), Path("/bin"))]
    return os.pathsep.join(dict.fromkeys(str(place) for place in places if is_within(place, seen)))


def refuse_rivals(bot: BotSpec, own: Path, visible: tuple[Path, ...], rivals: Rivals) -> None:
    """Raise `UsageError` if one bot's files, of another or of its own, are where all that use that folder see them.

    Of two bots one of which lies in the other's folder it is the outer one that is refused: the inner one can do
    nothing against it.
    """
    for folder in () if is_packaged(own) else visible:
        if own.is_relative_to(folder):
            raise UsageError(
                f"{bot.path}: every bot that needs {folder} could read this one there: move it out of that folder"
            )
    other = rivals.seen_by(own, visible)
    if other is not None:
        raise UsageError(f"{bot.path}: this bot could read {other}: move one of them out of the other's reach")


def _check_readable(own: Path, program: Program, host: HostPrograms) -> None:
    """Raise `UsageError` if what a bot needs cannot be read by a user that nobody is, as bots of root run.

    That is `SandboxError` where the host itself has chosen what it is.
    """
    needed, run = {own, *program.folders}, set[Path]()
    for number, word in enumerate(program.command):
        if not os.path.isabs(word) or not os.path.exists(word):
            continue
        trail = follow(Path(word))
        if number == 0:
            run.add(trail.end)
        ways = [trail.end, *(link.place.parent for link in trail.links), Path(os.path.realpath(Path(word).parent))]
        needed.update(place for way in ways for place in (way, *way.parents) if place.is_relative_to(own))
    for path in sorted(needed):
        mode = path.stat().st_mode
        runs = stat.S_ISDIR(mode) or path in run
        if not mode & stat.S_IROTH or (runs and not mode & stat.S_IXOTH):
            refusal = SandboxError if host.is_shown_by_choice(path) else UsageError
            raise refusal(
                printable(
                    f"{path}: started by root, bots run as a user that owns nothing, and others may not read this: "
                    f"chmod -R o+rX {own if path.is_relative_to(own) else path}"
                )
            )
