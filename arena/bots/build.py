"""Building bots: the `build` of a bot.toml, run before the first game, and held as the bots are.

A build is an entrant's own code. At the basic level it runs as whoever started the arena, in the bot's folder, and
that is said. At the others it runs in a sandbox of its own (`arena.bots.build_sandbox`).

A digest is of what a build works on, not of the program that it makes. So the program is out of the way when a build
begins, and a build that does not make it has failed: else a bot could bring along a program that no digest covers. And
what bot.toml says is what it said before the build.

What another arena plays with is not touched (`arena.bots.folders`): nothing is built then, and the program plays that
is there, unless the bot's files have changed since it was built.
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
from arena.bots.sandbox import files
from arena.bots.sandbox.launch import Launch, SandboxError, StartError
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.programs import HostPrograms
from arena.bots.spec import BotSpec
from arena.bots.trial import Run, run_to_end
from arena.errors import UsageError
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
    """Return the bots, those that have a build built and loaded again. `say` receives what is being done, line by line.

    `run` runs what is to be waited for. The folders of those that are built are among the `folders` from then on; where
    none are given, they are held for the builds alone. Those that cannot be built are broken. Raises `HostError`, and
    `BotInUseError` where a build would take from another arena what that plays with.
    """
    if folders is None:
        with BotFolders() as own:
            return build_all(bots, level, limits, host, say, folders=own, run=run)
    built = list(bots)
    faults: dict[Path, str | None] = {}
    """Of folders that are built, what is wrong with that."""
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
    """Build a bot, unless another arena plays from its folder, and return what is wrong with the build."""
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
    """Return the home folder, where compilers keep caches; a service may have no HOME."""
    home = os.path.expanduser("~")
    return {"HOME": home} if os.path.isabs(home) else {}


@contextlib.contextmanager
def _put_aside(bot: BotSpec) -> Iterator[None]:
    """Have the program that is to be made out of the way, and put it back if what is done meanwhile fails."""
    program = program_in(bot, bot.folder)
    if program is None or not os.path.lexists(program) or (program.is_dir() and not program.is_symlink()):
        yield
        return
    aside = program.with_name(f".built-before-{secrets.token_hex(8)}")
    try:
        program.rename(aside)
    except OSError as error:
        raise UsageError(f"{program}: cannot be put aside to be built anew: {error.strerror}") from None
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # it has made a folder there, or removed its own: then that stays
            aside.replace(program)
        raise
    with contextlib.suppress(FileNotFoundError):
        aside.unlink()
