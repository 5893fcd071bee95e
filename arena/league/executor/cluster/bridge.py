"""The bridge to dask: a thread with dask's event loop, which connects, lists workers, submits tasks and reports events.

Events are reported in trio's thread, in order. A lost connection is made again within the plan's patience.
"""

import asyncio
import concurrent.futures
import contextlib
import logging
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import trio

from arena.errors import ArenaError
from arena.league.executor.cluster.cluster_protocol import PRELOAD, ClusterPlan, RunInfo, WorkerAnswer, this_arena
from arena.league.executor.task import GameTask
from arena.system.printable import printable

POLL_SECONDS = 0.5
MUTE_SECONDS = 3.0
LONGEST_WHY = 2000
SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1GB",
    "distributed.admin.low-level-log-length": 0,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Dask's settings in the arena's process and its local cluster: no web pages, no statistics. Idle, a scheduler then
takes 0.3% of a CPU instead of 1.8%, a worker 0.6% instead of 1.9%."""
FOLDER_VARIABLE = "ARENA_CLUSTER_FOLDER"
OWN_SESSION = f"""
import fcntl, os
if os.getsid(0) != os.getpid():
    os.setsid()
    fcntl.flock(os.open(os.environ["{FOLDER_VARIABLE}"], os.O_RDONLY), fcntl.LOCK_SH)
