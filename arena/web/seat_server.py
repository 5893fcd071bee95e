"""A session shown to people in their browsers, from the first to the last of them."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from arena.play.session import Session
from arena.report.piece_names import DEFAULT_NAMES, Names
from arena.system.concurrency import background
from arena.web.address import Listening, hosts_of
from arena.web.seat_page import NextCommands, SeatTable
from arena.web.seat_routes import PlayPages
from arena.web.server import LIMITS, Server, ServerLimits
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
    table: SeatTable, listening: Listening, *, complain: Callable[[str], None], limits: ServerLimits = LIMITS
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


LINGER_SECONDS = 10.0
"""As long as this the pages of a game that is over are served to nobody: somebody may be loading them again."""
LOOK_SECONDS = 0.2


def page_face(
    listening: Listening,
    tell: Callable[[dict[Color, str]], None],
    *,
    complain: Callable[[str], None],
    commands: NextCommands | None = None,
    names: Names = DEFAULT_NAMES,
    ended: Callable[[], None] = lambda: None,
    linger: float = LINGER_SECONDS,
) -> Callable[[Session], Awaitable[None]]:
    """A face of a session (`arena.league.person_game.Face`), served where somebody listens already.

    `tell` is given the address of each person's seat, which is for that person alone; `complain` a line about what went
    wrong within. `ended` is called when the game is over and its pages are still there.

    It returns when the game is over and nobody has looked at it for `linger` seconds.
    """

    async def show(session: Session) -> None:
        table = SeatTable(session, commands or NextCommands(), names)
        async with serving(table, listening, complain=complain) as served:
            tell(served.addresses)
            await _until_over(session)
            if session.record is not None:
                ended()
            seen = trio.current_time()
            while served.viewers() or trio.current_time() - seen < linger:
                if served.viewers():
                    seen = trio.current_time()
                await trio.sleep(LOOK_SECONDS)

    return show


async def _until_over(session: Session) -> None:
    color, version = session.persons[0], 0
    while not session.is_over:
        version = (await session.changed(color, version)).version
