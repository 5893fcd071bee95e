"""Requests to stop games, from any thread or a signal handler, and the errors of functions that play games.

Quick to import, for the command line.
"""

import enum
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    from arena.system.concurrency import Run


T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Say = Callable[[str], None]
"""Receives a remark for people: one or more lines, without a newline at the end."""


class Wish(enum.IntEnum):
    GO_ON = 0
    STOP_SOON = 1
    """No further game is begun; those under way are played to their end."""
    STOP_NOW = 2


class StopRequest:
    def __init__(self) -> None:
        self.wish = Wish.GO_ON
        self._waiting: list[Callable[[], None]] = []

    def ask(self, wish: Wish) -> None:
        self.wish = max(self.wish, wish)
        for notify in tuple(self._waiting):
            notify()

    async def wait_beyond(self, known: Wish) -> Wish:
        import trio  # here, since the command line has this module before anything slow

        token, changed = trio.lowlevel.current_trio_token(), trio.Event()

        def notify() -> None:
            token.run_sync_soon(changed.set, idempotent=True)

        self._waiting.append(notify)
        try:
            if self.wish is known:
                await changed.wait()
        finally:
            self._waiting.remove(notify)
        return self.wish


def run_games(run: "Run", function: Callable[[*Ts], Awaitable[T]], *arguments: *Ts) -> T:
    """Run a function that plays games or starts bots. Raises `ArenaError` for errors of the machine, too."""
    try:
        return run(function, *arguments)
    except Exception as error:
        from arena.sandbox.launch import known_fault

        fault = known_fault(error)
        if fault is None or fault is error:
            raise
        raise fault from error
