"""The copy of a bot's folder that a build works on, and whether it has made there what lies in the folder already."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from arena.bots.bot_files import BotFiles
from arena.bots.build_checks import LINE_LENGTH, program_in
from arena.bots.folders import in_use
from arena.bots.limits import MIB
from arena.bots.sandbox import bwrap, files
from arena.bots.sandbox.launch import NOBODYS_FAULT, HostError, disk_fault
from arena.bots.spec import BotSpec
from arena.errors import ArenaError, UsageError
from arena.system.printable import printable

FILES_NAMED = 5
LEAST_FREE = 16 * MIB
"""Bytes of a disk: with less, compilers fail by no fault of what they compile."""


def copied(bot: BotSpec, copy: Path, most: int, user: int | None) -> Path:
    """A copy of a bot's folder for its build, of at most so many bytes and this user's own, without the program that is
    to be made: what lies there already is not what the build makes."""
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
    """A folder that only the arena's user can get at, and that is gone afterwards whatever has become of it."""
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
    """Make what a build has closed such that it can be read; neither this nor rm follows a link."""
    folders = ("-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";")
    closed = ("-type", "f", "!", "-perm", "-400", "-exec", "chmod", "u+r", "{}", "+")
    line = ["find", str(folder), "(", *folders, ")", "-o", "(", *closed, ")"]
    subprocess.run(line, check=False, capture_output=True, env={"PATH": bwrap.TOOL_PATH})


def refuse_other_files(
    bot: BotSpec, copy: Path, before: files.Stamps, link_target: Callable[[str, str], str] = lambda _, target: target
) -> None:
    """Raise `BotInUseError` if a build in this copy has made what does not lie in the bot's folder.

    Looked at is what the bot is played as: the program that its command names, and what its digest covers; where that
    program is not in the folder, all that has been made, as what compilers leave beside it may say where they ran.
    `link_target` is as for `files.put_back`. Raises `FilesError` and `UsageError`.
    """
    counts = _what_counts(bot, copy)
    try:
        others = [path for path in files.other_than(copy, bot.folder, before, link_target) if counts(path)]
    except OSError as error:
        raise _fault(error, f"{bot.path}: what its build made cannot be read") from None
    if others:
        names = ", ".join(printable(path, LINE_LENGTH) for path in others[:FILES_NAMED])
        more = f" and {len(others) - FILES_NAMED} more" if len(others) > FILES_NAMED else ""
        raise in_use(bot, f"the build makes something else now, in {names}{more}")


def refuse_full_disk(bot: BotSpec, fault: str) -> None:
    """Raise `HostError` for what went wrong in a build if the disk is full that it was on, or that of temporary files:
    when its copy has gone, it is not what this build wrote."""
    for folder in (bot.folder, Path(tempfile.gettempdir())):
        try:
            system = os.statvfs(folder)
        except OSError:
            continue
        if system.f_bavail * system.f_frsize < LEAST_FREE:
            where = printable(str(folder))
            raise HostError(f"the disk of {where} is full, with less than 16M left: {fault}\n{NOBODYS_FAULT}", "")


def put_there(bot: BotSpec, copy: Path, before: files.Stamps, most: int, links: Callable[[str, str], str]) -> None:
    """Put what a build has made in this copy into the bot's folder, as `files.put_back` does. Raises `FilesError`,
    `UsageError` and `HostError`."""
    try:
        files.put_back(copy, bot.folder, before, most, links)
    except OSError as error:
        raise _fault(error, f"{bot.path}: what its build made cannot be put there") from None


def _fault(error: OSError, what: str) -> ArenaError:
    """What to raise: where the machine has run out of something, that is no fault of the bot's."""
    return disk_fault(error, printable(what)) or UsageError(printable(f"{what}: {error}"))


def _what_counts(bot: BotSpec, copy: Path) -> Callable[[str], bool]:
    """Says of a path in the folder whether a file there may be a part of what is played."""
    program = program_in(bot, copy)
    if program is None or bot.look is None:
        return lambda _: True
    covered = BotFiles(os.fsencode(copy)).list_files(bot.look.covered.ignored)
    counted = {os.fsdecode(b"/".join(parts)) for parts in covered} | {str(program.relative_to(copy))}
    return counted.__contains__
