"""A worker process as its parent sees it: how it is started, talked to and ended."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio

from arena.bots.sandbox import child, killing
from arena.bots.sandbox.launch import cannot_start_another
from arena.bots.sandbox.procfs import keep_spare_descriptor, look, read_file
from arena.bots.sandbox.reaper import new_token
from arena.bots.spec import TOKEN_VARIABLE
from arena.league.executor.pipes import Connection, WireError
from arena.league.executor.task import PlaySettings
from arena.league.executor.wire import Setup, Stop, from_worker
from arena.system.concurrency import background, readable
from arena.system.user_files import HOST_ERRORS

PROGRAM = """
import sys
sys.path[:] = sys.argv[4:]
from arena.league.executor.worker_main import main
main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
"""
"""What a worker runs. It finds the modules where its parent has found them, whatever the folder and the environment."""
STDERR_KEPT = 8192
STOP_PATIENCE = 30.0
"""Seconds that a worker has to end its bots and exit; it takes well under a second. Then it is killed."""
LOOK_SECONDS = 1.0
"""How often the parent looks whether a worker is stopped."""
STOPPED_LOOKS = 10
"""A worker that was found stopped so many times in a row is told to go on."""
POLL_SECONDS = 0.05
"""Where no descriptor tells of a worker's death, it is looked for this often."""


class WorkerProcess:
    """A running worker process. Made by `start`; must be ended with `end`."""

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
        """Start a worker that plays so many games at a time. Raises `HostError`."""
        keep_spare_descriptor()
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
        process.connection.send(Setup.of(settings, slots=slots, cpus=cpus))
        return process

    async def drain_stderr(self) -> None:
        """Keep reading its standard error, and the last part of it. Run this beside everything else."""
        while not self._read_stderr():
            await readable(self._stderr)

    def _read_stderr(self) -> bool:
        """Read what is there now; returns whether its end has been reached."""
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
        """The last part of what it wrote to standard error: nothing, or a traceback."""
        return self._tail.decode("utf-8", "replace").strip()

    def stop(self) -> None:
        """Tell it to end its bots and to exit, for which it has `STOP_PATIENCE` from now on. It may still be heard."""
        if not self._is_stopped.is_set():
            self._is_stopped.set()
            self.connection.send(Stop())
            self.connection.finish()
        self._signal(signal.SIGCONT)  # one that is stopped could do nothing

    async def attend(self, handle: Callable[[list[Any]], None], say: Callable[[str], None]) -> str:
        """Have `handle` called with all that it says, to its end; returns in words how it ended. One that breaks the
        protocol is killed. One that is stopped is told to go on: `say` is told so, in words behind its name."""
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
        """Cancel the hearing of one that is dead: some other process may have a copy of its end of the pipe."""
        await self.until_dead()
        hearing.cancel()

    async def _keep_going(self, say: Callable[[str], None]) -> None:
        """Tell the worker to go on if it stays stopped by a signal, which nothing else would end."""
        looks = 0
        while True:
            await trio.sleep(LOOK_SECONDS)
            looks = looks + 1 if is_stopped(self.pid) else 0
            if looks == STOPPED_LOOKS:
                looks = 0
                self._signal(signal.SIGCONT)
                say("was stopped by a signal (SIGSTOP); it is told to go on")

    async def until_dead(self) -> None:
        """Wait until it is dead, and kill it if it has been told to stop and does not. Run this beside everything
        else."""
        async with background(self._kill_if_late):
            await self._wait()
            self._is_dead.set()

    async def _kill_if_late(self) -> None:
        await self._is_stopped.wait()
        await trio.sleep(STOP_PATIENCE)
        self.kill()

    async def end(self) -> str:
        """Stop it if that has not been done, wait until it is dead, and kill what it has left. Returns in words how it
        ended. `until_dead` has to run beside it. Cannot be cancelled."""
        with trio.CancelScope(shield=True):
            self.stop()
            await self._is_dead.wait()
            code = self._popen.wait()
            if code:  # it did not end its bots itself
                await killing.kill_left_by(self._token)
        return child.killed_words(-code) if code < 0 else f"exited with code {code}"

    def close(self) -> None:
        """Close its pipes: to be called once it has ended, and nothing waits at them any more."""
        self._read_stderr()
        self.connection.close()
        assert self._popen.stderr is not None
        self._popen.stderr.close()

    def kill(self) -> None:
        """Kill it. It still has to be ended."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._popen.poll() is None:
            self._popen.send_signal(number)

    async def _wait(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # none is left, or it is not Linux
            if self._popen.returncode is None:
                descriptor = os.pidfd_open(self.pid)
                try:
                    await readable(descriptor)
                finally:
                    os.close(descriptor)
        while self._popen.poll() is None:  # noqa: ASYNC110  (outside Linux nothing tells of a child's death)
            await trio.sleep(POLL_SECONDS)


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal, and is not traced by a debugger."""
    process = look(pid)
    if process is None or not process.is_stopped:
        return False
    status = read_file(f"/proc/{pid}/status")
    return not status or b"\nTracerPid:\t0\n" in status


def popen_worker(incoming: int, outgoing: int, token: str) -> "subprocess.Popen[bytes]":
    """Start a worker that reads one descriptor and writes to another, both its own, with a token for its bots."""
    return subprocess.Popen(
        own_python(PROGRAM, str(incoming), str(outgoing), str(os.getpid())),
        env={**os.environ, TOKEN_VARIABLE: token},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(incoming, outgoing),
        start_new_session=True,
    )


def own_python(program: str, *arguments: str) -> list[str]:
    """The command that runs a program with this Python, in isolated mode: its arguments, and behind them the folders
    that modules are to be found in."""
    flags = ["-I", "-X", f"utf8={sys.flags.utf8_mode}", *(["-B"] if sys.flags.dont_write_bytecode else [])]
    if sys.pycache_prefix is not None:  # -I ignores what the environment says of it
        flags += ["-X", f"pycache_prefix={os.path.abspath(sys.pycache_prefix)}"]
    return [sys.executable, *flags, "-c", program, *arguments, *module_folders()]


def module_folders() -> list[str]:
    """Where modules are found: as here, but in no folder that is found from the current one, where bots may lie."""
    here = str(Path(__file__).absolute().parents[3])
    known = [os.path.abspath(folder) for folder in sys.path if os.path.isabs(folder) or os.path.abspath(folder) == here]
    return [*dict.fromkeys([*known, here])]
