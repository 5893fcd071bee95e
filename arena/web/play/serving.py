"""A table served for as long as a game is played, and for as long afterwards as somebody looks at it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from arena.nursery import background
from arena.web.address import Address, listen
from arena.web.hosts import hosts_of
from arena.web.limits import LIMITS, Limits
from arena.web.play.application import PlayPages
from arena.web.play.table import Table
from arena.web.server import Server
from protocol.notation import Color


@asynccontextmanager
async def serving(
    table: Table, address: Address, *, complain: Callable[[str], None], limits: Limits = LIMITS
) -> AsyncGenerator[dict[Color, str], None]:
    """Serve a table there during the body, which is given each person's address. `complain` is given a line about what
    went wrong within. Raises `UsageError` if it cannot listen there."""
    listening = listen(address)
    try:
        pages = PlayPages(table, limits)
        application = pages.application(hosts_of([listening.address]), complain=complain)
        async with background(pages.follow) as nursery:
            await nursery.start(Server(application, limits).run, [listening])
            yield {color: table.address(color, listening) for color in table.tokens}
    finally:
        listening.close()
