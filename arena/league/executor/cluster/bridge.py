"""The bridge to dask: a thread with dask's event loop. It connects, lists workers, submits tasks and tells what comes.

It knows nothing of games. Events are told in trio's thread, in the order in which they happened. A connection that is
lost is made again until the plan's patience is over; tasks that were submitted before it are lost.
"""

import asyncio
import concurrent.futures
import contextlib
import logging
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
from arena.league.executor.cluster.plan import PRELOAD, ClusterPlan
from arena.system.printable import printable

POLL_SECONDS = 0.5
"""How often the scheduler is asked for its workers."""
MUTE_SECONDS = 3.0
"""A scheduler that has not answered for so long is said to be out of reach."""
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
"""Dask's settings in the arena's process and its local cluster: no web pages, and no statistics that a league has no
use for. Idle, a scheduler then takes 0.3% of a CPU instead of 1.8%, a worker 0.6% instead of 1.9%."""
OWN_SESSION = """
import fcntl, os
if os.getsid(0) != os.getpid():
    os.setsid()
    held = open(os.environ["ARENA_CLUSTER_LOCK"], "w")
    fcntl.flock(held, fcntl.LOCK_SH)
    import builtins
    builtins._arena_cluster_lock = held
"""
"""Loaded by local workers: Ctrl-C in the terminal does not reach them, and they hold the folder until they end."""
REMOVER = """
import fcntl, shutil, sys
sys.stdin.read()
with open(sys.argv[1] + "/lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
"""
"""A process that removes a local cluster's folder when the arena and all workers have ended, however they ended."""


@dataclass(frozen=True)
class Listed:
    """A worker as the scheduler lists it: its name, its host, and how many games it plays at a time."""

    name: str
    host: str
    threads: int


@dataclass(frozen=True)
class Connected:
    """There is a connection to a scheduler."""


@dataclass(frozen=True)
class Unreachable:
    """The scheduler does not answer, or the connection to it is lost. `seconds` is how long it is waited for."""

    seconds: float
    is_lost: bool
    why: str = ""


@dataclass(frozen=True)
class Workers:
    """The workers that are heard of, by address, and those that have been silent for as long as patience lasts."""

    listed: Mapping[str, Listed]
    silent: frozenset[str]


@dataclass(frozen=True)
class Done:
    """A task has returned `data`; or it was lost (`why`), with `has_killed` after several workers died with it."""

    number: int
    data: object = None
    why: str = ""
    is_failed: bool = False
    has_killed: bool = False


@dataclass(frozen=True)
class Ended:
    """The bridge has ended; with an error, if it was not told to."""

    error: ArenaError | None


Event = Connected | Unreachable | Workers | Done | Ended


