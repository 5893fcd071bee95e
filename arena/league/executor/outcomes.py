"""The common part of executors: tasks are requested while there is room, and their outcomes are a stream.

A subclass plays the games. It waits (`_wait`) for a change (`changed`) and reports outcomes (`_tell`). The stream ends
when no more can come, or with the error that prevents all games.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

import trio

from arena.league.executor.task import GameTask, Outcome


class OutcomeStream(ABC):
    def __init__(self) -> None:
        self._waiting: deque[GameTask] = deque()
        """Games that are to be sent: new ones, and those that have come back."""
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

    def _no_more_tasks(self) -> None:
        self.changed()

    def play(self, tasks: AsyncIterable[GameTask]) -> AsyncIterator[Outcome]:
        assert self._nursery is not None
        assert self._feeding is None, "one stream of tasks at once"
        self._feeding = trio.CancelScope()
        self._nursery.start_soon(self._feed, tasks, self._feeding)
        return _Outcomes(self)

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
            self._no_more_tasks()

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

    async def next_outcome(self) -> Outcome | None:
        """Wait for the next outcome; None if there are no more. Raises the error that prevents all games."""
        await trio.lowlevel.checkpoint()
        while not self._outcomes:
            if self._is_over:
                if self._error:
                    raise self._error
                return None
            await self._wait()
        return self._outcomes.popleft()


class _Outcomes:
    """The outcomes of one stream of tasks. A cancelled wait loses none."""

    def __init__(self, stream: OutcomeStream) -> None:
        self._stream = stream

    def __aiter__(self) -> "_Outcomes":
        return self

    async def __anext__(self) -> Outcome:
        outcome = await self._stream.next_outcome()
        if outcome is None:
            raise StopAsyncIteration
        return outcome
