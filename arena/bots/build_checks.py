"""What a build may use, and whether it has done what it is there for."""

import os
import re
from pathlib import Path

import msgspec

from arena.bots.languages import LANGUAGES
from arena.bots.limits import GIB
from arena.bots.manifest import Manifest, read_manifest
from arena.bots.run import Ended
from arena.bots.sandbox.levels import Level
from arena.bots.spec import FAULT_HINT, BotSpec
from arena.errors import UsageError
from arena.system.printable import printable

NOT_FOUND = 127
"""What a shell exits with that has not found a program."""
_NOT_FOUND = re.compile(r"(?:^|\s)([\w.+-]+): (?:command )?not found$")
LINES_SHOWN = 20
LINE_LENGTH = 1000


class BuildLimits(msgspec.Struct, frozen=True):
    """What a build may use in a sandbox: bytes of memory, bytes of files in the bot's folder and as many again in
    /tmp; the network or not. `seconds` hold at every level."""

    seconds: float = 600.0
    memory: int = 2 * GIB
    disk: int = 2 * GIB
    network: bool = False


def program_in(bot: BotSpec, folder: Path) -> Path | None:
    """The program that a build is to make, in the bot's folder or a copy of it; None if the command names another.

    If a folder on the way is a link, it is where that leads, as long as it is in the folder: what is brought along
    there is not what the build makes either.
    """
    if not Path(bot.command[0]).is_relative_to(bot.folder):
        return None
    named = folder / Path(bot.command[0]).relative_to(bot.folder)
    if named == folder:
        return None
    program = Path(os.path.realpath(named.parent), named.name)
    return program if program.is_relative_to(folder) else None


def refuse_if_nothing_is_made(bot: BotSpec, folder: Path) -> None:
    """Raise `UsageError` if a build in this folder has not made the program that `command` names."""
    program = program_in(bot, folder)
    if program is not None and not os.path.lexists(program):
        name = printable(str(program.relative_to(folder)), LINE_LENGTH)
        raise UsageError(
            f"{bot.path}: the build succeeded but did not make ./{name}, which command names; "
            f'a script that is brought along is an argument, as in command = ["sh", "{name}"]'
        )


def manifest_of(folder: Path) -> Manifest | str:
    """What the bot.toml of a folder says, or what is wrong with it."""
    try:
        return read_manifest(folder)
    except UsageError as error:
        return str(error)


def refuse_other_manifest(bot: BotSpec, before: Manifest | str, folder: Path) -> None:
    """Raise `UsageError` if the bot.toml of the folder does not say what it said `before` the build."""
    if manifest_of(folder) != before:
        raise UsageError(f"{bot.path}: its build changes bot.toml: expected a build that leaves it as it was submitted")


def judge(bot: BotSpec, build: str, level: Level, ended: Ended) -> None:
    """Raise `UsageError`, with the end of what it printed, if a build has not ended well."""
    if ended.code == 0:
        return
    how = f"failed with exit code {ended.code}" if ended.code is not None else ended.how
    lines = [printable(line, LINE_LENGTH, lines=True) for line in ended.said.splitlines()[-LINES_SHOWN:]]
    shown = "\n".join(f"    {line}" for line in lines) or "    (it printed nothing)"
    if ended.code == NOT_FOUND and (match := _NOT_FOUND.search(lines[-1] if lines else "")):
        packages = {tool.program: tool.packages for language in LANGUAGES for tool in language.tools}.get(match[1])
        install = f"; on Debian: apt install {packages}" if packages else ""
        named = "" if level is Level.BASIC else "; a host names a program outside the PATH with --interpreter PATH"
        shown += f"\n{FAULT_HINT}the build needs the program {match[1]}, which is not on the PATH here{install}{named}"
    raise UsageError(f"{printable(str(bot.path))}: the build {how}: {printable(build, LINE_LENGTH)}\n{shown}")


def check_made(bot: BotSpec) -> None:
    """Raise `UsageError` if a build that has ended well has not made the program that `command` names."""
    program = Path(bot.command[0])
    if not program.is_relative_to(bot.folder):
        return
    shown = printable(f"./{program.relative_to(bot.folder)}", LINE_LENGTH)
    if not os.path.exists(program):
        raise UsageError(f"{bot.path}: the build succeeded but did not make {shown}, which command names")
    if not (os.path.isfile(program) and os.access(program, os.X_OK)):
        raise UsageError(f"{bot.path}: the build succeeded, but {shown}, which command names, is no executable file")
