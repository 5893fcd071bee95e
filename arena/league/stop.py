"""The wish that games stop, from any thread or a signal handler, and one path for the errors of what plays games.

Quick to import: the command line has this module before anything slow.
"""

import contextlib
import enum
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.bots.trial import Run


T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Say = Callable[[str], None]
"""Takes a remark for people: one or more lines, without a newline at the end."""


class Wish(enum.IntEnum):
    """How urgently games are to stop."""

    GO_ON = 0
    STOP_SOON = 1
    """No further game is begun; those under way are played to their end."""
    STOP_NOW = 2
    """The games under way are stopped as well, and not stored."""


class StopRequest:
    """Carries the wish to the task that plays."""

    def __init__(self) -> None:
        self.wish = Wish.GO_ON
        self._waiting: list[Callable[[], None]] = []

    def ask(self, wish: Wish) -> None:
        """Announce a wish. A weaker one than before changes nothing."""
        self.wish = max(self.wish, wish)
        for notify in tuple(self._waiting):
            notify()

    @contextlib.contextmanager
    def passed_on(self) -> "Iterator[StopRequest]":
        """Give another request, which gets the wishes of this one, but not the other way round."""
        other = StopRequest()

        def notify() -> None:
            other.ask(self.wish)

        self._waiting.append(notify)
        try:
            notify()
            yield other
        finally:
            self._waiting.remove(notify)

    async def wait_beyond(self, known: Wish) -> Wish:
        """Return the wish as soon as it is another than `known`."""
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
    """Run what plays games or starts bots. Raises `ArenaError` for what the store, a sandbox or the machine lacks."""
    try:
        return run(function, *arguments)
    except ArenaError:
        raise
    except Exception as error:
        from arena.bots.sandbox.launch import host_fault

        fault = host_fault(error)
        if fault is None:
            raise
        raise fault from error
