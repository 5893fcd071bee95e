"""Tasks beside other work, out of which errors come as they were raised.

Whatever a `trio` nursery raises comes in an exception group, even if there was one error, and `except ArenaError`
catches no group. These two raise one error as it is. Only where several tasks have failed, a group of their errors is
raised, so that none is lost.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio


@asynccontextmanager
async def open_nursery() -> AsyncGenerator[trio.Nursery, None]:
    """As `trio.open_nursery`, but one error, of the body or of a task, is raised as it is.

    An error hides a cancellation from outside that came at the same time: no group is made of the two.
    """
    try:
        async with trio.open_nursery() as nursery:
            yield nursery
    except BaseExceptionGroup as group:
        error = _plain(group)
        context = error.__context__
        try:
            raise error
        finally:
            error.__context__ = context  # it was not raised while handling the group
            del error, context


@asynccontextmanager
async def background(*functions: Callable[[], Awaitable[object]]) -> AsyncGenerator[trio.Nursery, None]:
    """Run these beside the body, and what the body starts in the nursery, and cancel them all at its end.

    Raises as `open_nursery` does. One of them ends the body by cancelling the nursery's scope.
    """
    async with open_nursery() as nursery:
        for function in functions:
            nursery.start_soon(function)
        yield nursery
        nursery.cancel_scope.cancel()


def _plain(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error in what a nursery has raised; a group if there are several, a cancellation if there is none."""
    cancelled, errors = group.split(trio.Cancelled)
    if errors is not None:
        return errors.exceptions[0] if len(errors.exceptions) == 1 else errors
    found: BaseException | None = cancelled
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert found is not None
    return found
