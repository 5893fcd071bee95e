"""Leagues without worker processes, which take longer to start than small games: this process plays the real bots."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import pytest
import trio

from arena.league.executor import worker
from arena.league.executor.task import (
    Executor,
    Failed,
    GameTask,
    InterruptGame,
    NotPlayed,
    Outcome,
    Paused,
    Play,
    Played,
    SkippedGames,
    SkipSecondGames,
)
from arena.processes.runnable import PlaySettings
from arena.processes.starting import Sandbox
from arena.system.concurrency import background

USERS = ("league", "saved")
"""The modules of `arena.league` that have games played by worker processes."""


class ExecutorHere:
    """The games of one worker, which is given as many as it has slots."""

    def __init__(self, slots: int, held: Sandbox, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._tell, self._outcomes = trio.open_memory_channel[Outcome](100_000)
        self._free = trio.Semaphore(slots)
        self._last: dict[str, str] = {}
        """The first game of each task by its last one, whose outcome makes room for another task."""
        self._is_closed = False
        self._games = worker.WorkerGames(self, held, nursery)  # type: ignore[arg-type]

    def send(self, message: object) -> None:
        """What a worker sends to its parent; what comes after the end is lost."""
        with suppress(trio.ClosedResourceError):
            if isinstance(message, Outcome):
                self._tell.send_nowait(message)
        if isinstance(message, Played | Paused | NotPlayed | Failed) and message.id in self._last:
            del self._last[message.id]
            self._free.release()
        elif isinstance(message, SkippedGames):
            for first in [self._last.pop(game) for game in message.ids]:
                self._last[first] = first

    def flush(self) -> bool:
        return True

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        self._nursery.start_soon(self._give_out, aiter(tasks))
        return self._outcomes

    async def _give_out(self, tasks: AsyncIterator[GameTask]) -> None:
        with self._tell:
            try:
                while not self._is_closed:
                    await self._free.acquire()
                    task = await anext(tasks, None)
                    if task is None or self._is_closed:
                        break
                    self._last[task.then.id if task.then else task.id] = task.id
                    self._games.handle(Play(task))
                while self._last:
                    await self._free.acquire()
            finally:
                if isinstance(tasks, AsyncGenerator):
                    await tasks.aclose()

    def close(self) -> None:
        self._is_closed = True
        self._games.handle(SkipSecondGames())

    def stop(self) -> None:
        self._nursery.cancel_scope.cancel()

    def interrupt(self, game: str) -> None:
        self._games.handle(InterruptGame(game))


@asynccontextmanager
async def executor_of(settings: PlaySettings, jobs: int) -> AsyncGenerator[Executor, None]:
    with Sandbox(settings) as held:
        await held.try_out()
        async with background() as nursery:
            yield ExecutorHere(jobs, held, nursery)


@contextmanager
def games_played_here() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in USERS:
            patch.setattr(f"arena.league.{name}.local_executor", executor_of)
        yield
