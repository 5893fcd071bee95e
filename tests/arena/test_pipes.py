"""Messages cross the pipes between processes whole, in order and without anybody waiting; what is none is refused."""

import os
from collections.abc import Callable

import pytest
import trio
import trio.testing

from arena.league.executor.child_process import LONGEST, Connection, Frames, WireError
from arena.league.executor.task import Notice, from_worker, to_worker

PATIENCE = 120.0


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ((LONGEST + 1).to_bytes(4, "little"), "expected a message of at most"),
        (b"\x01\x00\x00\x00\xc1", "expected a message: "),
        (b"\x05\x00\x00\x00hello", "expected a message: "),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(WireError, match=why):
        Frames(from_worker).feed(data)


@pytest.fixture
def ends() -> Callable[[], tuple[Connection, Connection]]:
    """Two connected ends; to be made in a trio run."""

    def make() -> tuple[Connection, Connection]:
        (down_out, down_in), (up_out, up_in) = os.pipe(), os.pipe()
        return Connection(up_out, down_in, from_worker), Connection(down_out, up_in, to_worker)

    return make


def test_more_than_a_pipe_holds_is_sent_while_nobody_waits(ends: Callable[[], tuple[Connection, Connection]]) -> None:
    lines = [f"{number} {'x' * 10_000}" for number in range(100)]

    async def main() -> list[str]:
        parent, worker = ends()
        found: list[str] = []
        for line in lines:
            worker.send(Notice(line))
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker.write)
                while len(found) < len(lines):
                    found += [message.line for message in await parent.receive()]
                worker.finish()
            assert await parent.receive() == []
        parent.close()
        worker.close()
        return found

    assert trio.run(main) == lines


def test_an_end_whose_output_nobody_reads_still_sees_the_end_of_its_input(
    ends: Callable[[], tuple[Connection, Connection]],
) -> None:
    async def main() -> None:
        parent, worker = ends()
        for _ in range(100):
            worker.send(Notice("x" * 10_000))
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker.write)
                await trio.testing.wait_all_tasks_blocked()
                parent.finish()
                assert await worker.receive() == []
                nursery.cancel_scope.cancel()
        parent.close()
        worker.close()

    trio.run(main)


def test_no_message_is_lost_to_a_cancelled_wait_for_it(ends: Callable[[], tuple[Connection, Connection]]) -> None:
    async def main() -> None:
        parent, worker = ends()
        worker.send(Notice("all is well"))
        worker.finish()
        found = []
        with trio.CancelScope() as scope:
            scope.cancel()
            found += await parent.receive()
        found += parent.receive_rest()
        assert found == [Notice("all is well")]
        parent.close()
        worker.close()

    trio.run(main)


def test_the_rest_of_a_dead_process_ends_though_another_one_holds_its_end_of_the_pipe(
    ends: Callable[[], tuple[Connection, Connection]],
) -> None:
    async def main() -> None:
        parent, worker = ends()
        copy = os.dup(worker._outgoing)
        worker.send(Notice("farewell"))
        worker.finish()
        assert parent.receive_rest() == [Notice("farewell")]
        assert parent.receive_rest() == []
        os.close(copy)
        parent.close()
        worker.close()

    trio.run(main)
