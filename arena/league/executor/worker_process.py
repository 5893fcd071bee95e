"""A worker process from its parent's side: start it, exchange messages, and end it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import trio

from arena.bots.spec import TOKEN_VARIABLE
from arena.league.executor.child_process import Connection, WireError, own_python
from arena.league.executor.task import PlaySettings
from arena.league.executor.wire import StopWorker, WorkerSetup, from_worker
from arena.sandbox import killing, reaper
from arena.sandbox.launch import cannot_start_another
from arena.sandbox.procfs import look
from arena.sandbox.reaper import new_token
from arena.system.concurrency import background, readable
from arena.system.user_files import HOST_ERRORS

PROGRAM = """
import sys
sys.path[:] = sys.argv[4:]
from arena.league.executor.worker import main
main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
"""
"""Finds modules in the parent's folders, independent of the current folder and the environment."""
STDERR_KEPT = 8192
STOP_PATIENCE = 30.0
"""Seconds after which a worker that was told to stop is killed; it usually takes well under one."""
LOOK_SECONDS = 1.0
"""How often the parent checks whether a worker was suspended by a signal."""
STOPPED_LOOKS = 10
"""A worker found suspended this many times in a row is continued."""
POLL_SECONDS = 0.05
"""How often a worker's death is checked on systems without pidfds."""


class WorkerProcess:
    def __init__(self, popen: "subprocess.Popen[bytes]", connection: Connection, token: str) -> None:
        assert popen.stderr is not None
        self._popen = popen
        self.pid = popen.pid
        self.connection = connection
        self._token = token
        self._stderr = popen.stderr.fileno()
        os.set_blocking(self._stderr, False)
        self._tail = b""
        self._is_stopped = trio.Event()
        self._is_dead = trio.Event()

    @classmethod
    def start(cls, settings: PlaySettings, slots: int, cpus: tuple[int, ...]) -> "WorkerProcess":
        """Start a worker that plays `slots` games at once. Raises `HostError`."""
        token = new_token()
        pipes: list[int] = []
        try:
            pipes += os.pipe()
            pipes += os.pipe()
            popen = popen_worker(pipes[0], pipes[3], token)
        except OSError as error:
            for descriptor in pipes:
                os.close(descriptor)
            if error.errno in HOST_ERRORS:
                raise cannot_start_another(error) from error
            raise
        os.close(pipes[0])
        os.close(pipes[3])
        process = cls(popen, Connection(pipes[2], pipes[1], from_worker), token)
        process.connection.send(WorkerSetup.of(settings, slots=slots, cpus=cpus))
        return process

    async def drain_stderr(self) -> None:
        while not self._read_stderr():
            await readable(self._stderr)

    def _read_stderr(self) -> bool:
        while True:
            try:
                data = os.read(self._stderr, STDERR_KEPT)
            except BlockingIOError:
                return False
            if not data:
                return True
            self._tail = (self._tail + data)[-STDERR_KEPT:]

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
        """Call `handle` with the worker's messages until it has ended; return in words how it ended.

        A worker that breaks the protocol is killed. One that was suspended is continued, and `say` is called.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.connection.write)
            nursery.start_soon(self.drain_stderr)
            nursery.start_soon(self._keep_going, say)
            hearing = trio.CancelScope()
            nursery.start_soon(self._until_dead, hearing)
            try:
                with hearing:
                    while messages := await self.connection.receive():
                        handle(messages)
                if hearing.cancelled_caught:
                    handle(self.connection.receive_rest())
            except WireError:
                self.kill()
            how = await self.end()
            nursery.cancel_scope.cancel()
        self.close()
        return how

    async def _until_dead(self, hearing: trio.CancelScope) -> None:
        await self.until_dead()
        hearing.cancel()

    async def _keep_going(self, say: Callable[[str], None]) -> None:
        """Continue the worker if it stays suspended by a signal."""
        looks = 0
        while True:
            await trio.sleep(LOOK_SECONDS)
            looks = looks + 1 if (seen := look(self.pid)) and seen.is_stopped else 0
            if looks == STOPPED_LOOKS:
                looks = 0
                self._signal(signal.SIGCONT)
                say("was stopped by a signal (SIGSTOP); it is continued")

    async def until_dead(self) -> None:
        """Wait until the worker is dead; kill it if it does not stop when told to."""
        async with background(self._kill_if_late):
            await self._wait()
            self._is_dead.set()

    async def _kill_if_late(self) -> None:
        await self._is_stopped.wait()
        await trio.sleep(STOP_PATIENCE)
        self.kill()

    async def end(self) -> str:
        """Stop the worker, kill the processes that it has left, and return in words how it ended.

        Cannot be cancelled. `until_dead` must run in another task.
        """
        with trio.CancelScope(shield=True):
            self.stop()
            await self._is_dead.wait()
            code = self._popen.wait()
            if code:  # the worker did not end its bots itself
                await killing.kill_left_by(self._token)
        return reaper.killed_words(-code) if code < 0 else f"exited with code {code}"

    def close(self) -> None:
        """Close the pipes, once the worker has ended and no task waits for them."""
        self._read_stderr()
        self.connection.close()
        assert self._popen.stderr is not None
        self._popen.stderr.close()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._popen.poll() is None:
            self._popen.send_signal(number)

    async def _wait(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # no descriptor is left, or this is not Linux
            if self._popen.returncode is None:
                descriptor = os.pidfd_open(self.pid)
                try:
                    await readable(descriptor)
                finally:
                    os.close(descriptor)
        while self._popen.poll() is None:  # noqa: ASYNC110  (outside Linux no event announces a child's death)
            await trio.sleep(POLL_SECONDS)


def popen_worker(incoming: int, outgoing: int, token: str) -> "subprocess.Popen[bytes]":
    """Start a worker that reads one descriptor and writes to another, with a token for its bots."""
    return subprocess.Popen(
        own_python(PROGRAM, str(incoming), str(outgoing), str(os.getpid())),
        env={**os.environ, TOKEN_VARIABLE: token},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(incoming, outgoing),
        start_new_session=True,
    )
