"""The pages of one store, read again when the store has changed, and cached for all viewers."""

import json
import os
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import msgspec
import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from arena.errors import ArenaError
from arena.league.store import Store, damage_text
from arena.report.site.page_frame import Site
from arena.report.site.pages import PlayedGames, SiteContents
from arena.report.site.site_contents import NoGamesError, SitePlan, read_path
from arena.system.printable import printable
from arena.web.feed import Event, Feed, Viewers
from arena.web.guard import NOT_FOUND, Asset, RequestRefused, static_route
from arena.web.live_games import LiveGames

LOOK_SECONDS = 0.5
SHARE = 1 / 40
"""The share of the time in which a changing store may be read."""
LEAST_SECONDS = 1.0
MOST_GAMES_TOLD = 100
"""Games without a page that are reported to the host, limited as any viewer can request them."""
NOT_READ = "No game is over yet. This page shows the first as soon as it is."
UNREADABLE = "This store cannot be read now. The host has been told why."
NO_PAGE = (
    "This game cannot be shown: it is not as it was stored, or cannot have been played so. The host has been told why."
)

LOST = "Not connected: this page may be out of date."
SERVED = "These pages are not served any more; the command arena serve serves them again."
LOADS_A_SECOND = 20
"""Pages a second that viewers load when the store changes."""

Dress = Callable[[Site, str], Site]
"""Makes the served site of a version from the one for a disk."""


@dataclass(frozen=True)
class StoreSnapshot:
    """A store at a moment. Every `version` is unique, across servers too; `problem` tells why there are no contents."""

    version: str
    contents: SiteContents | None
    problem: str = ""

    @property
    def games(self) -> int:
        return self.contents.table.games if self.contents else 0

    @cached_property
    def numbers(self) -> frozenset[int]:
        return frozenset(self.contents.numbers) if self.contents else frozenset()

    @property
    def text(self) -> str:
        if self.contents:
            return f"Live: {self.games} games so far."
        if self.problem == NOT_READ:
            return "Live: no game is over yet."
        return "This page is out of date: its store cannot be read now."


class StoreReader:
    """Reads a store while `run` runs, in a thread that calls `read`; `complain` reports problems to the host."""

    def __init__(
        self,
        path: Path,
        plan: SitePlan,
        dress: Dress,
        complain: Callable[[str], None],
        read: Callable[[Path, SitePlan], SiteContents] = read_path,
    ) -> None:
        self.path, self._plan, self._dress, self._complain, self._contents = path, plan, dress, complain, read
        self._boot, self._count = secrets.token_hex(4), 0
        self.state = StoreSnapshot(self._next_version(), None, NOT_READ)
        self.is_read = trio.Event()  # or could not be read
        self._changed = trio.Event()
        self._seen: tuple[int, ...] | None = None
        self._told = ""
        self._games_told: set[int] = set()

    async def changed(self, since: StoreSnapshot) -> StoreSnapshot:
        while self.state is since:
            await self._changed.wait()
        return self.state

    def read_first(self) -> None:
        """Read the store before anything is served. Raises `ArenaError`, but not for a store without games."""
        self._seen = self._look()
        self.state = self._state_of(self._next_version())
        self.is_read.set()

    async def run(self) -> None:
        while True:
            pause = await self.refresh()
            await trio.sleep(pause)

    async def refresh(self) -> float:
        """Read the store if it has changed; return the seconds until the next look."""
        found = await trio.to_thread.run_sync(self._look)
        if self.is_read.is_set() and found == self._seen:
            return LOOK_SECONDS
        start = time.perf_counter()
        self.state = await trio.to_thread.run_sync(self._read, self._next_version(), abandon_on_cancel=True)
        self._seen = found  # later changes are seen at the next look
        self._changed.set()
        self._changed = trio.Event()
        self.is_read.set()
        return max(LEAST_SECONDS, (time.perf_counter() - start) * (1 / SHARE - 1))

    def _next_version(self) -> str:
        self._count += 1
        return f"{self._boot}-{self._count}"

    def _look(self) -> tuple[int, ...] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def _read(self, version: str) -> StoreSnapshot:
        try:
            return self._state_of(version)
        except ArenaError as error:
            self._tell(printable(str(error), lines=True))
        except Exception as error:  # a stranger's file does not end the other pages
            self._tell(printable(f"{self.path}: {type(error).__name__}: {error}"))
        return StoreSnapshot(version, None, UNREADABLE)

    def _state_of(self, version: str) -> StoreSnapshot:
        try:
            contents = self._contents(self.path, self._plan)
        except NoGamesError:
            self._tell("")
            return StoreSnapshot(version, None, NOT_READ)
        texts = contents.game_pages
        contents = replace(contents, game_pages=msgspec.structs.replace(texts, site=self._dress(texts.site, version)))
        damage = f"{self.path}: damaged games are excluded:\n{damage_text(contents.damage)}"
        self._tell(damage if contents.damage else "")
        return StoreSnapshot(version, contents)

    def tell_of_game(self, number: int, error: ArenaError) -> None:
        if number not in self._games_told and len(self._games_told) < MOST_GAMES_TOLD:
            self._games_told.add(number)
            self._complain(printable(f"{self.path}: game {number} has no page: {error}"))

    def _tell(self, problem: str) -> None:
        if problem and problem != self._told:
            self._complain(problem)
        self._told = problem


