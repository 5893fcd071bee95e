"""A table that is served: a server on the trio loop of the session, and the addresses of its seats."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from arena.nursery import background
from arena.web.address import Address, listen
from arena.web.hosts import hosts_of
from arena.web.limits import LIMITS, Limits
from arena.web.play.application import PlayPages
from arena.web.play.table import Table
from arena.web.server import Server
from protocol.notation import Color


@dataclass(frozen=True)
class ServedTable:
    """Each person's address, and how many browsers follow the game now."""

    addresses: dict[Color, str]
    viewers: Callable[[], int]


@asynccontextmanager
async def serving(
    table: Table, address: Address, *, complain: Callable[[str], None], limits: Limits = LIMITS
) -> AsyncGenerator[ServedTable, None]:
    """Serve a table there during the body. `complain` is given a line about what went wrong within. Raises `UsageError`
    if it cannot listen there."""
    listening = listen(address)
    try:
        pages = PlayPages(table, limits)
        application = pages.application(hosts_of([listening.address]), complain=complain)
        async with background(pages.follow) as nursery:
            await nursery.start(Server(application, limits).run, [listening])
            addresses = {color: table.address(color, listening) for color in table.tokens}
            yield ServedTable(addresses, lambda: pages.viewers)
    finally:
        listening.close()
