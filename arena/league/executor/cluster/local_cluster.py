"""A scheduler and workers on this machine alone, for `--cluster local:N`: dask's own programs, ended with the gate.

They listen on the loopback address, which every user of the machine can reach, and whoever reaches a scheduler can run
programs in it. So they speak TLS, with a key that is made for this run. It is in no file, in which a bot at the default
level could read it, and these processes are closed to bots.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import msgspec

from arena.bots.sandbox.child import killed_words
from arena.errors import ArenaError
from arena.league.executor.cluster.dask import distributed
from arena.league.executor.cluster.messages import Connect, Tls
from arena.league.executor.local import usable_cpus
from arena.league.executor.process import module_folders

PROGRAM = """
import os, sys, threading
import json
folders, cpus, module, arguments = json.loads(sys.argv[1])
sys.path[:] = folders
from arena.bots.sandbox.prctl import close_to_bots
close_to_bots()
with os.fdopen(os.dup(0), "rb", 0) as told:
    keys = json.loads(told.readline() or "{}")
def end_with_the_gate():
    os.read(0, 1)
    service = sys.modules.get("arena.league.executor.cluster.service")
    if service:
        service.SERVICE.close()
    os._exit(0)
threading.Thread(target=end_with_the_gate, daemon=True).start()
if cpus:
    os.sched_setaffinity(0, cpus)
import dask, distributed
dask.config.set(keys)
from importlib import import_module
import_module(module).main(arguments)
"""
"""One of dask's commands, which is told its keys first, and ends as soon as nobody holds the other end of its input.

