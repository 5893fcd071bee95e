"""Build bots: run the `build` of a bot.toml before the first game.

A build is an entrant's own code. At the basic level it runs as the user of the arena, in the bot's folder, after a
warning. At the other levels it runs in a sandbox, in a copy of the folder; a failed build leaves no trace there.

A digest covers what a build works on, not the program that it makes. So the program is moved away before the build, and
a build that does not make it fails: otherwise a bot could bring a program that no digest covers. A build must not
change bot.toml.

A folder that another arena plays from is not built again (`arena.processes.folders`): the program that is there plays,
unless the bot's files have changed since it was built.
"""

import contextlib
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import trio

from arena.bots.entering import broken
from arena.bots.languages import LANGUAGES
from arena.bots.limits import MIB, BuildLimits
from arena.bots.loading import load_bot
from arena.bots.manifest import Manifest, read_manifest
from arena.bots.program_files import is_program
from arena.bots.spec import FAULT_HINT, BotSpec
from arena.errors import UsageError
from arena.processes.build_sandbox import (
    copy_folder,
    disk_faults,
    link_outside,
    open_up,
    put_back,
    run_build,
    scratch,
    stamps,
)
from arena.processes.folders import BotFolders, in_use
from arena.processes.trial import Ended, run_to_end
from arena.sandbox import bwrap
from arena.sandbox.launch import NOBODYS_FAULT, HostError, Launch, SandboxError, StartError
from arena.sandbox.levels import Level
from arena.sandbox.programs import HostPrograms
from arena.system.concurrency import Run
from arena.system.printable import printable

NOT_FOUND = 127
"""The exit code of a shell that has not found a program."""
_NOT_FOUND = re.compile(r"(?:^|\s)([\w.+-]+): (?:command )?not found$")
LINES_SHOWN = 20
LINE_LENGTH = 1000
LEAST_FREE = 16 * MIB
"""Bytes of free disk; with less, compilers fail through no fault of the bot."""


def build_all(
    bots: Sequence[BotSpec],
    level: Level,
    limits: BuildLimits,
    host: HostPrograms,
    say: Callable[[str], None],
    *,
    folders: BotFolders | None = None,
    run: Run = trio.run,
) -> list[BotSpec]:
    """Build and reload the bots that have a build; return all of them. Bots that cannot be built are broken.

    `say` receives progress, line by line; `run` runs async functions. `folders` keeps built folders locked; without
    it they are locked only during the builds. Raises `HostError`, and `BotInUseError` if a build would change what
    another arena plays with.
    """
    if folders is None:
        with BotFolders() as own:
            return build_all(bots, level, limits, host, say, folders=own, run=run)
    built = list(bots)
    faults: dict[Path, str | None] = {}
    """The fault of the build in each folder, None if it succeeded."""
    if level is Level.BASIC and any(bot.build and not bot.fault for bot in bots):
        say("builds run without a sandbox at --sandbox basic: with your files and network")
    for place, bot in enumerate(bots):
        if bot.build is None or bot.fault is not None:
            continue
        if bot.folder not in faults:  # it may take part several times, with other arguments
            build = partial(_build, bot, bot.build, level, limits, host=host, run=run)
            faults[bot.folder] = _fault_of(build, bot, folders, say, run)
        fault = faults[bot.folder]
        built[place] = broken(bot, fault) if fault is not None else _checked(bot)
    return built


def _fault_of(
    build: Callable[[], None], bot: BotSpec, folders: BotFolders, say: Callable[[str], None], run: Run
) -> str | None:
    try:
        with folders.building(bot, say, run) as is_alone:
            name, line = printable(bot.name), printable(bot.build or "", LINE_LENGTH)
            if is_alone:
                say(f"building {name}: {line}")
                build()
            else:
                say(f"{name}: another arena plays with it, so it is not built again")
                _refuse_changed(bot)
    except SandboxError:
        raise
    except (UsageError, StartError) as error:
        fault = str(error)
        if not fault.startswith(str(bot.path)):
            fault = printable(f"{bot.path}: it cannot be built: {error}")
    else:
        return None
    _refuse_full_disk(bot, fault)
    return fault


def _build(bot: BotSpec, build: str, level: Level, limits: BuildLimits, *, host: HostPrograms, run: Run) -> None:
    if level is Level.BASIC:
        line = ("/bin/sh", "-c", 'exec /bin/sh -c "$0" </dev/null >&2', build)
        home = os.path.expanduser("~")
        launch = Launch(line, bot.folder, {**({"HOME": home} if os.path.isabs(home) else {}), **os.environ})
        with _put_aside(bot):
            manifest = _manifest_of(bot.folder)
            ended = run(run_to_end, launch, limits.seconds)
            _judge(bot, build, Level.BASIC, ended)
            with _with_output(ended):
                _check_result(bot, bot.folder, manifest)
        return
    host.refuse_rivals(bot)
    user = bwrap.spare_user()
    with scratch() as place:
        copy = place / "bot"
        with disk_faults(f"{bot.path}: cannot be copied to be built"):
            copy_folder(bot.folder, copy, limits.disk, user)
        program = _program_in(bot, copy)
        if program is not None and (program.is_symlink() or program.is_file()):
            program.unlink()
        before, manifest = stamps(copy), _manifest_of(copy)
        ended = run_build(build, copy, user, level, limits, host=host, run=run)
        _judge(bot, build, level, ended)
        open_up(copy)
        with _with_output(ended), disk_faults(f"{bot.path}: what its build made cannot be put there"):
            _check_result(bot, copy, manifest)
            put_back(copy, bot.folder, before, limits.disk, partial(link_outside, bot, host))


