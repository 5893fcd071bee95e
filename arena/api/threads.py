"""A plain call that plays games in another thread, and runs callbacks in the calling one, from any kind of program."""

import logging
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple

import trio

from arena.api.keywords import plain_errors
from arena.league.stop import StopRequest, Wish
from arena.play.game_events import EventsDropped, WatchedEvent
from arena.system.concurrency import background

if TYPE_CHECKING:
    import asyncio


T = TypeVar("T")
V = TypeVar("V")
Ts = TypeVarTuple("Ts")

log = logging.getLogger("arena")
"""Receives the remarks that the command line prints on standard error."""
LOOK_SECONDS = 0.05


class BackgroundCall(Generic[T]):
    """Work in a separate thread, and its callbacks in the thread that waits for it."""

    def __init__(self) -> None:
        self.stop = StopRequest()
        self._told: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._outcome: Future[T] = Future()

    # --- in the thread that works -----------------------------------------------------------------------------------

    def tell(self, call: Callable[[], object]) -> None:
        self._told.put(call)

    def remark(self, text: str) -> None:
        self.tell(partial(log.warning, "%s", text))

    def run(self, function: Callable[[*Ts], Awaitable[V]], /, *arguments: *Ts) -> V:
        """Call `trio.run` until the function ends or is to stop; then `KeyboardInterrupt` is raised."""
        value: list[V] = []

        async def until_stopped() -> None:
            async def cancel_when_asked(scope: trio.CancelScope) -> None:
                await self.stop.wait_beyond(Wish.GO_ON)
                scope.cancel()

            async with background() as nursery:
                nursery.start_soon(cancel_when_asked, nursery.cancel_scope)
                value.append(await function(*arguments))

        if self.stop.wish is Wish.GO_ON:
            trio.run(until_stopped)
        if not value:
            raise KeyboardInterrupt
        return value[0]

    def work(self, function: "Callable[[BackgroundCall[T]], T]") -> None:
        if not self._outcome.set_running_or_notify_cancel():
            return
        try:
            self._outcome.set_result(function(self))
        except BaseException as error:
            self._outcome.set_exception(error)
        finally:
            self._told.put(None)

    # --- in the thread that waits -----------------------------------------------------------------------------------

    def result(self) -> T:
        """Run the callbacks until the work is done, or its task of asyncio cancelled; return or raise its outcome."""
        task = _task_of_asyncio()
        while (call := self._next(task)) is not None:
            call()
        with plain_errors():
            return self._outcome.result()

    def _next(self, task: "asyncio.Task[Any] | None") -> Callable[[], object] | None:
        cancelled_before = task.cancelling() if task else 0
        while True:
            try:
                # Without a timeout, Ctrl-C just before this blocks would only be noticed when the next callback comes.
                return self._told.get(timeout=LOOK_SECONDS)
            except Empty:
                if task and task.cancelling() > cancelled_before:
                    raise sys.modules["asyncio"].CancelledError from None

    def give_up(self) -> None:
        """Stop the work and wait until it has stopped, despite exceptions; work that has not begun is cancelled."""
        while True:
            try:
                self.stop.ask(Wish.STOP_NOW)
                if not self._outcome.cancel():
                    wait([self._outcome])
            except KeyboardInterrupt:  # one more: it is being stopped already
                continue
            return


def _task_of_asyncio() -> "asyncio.Task[Any] | None":
    """Return the task of asyncio that runs this, which has to be polled for its cancellation."""
    loaded = sys.modules.get("asyncio")  # a program that has not imported it runs none of its loops
    if loaded is None:
        return None
    try:
        task: asyncio.Task[Any] | None = loaded.current_task()
    except RuntimeError:  # no loop runs in this thread
        return None
    return task


def in_thread(function: Callable[[BackgroundCall[T]], T]) -> T:
    call = BackgroundCall[T]()
    thread = threading.Thread(target=call.work, args=(function,), name="arena")
    try:
        with plain_errors():
            thread.start()  # within, as Ctrl-C may be raised in it when the thread is running already
        return call.result()
    except BaseException:
        call.give_up()
        raise
    finally:
        if thread.is_alive():
            thread.join()


async def in_thread_of_trio(function: Callable[[BackgroundCall[T]], T]) -> T:
    """Do work in a separate thread, for a task of trio. Cancelling this stops the work."""
    call = BackgroundCall[T]()
    try:
        await trio.to_thread.run_sync(call.work, function, abandon_on_cancel=True)
    except BaseException:
        with trio.CancelScope(shield=True):  # the usual limit of threads may be used up by work that is not stopped yet
            await trio.to_thread.run_sync(call.give_up, limiter=trio.CapacityLimiter(1))
        raise
    return call.result()


OnEvent = Callable[[WatchedEvent], object]

MOST_WAITING = 10_000
"""Events that wait for the watcher, some megabytes; further ones are dropped."""


class EventQueue:
    """Events for a watcher that may be slow: if too many wait, further ones are dropped and counted."""

    def __init__(self, call: BackgroundCall[T], on_event: OnEvent, most: int = MOST_WAITING) -> None:
        self._call = call
        self._on_event = on_event
        self._most = most
        self._told = 0
        self._taken = 0
        self._dropped = 0

    def put(self, event: WatchedEvent) -> None:
        if self._told - self._taken >= self._most:
            self._dropped += event.count if isinstance(event, EventsDropped) else 1
            return
        self.finish()
        self._tell(event)

    def finish(self) -> None:
        """Report the number of dropped events: before the next one, and at the end."""
        if self._dropped:
            self._tell(EventsDropped(self._dropped))
            self._dropped = 0

    def _tell(self, event: WatchedEvent) -> None:
        self._told += 1
        self._call.tell(partial(self._deliver, event))

    def _deliver(self, event: WatchedEvent) -> None:
        self._taken += 1
        self._on_event(event)
