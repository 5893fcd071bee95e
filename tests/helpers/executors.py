"""An executor without workers, which plays games as a test says."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio

from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.league.executor.task import Begun, Failed, GameTask, NotPlayed, Outcome, Played
from arena.play.game_options import VoidGameError
from arena.system.concurrency import background

PlayTask = Callable[[GameTask], Awaitable[GameRecord]]


class ExecutorHere:
    """Plays games in this process by calling a function of the test."""

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
            except VoidGameError as error:
                self._tell.send_nowait(NotPlayed(task.id, f"game {task.id} was not played: {error}"))
            except ArenaError as error:
                self._tell.send_nowait(Failed.of(error, task.id))


@asynccontextmanager
async def executor_here(play: PlayTask, slots: int = 1) -> AsyncGenerator[ExecutorHere, None]:
    async with background() as nursery:
        nursery.cancel_scope.shield = True  # `stop` ends it
        yield ExecutorHere(play, slots, nursery)
