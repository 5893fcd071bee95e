"""Clusters for tests: a scheduler and workers as a host would start them, at the loopback address."""

import contextlib
import itertools
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from waiting import PATIENCE, until

DIES_WITH_PARENT = """
import ctypes, os, runpy, signal, sys
parent, number, sys.argv = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
ctypes.CDLL(None).prctl(1, number)  # PR_SET_PDEATHSIG
if os.getppid() != parent:
    sys.exit("the tests have ended")
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Runs a module that gets a signal when the process that started it ends. Each has its own session, which Ctrl-C at
the tests' terminal does not reach, and Ctrl-C in a fixture's setup skips its teardown."""
SCHEDULER, WORKER = "distributed.cli.dask_scheduler", "distributed.cli.dask_worker"
ARENA = [sys.executable, "-m", "arena"]
PRELOAD = "arena.league.executor.cluster.preload"
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
}


def module_line(module: str, number: signal.Signals) -> list[str]:
    """Return a line that runs a module, and sends it this signal when this process ends."""
    return [sys.executable, "-c", DIES_WITH_PARENT, str(os.getpid()), str(int(number)), module]


class Cluster:
    """A scheduler and workers, by their names, with a folder for what they write."""

    def __init__(self, folder: Path, keys: Path | None = None) -> None:
        """With `keys`, a folder with `ca.pem`, `cert.pem` and `key.pem`, it speaks TLS."""
        self.folder = folder
        self._tls: list[str] = []
        if keys:
            files = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
            self._tls = [word for option, file in files.items() for word in (option, str(keys / file))]
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self._numbers = itertools.count(1)
        self.address = ""
        self.scheduler = self.start_scheduler()

    def start_scheduler(self) -> "subprocess.Popen[bytes]":
        """Start a scheduler, at the address of the one before if there was one."""
        file = self.folder / f"scheduler-{next(self._numbers)}.json"
        place = self.address or f"{'tls' if self._tls else 'tcp'}://127.0.0.1:0"
        words = [*self._tls, "--host", place, "--no-dashboard", "--scheduler-file", str(file)]
        self.scheduler = self._popen([*module_line(SCHEDULER, signal.SIGKILL), *words], "scheduler")

        def is_there() -> bool:
            assert self.scheduler.poll() is None, (self.folder / "scheduler.log").read_text()
            with contextlib.suppress(OSError, ValueError, KeyError):
                self.address = json.loads(file.read_bytes())["address"]
                return True
            return False

        until(is_there, "the scheduler starts")
        return self.scheduler

    def start_worker(self, name: str, *preload: str) -> None:
        """Start a worker of this name; it may not be there yet."""
        words = [*self._tls, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", "--name", name]
        words += ["--host", "127.0.0.1", "--local-directory", str(self.folder / f"{name}-{next(self._numbers)}")]
        for module in (PRELOAD, *preload):
            words += ["--preload", module]
        line = [*module_line(WORKER, signal.SIGKILL), self.address, *words]
        self.workers[name] = self._popen(line, name)

    def end_worker(self, name: str) -> None:
        worker = self.workers.pop(name)
        worker.kill()
        worker.wait(PATIENCE)

    def end_all_workers(self) -> None:
        for name in list(self.workers):
            self.end_worker(name)

    def league(self, *arguments: str, folder: Path, wait: str = "60s") -> "League":
        """Start a league on this cluster."""
        cluster = ["--cluster", self.address, "--cluster-wait", wait, "-j", "1"]
        return League([*module_line("arena", signal.SIGTERM), "league", *arguments, *cluster, "-v"], folder)

    def end(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait(PATIENCE)

    def _popen(self, line: Sequence[str], log: str) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{log}.log").open("wb") as file:
            return subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                cwd=self.folder,
                env={**os.environ, **QUIET, "DASK_TEMPORARY_DIRECTORY": str(self.folder)},
            )


class League:
    """An `arena league` that runs; what it says is in a file, so that it can be waited for."""

    def __init__(self, line: Sequence[str], folder: Path) -> None:
        self._log = folder / f"league-{secrets.token_hex(4)}.log"
        with self._log.open("wb") as file:
            self.process = subprocess.Popen(
                line, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )

    @property
    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def until_said(self, words: str) -> None:
        def is_said() -> bool:
            assert self.process.poll() is None or words in self.said, f"ended without {words!r}: {self.said}"
            return words in self.said

        until(is_said, f"{words!r} in {self.said}")

    def end(self) -> int:
        """Wait for its end; returns the exit code."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"it never ended: {self.said}") from None


@contextlib.contextmanager
def cluster_of(folder: Path, *workers: str, keys: Path | None = None) -> Iterator[Cluster]:
    """A cluster with these workers, ended with all that is of it."""
    cluster = Cluster(folder, keys)
    try:
        for worker in workers:
            cluster.start_worker(worker)
        yield cluster
    finally:
        cluster.end()
