"""`arena serve`: stores as pages that change as games are added. Stores are only read."""

import re
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import trio
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from arena.errors import UsageError
from arena.report.shown import SeenBy
from arena.report.site.page_frame import Site
from arena.report.site.site_contents import MENU, SitePlan
from arena.system.concurrency import background
from arena.system.printable import printable
from arena.version import __version__
from arena.web.address import Address, Hosts, Listening, hosts_of, listen
from arena.web.feed import Event, Feed, Viewers
from arena.web.guard import TEMPLATES, Complain, Guard, PageLook
from arena.web.live_games import LiveGames
from arena.web.server import Application, Server
from arena.web.store_pages import ServedStore, StoreReader, state_event

LIVE = "live.html"
FOOTER = f"Served by arena {__version__}."
TITLE = "Stores"
SOON_SECONDS = 0.02
LOAD_SECONDS = 2.0
"""The time in which those who watched a last game load its replay."""
NOW = ("Now playing", "now.html")


class StoreServer:
    """Serves the stores at these paths: one at the root, several below their names, with a list of them."""

    def __init__(
        self,
        paths: Sequence[Path],
        plan: SitePlan,
        hosts: Hosts,
        *,
        complain: Complain,
        running: SeenBy | None = None,
        delay: float = 0.0,
    ) -> None:
        """`running` games of a single store are shown as this reader sees them, `delay` seconds later."""
        self._hosts, self._complain = hosts, complain
        self._audience = Viewers()
        self.live: LiveGames | None = None
        if running:
            (path,) = paths
            title = plan.title or printable(path.stem)
            look = PageLook(Site(title, (*MENU, NOW), FOOTER))
            self.live = LiveGames(self._audience, look, running, delay)
        is_alone, now = len(paths) == 1, (NOW,) if running else ()
        plan = replace(plan, dialogues=plan.dialogues is not False)
        above = () if is_alone else ((TITLE, "../index.html"),)

        def dress(site: Site, version: str) -> Site:
            return Site(site.title, (*above, *site.menu, *now), FOOTER, TEMPLATES, LIVE, version)

        self._feed = Feed(self._audience, lambda: [self._state()])  # for the list of stores
        self.stores = [
            ServedStore(
                name,
                "" if is_alone else f"/{name}",
                StoreReader(path, plan, dress, complain),
                self._audience,
                self.live,
                tell=lambda: self._feed.publish(self._state()),
            )
            for path, name in zip(paths, _names(paths), strict=True)
        ]
        title, menu = (self.stores[0].name, (*MENU, *now)) if is_alone else (TITLE, ((TITLE, "index.html"),))
        self._look = PageLook(Site(plan.title or title, menu, FOOTER, head=LIVE))

    def application(self) -> Application:
        routes: list[BaseRoute] = []
        if len(self.stores) > 1:
            routes += [Route("/", self._index), Route("/index.html", self._index), Route("/events", self._events)]
        for store in self.stores:
            routes += store.routes()
        return Guard(routes, self._look, self._hosts, complain=self._complain)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        async with trio.open_nursery() as nursery:
            for store in self.stores:
                nursery.start_soon(store.run)
            task_status.started()

    async def end(self) -> None:
        """Tell viewers that the league is over, and wait until they have loaded its last games, or until cancelled."""
        assert self.live is not None
        has_viewers = bool(self._audience.held)
        self.live.end()
        (store,) = self.stores
        await store.reader.refresh()
        self.live.read(store.reader.state.numbers, is_last=True)
        store.feed.publish(store.event())
        # From a game that was watched viewers go to its replay, which then hears of the end.
        for seconds in (0, LOAD_SECONDS) if has_viewers else ():
            await trio.sleep(seconds)
            while self._audience.held:  # noqa: ASYNC110  (once, at the end)
                await trio.sleep(SOON_SECONDS)

    def _state(self) -> Event:
        states = [store.reader.state for store in self.stores]
        version = "+".join(state.version for state in states)
        return state_event(version, f"Live: {sum(state.games for state in states)} games so far.", len(self._feed))

    async def _events(self, request: Request) -> Feed:
        return self._feed

    async def _index(self, request: Request) -> Response:
        return HTMLResponse(self._look.page("stores.html", "index.html", heading=TITLE, stores=self.stores))


def _names(paths: Sequence[Path]) -> list[str]:
    found: list[str] = []
    for path in paths:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", printable(path.stem)).strip(".-") or "store"
        name, number = plain, 1
        while name in found or name in ("static", "events", "index.html"):
            number += 1
            name = f"{plain}-{number}"
        found.append(name)
    return found


SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


async def serve_until_signal(
    server: Server, listening: Listening, work: Callable[[], Awaitable[None]], ready: Callable[[str], None]
) -> None:
    heard = [number for number in SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    with trio.open_signal_receiver(*heard) as signals:
        async with background(work) as nursery:
            await nursery.start(server.run, [listening])
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
    complain: Complain,
) -> None:
    """Serve the pages of these stores until a signal. Raises `UsageError`."""
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("expected each store once, and one of them is named twice")
    listening = listen(address)
    try:
        server = StoreServer(paths, plan, hosts_of([listening.address], known_as), complain=complain)
        for store in server.stores:
            store.reader.read_first()

        trio.run(serve_until_signal, Server(server.application()), listening, server.run, ready)
    finally:
        listening.close()
