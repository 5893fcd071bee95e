"""The program of the process that serves a league's pages while it is played, and ends with the league."""

import contextlib
import os
import resource
import signal
import socket
import sys
from pathlib import Path

import trio

from arena.errors import ArenaError
from arena.league.executor import child_process
from arena.league.executor.child_process import READ_SIZE, Frames
from arena.league.readers import reader_named
from arena.report.shown import SeenBy
from arena.report.site.site_contents import SitePlan
from arena.sandbox.rlimits import use_all_descriptors
from arena.system.concurrency import background
from arena.system.printable import printable
from arena.web.address import Listening, hosts_of, parse_address
from arena.web.beside import LONGEST, LiveSetup, Over, Told, to_server
from arena.web.server import Server
from arena.web.store_server import StoreServer

NICENESS = 5
"""Below the bots, and enough to answer on a busy machine."""
LAST_SECONDS = 6.0
"""The time in which viewers learn that the league is over, and load its last results."""


def give_up_rights() -> None:
    """Lower the priority, and disable writing to files, even open ones."""
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    with contextlib.suppress(OSError):  # a session has a share of its own on many systems at any priority
        Path("/proc/self/autogroup").write_text(str(NICENESS), encoding="ascii")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(parent: int) -> None:
    """Serve until the standard input ends. `parent` is the id of the league's process."""
    child_process.begin()
    use_all_descriptors()
    give_up_rights()
    try:
        trio.run(_main, parent)
    except ArenaError as error:
        sys.exit(printable(str(error), lines=True))


async def _main(parent: int) -> None:
    frames, stream = Frames(to_server, LONGEST), trio.lowlevel.FdStream(os.dup(0))
    first: list[Told] = []
    while not first:
        data = await stream.receive_some(READ_SIZE)
        if not data:
            return
        first += frames.feed(data)
    setup = first[0]
    assert isinstance(setup, LiveSetup)
    os.set_inheritable(setup.listening, False)
    listener = socket.socket(fileno=setup.listening)
    listener.setblocking(False)
    address = parse_address(setup.host)
    server = StoreServer(
        [Path(os.fsdecode(setup.store))],
        SitePlan(reader_named(setup.reader)),
        hosts_of([address], setup.known_as),
        complain=_complain,
        running=SeenBy.ALL if setup.shows_all else SeenBy.PUBLIC,
        delay=setup.delay,
    )
    assert server.live is not None
    async with background(server.run) as nursery:
        nursery.start_soon(child_process.until_gone, parent, nursery.cancel_scope)
        await nursery.start(Server(server.application()).run, [Listening(listener, address)])
        for message in first[1:]:
            server.live.tell(message)
        is_over = False
        while data := await stream.receive_some(READ_SIZE):
            for message in frames.feed(data):
                server.live.tell(message)
                is_over = is_over or isinstance(message, Over)
        if is_over:
            with trio.move_on_after(LAST_SECONDS):
                await server.end()


def _complain(text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"{text}\n".encode("utf-8", "replace"))
