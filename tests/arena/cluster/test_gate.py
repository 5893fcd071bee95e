"""How long the gate looks for a scheduler, and what it tells the arena of it."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from arena.league.executor.cluster import gate as module
from arena.league.executor.cluster.messages import (
    Ask,
    Connect,
    Connected,
    Disconnected,
    FromGate,
    Leave,
    Submit,
    Unconnected,
)

CONNECT = Connect("tcp://10.0.0.1:8786", 0, None, 60.0, b"")
CONNECTED = Connected("tcp://10.0.0.1:8786")


class FakeScheduler:
    """Stands for one connection. `why_not` it cannot be made ("never": it takes for ever), or for how many seconds it
    may be looked for again."""

    def __init__(self, why_not: str = "", left: float | None = None, *, is_usage: bool = False) -> None:
        self.why_not, self.left, self.is_usage = why_not, left, is_usage
        self.calls: list[str] = []
        self.deadline = 0.0
        self.is_again = False
        self.begun: list[Ask | Submit] = []

    async def connect(self, deadline: float) -> Unconnected | None:
        self.deadline = deadline
        await asyncio.sleep(0)
        if self.why_not == "never":
            await asyncio.Event().wait()
        return Unconnected(self.why_not, self.is_usage) if self.why_not else None

    async def watch(self) -> float:
        if self.left is None:
            await asyncio.Event().wait()
        assert self.left is not None
        return asyncio.get_running_loop().time() + self.left

    def keep_group(self) -> None:
        pass

    def begin(self, message: Ask | Submit) -> None:
        self.begun.append(message)

    async def bid_farewell(self) -> None:
        self.calls.append("farewell")

    async def close(self) -> None:
        self.calls.append("close")


class Told:
    """Stands for the pipes: what the arena is told. What that asks for when it is connected is `asked`."""

    def __init__(self, inbox: "asyncio.Queue[Any]", asked: Sequence[Ask | Submit | Leave]) -> None:
        self.messages: list[FromGate] = []
        self._inbox, self._asked = inbox, asked

    async def send(self, message: FromGate) -> None:
        self.messages.append(message)
        if isinstance(message, Connected):
            for asked in self._asked:
                self._inbox.put_nowait(asked)


def served(
    monkeypatch: pytest.MonkeyPatch,
    schedulers: Sequence[FakeScheduler],
    *asked: Ask | Submit | Leave,
    early: Sequence[Ask | Submit | Leave] = (),
) -> list[FromGate]:
    """What the arena is told where these are the connections, one after the other, and it asks so once it is connected,
    or before (`early`)."""
    left = list(schedulers)

    def connection(tell: Any, connect: Connect, *, is_again: bool) -> FakeScheduler:
        left[0].is_again = is_again
        return left.pop(0)

    monkeypatch.setattr(module, "Scheduler", connection)

    async def main() -> list[FromGate]:
        inbox: asyncio.Queue[Any] = asyncio.Queue()
        for message in early:
            inbox.put_nowait(message)
        told = Told(inbox, asked)
        await module._serve_connected(told, inbox, CONNECT)  # type: ignore[arg-type]
        return told.messages

    messages = asyncio.run(main())
    assert not left
    return messages


def test_where_no_scheduler_is_found_it_is_told_and_that_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert served(monkeypatch, [FakeScheduler("nobody answers")]) == [Unconnected("nobody answers")]


def test_a_scheduler_has_all_of_its_time_however_long_it_takes_to_import_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[float] = []
    monkeypatch.setattr(module, "distributed", lambda: imported.append(asyncio.get_running_loop().time()))
    scheduler = FakeScheduler("nobody answers")
    served(monkeypatch, [scheduler])
    assert scheduler.deadline >= imported[0] + CONNECT.patience


def test_another_version_is_a_mistake_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "it runs 1 and this arena 2: expected the same on all machines"
    assert served(monkeypatch, [FakeScheduler(why, is_usage=True)]) == [Unconnected(why, is_usage=True)]


def test_a_scheduler_that_is_lost_is_looked_for_in_the_time_that_is_left_and_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = FakeScheduler(left=50.0), FakeScheduler("nobody answers")
    begun = time.monotonic()
    connected, disconnected, unconnected = served(monkeypatch, [first, second])
    took = time.monotonic() - begun
    assert (connected, unconnected) == (CONNECTED, Unconnected("nobody answers"))
    assert isinstance(disconnected, Disconnected)
    assert 50 - took <= disconnected.seconds <= 50
    assert 10 - took <= first.deadline - second.deadline <= 10.001, "the second has 50 seconds and the first had 60"
    assert (first.is_again, second.is_again) == (False, True)
    assert first.calls == ["close"]


def test_a_scheduler_that_was_mute_for_too_long_is_not_waited_for_a_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert served(monkeypatch, [FakeScheduler(left=0.0)]) == [
        CONNECTED,
        Unconnected("the scheduler at tcp://10.0.0.1:8786 has not answered for 60 s"),
    ]


def test_workers_hear_that_the_arena_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = FakeScheduler()
    ask, submit = Ask(1, "a", b"x"), Submit(2, "a", b"y")
    assert served(monkeypatch, [scheduler], ask, submit, Leave()) == [CONNECTED]
    assert scheduler.begun == [ask, submit]
    assert scheduler.calls == ["farewell", "close"]


@pytest.mark.parametrize("why_not", ["never", "nobody answers", ""])
def test_an_arena_that_leaves_waits_for_no_scheduler(monkeypatch: pytest.MonkeyPatch, why_not: str) -> None:
    """Not even if there is one at this moment."""
    assert served(monkeypatch, [FakeScheduler(why_not)], early=[Ask(1, "a", b"x"), Leave()]) == []


class FakeCluster:
    """Stands for the scheduler and the workers of this machine: how they end, or that they do not."""

    def __init__(self, ended: str) -> None:
        self._ended = ended

    def connect(self, connect: Connect) -> Connect:
        return connect

    async def until_ended(self) -> str:
        if not self._ended:
            await asyncio.Event().wait()
        return self._ended


def served_here(monkeypatch: pytest.MonkeyPatch, scheduler: FakeScheduler, ended: str, *early: Leave) -> list[FromGate]:
    """What the arena is told with a cluster of this machine."""
    monkeypatch.setattr(module, "Scheduler", lambda tell, connect, *, is_again: scheduler)

    async def main() -> list[FromGate]:
        inbox: asyncio.Queue[Any] = asyncio.Queue()
        for message in early:
            inbox.put_nowait(message)
        told = Told(inbox, ())
        await module._serve_local(told, inbox, CONNECT, FakeCluster(ended))  # type: ignore[arg-type]
        return told.messages

    return asyncio.run(main())


def test_what_was_started_on_this_machine_and_has_ended_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told = served_here(monkeypatch, FakeScheduler("never"), "the scheduler of this machine was killed")
    assert told == [Unconnected("the scheduler of this machine was killed")]


def test_an_arena_that_leaves_the_cluster_of_this_machine_hears_no_more_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert served_here(monkeypatch, FakeScheduler("never"), "", Leave()) == []
