"""A plain call that plays games, from anywhere: a script, a thread, a notebook's event loop, a task of trio.

The games are played by a trio loop in a thread of its own, which no signal, no exit status and no event loop of the
program belongs to. The thread that has made the call waits, and calls what it is to call back with. Whatever is raised
there meanwhile, be it by Ctrl-C or by such a call, stops the games and is raised when no process is left.
"""

import logging
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from queue import SimpleQueue
from typing import Generic, TypeVar, TypeVarTuple

import trio

from arena.api.settings import plain_errors
from arena.league.stop import Stop, Wish

T = TypeVar("T")
V = TypeVar("V")
Ts = TypeVarTuple("Ts")

log = logging.getLogger("arena")
"""Where remarks go that the command line would print on standard error."""


class Errand(Generic[T]):
    """Work that is done in a thread of its own, and what that has to tell whoever asked for it."""

    def __init__(self) -> None:
        self.stop = Stop()
        self._told: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._done = threading.Event()
        self._value: list[T] = []
        self._error: BaseException | None = None

    # --- in the thread that works -----------------------------------------------------------------------------------

    def tell(self, call: Callable[[], object]) -> None:
        """Have this called in the thread that waits."""
        self._told.put(call)

    def remark(self, text: str) -> None:
        """Say what people should know."""
        self.tell(partial(log.warning, "%s", text))

    def run(self, function: Callable[[*Ts], Awaitable[V]], /, *arguments: *Ts) -> V:
        """Run an async function as `trio.run` does, until it ends or is to stop: then `KeyboardInterrupt` is raised."""
        if self.stop.wish is Wish.GO_ON:
            value, error = trio.run(self._until_stopped, function, arguments)
            if error is not None:
                raise error
            if value:
                return value[0]
        raise KeyboardInterrupt

    async def _until_stopped(
        self, function: Callable[[*Ts], Awaitable[V]], arguments: tuple[*Ts]
    ) -> tuple[list[V], Exception | None]:
        value: list[V] = []
        failure: Exception | None = None

        async def heed(scope: trio.CancelScope) -> None:
            await self.stop.wait_beyond(Wish.GO_ON)
            scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(heed, nursery.cancel_scope)
            try:
                value.append(await function(*arguments))
            except Exception as error:
                failure = error  # handed on, as out of a nursery it would come wrapped in a group
            nursery.cancel_scope.cancel()
        return value, failure

    def work(self, function: "Callable[[Errand[T]], T]") -> None:
        """Do it all, and keep what comes of it."""
        try:
            self._value.append(function(self))
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()
            self._told.put(None)

    # --- in the thread that waits -----------------------------------------------------------------------------------

    def result(self) -> T:
        """Call what is told until the work is done; returns or raises what came of it."""
        while (call := self._told.get()) is not None:
            call()
        if self._error is not None:
            raise self._error
        return self._value[0]

    def give_up(self) -> None:
        """Stop the work, and wait until it has been stopped, whatever else is raised meanwhile."""
        self.stop.ask(Wish.STOP_NOW)
        while not self._done.is_set():
            try:
                self._done.wait()
            except KeyboardInterrupt:  # one more: it is being stopped already
                continue


def in_thread(function: Callable[[Errand[T]], T]) -> T:
    """Do work in a thread of its own and wait for it. Raises what it raises, `ArenaError` for what a user can mend."""
    errand = Errand[T]()
    thread = threading.Thread(target=errand.work, args=(function,), name="arena")
    with plain_errors():
        thread.start()
        try:
            return errand.result()
        except BaseException:
            errand.give_up()
            raise
        finally:
            thread.join()


async def in_thread_of_trio(function: Callable[[Errand[T]], T]) -> T:
    """The same for a task of trio, which goes on with its other tasks meanwhile. Cancelling this stops the work."""
    errand = Errand[T]()
    try:
        await trio.to_thread.run_sync(errand.work, function, abandon_on_cancel=True)
    except BaseException:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(errand.give_up)
        raise
    with plain_errors():
        return errand.result()
