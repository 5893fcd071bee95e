"""Build bots: run the `build` of a bot.toml before the first game.

A build is an entrant's own code. At the basic level it runs as the user of the arena, in the bot's folder, after a
warning. At the other levels it runs in a sandbox (`arena.bots.build_sandbox`).

A digest covers what a build works on, not the program that it makes. So the program is moved away before the build, and
a build that does not make it fails: otherwise a bot could bring a program that no digest covers. A build must not
change bot.toml.

A folder that another arena plays from is not built again (`arena.bots.folders`): the program that is there plays,
unless the bot's files have changed since it was built.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import trio

from arena.bots.build_files import (
    LINE_LENGTH,
    BuildLimits,
    check_made,
    judge,
    manifest_of,
    program_in,
    refuse_changed,
    refuse_full_disk,
    refuse_if_nothing_is_made,
    refuse_other_manifest,
)
from arena.bots.build_sandbox import build_in_sandbox
from arena.bots.finding import broken
from arena.bots.folders import BotFolders
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.bots.trial import Run, run_to_end
from arena.errors import UsageError
from arena.sandbox import files
from arena.sandbox.launch import Launch, SandboxError, StartError
from arena.sandbox.levels import Level
from arena.sandbox.programs import HostPrograms
from arena.system.printable import printable


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
            build = partial(_build, bot, bot.build, level, limits, host=host, bots=bots, run=run)
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
                refuse_changed(bot)
    except SandboxError:
        raise
    except UsageError as error:
        fault = str(error)
    except (files.FilesError, StartError) as error:
        fault = printable(f"{bot.path}: it cannot be built: {error}")
    else:
        return None
    refuse_full_disk(bot, fault)
    return fault


def _build(
    bot: BotSpec,
    build: str,
    level: Level,
    limits: BuildLimits,
    *,
    host: HostPrograms,
    bots: Sequence[BotSpec],
    run: Run,
) -> None:
    if level is not Level.BASIC:
        build_in_sandbox(bot, build, level, limits, host=host, bots=bots, run=run)
        return
    line = ("/bin/sh", "-c", 'exec /bin/sh -c "$0" </dev/null >&2', build)
    launch = Launch(line, bot.folder, {**_home(), **os.environ})
    with _put_aside(bot):
        manifest = manifest_of(bot.folder)
        judge(bot, build, Level.BASIC, run(run_to_end, launch, limits.seconds))
        refuse_if_nothing_is_made(bot, bot.folder)
        refuse_other_manifest(bot, manifest, bot.folder)


def _checked(bot: BotSpec) -> BotSpec:
    try:
        loaded = replace(load_bot(bot.path, bot.asked), name=bot.name)
        check_made(loaded)
    except UsageError as error:
        return broken(bot, str(error))
    return loaded


def _home() -> dict[str, str]:
    home = os.path.expanduser("~")
    return {"HOME": home} if os.path.isabs(home) else {}


@contextlib.contextmanager
def _put_aside(bot: BotSpec) -> Iterator[None]:
    """Move the program that is to be built away, and restore it if the body fails."""
    program = program_in(bot, bot.folder)
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
