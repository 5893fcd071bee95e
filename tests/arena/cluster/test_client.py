"""Which games go to which worker, and what comes of them, with a bridge that does what a test says."""

import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from made_stores import play_game
from scripted import game_spec

from arena.bots.limits import BuildLimits
from arena.errors import ArenaError
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord, encode_record
from arena.game.time_control import TimeControl
from arena.league.executor.cluster import client
from arena.league.executor.cluster.bridge import (
    BridgeEnded,
    BridgeEvent,
    Connected,
    Done,
    ListedWorker,
    Unreachable,
    Workers,
)
from arena.league.executor.cluster.client import ClusterExecutor
from arena.league.executor.cluster.cluster_protocol import (
    BatchPlayed,
    Calibration,
    ClusterPlan,
    Prepared,
    Refused,
    Unprepared,
    WorkerAnswer,
)
from arena.league.executor.task import Begun, GameTask, Notice, Outcome, Played
from arena.play.machine import calibration_of, worker_of
from arena.processes.runnable import PlaySettings
from arena.stratego.rules.rulesets import load_ruleset
from arena.version import __version__

FIT = Calibration(25_000, 0)
PLAN = ClusterPlan("tcp://10.0.0.1:8786", 0, None, 0, BuildLimits(), patience=60.0)


@pytest.fixture(scope="module")
def record() -> GameRecord:
    return play_game(load_ruleset("duel"), 1, plies=10, time=TimeControl())


class FakeBridge:
    """A bridge to no cluster: `batches` are those that have no answer yet, with the workers that may play them."""

    def __init__(self, plan: object, info: object, packs: object, tell: Callable[[BridgeEvent], None]) -> None:
        self.tell = tell
        self.answers: dict[str, Prepared | Refused] = {}
        """What workers answer that are asked to prepare; all others are prepared."""
        self.prepared: list[str] = []
        self.batches: dict[int, tuple[tuple[str, ...], tuple[GameTask, ...]]] = {}
        Scene.bridge = self

    def start(self) -> None:
        self.tell(Connected())

    def prepare(self, number: int, worker: str) -> None:
        self.prepared.append(worker)
        answer = WorkerAnswer(worker, self.answers.pop(worker, Prepared(FIT)))
        trio.lowlevel.current_trio_token().run_sync_soon(self.tell, Done(number, answer))

    def submit(self, number: int, workers: Sequence[str], tasks: tuple[GameTask, ...]) -> None:
        self.batches[number] = tuple(workers), tasks

    def release(self, worker: str) -> None:
        pass

    def cancel(self, number: int) -> None:
        del self.batches[number]

    def stop(self) -> None:
        trio.lowlevel.current_trio_token().run_sync_soon(self.tell, BridgeEnded(None))


class Scene:
    """An executor that is asked to play games, with what comes of it."""

    bridge: FakeBridge

    def __init__(self, executor: ClusterExecutor, record: GameRecord) -> None:
        self.executor, self.record = executor, record
        self.outcomes: list[Outcome] = []
        self.error: ArenaError | None = None

    async def hear(self, tasks: Sequence[GameTask]) -> None:
        async def asked() -> AsyncIterator[GameTask]:
            for task in tasks:
                yield task

        try:
            async for outcome in self.executor.play(asked()):
                self.outcomes.append(outcome)
        except ArenaError as error:
            self.error = error

    async def see(self, *names: str, threads: int = 1) -> None:
        """Have the scheduler list these workers, and wait for what follows."""
        listed = {f"tcp://{name}": ListedWorker(name, name, threads) for name in names}
        self.bridge.tell(Workers(listed))
        await self.settle()

    async def settle(self) -> None:
        for _ in range(3):  # records are judged in a thread
            await trio.testing.wait_all_tasks_blocked(0.01)

    def record_for(self, game: GameSpec, **changes: Any) -> bytes:
        return encode_record(msgspec.structs.replace(self.record, id=game.id, arena=__version__, **changes))

    def play(self, number: int, *, worker: str, seconds: float = 10.0, **changes: Any) -> None:
        _, tasks = self.bridge.batches.pop(number)
        records = tuple(self.record_for(game, **changes) for task in tasks for game in task.games)
        self.answer(number, worker, BatchPlayed(records, (), seconds, 0.1))

    def answer(self, number: int, worker: str, body: Any) -> None:
        self.bridge.tell(Done(number, WorkerAnswer(f"tcp://{worker}", body)))

    async def play_all(self, worker: str) -> None:
        while self.bridge.batches:
            self.play(next(iter(self.bridge.batches)), worker=worker)
            await self.settle()

    def ids(self, kind: type[Any]) -> list[str]:
        return [outcome.id for outcome in self.outcomes if isinstance(outcome, kind) and outcome.id]

    @property
    def said(self) -> str:
        return "\n".join(outcome.line for outcome in self.outcomes if isinstance(outcome, Notice))