"""
"""Loaded by local workers: Ctrl-C in the terminal does not reach them, and each locks the folder until it ends."""
REMOVER = """
import fcntl, os, shutil, sys
sys.stdin.read()
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
shutil.rmtree(sys.argv[1], ignore_errors=True)
"""
"""A process that removes the folder of a local cluster after the arena and all workers have ended, by SIGKILL too."""


@dataclass(frozen=True)
class ListedWorker:
    name: str
    host: str
    threads: int


@dataclass(frozen=True)
class Connected:
    pass


@dataclass(frozen=True)
class Unreachable:
    """The scheduler does not answer, or the connection is lost. `seconds` is how long the bridge waits for it."""

    seconds: float
    is_lost: bool


@dataclass(frozen=True)
class Workers:
    listed: Mapping[str, ListedWorker]


@dataclass(frozen=True)
class Done:
    """A task has an `answer`, or was lost (`why`); `has_killed`: several workers died with it."""

    number: int
    answer: WorkerAnswer | None = None
    why: str = ""
    is_failed: bool = False
    has_killed: bool = False


@dataclass(frozen=True)
class BridgeEnded:
    error: ArenaError | None


BridgeEvent = Connected | Unreachable | Workers | Done | BridgeEnded


class Bridge:
    """A connection to a cluster, from `start` to the `BridgeEnded` event. Call its methods in trio's thread."""

    def __init__(
        self, plan: ClusterPlan, info: RunInfo, packs: Mapping[str, bytes], tell: Callable[[BridgeEvent], None]
    ) -> None:
        self._plan, self._run, self._packs, self._tell_it = plan, info.id, packs, tell
        self._info = pickle.dumps(info)  # so that a worker of another version can say so before it unpickles it
        self._loop = asyncio.new_event_loop()
        self._client: Any = None
        self._held: dict[str, Any] = {}
        self._prepared: dict[str, Any] = {}
        """The future of `prepare` by worker. Releasing it ends the run on that worker."""
        self._tasks: dict[int, Any] = {}
        self._stopping = asyncio.Event()

    def start(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        threading.Thread(target=self._main, name="arena-dask", daemon=True).start()

    def prepare(self, number: int, worker: str) -> None:
        """Have a worker prepare the run; the answer is a `Done` of this number."""
        self._call(self._prepare, number, worker)

    def submit(self, number: int, workers: Sequence[str], tasks: tuple[GameTask, ...]) -> None:
        """Have one of these workers play a batch; the answer is a `Done` of this number."""
        self._call(self._submit, number, tuple(workers), tasks)

    def release(self, worker: str) -> None:
        self._call(self._release, worker)

    def cancel(self, number: int) -> None:
        self._call(self._cancel, number)

    def stop(self) -> None:
        self._call(self._stopping.set)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def _tell(self, event: BridgeEvent) -> None:
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._tell_it, event)

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        error: ArenaError | None = None
        try:
            import_module("dask.config").set(SETTINGS)
            self._dask = import_module("distributed")
            for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
                logging.getLogger(name).setLevel(logging.CRITICAL)  # important errors become events
            self._functions = import_module("arena.league.executor.cluster.dask_worker")
            self._loop.run_until_complete(self._serve())
        except ArenaError as caught:
            error = caught
        except Exception as caught:
            error = ArenaError(f"the connection to the cluster failed: {printable(repr(caught), LONGEST_WHY)}")
        finally:
            self._tell(BridgeEnded(error))
            with contextlib.suppress(Exception):
                self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _serve(self) -> None:
        async with self._scheduler() as (address, security):
            deadline = self._loop.time() + self._plan.patience
            while not self._stopping.is_set() and await self._connect(address, security, deadline):
                self._tell(Connected())
                deadline = await self._watch() + self._plan.patience
                await self._disconnect()
                if not self._stopping.is_set():
                    self._tell(Unreachable(max(0.0, deadline - self._loop.time()), is_lost=True))

    @contextlib.asynccontextmanager
    async def _scheduler(self) -> AsyncGenerator[tuple[Any, Any], None]:
        plan = self._plan
        if plan.local:
            async with self._local_cluster() as cluster:
                yield cluster, cluster.security
            return
        security = None
        if plan.tls:
            files = {"tls_ca_file": plan.tls.ca, "tls_client_cert": plan.tls.cert, "tls_client_key": plan.tls.key}
            words = {key: str(file) for key, file in files.items()}
            security = self._dask.Security(**words, require_encryption=True)
        yield plan.address, security

    @contextlib.asynccontextmanager
    async def _local_cluster(self) -> AsyncGenerator[Any, None]:
        """Start a scheduler in this thread and its worker processes; they speak TLS, with a key that is in no file."""
        folder = tempfile.mkdtemp(prefix="arena-cluster-")
        line = [sys.executable, "-I", "-c", REMOVER, folder]
        remover = await asyncio.to_thread(subprocess.Popen, line, stdin=subprocess.PIPE, start_new_session=True)
        import_module("dask.config").set({"temporary-directory": folder})
        try:
            async with self._dask.LocalCluster(
                n_workers=self._plan.local,
                threads_per_worker=self._plan.jobs,
                host="127.0.0.1",
                protocol="tls",
                security=self._dask.Security.temporary(),
                dashboard_address="127.0.0.1:0",  # without an address dask listens on all of them
                worker_dashboard_address="127.0.0.1:0",
                local_directory=folder,
                memory_limit=0,
                asynchronous=True,
                preload=[OWN_SESSION, PRELOAD],
                silence_logs=logging.CRITICAL,
                env={FOLDER_VARIABLE: folder, "DASK_LOGGING__DISTRIBUTED": "critical"},
            ) as cluster:
                yield cluster
        finally:
            await asyncio.to_thread(remover.communicate)

    async def _connect(self, address: Any, security: Any, deadline: float) -> bool:
        told = self._loop.call_later(
            min(MUTE_SECONDS, self._plan.patience / 2),
            lambda: self._tell(Unreachable(deadline - self._loop.time(), is_lost=False)),
        )
        try:
            while not self._stopping.is_set():
                left = max(0.1, deadline - self._loop.time())
                client = self._dask.Client(
                    address, security=security, asynchronous=True, set_as_default=False, timeout=min(left, MUTE_SECONDS)
                )
                try:
                    self._client = await client
                except (OSError, TimeoutError, ValueError, RuntimeError) as error:
                    await client.close(0)
                    if self._loop.time() >= deadline:
                        why = printable(str(error.__cause__ or error), 300)
                        patience = seconds_text(self._plan.patience)
                        raise ArenaError(
                            f"cluster {self._plan.name}: no scheduler has answered within {patience}: {why}"
                        ) from None
                    await self._pause()
                else:
                    return True
        finally:
            told.cancel()
        return False

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), POLL_SECONDS)

    async def _watch(self) -> float:
        """Report the workers until the connection is lost or the bridge is to stop; return when an answer came last."""
        answered_at, is_mute = self._loop.time(), False
        while not self._stopping.is_set() and self._client.status == "running":
            try:
                found = await asyncio.wait_for(self._client.scheduler.identity(n_workers=-1), MUTE_SECONDS)
            except TimeoutError:
                left = answered_at + self._plan.patience - self._loop.time()
                if left < 0:
                    break
                if not is_mute:
                    is_mute = True
                    self._tell(Unreachable(left, is_lost=False))
                continue
            except (OSError, RuntimeError):  # dask's errors of communication are OSErrors
                break
            if is_mute:
                is_mute = False
                self._tell(Connected())
            answered_at = self._loop.time()
            listed = {
                address: ListedWorker(self._name_of(worker), str(worker["host"]), int(worker["nthreads"]))
                for address, worker in found["workers"].items()
            }
            self._tell(Workers(listed))
            await self._pause()
        return answered_at

    def _name_of(self, worker: Mapping[str, Any]) -> str:
        if self._plan.local:
            return f"local-{int(worker['name']) + 1}"
        name = str(worker["name"])
        return "" if "://" in name else printable(name, 80)

    async def _disconnect(self) -> None:
        self._tasks.clear()
        self._prepared.clear()
        self._held.clear()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._client.close(1), 5)
        self._client = None

    def _prepare(self, number: int, worker: str) -> None:
        if self._client is not None:
            for key, pack in self._packs.items():
                if key not in self._held:
                    name = f"arena-bot-{self._run}-{key}"
                    self._held[key] = self._client.submit(self._functions.hold, pack, key=name)
        self._prepared[worker] = self._begin(
            number, (worker,), self._functions.prepare, this_arena(), self._info, dict(self._held)
        )

    def _submit(self, number: int, workers: Sequence[str], tasks: tuple[GameTask, ...]) -> None:
        self._tasks[number] = self._begin(number, workers, self._functions.play, self._run, tasks)

    def _begin(self, number: int, workers: Sequence[str], function: Any, *arguments: object) -> Any:
        if self._client is None:
            self._tell(Done(number, why="there is no scheduler"))
            return None
        key = f"arena-{function.__name__}-{self._run}-{number}"
        future = self._client.submit(function, *arguments, key=key, workers=list(workers), allow_other_workers=False)
        self._loop.create_task(self._finish(number, future))
        return future

    async def _finish(self, number: int, future: Any) -> None:
        try:
            done = Done(number, await future)
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            done = Done(number, why="the connection to the scheduler was lost")
        except self._dask.scheduler.KilledWorker:
            done = Done(number, why="its workers ended", is_failed=True, has_killed=True)
        except Exception as error:
            done = Done(number, why=printable(f"{type(error).__name__}: {error}", LONGEST_WHY), is_failed=True)
        if self._tasks.pop(number, None) is future or future in self._prepared.values():
            self._tell(done)  # else it was cancelled

    def _release(self, worker: str) -> None:
        if future := self._prepared.pop(worker, None):
            future.release()

    def _cancel(self, number: int) -> None:
        if future := self._tasks.pop(number, None):
            self._loop.create_task(future.cancel())


def seconds_text(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f}".removesuffix(".0") + " s"
