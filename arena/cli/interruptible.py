"""Runs of trio that a signal to stop ends in good order, whatever signals are ignored.

Where Ctrl-C is not ignored trio sees to that itself: KeyboardInterrupt is raised at a moment that suits it. Where it
is, as in a script that starts the arena with `&`, SIGTERM would raise in the middle of trio's own work, which leaves
what it has begun: the processes of a build among it. So what runs is cancelled there, and the exception raised at its
end.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar, TypeVarTuple

import trio

from arena.cli.interrupts import told_instead

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def run_unwinding(function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T:
    """`trio.run` for what runs within `arena.cli.interrupts.unwinding`. Raises KeyboardInterrupt as well."""

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