def _checked(bot: BotSpec) -> BotSpec:
    try:
        loaded = replace(load_bot(bot.path, bot.asked), name=bot.name)
    except UsageError as error:
        return broken(bot, str(error))
    program = Path(loaded.command[0])
    if not program.is_relative_to(loaded.folder) or is_program(program):
        return loaded
    shown = printable(f"./{program.relative_to(loaded.folder)}", LINE_LENGTH)
    state = "which command names, is no executable file"
    return broken(loaded, f"{bot.path}: the build succeeded, but {shown}, {state}")


@contextlib.contextmanager
def _put_aside(bot: BotSpec) -> Iterator[None]:
    """Move the program that is to be built away, and restore it if the body fails."""
    program = _program_in(bot, bot.folder)
    if program is None or not os.path.lexists(program) or (program.is_dir() and not program.is_symlink()):
        yield
        return
    aside = program.with_name(f".built-before-{secrets.token_hex(8)}")
    try:
        program.rename(aside)
    except OSError as error:
        raise UsageError(f"{program}: cannot be moved away before the build: {error.strerror}") from None
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # it has made a folder there, or removed its own: then that stays
            aside.replace(program)
        raise
    with contextlib.suppress(FileNotFoundError):
        aside.unlink()


def _program_in(bot: BotSpec, folder: Path) -> Path | None:
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


def _manifest_of(folder: Path) -> Manifest | str:
    """Return the bot.toml of a folder, or the error if it cannot be read."""
    try:
        return read_manifest(folder)
    except UsageError as error:
        return str(error)


def _check_result(bot: BotSpec, folder: Path, manifest: Manifest | str) -> None:
    """Raise `UsageError` if a build in this folder has not made the program, or has changed bot.toml."""
    program = _program_in(bot, folder)
    if program is not None and not os.path.lexists(program):
        name = printable(str(program.relative_to(folder)), LINE_LENGTH)
        raise UsageError(
            f"{bot.path}: the build succeeded but did not make ./{name}, which command names; "
            f'a script that is brought along is an argument, as in command = ["sh", "{name}"]'
        )
    if _manifest_of(folder) != manifest:
        raise UsageError(f"{bot.path}: its build changes bot.toml: expected a build that leaves it as it was submitted")


def _output_of(ended: Ended) -> list[str]:
    """Return the last lines that a build has printed."""
    return [printable(line, LINE_LENGTH, lines=True) for line in ended.said.splitlines()[-LINES_SHOWN:]]


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in lines) or "    (no output)"


@contextlib.contextmanager
def _with_output(ended: Ended) -> Iterator[None]:
    """Add the end of a build's output to what is wrong with its result."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{error}\n{_indented(_output_of(ended))}") from None


def _judge(bot: BotSpec, build: str, level: Level, ended: Ended) -> None:
    """Raise `UsageError`, with the end of its output, if a build has failed."""
    if ended.code == 0:
        return
    how = f"failed with exit code {ended.code}" if ended.code is not None else ended.how
    lines = _output_of(ended)
    shown = _indented(lines)
    if ended.code == NOT_FOUND and (match := _NOT_FOUND.search(lines[-1] if lines else "")):
        packages = {tool.program: tool.packages for language in LANGUAGES for tool in language.tools}.get(match[1])
        install = f"; on Debian: apt install {packages}" if packages else ""
        named = "" if level is Level.BASIC else "; a host names a program outside the PATH with --interpreter PATH"
        shown += f"\n{FAULT_HINT}the build needs the program {match[1]}, which is not on the PATH here{install}{named}"
    raise UsageError(f"{printable(str(bot.path))}: the build {how}: {printable(build, LINE_LENGTH)}\n{shown}")


def _refuse_changed(bot: BotSpec) -> None:
    """Raise `BotInUseError` if the files of a bot were changed after its program was built."""
    program = _program_in(bot, bot.folder)
    if program is None or bot.look is None:
        return
    built = program.stat().st_ctime_ns if program.is_file() else 0
    if any(modified > built for _, _, modified, *_ in bot.look.stamps.values()):
        raise in_use(bot, "its files have changed since the program was built")


def _refuse_full_disk(bot: BotSpec, fault: str) -> None:
    """Raise `HostError` for a fault in a build if the bot's disk, or that of temporary files, is full."""
    for folder in (bot.folder, Path(tempfile.gettempdir())):
        try:
            system = os.statvfs(folder)
        except OSError:
            continue
        if system.f_bavail * system.f_frsize < LEAST_FREE:
            where = printable(str(folder))
            raise HostError(f"the disk of {where} is full, with less than 16M left: {fault}\n{NOBODYS_FAULT}", "")
