"""Building bots: the `build` of a bot.toml, run before the first game, and held as the bots are.

A build is an entrant's own code. At the default level it runs as whoever started the arena, in the bot's folder, and
that is said. At the others it runs in a sandbox of its own (`arena.bots.build_sandbox`).

A digest is of what a build works on, not of the program that it makes. So the program is out of the way when a build
begins, and a build that does not make it has failed: else a bot could bring along a program that no digest covers. And
what bot.toml says is what it said before the build.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import trio

from arena.bots import BotSpec, broken, load_bot
from arena.bots.build_checks import (
    LINE_LENGTH,
    BuildLimits,
    check_made,
    judge,
    manifest_of,
    program_in,
    refuse_if_nothing_is_made,
    refuse_other_manifest,
)
from arena.bots.build_sandbox import build_in_sandbox
from arena.bots.loading import made_to_speak
from arena.bots.run import Run, run_to_end
from arena.bots.sandbox import files
from arena.bots.sandbox.launch import Launch, SandboxError, StartError
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.programs import HostPrograms
from arena.errors import UsageError
from arena.printable import printable


def build_all(
    bots: Sequence[BotSpec],
    level: Level,
    limits: BuildLimits,
    host: HostPrograms,
    say: Callable[[str], None],
    *,
    run: Run = trio.run,
) -> list[BotSpec]:
    """The same bots, those that have a build built and looked at anew. `say` is told what is being done, line by line.

    `run` runs what is to be waited for. Those that cannot be built are broken. Raises `HostError`.
    """
    built = list(bots)
    if level is Level.DEFAULT and any(bot.build and not bot.fault for bot in bots):
        say("builds run without a sandbox at --sandbox default: with your files and network")
    for place, bot in enumerate(bots):
        if bot.build is None or bot.fault is not None:
            continue
        say(f"building {printable(bot.name)}: {printable(bot.build, LINE_LENGTH)}")
        try:
            if level is Level.DEFAULT:
                _build_here(bot, bot.build, limits, run)
            else:
                build_in_sandbox(bot, bot.build, level, limits, host=host, bots=bots, run=run)
            built[place] = _loaded_again(bot)
            check_made(built[place])
        except SandboxError:
            raise
        except UsageError as error:
            built[place] = broken(bot, str(error))
        except (files.FilesError, StartError) as error:
            built[place] = broken(bot, printable(f"{bot.path}: it cannot be built: {error}"))
    return built


def _loaded_again(bot: BotSpec) -> BotSpec:
    """The bot as its files are now, under the name and in the dialect that it has had."""
    loaded = load_bot(bot.path, bot.asked)
    return replace(made_to_speak(loaded, bot.dialect) if bot.is_made_to_speak else loaded, name=bot.name)


def _build_here(bot: BotSpec, build: str, limits: BuildLimits, run: Run) -> None:
    line = ("/bin/sh", "-c", 'exec /bin/sh -c "$0" </dev/null >&2', build)
    launch = Launch(line, bot.folder, {**_home(), **os.environ})
    manifest = manifest_of(bot.folder)
    with _put_aside(bot):
        judge(bot, build, Level.DEFAULT, run(run_to_end, launch, limits.seconds))
        refuse_if_nothing_is_made(bot, bot.folder)
        refuse_other_manifest(bot, manifest, bot.folder)


def _home() -> dict[str, str]:
    """Where compilers keep their caches, which a service may have been started without."""
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
