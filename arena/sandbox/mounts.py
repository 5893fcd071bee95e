"""Find out, before a bot's first game, what it needs where little of the machine is visible.

What cannot work, or would show too much, is refused here in one sentence with its path, instead of by a program that
fails to start in every game.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.bots.program_files import Link, follow
from arena.bots.samples import is_packaged
from arena.bots.spec import BotSpec, base_environment
from arena.errors import UsageError
from arena.sandbox.launch import SandboxError
from arena.sandbox.programs import SYSTEM, HostPrograms, is_within, own_files
from arena.sandbox.runtimes import Program, Trial, find_program
from arena.system.printable import printable

HOME = "/bot"
"""The folder of a bot's own files inside the sandbox."""


@dataclass(frozen=True)
class Mounts:
    """The mounts of one bot. Paths in `words` and `environment` are those inside.

    `own` is the bot's file or folder, shown at `place`; `folders` and `links` of the machine are shown at their own
    paths. `extras` are the variables of bot.toml. `trials` test the host's programs that it needs; empty if there are
    none.
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
    """The places of files that other bots must not see, looked up once for all bots.

    Broken bots do not count, as they are not started; nor do the packaged sample bots, which are public.
    """

    def __init__(self, bots: Sequence[BotSpec] = ()) -> None:
        self._within: dict[Path, list[tuple[int, Path, Path]]] = {}
        """For each place, bots with files there or below it: number, files, path. Two bots with different files are
        enough: one of them is a rival of any bot.
        """
        for number, bot in enumerate(bots):
            files = own_files(bot)
            if bot.fault is not None or is_packaged(files):
                continue
            for place in (files, *files.parents):
                found = self._within.setdefault(place, [])
                if not found or (len(found) == 1 and found[0][1] != files):
                    found.append((number, files, bot.path))

    def seen_by(self, own: Path, visible: Sequence[Path]) -> Path | None:
        """Return the path of the first rival that a bot with these files sees where these folders are visible."""
        places = {own, *visible}
        seen = [each for place in places for each in self._within.get(place, ()) if each[1] != own]
        return min(seen)[2] if seen else None


def mounts_of(bot: BotSpec, rivals: Rivals | None = None, host: HostPrograms | None = None) -> Mounts:
    """Find out what is shown to a bot. It must not see the files of `rivals`; `host` has further programs to run it.

    Raises `UsageError` if the bot cannot be run where little is visible, or would see another bot.
    """
    host = host or HostPrograms((), [bot])
    own, program = own_files(bot), find_program(bot, host)
    place = HOME if own.is_dir() else f"{HOME}/{own.name}"

    def inside(text: str) -> str:
        """Replace the bot's own path by the one inside, in a word of the command or the environment."""
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
    seen = (*visible, Path(HOME))
    places = [Path(inside(str(folder))) for folder in (*folders, Path("/usr/bin"), Path("/bin"))]
    return os.pathsep.join(dict.fromkeys(str(place) for place in places if is_within(place, seen)))


def refuse_rivals(bot: BotSpec, own: Path, visible: tuple[Path, ...], rivals: Rivals) -> None:
    """Raise `UsageError` if one bot's files would be visible to another.

    If one bot is in another's folder, the outer one is refused: the inner one cannot prevent it.
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
    """Raise `UsageError` if files that a bot of root needs cannot be read by an unused user id.

    That is `SandboxError` if the host has chosen the files.
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
                    f"{path}: started by root, bots run as a user without files, and others may not read this: "
                    f"chmod -R o+rX {own if path.is_relative_to(own) else path}"
                )
            )
