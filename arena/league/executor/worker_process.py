"""A worker process from its parent's side: start it, exchange messages, and end it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import trio

from arena.bots.runnable import PlaySettings
from arena.bots.spec import TOKEN_VARIABLE
from arena.league.executor.child_process import Connection, WireError, own_python, until_dead
from arena.league.executor.task import StopWorker, WorkerSetup, from_worker
from arena.sandbox import reaper
from arena.sandbox.launch import cannot_start_another
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