def games(spec: GameSpec, count: int) -> list[GameSpec]:
    return [msgspec.structs.replace(spec, id=f"{number:016x}") for number in range(count)]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, record: GameRecord) -> Callable[..., Scene]:
    """`run(act, count=6, plan=PLAN)`: have a test act while so many games are asked for."""
    monkeypatch.setattr(client, "Bridge", FakeBridge)
    monkeypatch.setattr(client, "measure", lambda: FIT)

    def run_it(act: Callable[[Scene], Awaitable[None]], count: int = 6, plan: ClusterPlan = PLAN) -> Scene:
        tasks = [GameTask(game) for game in games(game_spec(), count)]

        async def main() -> Scene:
            async with client.cluster_executor(PlaySettings(()), plan) as executor, trio.open_nursery() as nursery:
                scene = Scene(executor, record)
                nursery.start_soon(scene.hear, tasks)
                await scene.settle()
                await act(scene)
                nursery.cancel_scope.cancel()
            return scene

        return trio.run(main)

    return run_it


def test_every_game_comes_out_once_with_the_worker_that_played_it(run: Callable[..., Scene]) -> None:
    async def act(scene: Scene) -> None:
        await scene.see("attic")
        await scene.play_all("attic")

    scene = run(act)
    assert sorted(scene.ids(Played)) == sorted(scene.ids(Begun)) == [f"{number:016x}" for number in range(6)]
    machines = [outcome.record.machine for outcome in scene.outcomes if isinstance(outcome, Played)]
    assert {(worker_of(machine or ""), calibration_of(machine or "")) for machine in machines} == {("attic", 25_000)}


def test_as_many_batches_are_under_way_as_the_workers_play_games_at_a_time(run: Callable[..., Scene]) -> None:
    async def act(scene: Scene) -> None:
        await scene.see("attic", threads=3)
        assert len(scene.bridge.batches) == 3
        await scene.see("attic", "cellar", threads=3)
        assert len(scene.bridge.batches) == 6

    run(act, 20)


def test_a_worker_that_was_started_again_is_prepared_again(run: Callable[..., Scene]) -> None:
    async def act(scene: Scene) -> None:
        await scene.see("attic")
        (number,) = scene.bridge.batches
        del scene.bridge.batches[number]
        scene.answer(number, "attic", Unprepared())
        await scene.settle()
        assert scene.bridge.prepared == ["tcp://attic", "tcp://attic"]
        await scene.play_all("attic")

    assert len(run(act).ids(Played)) == 6


def test_a_game_during_which_worker_after_worker_ends_stops_the_league_and_is_named(run: Callable[..., Scene]) -> None:
    async def act(scene: Scene) -> None:
        await scene.see("attic")
        for _ in range(2):
            (number,) = scene.bridge.batches
            scene.play(number, worker="attic", seconds=0.1)
            await scene.settle()
        sizes = []
        while scene.error is None:  # games that were lost together are sent one by one
            ((number, (_, tasks)),) = scene.bridge.batches.items()
            sizes.append(len(tasks))
            del scene.bridge.batches[number]
            scene.bridge.tell(Done(number, why="its workers ended", is_failed=True, has_killed=True))
            await scene.settle()
        assert (sizes[0] > 1, sizes[-1]) == (True, 1)
        assert str(scene.error).startswith(f"game {tasks[0].id} (ann - bob) was not finished: its workers ended")

    run(act, 20)


def test_a_closed_executor_waits_for_games_under_way_unless_nothing_can_be_heard_of_them(
    run: Callable[..., Scene],
) -> None:
    async def act(scene: Scene) -> None:
        await scene.see("attic", threads=2)
        scene.executor.close()
        scene.play(next(iter(scene.bridge.batches)), worker="attic")
        await scene.settle()
        scene.bridge.tell(Unreachable(9.0, is_lost=False))
        await scene.settle()
        assert await anext(scene.executor, None) is None

    scene = run(act)
    assert len(scene.ids(Played)) == 1
    assert "the scheduler does not answer; waiting for it for 9 s" in scene.said


def test_where_no_worker_comes_in_time_the_league_stops_and_says_how_to_start_one(run: Callable[..., Scene]) -> None:
    async def act(scene: Scene) -> None:
        while scene.error is None:
            await scene.settle()

    error = run(act, plan=dataclasses.replace(PLAN, patience=0.2)).error
    assert "no worker came within 0.2 s; to start one:\n    dask worker tcp://10.0.0.1:8786 --preload" in str(error)


@pytest.mark.parametrize(
    ("measured", "words"),
    [(Calibration(60_000, 0), "it is too slow"), (Calibration(25_000, 900_000), "it is too loaded")],
)
def test_a_machine_that_is_too_slow_or_too_loaded_is_not_used(
    run: Callable[..., Scene], measured: Calibration, words: str
) -> None:
    async def act(scene: Scene) -> None:
        scene.bridge.answers = {"tcp://attic": Prepared(measured)}
        await scene.see("attic")
        assert not scene.bridge.batches

    assert f"worker attic is not used: {words}" in run(act).said
