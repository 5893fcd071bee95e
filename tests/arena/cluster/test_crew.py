"""Who is there to play, how long nobody is waited for, and what the user is told of it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
import trio.testing
from fake_gate import CARGO, FIT, FakeGate, plan, until

from arena.errors import ArenaError, UsageError
from arena.league.executor.cluster import crew as module
from arena.league.executor.cluster.calibration import Calibration
from arena.league.executor.cluster.crew import Crew
from arena.league.executor.cluster.messages import (
    Answer,
    Busy,
    Connected,
    Disconnected,
    Mute,
    Prepare,
    Prepared,
    Refused,
    Reply,
    Speaks,
    Unable,
    Unconnected,
    WorkerCame,
    WorkerGone,
    WorkerSilent,
)
from arena.league.executor.cluster.plan import ClusterPlan
from arena.league.executor.cluster.seat import Seat, SentBatch, Standing

WAIT = "at most 60 s. To start one:\n    dask worker tcp://10.0.0.1:8786 --nthreads 1 --preload arena"


@pytest.fixture(autouse=True)
def _as_fast_as_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "measure", lambda: FIT)


class Owner:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.errors: list[ArenaError] = []
        self.losses: list[tuple[str, bool]] = []
        self.unseen = 0

    def said(self, line: str) -> None:
        self.lines.append(line)

    def failed(self, error: ArenaError) -> None:
        self.errors.append(error)

    def changed(self) -> None:
        pass

    def lost(self, batches: Iterable[SentBatch], why: str, *, counts: bool) -> None:
        self.losses += [(why, counts) for _ in batches]

    def lost_sight(self) -> None:
        self.unseen += 1

    def answered(self, seat: Seat, number: int, reply: Reply) -> None:
        raise AssertionError("no batch is sent here")

    def left_out(self, bot: str, words: str) -> None:
        self.lines.append(words)


class Scene:
    """A crew with a fake gate and a clock that stands still unless it is told."""

    def __init__(self, crew: Crew, gate: FakeGate, owner: Owner, clock: trio.testing.MockClock) -> None:
        self.crew, self.gate, self.owner, self._clock = crew, gate, owner, clock

    async def begin(self, *workers: str) -> None:
        await self.gate.begin(*workers)
        await trio.testing.wait_all_tasks_blocked()

    async def say(self, *messages: object) -> None:
        self.gate.say(*messages)  # type: ignore[arg-type]
        await trio.testing.wait_all_tasks_blocked()

    async def wait(self, seconds: float) -> None:
        for _ in range(round(seconds * 2)):
            self._clock.jump(0.5)
            await trio.testing.wait_all_tasks_blocked()

    @property
    def standings(self) -> dict[str, Standing]:
        return {seat.name: seat.standing for seat in self.crew.seats.values()}

    def send(self, name: str) -> None:
        """A worker has a batch."""
        (seat,) = (seat for seat in self.crew.seats.values() if seat.name == name)
        seat.sent[99] = SentBatch(())


@asynccontextmanager
async def _scene(clock: trio.testing.MockClock, plan: ClusterPlan, gate: FakeGate) -> AsyncGenerator[Scene, None]:
    owner = Owner()
    crew = Crew(CARGO, plan, owner, gate)
    async with trio.open_nursery() as nursery:
        await crew.start(nursery)
        try:
            yield Scene(crew, gate, owner, clock)
        finally:
            crew.stop()


def run(
    act: Callable[[Scene], Awaitable[None]],
    *,
    patience: float = 60.0,
    prepares: bool = True,
    local: int = 0,
    reference_us: int | None = None,
) -> None:
    """Have a test act in a scene."""
    clock = trio.testing.MockClock()

    async def main() -> None:
        gate = FakeGate()
        gate.prepares = prepares
        async with _scene(clock, plan(local=local, reference_us=reference_us), gate) as scene:
            await act(scene)

    trio.run(main, clock=clock)


def test_workers_that_are_prepared_are_ready() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic", "cellar")
        assert scene.standings == {"attic": Standing.READY, "cellar": Standing.READY}
        assert [seat.name for seat in await scene.crew.until_ready()] == ["attic", "cellar"]
        assert scene.owner.lines == []

    run(act)


def test_while_no_worker_is_there_it_is_said_what_is_waited_for_and_how_to_start_one() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin()
        await scene.wait(59)
        assert scene.owner.errors == []
        (line,) = scene.owner.lines
        assert line.startswith("cluster tcp://10.0.0.1:8786: no worker can play; one is waited for, ")
        assert WAIT in line
        await scene.wait(2)
        assert str(scene.owner.errors[0]).startswith(
            "cluster tcp://10.0.0.1:8786: no worker came within 60 s; to start one:\n    dask worker tcp://10.0.0.1:8786"
        )

    run(act)


def test_a_worker_that_comes_in_time_ends_the_waiting() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin()
        await scene.wait(50)
        await scene.say(WorkerCame("tcp://attic:1", "attic", "attic"))
        await scene.wait(200)
        assert scene.owner.errors == []
        await scene.say(WorkerGone("tcp://attic:1"))
        await scene.wait(59)
        assert scene.owner.errors == []
        await scene.wait(2)
        assert len(scene.owner.lines) == 2
        assert scene.owner.errors

    run(act)


def test_workers_that_are_all_silent_are_waited_for_no_longer_than_ones_that_are_gone() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        await scene.say(WorkerSilent("tcp://attic:1"))
        assert scene.owner.lines == ["worker attic has not been heard of for 60 s"]
        await scene.wait(61)
        assert str(scene.owner.errors[0]) == (
            "cluster tcp://10.0.0.1:8786: no worker can play:\n    attic: it has not been heard of for long"
        )

    run(act)


def test_a_worker_that_falls_silent_while_it_is_prepared_keeps_no_other_of_its_machine_waiting() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin()
        await scene.say(WorkerCame("tcp://a:1", "a", "10.0.0.2"))
        await scene.say(WorkerCame("tcp://b:1", "b", "10.0.0.2"))
        (first,) = scene.gate.of(Prepare)  # the other one waits until the bots of their machine are there
        await scene.say(WorkerSilent("tcp://a:1"))
        (second,) = (number for number in scene.gate.of(Prepare) if number != first)
        scene.gate.answer(second, Prepared(1, "Linux", FIT))
        await trio.testing.wait_all_tasks_blocked()
        assert scene.standings == {"a": Standing.COMING, "b": Standing.READY}
        await scene.say(WorkerSilent("tcp://a:1", is_back=True))
        (third,) = (number for number in scene.gate.of(Prepare) if number != first)
        scene.gate.answer(third, Prepared(1, "Linux", FIT))
        await trio.testing.wait_all_tasks_blocked()
        assert scene.standings == {"a": Standing.READY, "b": Standing.READY}

    run(act, prepares=False)


def test_a_worker_that_cannot_play_is_named_with_the_reason() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        scene.gate.answer(scene.gate.of(Prepare)[0], Refused("the build failed with exit code 1\n    no cc"))
        await trio.testing.wait_all_tasks_blocked()
        assert scene.owner.lines == ["worker attic is not used: the build failed with exit code 1\n    no cc"]
        await scene.wait(61)
        assert str(scene.owner.errors[0]) == (
            "cluster tcp://10.0.0.1:8786: no worker can play:\n    attic: the build failed with exit code 1\n    no cc"
        )

    run(act, prepares=False)


def test_of_workers_of_our_own_no_others_are_waited_for() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("local-1")
        scene.gate.answer(scene.gate.of(Prepare)[0], Refused("why"))
        await until(lambda: scene.owner.errors, "the league ends")
        assert str(scene.owner.errors[0]) == "cluster local:1: no worker can play:\n    local-1: why"

    run(act, prepares=False, local=1)


def test_a_worker_that_is_too_slow_is_not_used() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        scene.gate.answer(scene.gate.of(Prepare)[0], Prepared(1, "Linux", Calibration(10 * FIT.work_us, 0)))
        await trio.testing.wait_all_tasks_blocked()
        assert scene.standings == {"attic": Standing.REFUSED}
        assert scene.owner.lines[0].startswith("worker attic is not used: it is too slow: ")

    run(act, prepares=False)


def test_where_clocks_are_scaled_a_slow_worker_is_used_and_it_is_said_by_how_much() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic", "cellar")
        for work, worker in ((80_000, "attic"), (100_200, "cellar")):
            (number,) = (one for one, (address, _) in scene.gate.asked.items() if address == f"tcp://{worker}:1")
            scene.gate.answer(number, Prepared(1, "Linux", Calibration(work, 0)))
            await trio.testing.wait_all_tasks_blocked()
        assert scene.standings == {"attic": Standing.READY, "cellar": Standing.REFUSED}
        assert {seat.name: seat.time_percent for seat in scene.crew.seats.values()} == {"attic": 320, "cellar": None}
        assert scene.owner.lines[0] == "worker attic: clocks at 320% (calibration 80.0 ms, reference 25.0 ms)"
        assert scene.owner.lines[1].startswith("worker cellar is not used: it is too slow: ")

    run(act, prepares=False, reference_us=25_000)


def test_a_scheduler_that_is_mute_is_told_and_nothing_is_lost() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        scene.send("attic")
        await scene.say(Mute(57.0))
        assert not scene.crew.is_reachable
        assert scene.owner.unseen == 1
        await scene.wait(100)  # it is the gate that says when it has been too long
        await scene.say(Speaks())
        assert scene.crew.is_reachable
        assert scene.owner.lines == [
            "the scheduler at tcp://10.0.0.1:8786 does not answer: it is waited for, at most 57 s",
            "the scheduler at tcp://10.0.0.1:8786 answers again",
        ]
        assert (scene.owner.losses, scene.owner.errors) == ([], [])

    run(act)


def test_what_was_sent_by_a_scheduler_that_is_gone_is_lost_and_nobody_is_to_blame() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        scene.send("attic")
        await scene.say(Disconnected(58.6), WorkerGone("tcp://attic:1"))
        assert scene.owner.losses == [("worker attic is gone", False)]
        assert scene.owner.lines == [
            "the scheduler at tcp://10.0.0.1:8786 is lost: for 59 s it is tried to reach it again"
        ]
        await scene.wait(100)
        assert scene.owner.errors == []
        await scene.say(Connected("tcp://10.0.0.1:8786"), WorkerCame("tcp://attic:2", "attic", "attic"))
        assert scene.owner.lines[1:] == ["the scheduler at tcp://10.0.0.1:8786 is there again"]
        assert scene.standings == {"attic": Standing.READY}

    run(act)


def test_a_scheduler_that_cannot_be_used_ends_the_league() -> None:
    async def act(scene: Scene) -> None:
        await scene.gate.begin()
        await scene.say(Unconnected("no dask scheduler answers"), Unconnected("another version", is_usage=True))
        assert [type(error) for error in scene.owner.errors] == [ArenaError, UsageError]

    run(act)


def test_a_gate_that_ends_by_itself_is_told_with_its_last_words() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        scene.gate.how = "was killed by SIGKILL: it said nothing"
        scene.gate.stop()
        await until(lambda: scene.owner.errors, "it is told")
        assert str(scene.owner.errors[0]) == (
            "the process that speaks with the cluster was killed by SIGKILL: it said nothing"
        )

    run(act)


def test_two_workers_without_names_have_different_ones() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin()
        await scene.say(
            *(WorkerCame(f"tcp://10.0.0.2:{port}", f"tcp://10.0.0.2:{port}", "10.0.0.2") for port in (1, 2))
        )
        assert list(scene.standings) == ["10.0.0.2", "10.0.0.2-2"]
        await scene.say(WorkerGone("tcp://10.0.0.2:1"))
        await scene.say(WorkerCame("tcp://10.0.0.2:3", "tcp://10.0.0.2:3", "10.0.0.2"))
        assert sorted(scene.standings) == ["10.0.0.2", "10.0.0.2-2"]

    run(act)


# --- workers that play for another arena -----------------------------------------------------------------------------


PLAYS_FOR_ANOTHER = "worker attic plays for another arena; it is waited for"


def test_a_worker_that_plays_for_another_arena_is_waited_for_however_long_that_takes() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        for _ in range(30):
            await answer_prepares(scene, attic=Busy())
            assert scene.gate.prepare_of("tcp://attic:1") is None, "it is asked again after a while"
            await scene.wait(module.BUSY_SECONDS)
        assert (scene.owner.lines, scene.owner.errors) == ([PLAYS_FOR_ANOTHER], [])
        await answer_prepares(scene, attic=READY)
        assert scene.standings == {"attic": Standing.READY}

    run(act, prepares=False)


def test_a_worker_that_plays_for_another_arena_keeps_no_other_of_its_machine_waiting() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin()
        await scene.say(WorkerCame("tcp://attic:1", "attic", "10.0.0.2"))
        await scene.say(WorkerCame("tcp://b:1", "b", "10.0.0.2"))
        await answer_prepares(scene, attic=Busy(), b=READY)
        assert scene.standings == {"attic": Standing.COMING, "b": Standing.READY}

    run(act, prepares=False)


def test_a_worker_that_plays_for_another_arena_is_asked_once_at_a_time_though_it_was_silent_meanwhile() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        await answer_prepares(scene, attic=Busy())
        await scene.say(WorkerSilent("tcp://attic:1"), WorkerSilent("tcp://attic:1", is_back=True))
        await scene.wait(4 * module.BUSY_SECONDS)
        assert len(scene.gate.of(Prepare)) == 1
        await answer_prepares(scene, attic=READY)
        await scene.wait(2 * module.BUSY_SECONDS)
        assert scene.gate.of(Prepare) == []

    run(act, prepares=False)


def test_an_arena_that_leaves_waits_for_no_worker_that_plays_for_another() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        await answer_prepares(scene, attic=Busy())

    run(act, prepares=False)  # with a clock that stands still


def test_whether_a_bot_is_left_out_does_not_wait_for_workers_that_play_for_another_arena() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic", "cellar", "hall", "lodge")
        await answer_prepares(scene, attic=Busy(), cellar=UNABLE, hall=READY, lodge=UNABLE)
        assert list(scene.crew.left_out.reasons) == ["ann"]

    run(act, prepares=False)


# --- bots that workers cannot play ------------------------------------------------------------------------------------


async def answer_prepares(scene: Scene, **answers: Answer) -> None:
    """These workers are asked to prepare, and answer so, one after the other."""
    for worker, answer in answers.items():
        address = f"tcp://{worker}:1"
        await until(partial(scene.gate.prepare_of, address), "a worker is asked to prepare")
        number = scene.gate.prepare_of(address)
        assert number
        scene.gate.answer(number, answer)
        await trio.testing.wait_all_tasks_blocked()


READY = Prepared(1, "Linux, 4 CPUs", FIT)
UNABLE = Unable({"ann": "the build failed"})


def test_a_worker_that_cannot_play_a_bot_which_others_can_is_not_used() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic", "cellar")
        await answer_prepares(scene, attic=UNABLE, cellar=READY)
        await scene.wait(90)
        assert scene.standings == {"attic": Standing.REFUSED, "cellar": Standing.READY}
        assert scene.owner.lines == ["worker attic is not used: the build failed"]

    run(act, prepares=False)


def test_a_bot_that_more_workers_cannot_play_than_can_is_left_out_and_they_play_all_others() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic", "cellar", "hall")
        await answer_prepares(scene, attic=UNABLE, cellar=READY, hall=UNABLE)
        assert "ann is not played any more: it cannot be played on worker attic (and on hall): the build failed" in (
            scene.owner.lines
        )
        await answer_prepares(scene, attic=READY, hall=READY)
        assert set(scene.standings.values()) == {Standing.READY}

    run(act, prepares=False)


def test_where_no_worker_can_play_all_bots_those_are_left_out_after_a_time_that_keep_one_from_it() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic", "cellar")
        await answer_prepares(scene, attic=Unable({"ann": "no", "bob": "no"}), cellar=Unable({"cat": "no"}))
        await scene.wait(50)
        assert not scene.crew.left_out.reasons
        await scene.wait(20)
        assert list(scene.crew.left_out.reasons) == ["cat"]
        await answer_prepares(scene, cellar=READY)
        assert scene.standings == {"attic": Standing.REFUSED, "cellar": Standing.READY}
        assert scene.owner.errors == []

    run(act, prepares=False)


def test_where_all_workers_are_of_this_machine_no_others_are_waited_for() -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("local")
        await answer_prepares(scene, local=UNABLE)
        await scene.wait(1)
        await answer_prepares(scene, local=READY)
        assert scene.standings == {"local": Standing.READY}

    run(act, prepares=False, local=1)
