"""`arena serve`: stores as pages that change as games are added. Stores are only read."""

import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from arena.web.feed import Event, EventAnswer, Feed, Viewers
from arena.web.guard import TEMPLATES, Complain, PageLook, application
from arena.web.live_games import LiveGames
from arena.web.server import Application, Server
from arena.web.store_pages import ServedStore, StoreReader, state_event

LIVE = "live.html"
FOOTER = f"Served by arena {__version__}."
TITLE = "Stores"
SOON_SECONDS = 0.02
NOW = ("Now playing", "now.html")


@dataclass(frozen=True)
class Running:
    """The options of a store with running games: the view of viewers, and its `delay` in seconds."""

    audience: SeenBy
    delay: float


class StoreServer:
    """Serves the stores at these paths: one at the root, several below their names, with a list of them."""

    def __init__(
        self,
        paths: Sequence[Path],
        plan: SitePlan,
        hosts: Hosts,
        *,
        complain: Complain,
        running: Running | None = None,
    ) -> None:
        """`running` is for a single store, to which this league adds games."""
        self._hosts, self._complain = hosts, complain
        self._audience = Viewers()
        self.live: LiveGames | None = None
        if running:
            (path,) = paths
            title = plan.title or printable(path.stem)
            look = PageLook(Site(title, (*MENU, NOW), FOOTER))
            self.live = LiveGames(self._audience, look, running.audience, running.delay)
        names = _names(paths)
        self.stores = [self._store(path, name, plan, len(paths) == 1) for path, name in zip(paths, names, strict=True)]
        title = self.stores[0].name if len(paths) == 1 else TITLE
        now = (NOW,) if running else ()
        menu = (*MENU, *now) if len(paths) == 1 else ((TITLE, "index.html"),)
        self._look = PageLook(Site(plan.title or title, menu, FOOTER, head=LIVE))
        self._feed = Feed(self._audience, lambda: [self._state()])  # for the list of stores

    def _store(self, path: Path, name: str, plan: SitePlan, is_alone: bool) -> ServedStore:
        prefix = "" if is_alone else f"/{name}"
        menu = () if is_alone else ((TITLE, "../index.html"),)
        now = (NOW,) if self.live else ()

        def dress(site: Site, version: str) -> Site:
            return Site(site.title, (*menu, *site.menu, *now), FOOTER, TEMPLATES, LIVE, version)

        reader = StoreReader(path, replace(plan, dialogues=plan.dialogues is not False), dress, self._complain)
        return ServedStore(name, prefix, reader, self._audience, self.live)

    def application(self) -> Application:
        routes: list[BaseRoute] = []
        if len(self.stores) > 1:
            routes += [Route("/", self._index), Route("/index.html", self._index), Route("/events", self._events)]
        for store in self.stores:
            routes += store.routes()
        return application(routes, self._look, self._hosts, complain=self._complain)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        async with trio.open_nursery() as nursery:
            for store in self.stores:
                nursery.start_soon(store.run)
                nursery.start_soon(self._tell_of, store.reader)
            task_status.started()

    async def end(self) -> None:
        """Tell viewers that the league is over, and wait until they have loaded its last games, or until cancelled."""
        assert self.live is not None
        self.live.end()
        (store,) = self.stores
        await store.reader.refresh()
        store.feed.publish(store.event())
        while self._audience.count:  # noqa: ASYNC110  (once, at the end)
            await trio.sleep(SOON_SECONDS)

    async def _tell_of(self, reader: StoreReader) -> None:
        state = reader.state
        while True:
            state = await reader.changed(state)
            self._feed.publish(self._state())

    def _state(self) -> Event:
        states = [store.reader.state for store in self.stores]
        version = "+".join(state.version for state in states)
        return state_event(version, f"Live: {sum(state.games for state in states)} games so far.", len(self._feed))

    async def _events(self, request: Request) -> EventAnswer:
        return self._feed.answer()

    async def _index(self, request: Request) -> Response:
        rows = [
            {
                "name": store.name,
                "href": f"{store.prefix.removeprefix('/')}/index.html",
                "bots": len(state.contents.table.lines) if state.contents else "",
                "games": state.games,
                "note": "" if state.contents else state.problem,
            }
            for store in self.stores
            for state in (store.reader.state,)
        ]
        return HTMLResponse(self._look.page("stores.html", "index.html", heading=TITLE, rows=rows))


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


async def serve_until_signal(application: Application, listening: Listening, ready: Callable[[str], None]) -> None:
    """Serve until a signal such as Ctrl-C; `ready` is called with the URL when it can be opened."""
    heard = [number for number in SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    with trio.open_signal_receiver(*heard) as signals:
        async with background() as nursery:
            await nursery.start(Server(application).run, [listening])
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

        async def main() -> None:
            async with background(server.run):
                await serve_until_signal(server.application(), listening, ready)

        trio.run(main)
    finally:
        listening.close()
