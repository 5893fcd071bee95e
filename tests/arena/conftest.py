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
)
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import scripted
import trio
from browsing import axe, browser, complaints, event_loop_of_the_browser_hidden, open_address
from scripted import Table, game_spec

from arena.errors import ArenaError
from arena.game.game_spec import GameSpec
from arena.game.record import GameRecord
from arena.league.executor.task import Begun, Failed, GameTask, NotPlayed, Outcome, Played
from arena.play.game_options import ArenaStoppedError
from arena.sandbox import reaper
from arena.system.concurrency import background

__all__ = ["Table", "axe", "browser", "complaints", "open_address"]


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


@pytest.fixture(scope="session")
def spec() -> Callable[..., GameSpec]:
    return game_spec


@pytest.fixture(scope="session")
def seat_bots() -> Callable[..., Table]:
    return scripted.seat_bots


@pytest.fixture(scope="session")
def table_for() -> Callable[[GameSpec], Table]:
    return Table


@pytest.fixture(scope="session")
def record_from() -> Callable[[Table], GameRecord]:
    return scripted.record_from


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
