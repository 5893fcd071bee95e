"""What goes wrong in tasks that run beside others is raised as it is, and nothing of it is lost."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

import pytest
import trio

from arena.system.concurrency import background, open_nursery

Open = Callable[[], AbstractAsyncContextManager[trio.Nursery]]


class TaskError(Exception):
    """What goes wrong here."""


async def fail() -> None:
    await trio.lowlevel.checkpoint()
    raise TaskError("of a task")


async def fail_when_cancelled() -> None:
    try:
        await trio.sleep_forever()
    finally:
        raise TaskError("of a task that was cancelled")


def run(function: Callable[[], Awaitable[None]]) -> None:
    """Run it; what would never end fails."""

    async def in_time() -> None:
        with trio.fail_after(120):
            await function()

    trio.run(in_time)


both = pytest.mark.parametrize("opened", [open_nursery, background])


@both
def test_an_error_of_the_body_is_raised_as_it_is_and_ends_the_tasks(opened: Open) -> None:
    error, ended = TaskError("of the body"), []

    async def wait() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append(True)

    async def main() -> None:
        async with opened() as nursery:
            nursery.start_soon(wait)
            await trio.lowlevel.checkpoint()
            raise error

    with pytest.raises(TaskError) as caught:
        run(main)
    assert caught.value is error
    assert ended == [True]


@both
def test_an_error_of_a_task_is_raised_as_it_is_and_ends_the_body(opened: Open) -> None:
    async def main() -> None:
        async with opened() as nursery:
            nursery.start_soon(fail)
            await trio.sleep_forever()

    with pytest.raises(TaskError, match=r"^of a task$"):
        run(main)


@both
def test_of_several_errors_none_is_lost(opened: Open) -> None:
    async def main() -> None:
        async with opened() as nursery:
            nursery.start_soon(fail_when_cancelled)
            nursery.start_soon(trio.sleep_forever)
            await trio.lowlevel.checkpoint()
            raise KeyError("of the body")

    with pytest.raises(ExceptionGroup) as caught:
        run(main)
    assert {type(error) for error in caught.value.exceptions} == {KeyError, TaskError}


def test_what_runs_in_the_background_runs_beside_the_body_and_is_cancelled_at_its_end() -> None:
    events = []

    async def wait(name: str, is_begun: trio.Event) -> None:
        is_begun.set()
        try:
            await trio.sleep_forever()
        finally:
            events.append(name)

    async def main() -> None:
        first, second = trio.Event(), trio.Event()
        async with background(lambda: wait("given", first)) as nursery:
            nursery.start_soon(wait, "started within", second)
            await first.wait()
            await second.wait()
            events.append("body")

    run(main)
    assert events[0] == "body"
    assert set(events[1:]) == {"given", "started within"}