class Bridge:
    """A connection to a cluster, from `start` to the `Ended` event. Its methods are called in trio's thread."""

    def __init__(self, plan: ClusterPlan, packs: Mapping[str, bytes], run: str, tell: Callable[[Event], None]) -> None:
        """`packs` are the files of bots by key, `run` the id of the run; `tell` is called in trio's thread."""
        self._plan, self._packs, self._run, self._tell_it = plan, packs, run, tell
        self._loop = asyncio.new_event_loop()
        self._client: Any = None
        self._held: dict[str, Any] = {}
        """Futures of packs by key, kept so that dask keeps the packs."""
        self._prepared: dict[str, Any] = {}
        """The future of `prepare` by worker. To release it ends the run on that worker."""
        self._tasks: dict[int, Any] = {}
        """The futures of batches by number."""
        self._stopping = asyncio.Event()

    def start(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        threading.Thread(target=self._main, name="arena-dask", daemon=True).start()

    def prepare(self, number: int, worker: str, data: bytes) -> None:
        """Have a worker prepare the run; the answer is a `Done` of this number."""
        self._call(self._prepare, number, worker, data)

    def submit(self, number: int, workers: Sequence[str], data: bytes) -> None:
        """Have one of these workers play a batch; the answer is a `Done` of this number."""
        self._call(self._submit, number, tuple(workers), data)

    def release(self, worker: str) -> None:
        """End the run on a worker."""
        self._call(self._release, worker)

    def cancel(self, number: int) -> None:
        """Give up a batch, of which nothing is told any more."""
        self._call(self._cancel, number)

    def close(self) -> None:
        """Have the workers begin no further game."""
        self._call(self._close)

    def stop(self) -> None:
        """End the run on all workers, and then the bridge."""
        self._call(self._stopping.set)

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    # --- in the bridge's thread ---------------------------------------------------------------------------------------

    def _tell(self, event: Event) -> None:
        with contextlib.suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self._tell_it, event)

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        error: ArenaError | None = None
        try:
            import_module("dask.config").set(SETTINGS)
            self._dask = import_module("distributed")
            for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
                logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is told as events
            self._functions = import_module("arena.league.executor.cluster.worker")
            self._loop.run_until_complete(self._serve())
        except ArenaError as caught:
            error = caught
        except Exception as caught:
            error = ArenaError(f"the connection to the cluster failed: {printable(repr(caught), LONGEST_WHY)}")
        finally:
            self._tell(Ended(error))
            with contextlib.suppress(Exception):
                self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _serve(self) -> None:
        async with self._scheduler() as (address, security):
            deadline = self._loop.time() + self._plan.patience
            while not self._stopping.is_set() and await self._connect(address, security, deadline):
                self._tell(Connected())
                heard_at = await self._watch()
                await self._disconnect()
                if not self._stopping.is_set():
                    deadline = heard_at + self._plan.patience
                    self._tell(Unreachable(max(0.0, deadline - self._loop.time()), is_lost=True))

    @contextlib.asynccontextmanager
    async def _scheduler(self) -> AsyncGenerator[tuple[Any, Any], None]:
        """The address of the scheduler, or the cluster of this machine, and the security settings."""
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
        """A scheduler in this thread and its worker processes.

        They speak TLS, with a key that is in no file, because every user of the machine can reach the loopback address.
        """
        try:
            folder = tempfile.mkdtemp(prefix="arena-cluster-")
        except OSError as error:
            raise ArenaError(f"no folder can be made for the cluster of this machine: {error.strerror}") from None
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
                env={"ARENA_CLUSTER_LOCK": f"{folder}/lock", "DASK_LOGGING__DISTRIBUTED": "critical"},
            ) as cluster:
                yield cluster
        finally:
            assert remover.stdin is not None
            remover.stdin.close()
            await asyncio.to_thread(remover.wait)

    async def _connect(self, address: Any, security: Any, deadline: float) -> bool:
        """Connect before the deadline. Returns False if the bridge is to stop. Raises `ArenaError`."""
        is_told = False
        told_at = self._loop.time() + min(MUTE_SECONDS, self._plan.patience / 2)
        while not self._stopping.is_set():
            seconds = max(0.1, min(told_at, deadline) - self._loop.time()) if not is_told else MUTE_SECONDS
            client = self._dask.Client(
                address, security=security, asynchronous=True, set_as_default=False, timeout=seconds
            )
            try:
                self._client = await client
            except (OSError, TimeoutError, ValueError, RuntimeError) as error:
                await client.close(0)
                why = printable(str(error.__cause__ or error), 300)
            else:
                return True
            left = deadline - self._loop.time()
            if left <= 0:
                patience = seconds_text(self._plan.patience)
                raise ArenaError(f"cluster {self._plan.name}: no scheduler has answered within {patience}: {why}")
            if not is_told and self._loop.time() >= told_at:
                is_told = True
                self._tell(Unreachable(left, is_lost=False, why=why))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), min(POLL_SECONDS, left))
        return False

    async def _watch(self) -> float:
        """Tell the workers again and again, until the connection is lost or the bridge is to stop. Returns when the
        scheduler was heard last."""
        now = self._loop.time
        heard_at = now()
        is_mute = False
        seen: dict[str, tuple[float, float]] = {}
        """Of each worker the time of its last heartbeat, and when that was first seen here."""
        while not self._stopping.is_set() and self._client.status == "running":
            try:
                found = await asyncio.wait_for(self._client.scheduler.identity(n_workers=-1), MUTE_SECONDS)
            except TimeoutError:
                if now() - heard_at > self._plan.patience:
                    break
                if not is_mute:
                    is_mute = True
                    self._tell(Unreachable(heard_at + self._plan.patience - now(), is_lost=False))
                continue
            except (OSError, RuntimeError):  # dask's errors of communication are OSErrors
                break
            if is_mute:
                is_mute = False
                self._tell(Connected())
            heard_at = now()
            listed = {}
            for address, worker in found["workers"].items():
                if seen.get(address, (None,))[0] != worker["last_seen"]:
                    seen[address] = (worker["last_seen"], heard_at)
                listed[address] = Listed(self._name_of(worker), str(worker["host"]), int(worker["nthreads"]))
            silent = {address for address in listed if heard_at - seen[address][1] > self._plan.patience}
            if silent:
                await self._give_up(silent)
            self._tell(Workers({key: value for key, value in listed.items() if key not in silent}, frozenset(silent)))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), POLL_SECONDS)
        return heard_at

    def _name_of(self, worker: Mapping[str, Any]) -> str:
        """The name that the worker's host gave it; empty where dask made one of its address."""
        if self._plan.local:
            return f"local-{int(worker['name']) + 1}"
        name = str(worker["name"])
        return "" if "://" in name else printable(name, 80)

    async def _give_up(self, silent: set[str]) -> None:
        """Cancel the batches of workers that are silent, so that others play them."""
        processing = await self._client.processing(workers=list(silent))
        keys = {key for keys in processing.values() for key in keys}
        for number, future in list(self._tasks.items()):
            if future.key in keys:
                self._cancel(number)
                self._tell(Done(number, why="its worker is silent"))
        for worker in silent:
            self._release(worker)

    async def _disconnect(self) -> None:
        self._tasks.clear()
        self._prepared.clear()
        self._held.clear()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._client.close(1), 5)
        self._client = None

    # --- tasks --------------------------------------------------------------------------------------------------------

    def _prepare(self, number: int, worker: str, data: bytes) -> None:
        if self._client is None:
            self._tell(Done(number, why="there is no scheduler"))
            return
        for key, pack in self._packs.items():
            if key not in self._held:
                self._held[key] = self._client.submit(self._functions.hold, pack, key=f"arena-bot-{self._run}-{key}")
        future = self._client.submit(
            self._functions.prepare,
            data,
            dict(self._held),
            key=f"arena-prepare-{self._run}-{number}",
            workers=[worker],
            allow_other_workers=False,
        )
        self._prepared[worker] = future
        self._loop.create_task(self._finish(number, future))

    def _submit(self, number: int, workers: tuple[str, ...], data: bytes) -> None:
        if self._client is None:
            self._tell(Done(number, why="there is no scheduler"))
            return
        self._tasks[number] = self._client.submit(
            self._functions.play,
            self._run,
            data,
            key=f"arena-play-{self._run}-{number}",
            workers=list(workers),
            allow_other_workers=False,
        )
        self._loop.create_task(self._finish(number, self._tasks[number]))

    async def _finish(self, number: int, future: Any) -> None:
        try:
            done = Done(number, await future)
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            done = Done(number, why="the connection to the scheduler was lost")
        except self._dask.scheduler.KilledWorker:
            done = Done(number, why="its workers ended", is_failed=True, has_killed=True)
        except Exception as error:
            done = Done(number, why=printable(f"{type(error).__name__}: {error}", LONGEST_WHY), is_failed=True)
        if self._tasks.get(number) is future:
            del self._tasks[number]
        elif future not in self._prepared.values():
            return  # cancelled: nobody waits for it
        self._tell(done)

    def _release(self, worker: str) -> None:
        if future := self._prepared.pop(worker, None):
            future.release()

    def _cancel(self, number: int) -> None:
        if future := self._tasks.pop(number, None):
            self._loop.create_task(future.cancel())

    def _close(self) -> None:
        if self._client is not None and self._prepared:
            self._loop.create_task(self._close_workers(list(self._prepared)))

    async def _close_workers(self, workers: list[str]) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            await self._client.run(self._functions.close, self._run, workers=workers, on_error="ignore")


def seconds_text(seconds: float) -> str:
    """Return a time to wait for: `90 s`, or with a decimal below ten, `0.5 s`."""
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f}".removesuffix(".0") + " s"
