"""The program of a worker process: made ready, told what to do over one pipe, heard over another, and ended.

All that belongs to the process that bots are children of is made here: the orphans' reaper, control groups, the table
of arrivals. **It ends with its parent**: as that says so, as the pipe ends, or as that process dies; then the bots are
killed.

Signals are the parent's affair. A worker is in a session of its own, where no terminal sends it any, and passes over
what a service manager sends to all processes at once.
"""

import contextlib
import math
import os
import sys
from collections.abc import AsyncGenerator

import trio

from arena.bots.sandbox.reaper import own_every_orphan
from arena.bots.sandbox.rlimits import use_all_descriptors
from arena.bots.sandbox.time_slice import ask_for_short_slices
from arena.bots.starting import Sandbox
from arena.league.executor import child_process
from arena.league.executor.pipes import Connection
from arena.league.executor.task import Failed
from arena.league.executor.wire import Downward, Ready, Setup, Stop, to_worker
from arena.league.executor.worker import Worker, known_fault
from arena.system.concurrency import background, open_nursery

SWITCH_SECONDS = 0.0005
"""How long a thread, which reads how much memory a bot uses, may keep the games waiting at a time."""
LAST_WORDS_SECONDS = 10.0
"""How long a worker that ends goes on to write what has become of games, if the parent does not read it."""


async def serve(incoming: int, outgoing: int, parent: int) -> None:
    """Play what is asked for, until there is nobody any more who asks. `parent` is the number of that process."""
    connection = Connection(incoming, outgoing, to_worker)
    async with _writing(connection):
        try:
            await _serve_until_the_end(connection, parent)
        except Exception as error:
            fault = known_fault(error)
            if fault is None:
                raise
            connection.send(Failed.of(fault, None))  # the machine has run out of something outside of a game


@contextlib.asynccontextmanager
async def _writing(connection: Connection) -> AsyncGenerator[None, None]:
    """Write beside the body what is sent, and after it what is left, for some time: a game that is over is not lost
    because there will be no others."""
    finishing = trio.CancelScope(shield=True)

    async def write() -> None:
        with finishing:
            await connection.write()

    async with open_nursery() as nursery:
        nursery.start_soon(write)
        try:
            yield
        finally:
            connection.finish()
            finishing.deadline = trio.current_time() + LAST_WORDS_SECONDS


async def _serve_until_the_end(connection: Connection, parent: int) -> None:
    """Do what the parent says until it says `Stop`, or is gone, whatever is being done at that moment."""
    send, messages = trio.open_memory_channel[Downward](math.inf)
    async with background() as nursery:
        nursery.start_soon(_hear, connection, send, nursery.cancel_scope)
        nursery.start_soon(child_process.until_gone, parent, nursery.cancel_scope)
        await _serve(connection, messages)


async def _hear(connection: Connection, send: "trio.MemorySendChannel[Downward]", serving: trio.CancelScope) -> None:
    """Pass on what the parent says, and cancel everything at the end."""
    while messages := await connection.receive():
        if Stop() in messages:
            break
        for message in messages:
            send.send_nowait(message)
    serving.cancel()


async def _serve(connection: Connection, messages: "trio.MemoryReceiveChannel[Downward]") -> None:
    setup = await messages.receive()
    assert isinstance(setup, Setup)
    ask_for_short_slices()
    if setup.cpus:
        os.sched_setaffinity(0, setup.cpus)
    settings = setup.settings()
    with contextlib.ExitStack() as stack:
        try:
            held = stack.enter_context(
                Sandbox(settings.level, settings.bots, settings.usual, settings.limits, settings.interpreters)
            )
            await held.try_out()
        except Exception as error:
            fault = known_fault(error)
            if fault is None:
                raise
            connection.send(Failed.of(fault, None))
            await trio.sleep_forever()  # the parent has the last word
        connection.send(Ready())
        async with trio.open_nursery() as nursery:
            worker = Worker(connection, setup, held, nursery)
            async for message in messages:
                worker.handle(message)


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Run a worker that is told what to do over one descriptor and answers over another."""
    child_process.begin(incoming, outgoing)
    own_every_orphan()
    use_all_descriptors()
    sys.setswitchinterval(SWITCH_SECONDS)
    trio.run(serve, incoming, outgoing, parent)
