"""What shows a session to people in their browsers, from the first to the last of them."""

from collections.abc import Awaitable, Callable

import trio

from arena.play.session import Session
from arena.report.names import DEFAULT_NAMES, Names
from arena.web.address import Listening
from arena.web.play.serving import serving
from arena.web.play.table import Commands, Table
from protocol.notation import Color

LINGER_SECONDS = 10.0
"""As long as this the pages of a game that is over are served to nobody: somebody may be loading them again."""
LOOK_SECONDS = 0.2


def page_face(
    listening: Listening,
    tell: Callable[[dict[Color, str]], None],
    *,
    complain: Callable[[str], None],
    commands: Commands | None = None,
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
        table = Table(session, commands or Commands(), names)
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
