"""The process of a command that runs bots: its limits, trio in it, and how it stops.

If Ctrl-C is ignored, as in a script that starts the arena with `&`, SIGTERM would raise within trio's own work, and
leave processes of a build behind. So `run_unwinding` cancels there, and raises at the end.
"""

import shutil
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar, TypeVarTuple

import trio

from arena.cli.installation import arena_line
from arena.cli.interrupts import told_instead
from arena.errors import ArenaError
from arena.sandbox.levels import Level

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def level_line(level: Level, is_chosen: bool) -> str:
    risk = ""
    if level is Level.BASIC:
        stronger = "; safer: --sandbox bwrap" if shutil.which("bwrap") else ""
        risk = f" (bots can use your files and network{stronger})"
    chosen = " (strongest available; see arena doctor)" if is_chosen else ""
    return f"sandbox: {level.value}{chosen}{risk}"


def same_command() -> str:
    return arena_line(*sys.argv[1:])


def stopped_by(error: ArenaError, *lines: str) -> ArenaError:
    told = ArenaError("\n".join([str(error), *lines]))
    told.exit_code = error.exit_code
    return told


def run_unwinding(function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T:
    """Call `trio.run` within `arena.cli.interrupts.unwinding`. Raises KeyboardInterrupt as well."""

    async def interruptible() -> T:
        scope, token = trio.CancelScope(), trio.lowlevel.current_trio_token()
        asked = []

        def stop() -> None:
            asked.append(True)
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(scope.cancel)

        with told_instead(stop), scope:
            result = await function(*arguments)
        if asked:
            raise KeyboardInterrupt
        return result

    return trio.run(interruptible)
