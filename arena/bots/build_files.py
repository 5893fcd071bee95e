"""Helpers of a build: limits, the copy that it works on, and the checks of its result."""

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from arena.bots.folders import in_use
from arena.bots.languages import LANGUAGES
from arena.bots.limits import GIB, MIB
from arena.bots.manifest import Manifest, read_manifest
from arena.bots.spec import FAULT_HINT, BotSpec
from arena.bots.trial import Ended
from arena.errors import ArenaError, UsageError
from arena.sandbox import bwrap, files
from arena.sandbox.launch import NOBODYS_FAULT, HostError, disk_fault
from arena.sandbox.levels import Level
from arena.system.printable import printable

NOT_FOUND = 127
"""The exit code of a shell that has not found a program."""
_NOT_FOUND = re.compile(r"(?:^|\s)([\w.+-]+): (?:command )?not found$")
LINES_SHOWN = 20
LINE_LENGTH = 1000


class BuildLimits(msgspec.Struct, frozen=True):
    """Limits of a build in a sandbox. `seconds` hold at every level.

    `memory` is bytes, `disk` bytes of files in the bot's folder and as many again in /tmp.
    """

    seconds: float = 600.0
    memory: int = 2 * GIB
    disk: int = 2 * GIB
    network: bool = False


def program_in(bot: BotSpec, folder: Path) -> Path | None:
    """Return the program that a build is to make, in the bot's folder or a copy; None if the command names another.

    Links among its folders are resolved, and have to stay in the folder.
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
    """Return the bot.toml of a folder, or the error if it cannot be read."""
    try:
        return read_manifest(folder)
    except UsageError as error:
        return str(error)


def refuse_other_manifest(bot: BotSpec, before: Manifest | str, folder: Path) -> None:
    if manifest_of(folder) != before:
        raise UsageError(f"{bot.path}: its build changes bot.toml: expected a build that leaves it as it was submitted")


def judge(bot: BotSpec, build: str, level: Level, ended: Ended) -> None:
    """Raise `UsageError`, with the end of its output, if a build has failed."""
    if ended.code == 0:
        return
    how = f"failed with exit code {ended.code}" if ended.code is not None else ended.how
    lines = [printable(line, LINE_LENGTH, lines=True) for line in ended.said.splitlines()[-LINES_SHOWN:]]
    shown = "\n".join(f"    {line}" for line in lines) or "    (no output)"
    if ended.code == NOT_FOUND and (match := _NOT_FOUND.search(lines[-1] if lines else "")):
        packages = {tool.program: tool.packages for language in LANGUAGES for tool in language.tools}.get(match[1])
        install = f"; on Debian: apt install {packages}" if packages else ""
        named = "" if level is Level.BASIC else "; a host names a program outside the PATH with --interpreter PATH"
        shown += f"\n{FAULT_HINT}the build needs the program {match[1]}, which is not on the PATH here{install}{named}"
    raise UsageError(f"{printable(str(bot.path))}: the build {how}: {printable(build, LINE_LENGTH)}\n{shown}")


def check_made(bot: BotSpec) -> None:
    """Raise `UsageError` if a successful build has not made the program that `command` names."""
    program = Path(bot.command[0])
    if not program.is_relative_to(bot.folder):
        return
    shown = printable(f"./{program.relative_to(bot.folder)}", LINE_LENGTH)
    if not os.path.exists(program):
        raise UsageError(f"{bot.path}: the build succeeded but did not make {shown}, which command names")
    if not (os.path.isfile(program) and os.access(program, os.X_OK)):
        raise UsageError(f"{bot.path}: the build succeeded, but {shown}, which command names, is no executable file")


LEAST_FREE = 16 * MIB
"""Bytes of free disk; with less, compilers fail through no fault of the bot."""


def copied(bot: BotSpec, copy: Path, most: int, user: int | None) -> Path:
    """Copy a bot's folder for its build, at most `most` bytes, owned by `user`, without the program that is to be
    built.
    """
    try:
        copy.mkdir(0o755)
        if user is not None:
            os.chown(copy, user, user)
        files.copy_folder(bot.folder, copy, most, user)
    except OSError as error:
        raise _fault(error, f"{bot.path}: cannot be copied to be built") from None
    program = program_in(bot, copy)
    if program is not None and (program.is_symlink() or program.is_file()):
        program.unlink()
    return copy


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder that only the arena's user can read, and remove it afterwards."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="arena-build-")).resolve()
    except OSError as error:
        raise _fault(error, "no folder for the copy can be made") from None
    try:
        yield folder
    finally:
        open_up(folder)
        subprocess.run(["rm", "-rf", "--", folder], check=False, capture_output=True, env={"PATH": bwrap.TOOL_PATH})


def open_up(folder: Path) -> None:
    """Make a build's files and folders readable for their owner. Neither this nor rm follows a link."""
    folders = ("-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";")
    closed = ("-type", "f", "!", "-perm", "-400", "-exec", "chmod", "u+r", "{}", "+")
    line = ["find", str(folder), "(", *folders, ")", "-o", "(", *closed, ")"]
    subprocess.run(line, check=False, capture_output=True, env={"PATH": bwrap.TOOL_PATH})


def refuse_changed(bot: BotSpec) -> None:
    """Raise `BotInUseError` if the files of a bot were changed after its program was built."""
    program = program_in(bot, bot.folder)
    if program is None or bot.look is None:
        return
    built = program.stat().st_ctime_ns if program.is_file() else 0
    if any(modified > built for _, _, modified, *_ in bot.look.stamps.values()):
        raise in_use(bot, "its files have changed since the program was built")


def refuse_full_disk(bot: BotSpec, fault: str) -> None:
    """Raise `HostError` for a fault in a build if the bot's disk, or that of temporary files, is full."""
    for folder in (bot.folder, Path(tempfile.gettempdir())):
        try:
            system = os.statvfs(folder)
        except OSError:
            continue
        if system.f_bavail * system.f_frsize < LEAST_FREE:
            where = printable(str(folder))
            raise HostError(f"the disk of {where} is full, with less than 16M left: {fault}\n{NOBODYS_FAULT}", "")


def put_there(bot: BotSpec, copy: Path, before: files.Stamps, most: int, links: Callable[[str, str], str]) -> None:
    """Put a build's results into the bot's folder, as `files.put_back` does.

    Raises `FilesError`, `UsageError` and `HostError`.
    """
    try:
        files.put_back(copy, bot.folder, before, most, links)
    except OSError as error:
        raise _fault(error, f"{bot.path}: what its build made cannot be put there") from None


def _fault(error: OSError, what: str) -> ArenaError:
    return disk_fault(error, printable(what)) or UsageError(printable(f"{what}: {error}"))
