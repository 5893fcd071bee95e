"""What a station tells of games counts: nothing is told before the copies of bots have been looked at."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable

import msgspec
import pytest
import trio
import trio.testing
from fake_gate import FIT, games, until

from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec
from arena.game.time_control import TimeControl
from arena.league.executor.cluster.copies import Seen
from arena.league.executor.cluster.messages import (
    Answered,
    Asked,
    Batch,
    BatchPlayed,
    Collect,
    Done,
    Prepare,
    Refused,
    Spoilt,
)
from arena.league.executor.cluster.ready_bots import ReadyBots
from arena.league.executor.cluster.station import SpoiltError, Station
from arena.league.executor.task import Begun, GameTask, Outcome, Played, Said
from arena.nursery import background
from arena.rules.loading import load_ruleset

PlayGame = Callable[..., GameRecord]


@pytest.fixture(scope="module")
def record(play_game: PlayGame) -> GameRecord:
    return play_game(load_ruleset("duel"), 1, plies=10, time=TimeControl())


class FakeExecutor:
    """Plays what a test has it play: `tell` is what becomes of games."""

    slots = 2

    def __init__(self) -> None:
        self.tell, self._told = trio.open_memory_channel[Outcome](100)

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        return self._told

    def close(self) -> None:
        self.tell.close()


class FakeConnection:
    """Keeps what is answered."""

    def __init__(self) -> None:
        self.answers: list[Answered] = []

    def send(self, answered: Answered) -> None:
        if not isinstance(answered.answer, Done):
            self.answers.append(answered)


class FakeCopy:
    """A copy of a bot that looks as a test says."""

    def __init__(self, name: str) -> None:
        self.name, self.seen, self.looks = name, Seen(), 0

    @property
    def bot(self) -> "FakeCopy":
        return self

    def look(self) -> Seen:
        self.looks += 1
        return self.seen


class Scene:
    """A station with two bots that play each other, and one that does not."""

    def __init__(self, record: GameRecord, spec: GameSpec, *, is_confined: bool = False) -> None:
        self.record, self.specs = record, games(spec, 6)
        self.connection, self.executor = FakeConnection(), FakeExecutor()
        self.red, self.blue = (player.name for player in spec.players)
        self.copies = {name: FakeCopy(name) for name in (self.red, self.blue, "other")}
        ready = ReadyBots((), self.copies, ())  # type: ignore[arg-type]
        self.station = Station(
            self.connection,  # type: ignore[arg-type]
            self.executor,  # type: ignore[arg-type]
            ready,
            FIT,
            is_confined=is_confined,
        )

    async def send(self, number: int, *games: int) -> None:
        await self.station.handle(Asked(number, Batch("run", tuple(GameTask(self.specs[game]) for game in games))))

    def begin(self, *games: int) -> None:
        for game in games:
            self.executor.tell.send_nowait(Begun(self.specs[game].id))

    def end(self, *games: int) -> None:
        for game in games:
            self.executor.tell.send_nowait(Played(self.record_of(game)))

    def record_of(self, game: int) -> GameRecord:
        return msgspec.structs.replace(self.record, id=self.specs[game].id)

    @property
    def told(self) -> list[tuple[int, int | dict[str, str]]]:
        """By the numbers of the requests, how many records were told, or what is said to have changed."""
        kept: list[tuple[int, int | dict[str, str]]] = []
        for answered in self.connection.answers:
            match answered.answer:
                case BatchPlayed(records):
                    kept.append((answered.number, len(records)))
                case Spoilt(changed):
                    kept.append((answered.number, changed))
        return kept


def play(scene: Scene, act: Callable[[], Awaitable[None]]) -> bool:
    """Have the station play while a test acts, until it has answered; returns whether it ended, as copies have
    changed."""

    async def main() -> bool:
        try:
            async with background(scene.station.play):
                await act()
                await until(lambda: scene.connection.answers, "it answers")
                await trio.testing.wait_all_tasks_blocked()
        except SpoiltError:
            return True
        return False

    return trio.run(main)


@pytest.fixture
def scene(record: GameRecord, spec: Callable[..., GameSpec]) -> Scene:
    return Scene(record, spec())


def test_a_batch_is_told_when_the_copies_have_been_looked_at(scene: Scene) -> None:
    async def act() -> None:
        await scene.send(1, 0, 1)
        scene.begin(0, 1)
        scene.end(0, 1)

    assert not play(scene, act)
    assert scene.told == [(1, 2)]
    assert scene.copies["other"].looks == 1, "anybody may have written to it"


def test_in_a_sandbox_copies_of_those_that_play_will_do(record: GameRecord, spec: Callable[..., GameSpec]) -> None:
    scene = Scene(record, spec(), is_confined=True)

    async def act() -> None:
        await scene.send(1, 0)
        scene.begin(0)
        scene.end(0)

    assert not play(scene, act)
    assert (scene.copies[scene.red].looks, scene.copies["other"].looks) == (1, 0)


def test_a_copy_that_changes_though_no_bot_can_write_to_it_is_the_machines_fault(
    record: GameRecord, spec: Callable[..., GameSpec]
) -> None:
    scene = Scene(record, spec(), is_confined=True)

    async def act() -> None:
        await scene.send(1, 0)
        scene.begin(0)
        scene.copies[scene.red].seen = Seen("main.py (changed)")
        scene.end(0)

    with pytest.raises(ArenaError, match="to which no bot can write: "):
        play(scene, act)
    (answered,) = scene.connection.answers
    assert isinstance(answered.answer, Refused)


def test_if_a_copy_has_changed_nothing_of_any_batch_counts_and_it_is_told_once(scene: Scene) -> None:
    async def act() -> None:
        await scene.send(1, 0, 1)
        await scene.send(2, 2, 3)
        scene.begin(0, 1, 2)
        scene.end(0)
        await trio.testing.wait_all_tasks_blocked()
        scene.copies["other"].seen = Seen("main.py (changed)")
        scene.end(1)

    assert play(scene, act)
    assert scene.told == [(1, {"other": "main.py (changed)"}), (2, {})]
    assert scene.connection.answers[0].answer == Spoilt({"other": "main.py (changed)"}, (scene.red, scene.blue))


def test_what_is_asked_for_in_the_middle_of_a_batch_is_looked_at_as_well(scene: Scene) -> None:
    async def act() -> None:
        await scene.send(1, 0, 1)
        scene.begin(0, 1)
        scene.end(0)
        await trio.testing.wait_all_tasks_blocked()
        await scene.station.handle(Asked(2, Collect("run")))
        scene.copies[scene.red].seen = Seen("main.py (gone)")
        scene.end(1)

    assert play(scene, act)
    assert scene.told == [(2, 1), (1, {scene.red: "main.py (gone)"})]


def test_what_is_over_of_a_batch_that_is_closed_is_looked_at_as_well(scene: Scene) -> None:
    async def act() -> None:
        await scene.send(1, 0, 1)
        scene.begin(0)
        scene.end(0)
        await trio.testing.wait_all_tasks_blocked()
        scene.copies[scene.blue].seen = Seen("main.py (changed)")
        scene.station.close()

    assert play(scene, act)
    assert scene.told == [(1, {scene.blue: "main.py (changed)"})]


def test_files_that_have_come_are_told_of_and_games_count(scene: Scene) -> None:
    async def act() -> None:
        await scene.send(1, 0)
        scene.begin(0)
        scene.copies[scene.red].seen = Seen(new={"log.txt": "new"})
        scene.end(0)

    assert not play(scene, act)
    (answered,) = scene.connection.answers
    assert isinstance(answered.answer, BatchPlayed)
    line = f"{scene.red}: while it was played, files have come into its folder: log.txt (new); its games count"
    assert answered.answer.others == (Said(line),)


def test_a_station_says_with_what_it_is_prepared(scene: Scene) -> None:
    async def act() -> None:
        await scene.station.handle(Asked(1, Prepare(None)))  # type: ignore[arg-type]

    play(scene, act)
    assert scene.connection.answers[0].answer.slots == 2  # type: ignore[union-attr]
