"""The executor of one machine: worker processes, each with its share of the games.

The parent has one game in hand for each worker, so that a free slot waits for nothing but the pipe.
"""

import os
from collections import Counter, deque
from collections.abc import Collection, Iterable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import trio

from arena.bots.runnable import PlaySettings
from arena.errors import ArenaError
from arena.league.executor.task import (
    Begun,
    Failed,
    GameTask,
    InterruptGame,
    Lost,
    Notice,
    NotPlayed,
    OutcomeStream,
    Paused,
    Play,
    Played,
    SkippedGames,
    SkipSecondGames,
    Watched,
    WorkerReady,
)
from arena.league.executor.worker_process import WorkerProcess
from arena.sandbox.launch import known_fault

MOST_DEATHS = 3
"""The most workers that may die with the same game under way, or in a row in the same place without a finished game."""


class WorkerState:
    def __init__(self, slots: int, cpus: tuple[int, ...]) -> None:
        self.slots = slots
        self.cpus = cpus
        self.process: WorkerProcess | None = None
        self.is_ready = False
        self.queued: dict[str, GameTask] = {}
        self.begun: dict[str, GameTask] = {}
        self.deaths = 0

    @property
    def room(self) -> int:
        return self.slots - len(self.queued) - len(self.begun) if self.is_ready else 0

    def ended(self, game: str) -> None:
        self.deaths = 0
        self.queued.pop(game, None)
        task = self.begun.pop(game, None)
        if task and task.then:
            self.queued[task.then.id] = GameTask(task.then)

    def skipped(self, games: Collection[str]) -> None:
        for id in games:
            self.queued.pop(id, None)
        for id, task in self.begun.items():
            if task.then and task.then.id in games:
                self.begun[id] = task.alone


def local_executor(settings: PlaySettings, jobs: int) -> AbstractAsyncContextManager["LocalExecutor"]:
    """Worker processes that play `jobs` games in parallel, at most one process for each CPU. Raises `ArenaError`."""
    return LocalExecutor(settings, jobs).running()


