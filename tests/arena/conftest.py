"""What these tests share: a referee with two scripted bots instead of processes, an executor without workers, and games
at random."""

import tempfile
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest
import trio
from browsing import axe, browser, complaints, event_loop_of_the_browser_hidden, open_address

from arena.errors import ArenaError
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.recorded import judged
from arena.game.referee import Referee
from arena.game.time_control import TimeControl
from arena.league.executor.task import Begun, Failed, GameTask, NotPlayed, Outcome, Played
from arena.play.game_options import ArenaStoppedError
from arena.sandbox import reaper
from arena.stratego.game import variant_of
from arena.stratego.rules.ruleset import Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.state import as_stratego
from arena.system.concurrency import background
from protocol.notation import Color

__all__ = ["axe", "browser", "complaints", "open_address"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with event_loop_of_the_browser_hidden(item):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with event_loop_of_the_browser_hidden(item):
        yield


@pytest.fixture(autouse=True)
def process_as_it_was() -> Iterator[None]:
    """No test may make of the process that runs all tests one that starts nothing but bots: that cannot be undone."""
    yield
    assert not reaper.owns_every_orphan()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can read: those of pytest are closed to others, and bots of root play as others."""
    with tempfile.TemporaryDirectory(prefix="arena-tests-", ignore_cleanup_errors=True) as name:
        path = Path(name).resolve()
        path.chmod(0o755)
        yield path


def game_spec(
    ruleset: Ruleset | None = None,
    time: TimeControl | None = None,
    names: tuple[str, str] = ("ann", "bob"),
    seeds: tuple[int, int] = (11, 22),
) -> GameSpec:
    """A game that is to be played; a duel with 100 ms for each move unless told otherwise."""
    return GameSpec(
        id="0123456789abcdef",
        variant=variant_of(ruleset or load_ruleset("duel")),
        time=time or TimeControl(),
        players=(Player(names[0], "digest-of-red"), Player(names[1], "digest-of-blue")),
        seeds=seeds,
        pair_seed=33,
    )


class Table:
    """A referee and two scripted bots: the test says what they send and when, and sees each write that they get.

    `now` is the time of day, which only the test moves. `lag` is how many seconds the arena takes from the moment when
    it has read something until it has written what comes of it.
    """

    def __init__(self, spec: GameSpec, lag: float = 0.0) -> None:
        self.referee = Referee(spec)
        self.now = 1000.0
        self.lag = lag
        self.writes: tuple[list[bytes], list[bytes]] = ([], [])
        self._seen = [0, 0]

    # --- carrying bytes ---------------------------------------------------------------------------------------------

    def send(self) -> None:
        """Write what is due: one write for each seat that has to answer, or whose game is over."""
        for color in self.referee.due():
            self.writes[color].append(self.referee.take(color))
            self.referee.sent(color, self.now)

    def pass_on(self, color: Color, data: bytes) -> None:
        """A seat's bytes are read; nothing is written yet."""
        self.referee.receive(color, data, self.now)

    def reply(self, color: Color, *lines: str, after: float = 0.0) -> None:
        """A seat sends whole lines, `after` so many seconds, and the arena writes what comes of them."""
        self.now += after
        self.pass_on(color, "".join(line + "\n" for line in lines).encode("latin-1"))
        self.now += self.lag
        self.send()

    def gone(self, color: Color, how: str = "exited with code 1", exited: bool = True) -> None:
        self.referee.gone(color, how, exited)
        self.send()

    def expire(self) -> None:
        """Time passes until the next deadline."""
        self.now = self.referee.deadline
        self.referee.expire(self.now)
        self.send()

    # --- what a seat gets -------------------------------------------------------------------------------------------

    def next_write(self, color: Color) -> list[str]:
        """The lines of the seat's next write that the test has not looked at."""
        assert self._seen[color] < len(self.writes[color]), f"nothing more was written to {color.word}"
        data = self.writes[color][self._seen[color]]
        self._seen[color] += 1
        assert data.endswith(b"\n")
        return data.decode("ascii").split("\n")[:-1]

    def expect(self, color: Color, *lines: str) -> None:
        """The seat's next write consists of exactly these lines."""
        assert self.next_write(color) == list(lines)

    def expect_nothing(self, color: Color) -> None:
        """The seat has got nothing more."""
        assert self.writes[color][self._seen[color] :] == []

    def skip(self) -> None:
        """Do not look at what has been written so far."""
        self._seen = [len(writes) for writes in self.writes]

    # --- shortcuts to the part of a game that a test is about -------------------------------------------------------

    def introduce(self, red: Sequence[str] = (), blue: Sequence[str] = ()) -> None:
        """Both bots are ready, after the lines given."""
        self.send()
        self.reply(Color.RED, *red, "ready")
        self.reply(Color.BLUE, *blue, "ready")

    def begin(
        self,
        red_rows: Sequence[str],
        blue_rows: Sequence[str],
        red: Sequence[str] = (),
        blue: Sequence[str] = (),
    ) -> None:
        """Both bots have introduced themselves and set up; it is the first turn. What was written counts as seen,
        but for the last write of all."""
        self.introduce(red, blue)
        self.reply(Color.RED, "setup " + "/".join(red_rows))
        self.skip()
        self.reply(Color.BLUE, "setup " + "/".join(blue_rows))

    def play(self, actions: str, after: float = 0.0) -> None:
        """The side to move plays each of these actions, `after` so many seconds each."""
        for action in actions.split():
            game = self.referee.state
            assert game is not None
            self.reply(game.to_move, f"move {action}", after=after)

    def play_random(self, rng: Random, plies: int = 10_000, after: float = 0.0) -> None:
        """Up to so many random legal actions."""
        game = self.referee.state
        assert game is not None
        for _ in range(plies):
            if self.referee.verdict:
                return
            self.play(rng.choice(as_stratego(game).legal_actions()), after)


@pytest.fixture(scope="session")
def spec() -> Callable[..., GameSpec]:
    """A game that is to be played: `spec(ruleset, time, names, seeds)`, each of which may be left out."""
    return game_spec


@pytest.fixture(scope="session")
def seat_bots() -> Callable[..., Table]:
    """Seats two scripted bots: `seat_bots(ruleset, time, lag=...)`, each of which may be left out."""

    def seat(ruleset: Ruleset | None = None, time: TimeControl | None = None, lag: float = 0.0) -> Table:
        return Table(game_spec(ruleset, time), lag)

    return seat


@pytest.fixture(scope="session")
def table_for() -> Callable[[GameSpec], Table]:
    """Seats two scripted bots for a game: `table_for(spec)`."""
    return Table


@pytest.fixture(scope="session")
def record_from() -> Callable[[Table], GameRecord]:
    """The record of a finished game, put together as `arena.play.runner` does it: `record_from(table)`."""

    def make(table: Table) -> GameRecord:
        return judged(table.referee, arena="0", started=1.5, seconds=2.25, stderr=("", ""))

    return make


# --- an executor ------------------------------------------------------------------------------------------------------

PlayTask = Callable[[GameTask], Awaitable[GameRecord]]


class ExecutorHere:
    """Plays games in this process, as a function does it that the test gives."""

    def __init__(self, play: PlayTask, slots: int, nursery: trio.Nursery) -> None:
        self._play, self._slots, self._nursery = play, slots, nursery
        self._tell, self._outcomes = trio.open_memory_channel[Outcome](1000)
        self._is_closed = False

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        self._nursery.start_soon(self._play_all, aiter(tasks))
        return self._outcomes

    def close(self) -> None:
        self._is_closed = True

    def stop(self) -> None:
        self.close()
        self._nursery.cancel_scope.cancel()

    def interrupt(self, game: str) -> None:
        raise AssertionError(f"no test interrupts {game} here")

    async def _play_all(self, tasks: AsyncIterator[GameTask]) -> None:
        asking = trio.Lock()
        with self._tell:
            try:
                async with trio.open_nursery() as nursery:
                    for _ in range(self._slots):
                        nursery.start_soon(self._fill_slot, tasks, asking)
            finally:
                if isinstance(tasks, AsyncGenerator):
                    await tasks.aclose()

    async def _fill_slot(self, tasks: AsyncIterator[GameTask], asking: trio.Lock) -> None:
        while not self._is_closed:
            async with asking:
                task = await anext(tasks, None)
            if task is None or self._is_closed:
                return
            self._tell.send_nowait(Begun(task.id))
            try:
                self._tell.send_nowait(Played(await self._play(task)))
            except ArenaStoppedError as error:
                self._tell.send_nowait(NotPlayed(task.id, f"game {task.id} was not played: {error}"))
            except ArenaError as error:
                self._tell.send_nowait(Failed.of(error, task.id))


@asynccontextmanager
async def _executor_here(play: PlayTask, slots: int = 1) -> AsyncGenerator[ExecutorHere, None]:
    async with background() as nursery:
        nursery.cancel_scope.shield = True  # `stop` ends it
        yield ExecutorHere(play, slots, nursery)


@pytest.fixture
def executor_here() -> Callable[..., object]:
    """`async with executor_here(play, slots=1) as executor`: it plays a task by awaiting `play(task)`."""
    return _executor_here
