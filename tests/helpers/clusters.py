"""Clusters for tests: a scheduler and workers as a host would start them, at the loopback address or each in a network
namespace of its own, with a link that can be cut."""

import contextlib
import itertools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
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


def why_no_namespaces() -> str:
    """Why network namespaces cannot be made here; empty if they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    if shutil.which("ip") is None:
        return "ip (iproute2) is not installed"
    name = f"arena-try-{secrets.token_hex(3)}"
    try:
        _ip("netns", "add", name)
        try:
            _ip("-n", name, "link", "add", "br0", "type", "bridge")
        finally:
            _ip("netns", "del", name)
    except subprocess.CalledProcessError as error:
        return f"network namespaces cannot be made: {error.stderr.decode(errors='replace').strip()}"
    return ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    """Machines by their names, each with an address of its own, joined by a bridge."""

    def __init__(self) -> None:
        self._prefix = f"arena-{secrets.token_hex(3)}"
        self._hub = f"{self._prefix}-hub"
        self._numbers: dict[str, int] = {}
        _ip("netns", "add", self._hub)
        _ip("-n", self._hub, "link", "add", "br0", "type", "bridge")
        _ip("-n", self._hub, "link", "set", "br0", "up")

    def add(self, machine: str) -> str:
        """A further machine; returns its address."""
        number = self._numbers[machine] = len(self._numbers) + 1
        space = self._space(machine)
        _ip("netns", "add", space)
        _ip("-n", self._hub, "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("-n", self._hub, "link", "set", f"v{number}", "master", "br0")
        _ip("-n", self._hub, "link", "set", f"v{number}", "up")
        _ip("-n", space, "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", space, "link", "set", device, "up")
        return f"10.77.0.{number}"

    def line(self, machine: str) -> list[str]:
        """What a command begins with that is run on a machine."""
        return ["ip", "netns", "exec", self._space(machine)]

    def cut(self, machine: str) -> None:
        _ip("-n", self._hub, "link", "set", f"v{self._numbers[machine]}", "down")

    def mend(self, machine: str) -> None:
        _ip("-n", self._hub, "link", "set", f"v{self._numbers[machine]}", "up")

    def remove(self) -> None:
        for space in (*map(self._space, self._numbers), self._hub):
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "del", space)

    def _space(self, machine: str) -> str:
        return f"{self._prefix}-{machine}"


class Cluster:
    """A scheduler and workers, by their names, with a folder for what they write."""

    def __init__(self, folder: Path, network: Network | None = None, keys: Path | None = None) -> None:
        """With `keys`, a folder with `ca.pem`, `cert.pem` and `key.pem`, it speaks TLS."""
        self.folder = folder
        self._tls: list[str] = []
        if keys:
            files = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
            self._tls = [word for option, file in files.items() for word in (option, str(keys / file))]
        self.network = network
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self._addresses = {machine: network.add(machine) for machine in ("hub-0", "arena")} if network else {}
        self._numbers = itertools.count(1)
        self.address = ""
        self.scheduler = self.start_scheduler()

    def start_scheduler(self) -> "subprocess.Popen[bytes]":
        """Start a scheduler, at the address of the one before if there was one."""
        file = self.folder / f"scheduler-{next(self._numbers)}.json"
        host = self._addresses.get("hub-0", "127.0.0.1")
        place = self.address or f"{'tls' if self._tls else 'tcp'}://{host}:0"
        words = [*self._tls, "--host", place, "--no-dashboard", "--scheduler-file", str(file)]
        self.scheduler = self._popen("hub-0", [*module_line(SCHEDULER, signal.SIGKILL), *words], "scheduler")

        def is_there() -> bool:
            assert self.scheduler.poll() is None, (self.folder / "scheduler.log").read_text()
            with contextlib.suppress(OSError, ValueError, KeyError):
                self.address = json.loads(file.read_bytes())["address"]
                return True
            return False

        until(is_there, "the scheduler starts")
        return self.scheduler

    def start_worker(
        self, name: str, *preload: str, environment: Mapping[str, str] | None = None, cache: Path | None = None
    ) -> None:
        """Start a worker of this name, on a machine of its own if there is a network; it may not be there yet."""
        if self.network and name not in self._addresses:
            self._addresses[name] = self.network.add(name)
        host = self._addresses.get(name, "127.0.0.1")
        words = [*self._tls, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", "--name", name]
        words += ["--host", host, "--local-directory", str(self.folder / f"{name}-{next(self._numbers)}")]
        for module in (PRELOAD, *preload):
            words += ["--preload", module]
        cached = {"ARENA_CLUSTER_CACHE": str(cache or self.folder / f"cache-{name}")}
        line = [*module_line(WORKER, signal.SIGKILL), self.address, *words]
        self.workers[name] = self._popen(name, line, name, {**cached, **(environment or {})})

    def end_worker(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        worker = self.workers.pop(name)
        worker.send_signal(number)
        worker.wait(PATIENCE)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def league(self, *arguments: str, folder: Path, wait: str = "60s") -> "League":
        """Start a league on this cluster."""
        cluster = ["--cluster", self.address, "--cluster-wait", wait, "-j", "1"]
        command = [*module_line("arena", signal.SIGTERM), "league", *arguments, *cluster]
        line = [*(self.network.line("arena") if self.network else []), *command]
        return League(line, folder)

    def end(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait(PATIENCE)
        if self.network:
            self.network.remove()

    def _popen(
        self, machine: str, line: Sequence[str], log: str, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        before = self.network.line(machine) if self.network else []
        with (self.folder / f"{log}.log").open("wb") as file:
            return subprocess.Popen(
                [*before, *line],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
                cwd=self.folder,
                env={**os.environ, **QUIET, **(environment or {})},
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
def cluster_of(
    folder: Path, *workers: str, network: Network | None = None, keys: Path | None = None
) -> Iterator[Cluster]:
    """A cluster with these workers, ended with all that is of it."""
    try:
        cluster = Cluster(folder, network, keys)
    except BaseException:
        if network:
            network.remove()
        raise
    try:
        for worker in workers:
            cluster.start_worker(worker)
        yield cluster
    finally:
        cluster.end()
