"""A server from its start to its end, for the commands: it ends when it is asked to, and nothing is left."""

import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from arena.errors import UsageError
from arena.nursery import background
from arena.report.site.contents import SitePlan
from arena.web.address import Address, Listening, listen
from arena.web.clock import OwnClock
from arena.web.hosts import hosts_of
from arena.web.limits import LIMITS, Limits
from arena.web.server import Application, Server
from arena.web.store_server import StoreServer

SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
Say = Callable[[str], None]


async def serve_until_signal(
    application: Application, listening: Listening, ready: Callable[[str], None], limits: Limits = LIMITS
) -> None:
    """Serve until Ctrl-C or another signal asks to stop. `ready` is called with the address as soon as it can be
    opened."""
    heard = [number for number in SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    with trio.open_signal_receiver(*heard) as signals:
        async with background() as nursery:
            await nursery.start(Server(application, limits).run, [listening])
            ready(listening.url)
            async for _ in signals:
                return


def serve_stores(
    paths: Sequence[Path],
    address: Address,
    plan: SitePlan,
    *,
    known_as: Sequence[str] = (),
    ready: Callable[[str], None],
    complain: Say,
) -> None:
    """Serve the pages of these stores until a signal asks to stop.

    Raises `UsageError` for what is no store or cannot be shown to such readers, or an address at which nobody can
    listen.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("expected each store once, and one of them is named twice")
    listening = listen(address)
    try:
        server = StoreServer(paths, plan, hosts_of([listening.address], known_as), complain=complain)
        for store in server.stores:
            store.reader.read_first()

        async def main() -> None:
            async with background(server.run):
                await serve_until_signal(server.application(), listening, ready)

        trio.run(main, clock=OwnClock())
    finally:
        listening.close()