def state_event(version: str, text: str, viewers: int, *, is_over: bool = False) -> Event:
    """Return an event that makes viewers load a new version, spread over some seconds."""
    within = viewers / LOADS_A_SECOND + (0 if is_over else 1)
    told = {"version": version, "text": text, "lost": LOST, "within": within, "over": is_over}
    return Event(json.dumps(told), "state")


GAME = re.compile(r"games/([1-9]\d{0,17})\.(html|js|json)", re.ASCII)
CACHE_BYTES = 64 << 20
"""The size of cached pages at which the cache is cleared."""
TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json; charset=utf-8",
}


class ServedStore:
    """One store with its pages below `prefix`, and its viewers. `tell` is called when the store has changed."""

    def __init__(
        self,
        name: str,
        prefix: str,
        reader: StoreReader,
        audience: Viewers,
        live: LiveGames | None,
        *,
        tell: Callable[[], None],
    ) -> None:
        self.name, self.prefix, self.reader, self.live, self._tell = name, prefix, reader, live, tell
        self.feed = Feed(audience, lambda: [self.event()])
        self._cache: dict[str, Asset] = {}
        self._cached = reader.state
        self._making_game, self._making_page = trio.Lock(), trio.Lock()
        """One page of a game at once, and one other: nobody who asks for many games keeps a table from others."""

    def routes(self) -> list[BaseRoute]:
        return [
            *([static_route(self.prefix)] if self.prefix else []),
            *(self.live.routes() if self.live else []),
            Route(f"{self.prefix}/events", self._events),
            Route(f"{self.prefix}/", self._page),
            Route(f"{self.prefix}/{{name:path}}", self._page),
        ]

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.reader.run)
            if self.live:
                nursery.start_soon(self.live.run)
            state = self.reader.state
            while True:
                state = await self.reader.changed(state)
                if self.live:
                    self.live.read(state.numbers)
                self.feed.publish(self.event())
                self._tell()

    def event(self) -> Event:
        """Return the event with the version of the pages; when the league is over, viewers end their connections."""
        state, over = self.reader.state, self.live if self.live and self.live.is_stored else None
        text = f"{over.text} {SERVED}" if over else state.text
        return state_event(state.version, text, len(self.feed), is_over=over is not None)

    async def _events(self, request: Request) -> Feed:
        return self.feed

    async def _page(self, request: Request) -> Response:
        return await self.answer(request, request.path_params.get("name") or "index.html")

    async def answer(self, request: Request, name: str) -> Response:
        """Answer with the page or script of this name."""
        return (await self._asset(name)).answer(request)

    async def _asset(self, name: str) -> Asset:
        await self.reader.is_read.wait()
        if self._cached is self.reader.state and name in self._cache:
            return self._cache[name]
        async with self._making_game if GAME.fullmatch(name) else self._making_page:
            state = self.reader.state
            if state.contents is None:
                if state.problem == NOT_READ and not name.endswith(".js"):
                    raise RequestRefused(200, state.problem)
                raise RequestRefused(503, state.problem, {"Retry-After": "5"})
            if state is not self._cached or sum(len(page.body) for page in self._cache.values()) > CACHE_BYTES:
                self._cached = state
                self._cache.clear()
            if name in self._cache:
                return self._cache[name]
            texts = await trio.to_thread.run_sync(self._make, state, name)
            assets = {made: Asset.of(text.encode(), TYPES[made.rpartition(".")[2]]) for made, text in texts.items()}
            if state is self._cached:
                self._cache |= assets
            return assets[name]

    def _make(self, state: StoreSnapshot, name: str) -> dict[str, str]:
        """Return the text of a page or script by its name; of a game all three files, which are made together."""
        assert state.contents is not None
        game = GAME.fullmatch(name)
        if game and int(game[1]) in state.numbers:
            number, stem = int(game[1]), f"games/{game[1]}"
            try:
                with Store(self.reader.path, create=False) as store:
                    made = state.contents.game_pages.of(store.stored(number), state.contents.links[number])
            except ArenaError as error:  # its words may name seeds or ranks that are hidden from the reader
                self.reader.tell_of_game(number, error)
                raise RequestRefused(503, NO_PAGE) from error
            return {f"{stem}.html": made.page, f"{stem}.js": made.script, f"{stem}.json": made.record}
        text = None if game else state.contents.text(name, PlayedGames())
        if text is None:
            raise RequestRefused(404, NOT_FOUND)
        return {name: text}
