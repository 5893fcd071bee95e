"""The executor of one machine: worker processes, each with its share of the games.

The parent has one game in hand for each worker, so that a free slot waits for nothing but the pipe.
"""

import contextlib
import os
import signal
import subprocess
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import trio

from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import ArenaError
from arena.league.executor.child_process import Connection, WireError, own_python, until_dead
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
    StopWorker,
    Watched,
    WorkerReady,
    WorkerSetup,
    from_worker,
)
from arena.processes.runnable import PlaySettings
from arena.sandbox import reaper
from arena.sandbox.launch import cannot_start_another, known_fault
from arena.sandbox.procfs import look
from arena.sandbox.reaper import new_token
from arena.system.concurrency import readable
from arena.system.user_files import HOST_ERRORS

STDERR_KEPT = 8192
STOP_PATIENCE = 30.0
LOOK_SECONDS = 1.0
STOPPED_LOOKS = 10


class WorkerProcess:
    def __init__(self, settings: PlaySettings, slots: int, cpus: tuple[int, ...]) -> None:
        """Start a worker that plays `slots` games at once. Raises `HostError`."""
        self._token = new_token()
        pipes: list[int] = []
        try:
            pipes += os.pipe()
            pipes += os.pipe()
            self._popen = subprocess.Popen(
                own_python("arena.league.executor.worker", pipes[0], pipes[3], os.getpid()),
                env={**os.environ, TOKEN_VARIABLE: self._token},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(pipes[0], pipes[3]),
                start_new_session=True,
            )
        except OSError as error:
            for descriptor in pipes:
                os.close(descriptor)
            if error.errno in HOST_ERRORS:
                raise cannot_start_another(error) from error
            raise
        os.close(pipes[0])
        os.close(pipes[3])
        assert self._popen.stderr is not None
        self._stderr = self._popen.stderr
        os.set_blocking(self._stderr.fileno(), False)
        self._tail = b""
        self._is_stopped = trio.Event()
        self._is_dead = trio.Event()
        self.connection = Connection(pipes[2], pipes[1], from_worker)
        self.connection.send(WorkerSetup.of(settings, slots=slots, cpus=cpus))

    @property
    def pid(self) -> int:
        return self._popen.pid

    async def _drain_stderr(self) -> None:
        while not self._read_stderr():
            await readable(self._stderr.fileno())

    def _read_stderr(self) -> bool:
        """Read what is there now; return whether that was the end."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._stderr.fileno(), STDERR_KEPT):
                self._tail = (self._tail + data)[-STDERR_KEPT:]
            return True
        return False

    @property
    def stderr_tail(self) -> str:
        return self._tail.decode("utf-8", "replace").strip()

    def stop(self) -> None:
        """Tell the worker to end its bots and exit within `STOP_PATIENCE`. Messages can still be received."""
        if not self._is_stopped.is_set():
            self._is_stopped.set()
            self.connection.send(StopWorker())
            self.connection.finish()
        self._signal(signal.SIGCONT)  # a suspended worker could not react

    async def attend(self, handle: Callable[[list[Any]], None], say: Callable[[str], None]) -> str:
        """Call `handle` with the worker's messages until it and its bots are gone; return how it ended, in words.

        A worker that breaks the protocol is killed. One that was suspended is continued, and `say` is called.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.connection.write)
            nursery.start_soon(self._drain_stderr)
            nursery.start_soon(self._keep_going, say)
            nursery.start_soon(self._kill_if_late)
            hearing = trio.CancelScope()
            nursery.start_soon(self._until_dead, hearing)
            try:
                with hearing:
                    while messages := await self.connection.receive():
                        handle(messages)
                if hearing.cancelled_caught:
                    handle(self.connection.receive_rest())
            except WireError:
                self._signal(signal.SIGKILL)
            with trio.CancelScope(shield=True):
                self.stop()
                await self._is_dead.wait()
                code = self._popen.wait()
                if code:  # the worker did not end its bots itself
                    from arena.sandbox import killing

                    await killing.kill_left_by(self._token)
            nursery.cancel_scope.cancel()
        self._read_stderr()
        self.connection.close()
        self._stderr.close()
        return reaper.killed_words(-code) if code < 0 else f"exited with code {code}"

    async def _keep_going(self, say: Callable[[str], None]) -> None:
        looks = 0
        while True:
            await trio.sleep(LOOK_SECONDS)
            looks = looks + 1 if (seen := look(self.pid)) and seen.is_stopped else 0
            if looks == STOPPED_LOOKS:
                looks = 0
                self._signal(signal.SIGCONT)
                say("was stopped by a signal (SIGSTOP); it is continued")

    async def _kill_if_late(self) -> None:
        await self._is_stopped.wait()
        await trio.sleep(STOP_PATIENCE)
        self._signal(signal.SIGKILL)

    async def _until_dead(self, hearing: trio.CancelScope) -> None:
        await until_dead(self.pid, lambda: self._popen.poll() is None)
        self._is_dead.set()
        hearing.cancel()

    def _signal(self, number: signal.Signals) -> None:
        if self._popen.poll() is None:
            self._popen.send_signal(number)


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
