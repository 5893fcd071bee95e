"""The program that speaks with dask for the arena: a process of its own, with the loop and the threads that dask needs.

It knows nothing of games. It tells which workers there are, has one asked or sent a batch, and says what came back, or
that nothing will. Nothing that it is sent is unpickled (`arena.league.executor.cluster.guarded`); what gets into the
arena is bytes of ours.

A worker is known by its address. Batches are for one worker each: which one is the arena's to say, so that one that has
sent a wrong record gets no other, and a pair of games stays on one machine.
"""

import asyncio
import contextlib
import os
import signal
import sys
from typing import Any

from arena.errors import ArenaError
from arena.league.executor.cluster.dask import distributed, keep_no_messages
from arena.league.executor.cluster.guarded import Unknown, guard_pickle
from arena.league.executor.cluster.local_cluster import LocalCluster
from arena.league.executor.cluster.messages import (
    Ask,
    Connect,
    Connected,
    Disconnected,
    FromGate,
    Reply,
    Submit,
    Tls,
    Unconnected,
    WorkerCame,
    WorkerGone,
    WorkerSilent,
    to_gate,
)
from arena.league.executor.wire import READ_SIZE, Frames, frame
from arena.league.executor.worker_main import PASSED_OVER

POLL_SECONDS = 0.5
"""How often the scheduler is asked which workers there are."""
LONGEST_WHY = 2000
LEAVE_SECONDS = 5.0
"""How long workers have to hear that the run is over."""


class _WorkerFaultError(Exception):
    """A task has failed on its worker, or with it."""


class Pipes:
    """The two pipes to the arena."""

    def __init__(self, outgoing: int) -> None:
        self._outgoing = outgoing
        self._lock = asyncio.Lock()

    async def send(self, message: FromGate) -> None:
        """Write a message; waits while the pipe is full."""
        data = memoryview(frame(message))
        async with self._lock:
            while data:
                data = data[await asyncio.to_thread(os.write, self._outgoing, data) :]