A worker ends its station before: what is alive when the gate has ended is killed, and could not remove its copies."""
SCHEDULER = "distributed.cli.dask_scheduler"
WORKER = "distributed.cli.dask_worker"
LOOPBACK = "127.0.0.1"
NO_PAGES = ("--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0")
"""Dask has web pages on all addresses without TLS, unless it is told where. Without a dashboard there are others, which
`routes` takes away."""
LOOK_SECONDS = 0.02
END_SECONDS = 15.0
"""So long all processes have to end, which may have bots to end and files to remove. Then they are killed. With what
the gate takes before, it is less than a gate has (`arena.league.executor.process.STOP_PATIENCE`)."""
WATCH_SECONDS = 0.2
"""How often it is looked whether all of it is still there."""
QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "warning",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "0",
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "False",
    "DASK_DISTRIBUTED__SCHEDULER__ACTIVE_MEMORY_MANAGER__START": "False",
}
"""What dask looks after for work of other kinds, and what it keeps of messages. Without it an idle scheduler takes 0.3%
of a CPU and a worker 0.6%, with it 1.8% and 1.9%, measured one after the other."""


class LocalCluster:
    """Use it in an `async with` statement: `address` is the scheduler's."""

    def __init__(self, workers: int, place: str, patience: float) -> None:
        """`place` is a folder for what they need: it is in one that is made there and removed at the end."""
        self._count = workers
        self._patience = patience
        self._place = place
        self._made = ""
        self._tls = Tls(b"", b"", b"")
        """What the files would hold that its fields name elsewhere, which dask takes as well."""
        self._processes: list[subprocess.Popen[bytes]] = []
        self.address = ""

    def connect(self, connect: Connect) -> Connect:
        """The same wish with what a connection to this cluster needs."""
        return msgspec.structs.replace(connect, tls=self._tls, address=self.address)

    @property
    def _folder(self) -> Path:
        """The folder that was made."""
        assert self._made
        return Path(self._made)

    async def __aenter__(self) -> Self:
        self._made = tempfile.mkdtemp(prefix="cluster-", dir=self._place)
        try:
            await asyncio.to_thread(self._make_key)
            await self._start()
        except BaseException:
            self._end()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end()

    def _make_key(self) -> None:
        made = distributed().Security.temporary()
        self._tls = Tls(*(text.encode() for text in (made.tls_ca_file, made.tls_client_cert, made.tls_client_key)))

    def _keys(self) -> bytes:
        """The settings of dask that hold the key and show nothing, in one line."""
        ca, cert, key = (text.decode() for text in (self._tls.ca, self._tls.cert, self._tls.key))
        settings: dict[str, str | bool | list[str]] = {
            "distributed.comm.tls.ca-file": ca,
            "distributed.comm.require-encryption": True,
        }
        settings |= {f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker")}
        for role in ("scheduler", "worker", "client"):
            settings |= {f"distributed.comm.tls.{role}.cert": cert, f"distributed.comm.tls.{role}.key": key}
        return json.dumps(settings).encode() + b"\n"

    async def _start(self) -> None:
        file = self._folder / "scheduler.json"
        place = ["--host", LOOPBACK, "--protocol", "tls", "--port", "0"]
        self._run(SCHEDULER, [*place, *NO_PAGES, "--scheduler-file", str(file)])
        deadline = asyncio.get_running_loop().time() + self._patience
        while not self.address:
            if ended := _ended(self._processes[0]):
                raise ArenaError(f"the scheduler of this machine {ended}")
            if asyncio.get_running_loop().time() > deadline:
                raise ArenaError(f"the scheduler of this machine did not start within {self._patience:g} s")
            with contextlib.suppress(OSError, ValueError, KeyError):
                self.address = json.loads(file.read_bytes())["address"]
            await asyncio.sleep(LOOK_SECONDS)
        for number in range(self._count):
            alone = ["--nthreads", "1", "--no-nanny", *NO_PAGES, "--memory-limit", "0"]
            own = ["--name", worker_name(number), "--local-directory", str(self._folder / f"worker-{number + 1}")]
            ends = ["--death-timeout", str(self._patience)]
            self._run(
                WORKER,
                [self.address, "--host", LOOPBACK, *alone, *own, *ends],
                share(usable_cpus(), number, self._count),
            )

    async def until_ended(self) -> str:
        """Wait until there is no scheduler any more, or no worker, which nobody starts again; returns in words how that
        has ended."""
        scheduler, *workers = self._processes
        while True:
            if ended := _ended(scheduler):
                return f"the scheduler of this machine {ended}"
            endings = [_ended(worker) for worker in workers]
            if all(endings):
                named = ", ".join(f"{worker_name(number)} {ended}" for number, ended in enumerate(endings))
                return f"all workers of this machine have ended: {named}"
            await asyncio.sleep(WATCH_SECONDS)

    def _run(self, module: str, arguments: Sequence[str], cpus: Sequence[int] = ()) -> None:
        said = json.dumps([module_folders(), list(cpus), module, list(arguments)])
        popen = subprocess.Popen(
            [sys.executable, "-I", "-c", PROGRAM, said],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, **QUIET},
        )
        self._processes.append(popen)
        assert popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which is looked for
            popen.stdin.write(self._keys())
            popen.stdin.flush()

    def _end(self) -> None:
        """End all of it: the workers first, each of which takes its station along."""
        for popen in reversed(self._processes):
            assert popen.stdin is not None
            popen.stdin.close()
            with contextlib.suppress(ProcessLookupError):
                os.kill(popen.pid, signal.SIGCONT)
        until = time.monotonic() + END_SECONDS
        for popen in self._processes:
            try:
                popen.wait(max(0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                popen.kill()
                popen.wait()
        if self._made:
            shutil.rmtree(self._made, ignore_errors=True)
            with contextlib.suppress(OSError):  # whoever has made it may be gone
                os.rmdir(self._place)


def worker_name(number: int) -> str:
    """What a worker is called; the first is number 0."""
    return f"local-{number + 1}"


def _ended(popen: "subprocess.Popen[bytes]") -> str:
    """In words how a process has ended; empty if it has not."""
    code = popen.poll()
    if code is None:
        return ""
    return killed_words(-code) if code < 0 else f"exited with code {code}"


def share(cpus: Sequence[int], number: int, count: int) -> tuple[int, ...]:
    """The CPUs of one of so many workers; all of them (an empty tuple) where there are more workers than CPUs."""
    return tuple(cpus[number::count]) if count <= len(cpus) and hasattr(os, "sched_setaffinity") else ()
