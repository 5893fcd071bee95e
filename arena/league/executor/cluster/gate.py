"""The program that speaks with dask for the arena: a process of its own, with the loop and the threads that dask needs.

It knows nothing of games. It tells which workers there are, has one asked or sent a batch, and says what came back, or
that nothing will. Nothing that it is sent is unpickled (`arena.league.executor.cluster.guarded`); what gets into the
arena is bytes of ours.
"""

import asyncio
import contextlib
import os
import sys
from typing import Any

from arena.errors import ArenaError
from arena.league.executor import child_process
from arena.league.executor.cluster.dask import distributed
from arena.league.executor.cluster.guarded import guard_pickle
from arena.league.executor.cluster.local_cluster import LocalCluster
from arena.league.executor.cluster.messages import (
    Ask,
    Connect,
    Connected,
    Disconnected,
    FromGate,
    Submit,
    Unconnected,
    to_gate,
)
from arena.league.executor.cluster.plan import seconds_text
from arena.league.executor.cluster.scheduler import Scheduler
from arena.league.executor.pipes import READ_SIZE, Frames, frame


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
                if connect.local:
                    place = os.fsdecode(connect.folder)
                    async with LocalCluster(connect.local, place, connect.patience) as cluster:
                        await _serve_local(pipes, inbox, connect, cluster)
                else:
                    await _serve_connected(pipes, inbox, connect)
            except (ArenaError, ImportError) as error:
                await pipes.send(Unconnected(str(error)))
    reading.cancel()


async def _serve_local(pipes: Pipes, inbox: "asyncio.Queue[Any]", connect: Connect, cluster: LocalCluster) -> None:
    """Serve as long as there is anything of this machine's cluster: nobody starts it again."""
    serving = asyncio.ensure_future(_serve_connected(pipes, inbox, cluster.connect(connect)))
    ending = asyncio.ensure_future(cluster.until_ended())
    await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        ending.cancel()
        serving.result()
    else:
        await pipes.send(Unconnected(ending.result()))
        serving.cancel()


async def _serve_connected(pipes: Pipes, inbox: "asyncio.Queue[Any]", connect: Connect) -> None:
    """Serve as long as there is a scheduler. One that is lost is tried to be reached until its time is over, which
    begins when it was heard last."""
    now = asyncio.get_running_loop().time
    distributed()  # what its import takes, seconds on a busy machine, is no silence of the scheduler
    deadline, is_again = now() + connect.patience, False
    while True:
        scheduler = Scheduler(pipes.send, connect, is_again=is_again)
        connecting = asyncio.ensure_future(scheduler.connect(deadline))
        leaving = asyncio.ensure_future(_until_leaving(inbox))
        await asyncio.wait([connecting, leaving], return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            connecting.cancel()
            await scheduler.close()
            return
        leaving.cancel()
        if unconnected := connecting.result():
            await pipes.send(unconnected)
            await scheduler.close()
            return
        scheduler.keep_group()
        await pipes.send(Connected(connect.address))
        watching = asyncio.ensure_future(scheduler.watch())
        handling = asyncio.ensure_future(_handle(scheduler, inbox))
        await asyncio.wait([watching, handling], return_when=asyncio.FIRST_COMPLETED)
        watching.cancel()
        handling.cancel()
        is_left = handling.done() and not handling.cancelled()
        if is_left:
            await scheduler.close()
            handling.result()
            return
        deadline, is_again = watching.result(), True
        if deadline <= now():
            patience = seconds_text(connect.patience)
            await pipes.send(Unconnected(f"the scheduler at {connect.address} has not answered for {patience}"))
        else:
            await pipes.send(Disconnected(deadline - now()))
        await scheduler.close()
        if deadline <= now():
            return


async def _until_leaving(inbox: "asyncio.Queue[Any]") -> None:
    """Throw away what is asked while there is no scheduler, of workers that are not there any more."""
    while isinstance(await inbox.get(), Ask | Submit):
        pass


async def _handle(scheduler: Scheduler, inbox: "asyncio.Queue[Any]") -> None:
    """Do what the arena says, until it leaves."""
    while isinstance(message := await inbox.get(), Ask | Submit):
        scheduler.begin(message)
    try:
        await scheduler.bid_farewell()
    except asyncio.CancelledError:  # the scheduler is lost at this moment: whoever looks next leaves
        inbox.put_nowait(None)
        raise


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Run a gate that is told what to do over one descriptor and answers over another."""
    child_process.begin(incoming, outgoing)
    guard_pickle()
    asyncio.run(serve(incoming, outgoing, parent))
    sys.stderr.flush()
    os._exit(0)  # dask's threads have nothing to say any more