class Gate:
    """One connection to a scheduler."""

    def __init__(self, pipes: Pipes, connect: Connect) -> None:
        self._pipes = pipes
        self._address = connect.address
        self._tls = connect.tls
        self._patience = connect.patience
        self._farewell = connect.farewell
        self._client: Any = None
        self._kept: Any = None
        self._workers: dict[str, float] = {}
        """By address, what the scheduler said last of when it had heard of it."""
        self._changed_at: dict[str, float] = {}
        """When that changed, by the clock here."""
        self._silent: set[str] = set()
        self._looks = 0
        """How often the scheduler has said which workers there are."""
        self._looked = asyncio.Event()
        self._work: dict[int, tuple[str, asyncio.Task[None]]] = {}
        """By number, the worker that was asked or sent something, and what waits for its answer."""

    # --- the scheduler ------------------------------------------------------------------------------------------------

    async def connect(self) -> str:
        """Connect to the scheduler; returns why not, or nothing."""
        distributed()  # whose own settings come with it
        keep_no_messages()
        deadline = asyncio.get_running_loop().time() + self._patience
        said = ""
        while True:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return f"no dask scheduler answers at {self._address} within {self._patience:g} s{said}"
            try:
                client = distributed().Client(
                    self._address,
                    asynchronous=True,
                    security=_security(self._tls),
                    timeout=min(left, 10.0),
                )
                # its own timeout does not end the wait for what takes the connection and says nothing
                self._client = await asyncio.wait_for(client, left)
                return await self._other_version()
            except (OSError, TimeoutError, ValueError, TypeError) as error:
                said = f": {_last_cause(error)}"
                await asyncio.sleep(min(left, POLL_SECONDS))

    async def _other_version(self) -> str:
        """What keeps this dask and the scheduler's from speaking with one another; empty if nothing does."""
        ours = distributed().__version__
        found = await asyncio.wait_for(self._client.get_versions(check=False), self._patience)
        theirs = ((found.get("scheduler") or {}).get("packages") or {}).get("distributed")
        if theirs != ours:
            return (
                f"the scheduler at {self._address} runs distributed {theirs}, and this arena {ours}: "
                f"expected the same on all machines (python -m pip install distributed=={theirs})"
            )
        return ""

    def keep_group(self) -> None:
        """Have the scheduler hold one small task of ours for as long as we are here. Tasks whose keys begin alike are a
        group, and for each group that it begins anew it keeps some kilobytes for ever."""
        self._kept = self._client.submit(bytes, pure=False, key=f"arena-{os.getpid()}-0")

    async def watch(self) -> None:
        """Tell which workers come, fall silent and go, until the scheduler does not answer any more."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                identity = await asyncio.wait_for(self._client.scheduler.identity(n_workers=-1), self._patience)
            except (OSError, TimeoutError):
                return
            workers = identity["workers"]
            for address in [address for address in self._workers if address not in workers]:
                await self._gone(address)
            for address, worker in workers.items():
                seen = float(worker["last_seen"])
                is_new = address not in self._workers
                if is_new or seen != self._workers[address]:
                    self._changed_at[address] = loop.time()
                self._workers[address] = seen
                if is_new:
                    host = str(worker["host"])
                    name = str(worker["name"])
                    await self._pipes.send(WorkerCame(address, host if name == address else name, host))
                is_silent = loop.time() - self._changed_at[address] > self._patience
                if is_silent != (address in self._silent):
                    (self._silent.add if is_silent else self._silent.discard)(address)
                    await self._pipes.send(WorkerSilent(address, is_back=not is_silent))
            self._looks += 1
            self._looked.set()
            await asyncio.sleep(POLL_SECONDS)

    async def _gone(self, address: str) -> None:
        del self._workers[address], self._changed_at[address]
        self._silent.discard(address)
        for worker, task in list(self._work.values()):
            if worker == address:
                task.cancel()
        await self._pipes.send(WorkerGone(address))

    async def close(self) -> None:
        """Leave the scheduler, which forgets all that was sent to it."""
        for worker in list(self._workers):
            await self._gone(worker)
        for _, task in list(self._work.values()):
            task.cancel()
        if self._client is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._client.close(timeout=1), LEAVE_SECONDS)

    # --- the workers --------------------------------------------------------------------------------------------------

    def begin(self, message: Ask | Submit) -> None:
        """Have a worker do something. Its reply comes unless the worker goes."""
        work = self._ask if isinstance(message, Ask) else self._submit
        task = asyncio.ensure_future(self._reply(message, work))
        self._work[message.number] = message.worker, task
        task.add_done_callback(lambda _: self._work.pop(message.number, None))

    async def _reply(self, message: Ask | Submit, work: Any) -> None:
        try:
            data = await work(message)
            reply = Reply(message.number, data if isinstance(data, bytes) else b"")  # which is no message, either
        except asyncio.CancelledError:
            raise
        except Exception as error:  # whatever dask makes of it: there is no answer, and here is why
            is_fault = isinstance(error, _WorkerFaultError | Unknown)
            reply = Reply(message.number, lost=_last_cause(error)[:LONGEST_WHY], is_fault=is_fault)
            if not is_fault:  # perhaps it is the scheduler that is lost: then all workers are gone, and this is too
                await self._next_look()
        await self._pipes.send(reply)

    async def _next_look(self) -> None:
        """Wait until the scheduler has been asked once more which workers there are."""
        seen = self._looks
        while self._looks < seen + 2:
            self._looked.clear()
            await self._looked.wait()

    async def _ask(self, message: Ask) -> Any:
        from arena.league.executor.cluster.service import handle

        answers = await self._client.run(handle, message.data, workers=[message.worker])
        return answers[message.worker]

    async def _submit(self, message: Submit) -> Any:
        from arena.league.executor.cluster.service import play

        future = self._client.submit(
            play,
            message.data,
            workers=[message.worker],
            allow_other_workers=False,
            pure=False,
            retries=0,
            key=f"arena-{os.getpid()}-{message.number}",
        )
        try:
            await distributed().wait([future])
            if future.status == "error":
                raise _WorkerFaultError(str(await future.exception()))
            (data,) = await self._client.gather([future])
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await self._client.cancel([future], force=True)
            raise
        else:
            return data
        finally:
            future.release()

    async def bid_farewell(self) -> None:
        """Tell all workers that the run is over, and wait for their answers for a time."""
        from arena.league.executor.cluster.service import handle

        heard = [worker for worker in self._workers if worker not in self._silent]
        if heard:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(
                    self._client.run(handle, self._farewell, workers=heard, on_error="ignore"), LEAVE_SECONDS
                )


def _security(tls: Tls | None) -> Any:
    if tls is None:
        return None
    return distributed().Security(
        tls_ca_file=os.fsdecode(tls.ca),
        tls_client_cert=os.fsdecode(tls.cert),
        tls_client_key=os.fsdecode(tls.key),
        require_encryption=True,
    )


def _last_cause(error: BaseException) -> str:
    """What lies behind an error, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    words = " ".join(str(error).split())
    if isinstance(error, _WorkerFaultError | Unknown):
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


