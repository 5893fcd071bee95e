"""A table that is served: a server on the trio loop of the session, and the addresses of its seats."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from arena.nursery import background
from arena.web.address import Listening
from arena.web.hosts import hosts_of
from arena.web.limits import LIMITS, Limits
from arena.web.play.application import PlayPages
from arena.web.play.table import Table
from arena.web.server import Server
from protocol.notation import Color

FAREWELL_SECONDS = 0.5
"""As long as this browsers have to hear that there will be no more."""


@dataclass(frozen=True)
class ServedTable:
    """Each person's address, and how many browsers follow the game now."""

    addresses: dict[Color, str]
    viewers: Callable[[], int]


async def _part(pages: PlayPages) -> None:
    """End the events as ends that were meant to be: a browser cannot tell a server that stops from one that fails."""
    pages.close()
    with trio.move_on_after(FAREWELL_SECONDS, shield=True):
        while pages.viewers:  # noqa: ASYNC110 - nobody is told when a browser leaves
            await trio.sleep(FAREWELL_SECONDS / 50)


@asynccontextmanager
async def serving(
    table: Table, listening: Listening, *, complain: Callable[[str], None], limits: Limits = LIMITS
) -> AsyncGenerator[ServedTable, None]:
    """Serve a table there during the body. `complain` is given a line about what went wrong within."""
    pages = PlayPages(table, limits)
    application = pages.application(hosts_of([listening.address]), complain=complain)
    async with background(pages.follow) as nursery:
        await nursery.start(Server(application, limits).run, [listening])
        addresses = {color: table.address(color, listening) for color in table.tokens}
        try:
            yield ServedTable(addresses, lambda: pages.viewers)
        finally:
            await _part(pages)
