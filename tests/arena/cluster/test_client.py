"""Which games go to which worker, and what becomes of them: each comes out once, whatever workers say and whenever."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import pytest
import trio
import trio.testing
from fake_gate import CARGO, FIT, RUN, FakeGate, games, plan, played, record_for, until

from arena.bots import BotSpec
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec
from arena.game.time_control import TimeControl
from arena.league.executor import Begun, Failed, GameTask, Lost, NotPlayed, Outcome, Played, Said
from arena.league.executor.cluster import crew
from arena.league.executor.cluster.batches import BEAT_SECONDS, COLLECT_SECONDS
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.client import ClusterExecutor
from arena.league.executor.cluster.ledger import MOST_LOST
from arena.league.executor.cluster.messages import (
    Batch,
    BatchPlayed,
    CarriedBot,
    Close,
    Collect,
    Connected,
    Disconnected,
    Mute,
    Refused,
    Reply,
    Speaks,
    Spoilt,
    Unprepared,
    WorkerCame,
    WorkerGone,
    WorkerSilent,
)
from arena.league.executor.cluster.spoils import MOST_SPOILT
from arena.league.executor.wire import WireBot
from arena.play.played_on import calibration_of, percent_of
from arena.rules.loading import load_ruleset

PlayGame = Callable[..., GameRecord]


@pytest.fixture(autouse=True)
def _as_fast_as_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "measure", lambda: FIT)


@pytest.fixture(scope="module")
def record(play_game: PlayGame) -> GameRecord:
    """A game that was played, for whatever comes from workers."""
    return play_game(load_ruleset("duel"), 1, plies=10, time=TimeControl())


class Scene:
    """An executor with a fake gate, whose outcomes are kept, and a clock that stands still unless it is told."""

    def __init__(self, executor: ClusterExecutor, gate: FakeGate, clock: trio.testing.MockClock, record: GameRecord):
        self.executor, self.gate, self.clock, self.record = executor, gate, clock, record
        self.outcomes: list[Outcome] = []
        self.error: ArenaError | None = None
        self.is_over = False

    async def begin(self, *workers: str) -> None:
        await self.gate.begin(*workers)
        await self.until_batches(min(1, len(workers)))

    async def until_batches(self, count: int) -> None:
        """So many batches are at workers."""
        await until(lambda: len(self.gate.batches()) >= count, f"{count} batches at workers")

    async def hear(self, tasks: Sequence[GameTask]) -> None:
        """Have them played, and keep what comes of it."""

        async def asked() -> AsyncIterator[GameTask]:
            for task in tasks:
                yield task

        try:
            async for outcome in self.executor.play(asked()):
                self.outcomes.append(outcome)
        except ArenaError as error:
            self.error = error
        self.is_over = True

    async def wait(self, seconds: float) -> None:
        for _ in range(round(seconds * 4)):
            self.clock.jump(0.25)
            await trio.testing.wait_all_tasks_blocked()

    async def play_until(self, true: Callable[[], object], *workers: str) -> None:
        """Have these workers (or all) play whatever they are sent, until something is so."""
        for _ in range(3000):
            if true():
                return
            for number, (address, request) in list(self.gate.asked.items()):
                if workers and address[len("tcp://") : -2] not in workers:
                    continue
                if isinstance(request, Batch):
                    self.gate.play(number, self.record)
                elif isinstance(request, Collect):
                    self.gate.answer(number, BatchPlayed((), (), (), 0.0, 0.0))
            self.clock.jump(0.02)
            await trio.testing.wait_all_tasks_blocked(0.001)
        raise AssertionError(f"never: {self.lines}, {len(self.gate.asked)} requests, {self.played}")

    async def play_all(self, *workers: str) -> None:
        """Have these workers (or all) play whatever they are sent, to the end."""
        await self.play_until(lambda: self.is_over, *workers)

    @property
    def played(self) -> list[str]:
        return [outcome.id for outcome in self.outcomes if isinstance(outcome, Played)]

    @property
    def lines(self) -> list[str]:
        return [outcome.line for outcome in self.outcomes if isinstance(outcome, Said)]


def run(
    act: Callable[[Scene], Awaitable[None]],
    record: GameRecord,
    spec: GameSpec,
    count: int = 6,
    *,
    slots: int = 1,
    pairs: bool = False,
    load: Cargo = CARGO,
    reference_us: int | None = None,
) -> None:
    """Have a test act with an executor that is asked to play so many games."""
    clock = trio.testing.MockClock()
    specs = games(spec, count)
    tasks = [GameTask(game) for game in specs]
    if pairs:
        tasks = [GameTask(first, then=second) for first, second in zip(specs[::2], specs[1::2], strict=True)]

    async def main() -> None:
        gate = FakeGate()
        gate.slots = slots
        executor = ClusterExecutor(load, plan(reference_us=reference_us), gate)
        async with trio.open_nursery() as nursery:
            await executor.begin(nursery)
            scene = Scene(executor, gate, clock, record)
            nursery.start_soon(scene.hear, tasks)
            try:
                await act(scene)
                assert_told_in_order(scene.outcomes)
            finally:
                executor.stop()

    trio.run(main, clock=clock)


def assert_told_in_order(outcomes: Sequence[Outcome]) -> None:
    """Each game begins before it is over, is over once, and begins again only after it was lost."""
    under_way: set[str] = set()
    over: set[str] = set()
    for outcome in outcomes:
        match outcome:
            case Begun(id):
                assert id not in under_way | over
                under_way.add(id)
            case Lost(id):
                under_way.remove(id)
            case Played() | NotPlayed() | Failed():
                assert outcome.id is not None
                under_way.remove(outcome.id)
                over.add(outcome.id)
            case _:
                pass


def test_every_game_is_played_once(record: GameRecord, spec: Callable[..., GameSpec]) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a", "b")
        await scene.play_all()
        assert len(scene.played) == len(set(scene.played)) == 30
        assert scene.lines[0] == "cluster tcp://10.0.0.1:8786: 2 workers, 4 games at a time so far; others may come"

    run(act, record, spec(), 30, slots=2)


def test_clocks_are_scaled_to_the_worker_that_is_sent_a_game_and_its_record_says_by_which_figure(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        (batch,) = list(scene.gate.batches().values())[:1]
        assert {game.time_percent for task in batch.tasks for game in task.games} == {200}
        await scene.play_all()
        records = [outcome.record for outcome in scene.outcomes if isinstance(outcome, Played)]
        assert len(records) == 6
        for game in records:
            assert game.time_percent == percent_of(calibration_of(game.machine or "") or 0, 12_500) == 200

    run(act, record, spec(), reference_us=12_500)


def test_a_worker_that_sends_a_record_with_another_scale_is_refused(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        number, batch = next(iter(scene.gate.batches().items()))
        (game, *_) = batch.tasks[0].games
        forged = msgspec.structs.replace(game, time_percent=400)
        scene.gate.answer(number, played(forged, record=record))
        await until(lambda: any("not used" in line for line in scene.lines), "the worker is refused")
        assert any("expected the scaling of the clocks that was asked for, got another" in line for line in scene.lines)
        assert scene.played == []

    run(act, record, spec(), reference_us=12_500)


def test_a_pair_goes_to_one_worker(record: GameRecord, spec: Callable[..., GameSpec]) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a", "b")
        for batch in scene.gate.batches().values():
            assert all(len(task.games) == 2 for task in batch.tasks)
        await scene.play_all()
        assert len(scene.played) == 8

    run(act, record, spec(), 8, pairs=True)


def test_what_a_worker_had_that_is_gone_is_played_by_others(record: GameRecord, spec: Callable[..., GameSpec]) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a", "b")
        await scene.until_batches(4)
        scene.gate.say(WorkerGone("tcp://a:1"))
        await scene.play_all()
        assert len(scene.played) == len(set(scene.played)) == 6
        assert "worker a is gone: 2 games are played elsewhere" in scene.lines

    run(act, record, spec())


def test_a_silent_worker_that_answers_late_counts_once(record: GameRecord, spec: Callable[..., GameSpec]) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a", "b")
        await scene.until_batches(4)
        had = list(scene.gate.batches("a"))
        scene.gate.say(WorkerSilent("tcp://a:1"))
        await scene.play_until(lambda: len(scene.played) == 6, "b")
        for number in had:
            scene.gate.play(number, scene.record)
        await until(lambda: scene.is_over, "the games are over")
        assert len(scene.played) == 6

    run(act, record, spec())


def test_a_worker_that_has_one_long_game_hears_of_its_arena_again_and_again(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        (seat,) = scene.executor._crew.seats.values()
        for _ in range(5):
            await scene.wait(BEAT_SECONDS + COLLECT_SECONDS)
            (collect,) = scene.gate.of(Collect)
            scene.gate.answer(collect, BatchPlayed((), (), (), 0.0, 0.0))
            await until(lambda: not seat.is_collecting, "the answer is judged, in a thread")
        await scene.play_all()
        assert len(scene.played) == 1

    run(act, record, spec(), 1)


def test_a_worker_that_is_heard_of_and_does_not_answer_is_done_without_until_it_does(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a", "b")
        await scene.until_batches(4)
        had = list(scene.gate.batches("a"))
        await scene.play_until(lambda: len(scene.played) == 4, "b")
        await scene.wait(BEAT_SECONDS + 60 + COLLECT_SECONDS)
        assert scene.lines[1:] == ["worker a has not answered for 60 s: 2 games are played elsewhere"]
        await until(lambda: scene.gate.batches("b"), "they are sent to the other one")
        (late,) = scene.gate.of(Collect)
        scene.gate.answer(late, BatchPlayed((), (), (), 0.0, 0.0))
        for number in had:
            scene.gate.play(number, scene.record)
        await scene.play_all()
        assert "worker a is heard of again" in scene.lines
        assert len(scene.played) == len(set(scene.played)) == 6

    run(act, record, spec())


def test_while_the_scheduler_is_mute_no_worker_is_late(record: GameRecord, spec: Callable[..., GameSpec]) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        await scene.wait(BEAT_SECONDS + COLLECT_SECONDS)
        assert scene.gate.of(Collect)
        scene.gate.say(Mute(57.0))
        await scene.wait(100)
        scene.gate.say(Speaks())
        await scene.wait(50)
        assert not [line for line in scene.lines if "not answered" in line]
        await scene.play_all()

    run(act, record, spec(), 1)


def test_a_scheduler_that_is_mute_for_a_while_costs_no_game(record: GameRecord, spec: Callable[..., GameSpec]) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        scene.gate.say(Mute(57.0))
        await scene.wait(30)
        assert not [outcome for outcome in scene.outcomes if isinstance(outcome, Lost)]
        await scene.play_all()
        assert len(scene.played) == 6

    run(act, record, spec())


def test_after_a_scheduler_was_lost_its_games_go_to_whoever_comes_then(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        await scene.until_batches(2)
        scene.gate.say(Disconnected(50.0), WorkerGone("tcp://a:1"))
        scene.gate.asked.clear()
        await scene.wait(10)
        assert not scene.is_over
        scene.gate.say(Connected("tcp://10.0.0.1:8786"), WorkerCame("tcp://b:1", "b", "b"))
        await scene.play_all()
        assert len(scene.played) == len(set(scene.played)) == 6

    run(act, record, spec())


@pytest.mark.parametrize("first", [Mute(57.0), Disconnected(57.0)])
def test_who_wants_no_further_game_does_not_wait_for_a_scheduler(
    first: Mute | Disconnected, record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    """Whether it was lost before the wish to stop, or after."""
    for is_before in (True, False):

        async def act(scene: Scene, *, is_before: bool = is_before) -> None:
            await scene.begin("a")
            acts = [lambda: scene.gate.say(first), scene.executor.close]
            for do in acts if is_before else reversed(acts):
                assert not scene.is_over
                do()
                await trio.testing.wait_all_tasks_blocked()
            await until(lambda: scene.is_over, "the games are over")
            assert scene.error is None

        run(act, record, spec())


def test_who_wants_no_further_game_before_there_is_a_scheduler_waits_for_none(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await trio.testing.wait_all_tasks_blocked()
        scene.executor.close()
        await until(lambda: scene.is_over, "the games are over")

    run(act, record, spec())


def test_after_the_wish_to_stop_games_under_way_are_played_and_no_others(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        await scene.until_batches(2)
        scene.executor.close()
        (close,) = scene.gate.of(Close)
        begun, other = list(scene.gate.batches().items())
        scene.gate.play(begun[0], scene.record)
        scene.gate.answer(other[0], BatchPlayed((), (), tuple(task.id for task in other[1].tasks), 0.0, 0.1))
        await until(lambda: scene.is_over, "the games are over")
        assert scene.played == [begun[1].tasks[0].id]
        assert close in scene.gate.asked

    run(act, record, spec())


def test_of_a_batch_that_takes_long_what_is_over_comes_out_before(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        ((number, batch), *_) = scene.gate.batches().items()
        first, *others = (task.spec for task in batch.tasks)
        await scene.wait(COLLECT_SECONDS)
        (collect,) = scene.gate.of(Collect)
        scene.gate.answer(collect, played(first, record=scene.record))
        await until(lambda: scene.played == [first.id], "it has come out")
        scene.gate.answer(number, played(*others, record=scene.record))
        await scene.play_all()
        assert len(scene.played) == len(set(scene.played)) == 12

    run(act, record, spec(), 12, slots=4)


def test_what_is_over_comes_out_once_though_its_batch_ends_while_it_is_on_its_way(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    """The answer to the batch overtakes the one with the games that it does not have any more."""

    async def act(scene: Scene) -> None:
        await scene.begin("a")
        ((number, batch), *_) = scene.gate.batches().items()
        first, *others = (task.spec for task in batch.tasks)
        await scene.wait(COLLECT_SECONDS)
        (collect,) = scene.gate.of(Collect)
        scene.gate.answer(number, played(*others, record=scene.record))
        await scene.wait(1)
        assert scene.played == []
        scene.gate.answer(collect, played(first, record=scene.record))
        await scene.play_all()
        assert len(scene.played) == len(set(scene.played)) == 12
        assert not [outcome for outcome in scene.outcomes if isinstance(outcome, Lost)]

    run(act, record, spec(), 12, slots=4)


def test_a_worker_with_a_wrong_record_is_named_and_sent_no_game_again(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a", "b")
        await scene.until_batches(4)
        ((number, batch), *_) = scene.gate.batches("a").items()
        stranger = batch.tasks[0].spec
        wrong = record_for(stranger, scene.record).replace(b'"seeds":[11', b'"seeds":[12')
        scene.gate.answer(number, BatchPlayed((wrong,), (), (), 0.5, 0.1))
        await until(lambda: any("worker a is not used: it sent a wrong record: game " in x for x in scene.lines), "it")
        for number in scene.gate.batches("a"):
            scene.gate.play(number, scene.record)
        await scene.play_all("b")
        assert not scene.gate.batches("a")
        assert len(scene.played) == len(set(scene.played)) == 6

    run(act, record, spec())


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(0, b"\xc1"), "worker a is not used: it sends what is no message: "),
        (Reply(0, lost="KeyError: 'x'", is_fault=True), "worker a has not played what it was sent (KeyError: 'x'): "),
        (Refused("the files of ann have changed"), "worker a is not used: the files of ann have changed"),
        (Unprepared(), "what plays on worker a has been started again: 1 game is played elsewhere"),
        (BatchPlayed((), (), (), 0.0, 0.0), "worker a has not played all that it was sent: "),
        (BatchPlayed((), (NotPlayed("f" * 16, "why"),), (), 0.0, 0.0), "it tells of games that it was not sent"),
        (BatchPlayed((), (Failed("0" * 16, "HOST", "no memory", 1),), (), 0.0, 0.0), "worker a is not used: no memory"),
    ],
)
def test_whatever_else_a_worker_answers_is_told_and_its_games_are_played(
    reply: Reply | Refused | Unprepared | BatchPlayed, words: str, record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a", "b")
        await scene.until_batches(4)
        number = next(number for number, batch in scene.gate.batches().items() if batch.tasks[0].id == "0" * 16)
        worker = scene.gate.asked[number][0]
        if isinstance(reply, Reply):
            scene.gate.reply(Reply(number, reply.data, reply.lost, reply.is_fault))
        else:
            scene.gate.answer(number, reply)
        expected = words.replace("worker a", f"worker {worker[len('tcp://') : -2]}")
        await until(lambda: any(expected in line for line in scene.lines), f"{expected} in {scene.lines}")
        await scene.play_all()
        assert len(scene.played) == len(set(scene.played)) == 6

    run(act, record, spec())


def test_a_game_that_is_lost_with_its_worker_too_often_ends_the_league(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        for number in range(MOST_LOST):
            await scene.until_batches(1)
            scene.gate.say(WorkerGone(f"tcp://{'ab'[number % 2]}:1"))
            scene.gate.asked.clear()
            name = "ba"[number % 2]
            scene.gate.say(WorkerCame(f"tcp://{name}:1", name, name))
        await until(lambda: scene.is_over, "the games are over")
        assert str(scene.error) == (f"game {'0' * 16} (ann - bob) was not played: {MOST_LOST} times worker a is gone")

    run(act, record, spec(), 1)


def test_the_machine_of_a_record_names_the_worker_as_the_arena_calls_it(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("attic")
        await scene.play_all()
        (one,) = (outcome.record for outcome in scene.outcomes if isinstance(outcome, Played))
        assert one.machine == "; worker attic, load 0.10, calibration 25.0 ms"

    run(act, record, spec(), 1)


# --- bots that are played no more -------------------------------------------------------------------------------------


def cargo(spec: GameSpec, **unsent: str) -> Cargo:
    """A run of the players of a game."""
    bots = tuple(
        CarriedBot(WireBot.of(BotSpec(player.name, Path(), (), Path(), player.digest)), "", b"", (), False)
        for player in spec.players
    )
    return Cargo(msgspec.structs.replace(RUN, bots=bots), {}, unsent)


def test_what_was_played_with_changed_copies_is_played_again_one_by_one_and_who_changes_them_is_left_out(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    red, blue = (player.name for player in spec().players)
    sizes: list[int] = []

    async def act(scene: Scene) -> None:
        await scene.begin("a")
        for _ in range(2 * MOST_SPOILT):
            await until(lambda: scene.gate.batches() or scene.is_over, "a batch, or the end")
            if scene.is_over:
                break
            batches = scene.gate.batches()
            sizes.append(sum(len(batch.tasks) for batch in batches.values()))
            changed = {red: "main.py (changed)"}
            for number in batches:
                scene.gate.answer(number, Spoilt(changed, (red, blue)))
                changed = {}
        assert scene.played == []
        assert sizes[1:] == [1] * (MOST_SPOILT - 1)
        left_out = [outcome for outcome in scene.outcomes if isinstance(outcome, NotPlayed)]
        assert len(left_out) == 6
        assert {(outcome.left_out, outcome.why.split(":")[0]) for outcome in left_out} == {
            (True, f"{red} is not played any more")
        }
        assert (
            f"{red}: its copy on worker a has changed while {red}, {blue} played there: main.py (changed); what was "
            "played there is played again"
        ) in scene.lines
        assert not [line for line in scene.lines if "is not used" in line]

    run(act, record, spec(), slots=2, load=cargo(spec()))


def test_a_bot_that_could_not_be_packed_is_left_out_and_named(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    red = spec().players[0].name

    async def act(scene: Scene) -> None:
        await scene.gate.begin("a")
        await until(lambda: scene.is_over, "nothing is to be played")
        why = f"{red} is not played any more: its files have changed"
        assert [outcome.why for outcome in scene.outcomes if isinstance(outcome, NotPlayed)] == [why] * 6
        assert why in scene.lines

    run(act, record, spec(), load=cargo(spec(), **{red: "its files have changed"}))


@pytest.mark.parametrize("spoilt", [Spoilt({"stranger": "x"}, ()), Spoilt({}, ("stranger",))])
def test_a_worker_that_tells_of_bots_that_do_not_take_part_is_refused(
    record: GameRecord, spec: Callable[..., GameSpec], spoilt: Spoilt
) -> None:
    async def act(scene: Scene) -> None:
        await scene.begin("a")
        scene.gate.answer(min(scene.gate.batches()), spoilt)
        await until(lambda: scene.lines and "is not used" in "".join(scene.lines), "the worker is refused")
        assert "worker a is not used: it tells of bots that do not take part" in scene.lines

    run(act, record, spec(), load=cargo(spec()))
