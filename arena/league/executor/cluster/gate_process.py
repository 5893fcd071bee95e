"""The gate as the arena has it: a child process that is told what to do over one pipe and heard over another."""

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Protocol

import msgspec

from arena.errors import ArenaError
from arena.league.executor.cluster.messages import Ask, Connect, FromGate, Submit, from_gate
from arena.league.executor.process import WorkerProcess
from arena.league.executor.task import Said

GATE = "arena.league.executor.cluster.gate"
GATE_NAME = "the process that speaks with the cluster"


class Gate(Protocol):
    """The way to the cluster (`arena.league.executor.cluster.gate` is the program at its other end)."""

    is_gone: bool
    """Whether it has ended."""

    def start(self, connect: Connect) -> None:
        """Have it connect. Raises `ArenaError`."""

    def send(self, message: Ask | Submit) -> None:
        """Put a message behind those that wait. Its answer is told to whoever hears the gate."""

    async def attend(self, hear: Callable[[list[FromGate]], None]) -> str:
        """Have `hear` called with all that it says, to its end; returns in words how it ended."""
        ...

    def stop(self) -> None:
        """Have it leave the cluster and exit."""


class GateProcess:
    """A `Gate` in a process of its own."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = None
        self._folder = ""
        """Made for the cluster of this machine, and what it keeps there: a gate that was killed cannot remove it."""
        self.is_gone = False

    def start(self, connect: Connect) -> None:
        """See `Gate.start`."""
        if connect.local:
            try:
                self._folder = tempfile.mkdtemp(prefix="arena-cluster-")
            except OSError as error:
                raise ArenaError(f"no folder can be made for the cluster of this machine: {error.strerror}") from None
            connect = msgspec.structs.replace(connect, folder=os.fsencode(self._folder))
        try:
            self._process, _ = WorkerProcess.start_module(GATE, from_gate)
        except ArenaError:
            self._remove_folder()
            raise
        self._process.connection.send(connect)

    def send(self, message: Ask | Submit) -> None:
        """See `Gate.send`."""
        assert self._process is not None
        self._process.connection.send(message)

    async def attend(self, hear: Callable[[list[FromGate]], None]) -> str:
        """See `Gate.attend`; with the last line that it wrote to standard error."""
        assert self._process is not None
        how = await self._process.attend(hear, lambda words: hear([Said(f"{GATE_NAME} {words}")]))
        self._remove_folder()
        last = self._process.stderr_tail.splitlines()[-1:] or ["it said nothing"]
        self.is_gone = True
        return f"{how}: {last[0]}"

    def stop(self) -> None:
        """See `Gate.stop`."""
        if self._process:
            self._process.connection.finish()
            self._process.stop()

    def _remove_folder(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
