"""What is said of schedulers: that they cannot be used, do not answer, answer again, or are gone."""

import asyncio
import math
import os
import selectors
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import dask.utils
import distributed
import pytest

from arena.league.executor.cluster import scheduler as module
from arena.league.executor.cluster.messages import (
    Connect,
    FromGate,
    Mute,
    Reply,
    Speaks,
    Submit,
    Unconnected,
    WorkerCame,
    WorkerGone,
    WorkerSilent,
)
from arena.league.executor.cluster.scheduler import MUTE_SECONDS, Scheduler, cause_of_silence

CONNECT = Connect("tcp://10.0.0.1:8786", 0, None, 60.0, b"")
ATTIC = "tcp://10.0.0.2:4000"


class Hurried(selectors.DefaultSelector):
    """Waits for nothing: time that would be waited has passed."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class HurriedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock runs as fast as there is nothing to do."""

    def __init__(self) -> None:
        self._hurried = Hurried()
        super().__init__(self._hurried)

    def time(self) -> float:
        return self._hurried.now


class FakeClient:
    """Stands for dask's client, connected to a scheduler. While `is_stopped` that says nothing."""

    def __init__(self, packages: dict[str, str] | None = None) -> None:
        self.packages = {"distributed": distributed.__version__} if packages is None else packages  # type: ignore[attr-defined]
        self.status = "running"
        self.is_stopped = False
        self.id = "Scheduler-1"
        self.workers: dict[str, dict[str, Any]] = {ATTIC: {"last_seen": 0.0, "name": "attic", "host": "10.0.0.2"}}
        self.beats = True
        self.scheduler = self
        self.submitted: list[str] = []

    def submit(self, function: Callable[..., Any], *, pure: bool, key: str) -> object:
        assert function is bytes
        assert not pure
        self.submitted.append(key)
        return object()

    async def get_versions(self, *, check: bool) -> dict[str, Any]:
        assert not check
        return {"scheduler": {"packages": self.packages}}

    async def identity(self, *, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1
        while self.is_stopped:  # noqa: ASYNC110  (nobody waits: it is the clock of the test)
            await asyncio.sleep(0.1)
        if self.status != "running":
            raise OSError("connection refused")
        for worker in self.workers.values():
            worker["last_seen"] = worker["last_seen"] + self.beats
        return {"id": self.id, "workers": {address: dict(worker) for address, worker in self.workers.items()}}


class Scene:
    def __init__(self, scheduler: Scheduler, client: FakeClient, said: list[tuple[float, FromGate]]) -> None:
        self.scheduler, self.client, self.said = scheduler, client, said

    @property
    def kinds(self) -> list[str]:
        return [type(message).__name__ for _, message in self.said]


def watched(act: Callable[[Scene], Awaitable[None]], patience: float = 60.0) -> tuple[Scene, float, float]:
    """Have a scheduler watched while a test acts. Returns when the watching ended, and until when it may be tried to
    reach it again."""
    said: list[tuple[float, FromGate]] = []

    async def main() -> tuple[Scene, float, float]:
        now = asyncio.get_running_loop().time

        async def tell(message: FromGate) -> None:
            said.append((now(), message))

        scheduler = Scheduler(tell, Connect(CONNECT.address, 0, None, patience, b""))
        client = scheduler._client = FakeClient()
        scene = Scene(scheduler, client, said)
        watching = asyncio.ensure_future(scheduler.watch())
        await act(scene)
        deadline = await watching
        return scene, now(), deadline

    with asyncio.Runner(loop_factory=HurriedLoop) as runner:
        return runner.run(main())


def test_a_scheduler_that_stops_answering_is_told_and_waited_for_no_longer_than_said() -> None:
    async def act(scene: Scene) -> None:
        await asyncio.sleep(10)
        scene.client.is_stopped = True

    scene, ended, deadline = watched(act)
    assert scene.kinds == ["WorkerCame", "Mute"]
    told_at, mute = scene.said[1]
    assert isinstance(mute, Mute)
    assert 10 < told_at < 10 + MUTE_SECONDS + 1
    assert 60 - MUTE_SECONDS - 1 < mute.seconds < 60
    assert 69 < ended < 71  # sixty seconds since it was heard last
    assert deadline <= ended


def test_a_scheduler_that_answers_again_in_time_has_its_workers_still() -> None:
    async def act(scene: Scene) -> None:
        await asyncio.sleep(10)
        scene.client.is_stopped = True
        await asyncio.sleep(55)
        scene.client.is_stopped = False
        await asyncio.sleep(10)
        scene.client.status = "closed"

    scene, _, _ = watched(act)
    assert scene.kinds == ["WorkerCame", "Mute", "Speaks"]
    assert isinstance(scene.said[2][1], Speaks)


def test_a_scheduler_that_is_gone_is_noticed_at_once_and_tried_again_for_the_time_that_is_left() -> None:
    async def act(scene: Scene) -> None:
        await asyncio.sleep(10)
        scene.client.status = "connecting"

    scene, ended, deadline = watched(act)
    assert scene.kinds == ["WorkerCame"]
    assert ended < 11
    assert 69 < deadline < 71


def test_another_scheduler_at_the_same_address_is_another_connection() -> None:
    async def act(scene: Scene) -> None:
        await asyncio.sleep(10)
        scene.client.id = "Scheduler-2"

    _, ended, _ = watched(act)
    assert ended < 12


def test_a_worker_that_is_not_heard_of_is_silent_and_one_that_is_gone_is_gone() -> None:
    async def act(scene: Scene) -> None:
        await asyncio.sleep(10)
        scene.client.beats = False
        await asyncio.sleep(65)
        scene.client.beats = True
        await asyncio.sleep(2)
        scene.client.workers.clear()
        await asyncio.sleep(2)
        scene.client.status = "closed"

    scene, _, _ = watched(act)
    assert [message for _, message in scene.said] == [
        WorkerCame(ATTIC, "attic", "10.0.0.2"),
        WorkerSilent(ATTIC),
        WorkerSilent(ATTIC, is_back=True),
        WorkerGone(ATTIC),
    ]


def test_what_is_asked_of_a_worker_that_goes_is_not_answered() -> None:
    """The arena is told that it is gone, which says the same."""

    async def act(scene: Scene) -> None:
        await asyncio.sleep(1)
        scene.scheduler.begin(Submit(1, ATTIC, b""))
        scene.client.workers.clear()
        await asyncio.sleep(2)
        scene.client.status = "closed"

    scene, _, _ = watched(act)
    assert scene.kinds == ["WorkerCame", "WorkerGone"]
    assert not [message for _, message in scene.said if isinstance(message, Reply)]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ConnectionRefusedError(111, "Connection refused"), ": connection refused"),
        (TimeoutError(), ""),
    ],
)
def test_at_a_start_without_a_scheduler_it_is_told_early_and_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch, error: Exception, cause: str
) -> None:
    said: list[tuple[float, FromGate]] = []

    class Unreachable:
        def __init__(self, *_: object, timeout: float, **__: object) -> None:
            self._timeout = timeout

        def __await__(self) -> Any:
            return self._wait().__await__()

        async def _wait(self) -> None:
            await asyncio.sleep(self._timeout / 2)
            raise error

    class Dask:
        Client = Unreachable

    monkeypatch.setattr(module, "distributed", lambda: Dask)

    async def main() -> tuple[Unconnected | None, float]:
        now = asyncio.get_running_loop().time

        async def tell(message: FromGate) -> None:
            said.append((now(), message))

        return await Scheduler(tell, CONNECT).connect(60.0), now()

    with asyncio.Runner(loop_factory=HurriedLoop) as runner:
        unconnected, ended = runner.run(main())
    assert unconnected == Unconnected(f"no dask scheduler answers at tcp://10.0.0.1:8786 within 60 s{cause}")
    assert 60 <= ended < 61
    ((told_at, mute),) = said
    assert isinstance(mute, Mute)
    assert told_at <= MUTE_SECONDS
    assert mute.why == cause.removeprefix(": ")


