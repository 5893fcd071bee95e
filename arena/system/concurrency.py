"""Additions to trio: nurseries that raise a single error without a group, and waiting without epoll.

Linux limits the descriptors that a user may wait for with epoll (fs.epoll.max_user_watches), which trio uses. Bots of
an arena that is not root run as the same user and can use up the limit. Descriptors are then polled.
"""

import errno
import select
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar, TypeVarTuple

import trio

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

POLL_SECONDS = 0.001
"""The interval at which a descriptor is polled at the limit of epoll; it delays a bot's answer."""
POLLS = 200


class Run(Protocol):
    """Runs an async function to its end, as `trio.run` does, or ends it early."""

    def __call__(self, function: Callable[[*Ts], Awaitable[T]], /, *arguments: *Ts) -> T: ...


@asynccontextmanager
async def open_nursery() -> AsyncGenerator[trio.Nursery, None]:
    """A nursery that re-raises a single error without an exception group.

    An error hides a cancellation from outside that came at the same time.
    """
    try:
        async with trio.open_nursery() as nursery:
            yield nursery
    except BaseExceptionGroup as group:
        error = _single_error(group)
        context = error.__context__
        try:
            raise error
        finally:
            error.__context__ = context  # it was not raised while handling the group
            del error, context


@asynccontextmanager
async def background(*functions: Callable[[], Awaitable[object]]) -> AsyncGenerator[trio.Nursery, None]:
    """Run functions next to the body and cancel them at its end. Raises errors as `open_nursery` does."""
    async with open_nursery() as nursery:
        for function in functions:
            nursery.start_soon(function)
        yield nursery
        nursery.cancel_scope.cancel()


def _single_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    cancelled, errors = group.split(trio.Cancelled)
    if errors is not None:
        return errors.exceptions[0] if len(errors.exceptions) == 1 else errors
    found: BaseException | None = cancelled
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert found is not None
    return found


async def readable(descriptor: int) -> None:
    await _wait(descriptor, trio.lowlevel.wait_readable, select.POLLIN)


async def writable(descriptor: int) -> None:
    await _wait(descriptor, trio.lowlevel.wait_writable, select.POLLOUT)


async def _wait(descriptor: int, wait: Callable[[int], Awaitable[None]], event: int) -> None:
    while True:
        try:
            return await wait(descriptor)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
        poll = select.poll()
        poll.register(descriptor, event)
        for _ in range(POLLS):
            if found := poll.poll(0):
                if found[0][1] & select.POLLNVAL:
                    raise trio.ClosedResourceError("another task closed this descriptor")
                return await trio.lowlevel.checkpoint()
            await trio.sleep(POLL_SECONDS)
