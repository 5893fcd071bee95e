"""The common part of executors: tasks are requested while there is room, and their outcomes are a stream.

A subclass plays the games, waits (`_wait`) for a change (`changed`) and reports outcomes (`_tell`).
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import Self

import trio

from arena.league.executor.task import GameTask, Outcome


class OutcomeStream(ABC):
    def __init__(self) -> None:
        self._waiting: deque[GameTask] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._changed = trio.Event()
        self._error: Exception | None = None
        self._nursery: trio.Nursery | None = None
        self._feeding: trio.CancelScope | None = None
        """The scope of the task that requests games; None if there are no more."""
        self._is_closed = self._is_stopped = False

    @abstractmethod
    def stop(self) -> None:
        pass

    @property
    @abstractmethod
    def _is_over(self) -> bool:
        pass

    @abstractmethod
    async def _until_there_is_room(self) -> None:
        pass

    @abstractmethod
    def _take_task(self, task: GameTask) -> None:
        pass

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        assert self._nursery is not None
        assert self._feeding is None, "one stream of tasks at once"
        self._feeding = trio.CancelScope()
        self._nursery.start_soon(self._feed, tasks, self._feeding)
        return self

    async def _feed(self, tasks: AsyncIterable[GameTask], scope: trio.CancelScope) -> None:
        source = aiter(tasks)
        try:
            with scope:
                while not self._is_closed:
                    await self._until_there_is_room()
                    task = await anext(source)
                    if not self._is_closed:
                        self._take_task(task)
        except StopAsyncIteration:
            pass
        except Exception as error:
            self._fail(error)
        finally:
            if isinstance(source, AsyncGenerator):
                with trio.CancelScope(shield=True):
                    await source.aclose()
            self._feeding = None
            self.changed()

    def _tell(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self.changed()

    def _fail(self, error: Exception) -> None:
        """End the outcomes with the first such error: no game can be played any more."""
        self._error = self._error or error
        self.stop()

    def changed(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def _wait(self) -> None:
        await self._changed.wait()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Outcome:
        """Wait for the next outcome; a cancelled wait loses none. Raises the error that prevents all games."""
        await trio.lowlevel.checkpoint()
        while not self._outcomes:
            if self._is_over:
                raise self._error or StopAsyncIteration
            await self._wait()
        return self._outcomes.popleft()