@pytest.mark.parametrize(
    ("error", "is_tls", "words"),
    [
        (socket.gaierror(-2, "Name or service not known"), False, "name or service not known"),
        (ConnectionResetError(104, "Connection reset by peer"), True, "connection reset by peer"),
        (
            ConnectionResetError(104, "Connection reset by peer"),
            False,
            "connection reset by peer; the address of a scheduler with TLS begins with tls://",
        ),
        (ValueError("IOStream is not idle; cannot convert to SSL"), True, "what listens there does not speak TLS"),
        (OSError("odd"), False, "OSError: odd"),
        (asyncio.CancelledError(), False, ""),
    ],
)
def test_why_nothing_answers_is_said_in_words(error: BaseException, is_tls: bool, words: str) -> None:
    assert cause_of_silence(error, is_tls=is_tls) == words
    outer = OSError("Timed out trying to connect")
    outer.__cause__ = error
    assert cause_of_silence(outer, is_tls=is_tls) == words


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], Unconnected | None]:
    """What is told instead of a connection to a scheduler with these packages, if that is so."""

    async def nobody_hears(message: FromGate) -> None:
        pass

    def asked(packages: dict[str, str]) -> Unconnected | None:
        async def client(*_: object, **__: object) -> FakeClient:
            return FakeClient(packages)

        class Dask:
            __version__ = distributed.__version__  # type: ignore[attr-defined]
            Client = staticmethod(client)

        monkeypatch.setattr(module, "distributed", lambda: Dask)
        return asyncio.run(Scheduler(nobody_hears, CONNECT).connect(math.inf))

    return asked


def test_one_task_is_kept_whose_key_begins_as_those_of_batches_do() -> None:
    """Dask has a group for such keys, and begins none anew while it has a task."""
    scheduler = Scheduler(None, CONNECT)  # type: ignore[arg-type]
    client = scheduler._client = FakeClient()
    scheduler.keep_group()
    (key,) = client.submitted
    assert dask.utils.key_split(key) == dask.utils.key_split(f"arena-{os.getpid()}-1234") == "arena"


def test_a_scheduler_of_another_version_is_refused_with_both_versions_as_a_mistake_of_the_user(
    refusal: Callable[[dict[str, str]], Unconnected | None],
) -> None:
    ours = distributed.__version__  # type: ignore[attr-defined]
    assert refusal({"distributed": "2020.1.0"}) == Unconnected(
        f"the scheduler at tcp://10.0.0.1:8786 runs distributed 2020.1.0, and this arena {ours}: "
        "expected the same on all machines (python -m pip install distributed==2020.1.0)",
        is_usage=True,
    )


@pytest.mark.parametrize("packages", [{}, {"distributed": ""}])
def test_a_scheduler_that_does_not_say_its_version_is_refused(
    packages: dict[str, str], refusal: Callable[[dict[str, str]], Unconnected | None]
) -> None:
    told = refusal(packages)
    assert told is not None
    assert told.is_usage
    assert "expected the same on all machines" in told.why


def test_a_scheduler_of_this_version_is_taken(refusal: Callable[[dict[str, str]], Unconnected | None]) -> None:
    assert refusal({"distributed": distributed.__version__}) is None  # type: ignore[attr-defined]