async def serve(incoming: int, outgoing: int, parent: int) -> None:
    """Be the gate until the arena says that it leaves, or is gone."""
    pipes = Pipes(outgoing)
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[Any] = asyncio.Queue()
    with contextlib.suppress(OSError, AttributeError):  # where nothing tells of its death, there is the end of the pipe
        gone = os.pidfd_open(parent)

        def note_gone() -> None:
            loop.remove_reader(gone)
            inbox.put_nowait(None)

        loop.add_reader(gone, note_gone)
    reader = asyncio.StreamReader(limit=READ_SIZE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", 0))
    frames = Frames(to_gate)

    async def read() -> None:
        while data := await reader.read(READ_SIZE):
            for message in frames.feed(data):
                await inbox.put(message)
        await inbox.put(None)

    reading = asyncio.ensure_future(read())
    connect = await inbox.get()
    if isinstance(connect, Connect):
        with contextlib.suppress(BrokenPipeError):
            try:
                async with contextlib.AsyncExitStack() as stack:
                    if connect.local:
                        cluster = await stack.enter_async_context(LocalCluster(connect.local, connect.patience))
                        connect = cluster.connect(connect)
                    await _serve_connected(pipes, inbox, connect)
            except (ArenaError, ImportError) as error:
                await pipes.send(Unconnected(str(error)))
    reading.cancel()


async def _serve_connected(pipes: Pipes, inbox: "asyncio.Queue[Any]", connect: Connect) -> None:
    address = connect.address
    while True:
        gate = Gate(pipes, connect)
        connecting = asyncio.ensure_future(gate.connect())
        leaving = asyncio.ensure_future(_until_leaving(inbox))
        await asyncio.wait([connecting, leaving], return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if not connecting.done():
            connecting.cancel()
            return
        if why := connecting.result():
            await pipes.send(Unconnected(why, "expected the same" in why))
            await gate.close()
            return
        await pipes.send(Connected(address))
        gate.keep_group()
        watching = asyncio.ensure_future(gate.watch())
        handling = asyncio.ensure_future(_handle(gate, inbox))
        await asyncio.wait([watching, handling], return_when=asyncio.FIRST_COMPLETED)
        watching.cancel()
        handling.cancel()
        is_left = handling.done() and not handling.cancelled()
        if not is_left:
            await pipes.send(Disconnected())
        await gate.close()
        if is_left:
            handling.result()
            return


async def _until_leaving(inbox: "asyncio.Queue[Any]") -> None:
    """Throw away what is asked while there is no scheduler, of workers that are not there any more."""
    while isinstance(await inbox.get(), Ask | Submit):
        pass


async def _handle(gate: Gate, inbox: "asyncio.Queue[Any]") -> None:
    """Do what the arena says, until it leaves."""
    while isinstance(message := await inbox.get(), Ask | Submit):
        gate.begin(message)
    await gate.bid_farewell()


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Run a gate that is told what to do over one descriptor and answers over another."""
    for number in PASSED_OVER:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    for descriptor in (incoming, outgoing):
        os.set_inheritable(descriptor, False)
    guard_pickle()
    asyncio.run(serve(incoming, outgoing, parent))
    sys.stderr.flush()
    os._exit(0)  # dask's threads have nothing to say any more