class LocalExecutor(OutcomeStream):
    def __init__(self, settings: PlaySettings, jobs: int) -> None:
        super().__init__()
        self._settings = settings
        self.slots = jobs
        cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
        count = max(1, min(jobs, len(cpus)))
        self._workers = [
            WorkerState(jobs // count + (number < jobs % count), (cpus[number],) if settings.is_pinned else ())
            for number in range(count)
        ]
        self._deaths: Counter[str] = Counter()
        self._interrupted: set[str] = set()

    async def _begin(self) -> None:
        for worker in self._workers:
            self._nursery.start_soon(self._keep, worker)
        while not all(worker.is_ready for worker in self._workers):
            await self._wait()
            if self._error:
                raise self._error

    def close(self) -> None:
        self._is_closed = True
        waiting, self._waiting = self._waiting, deque()
        self._take_back(waiting)
        if self._feeding:
            self._feeding.cancel()
        for worker in self._workers:
            if worker.process:
                worker.process.connection.send(SkipSecondGames())
        self.changed()

    def stop(self) -> None:
        self.close()
        self._is_stopped = True
        for worker in self._workers:
            if worker.process:
                worker.process.stop()
        self.changed()

    def interrupt(self, game: str) -> None:
        for task in [task for task in self._waiting if task.id == game and task.can_pause]:
            self._waiting.remove(task)
            self._ended(Paused(game, task.history))
        for worker in self._workers:
            sent = (worker.queued | worker.begun).get(game)
            if sent and sent.can_pause and worker.process:
                self._interrupted.add(game)
                worker.process.connection.send(InterruptGame(game))

    def _ended(self, outcome: Played | Paused | NotPlayed | Failed) -> None:
        if outcome.id:
            self._deaths.pop(outcome.id, None)
            self._interrupted.discard(outcome.id)
        self._tell(outcome)

    @property
    def _is_over(self) -> bool:
        if self._is_stopped:
            return all(worker.process is None for worker in self._workers)
        has_games = self._waiting or any(worker.queued or worker.begun for worker in self._workers)
        return self._feeding is None and not has_games

    def _take_task(self, task: GameTask) -> None:
        self._waiting.append(task)
        self._dispatch()

    async def _until_there_is_room(self) -> None:
        await trio.lowlevel.checkpoint()
        while len(self._waiting) >= len(self._workers):
            await self._wait()

    def _dispatch(self) -> None:
        while self._waiting and not self._is_stopped:
            worker = max(self._workers, key=lambda worker: worker.room)
            if worker.room <= 0:
                break
            task = self._waiting.popleft()
            worker.queued[task.id] = task
            assert worker.process is not None
            worker.process.connection.send(Play(task))
        self.changed()

    def _take_back(self, tasks: Iterable[GameTask]) -> None:
        """Requeue games that came back: once closed, only those that had been under way."""
        kept = []
        for task in tasks:
            if task.id in self._interrupted:  # as it came back, or its worker died, before it was interrupted
                self._ended(Paused(task.id, task.history))
            elif not self._is_closed:
                kept.append(task)
            elif task.id in self._deaths:
                kept.append(task.alone)
        self._waiting.extendleft(reversed(kept))

    async def _keep(self, worker: WorkerState) -> None:
        with trio.CancelScope(shield=True):  # `stop` ends it, so that what the worker still says is heard
            while not self._is_stopped:
                try:
                    worker.process = WorkerProcess(self._settings, worker.slots, worker.cpus)
                except Exception as error:
                    self._fail(known_fault(error) or error)
                    break
                how = await worker.process.attend(partial(self._handle, worker), partial(self._worker_says, worker))
                said = worker.process.stderr_tail
                worker.process = None
                if not self._is_stopped:
                    self._worker_died(worker, how, said)
                self.changed()

    def _handle(self, worker: WorkerState, messages: Iterable[Any]) -> None:
        for message in messages:
            match message:
                case WorkerReady():
                    worker.is_ready = True
                case Begun(id):
                    worker.begun[id] = worker.queued.pop(id)
                    self._tell(message)
                case SkippedGames(ids):
                    worker.skipped(ids)
                case Notice() | Watched():
                    self._tell(message)
                case Failed(None):
                    self._fail(message.error())
                case _:  # how a game ended
                    worker.ended(message.id)
                    self._ended(message)
        self._dispatch()

    def _worker_says(self, worker: WorkerState, words: str) -> None:
        played = ", ".join(task.spec.names for task in worker.begun.values())
        self._tell(Notice(f"a worker process {words}" + (f" (it plays {played})" if played else "")))

    def _worker_died(self, worker: WorkerState, how: str, said: str) -> None:
        why = f"{how}: {said.splitlines()[-1]}" if said else how
        output = "".join(f"\n    {line}" for line in said.splitlines())
        queued, begun = worker.queued, list(worker.begun.values())
        worker.queued, worker.begun = {}, {}
        worker.is_ready = False
        worker.deaths += 1
        for task in begun:
            self._tell(Lost(task.id))
            self._deaths[task.id] += 1
            if self._deaths[task.id] >= MOST_DEATHS:
                words = f"game {task.id} ({task.spec.names}) was not played"
                self._fail(ArenaError(f"{words}: {MOST_DEATHS} times its worker process {why}{output}"))
        if worker.deaths >= MOST_DEATHS:
            words = f"no game can be played: {MOST_DEATHS} times a worker process {how}"
            self._fail(ArenaError(f"{words}{output or ', without output'}"))
        if self._is_stopped:
            return
        for task in begun:
            if task.id not in self._interrupted:
                line = f"game {task.id} ({task.spec.names}) is played again: its worker process {why}"
                self._tell(Notice(line, task.id))
        if not begun:
            self._tell(Notice(f"a worker process is started again: it {why}"))
        self._take_back([*begun, *queued.values()])
