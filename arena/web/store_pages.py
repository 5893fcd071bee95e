"""The pages of one store, read again when the store has changed.

The pages are those of `arena report`, by the same names, made on demand and cached for all viewers. A store that is
damaged, or gone, is a `problem` until it can be read again.
"""

import os
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import trio
from starlette.requests import Request
from starlette.responses import Response

from arena.errors import ArenaError
from arena.league.store import Store, damage_text
from arena.report.site.game_page import GameText
from arena.report.site.page_frame import Site
from arena.report.site.site_contents import NoGamesError, PlayedGames, SiteContents, SitePlan, read_site
from arena.system.printable import printable
from arena.web.guard import RequestRefused
from arena.web.page_look import WEB_WORDS, Asset, asset

LOOK_SECONDS = 0.5
"""How often the file is looked at."""
SHARE = 1 / 10
"""Of one CPU, that reading the store may take while it changes; games that end within a second are read together."""
LEAST_SECONDS = 1.0
MOST_GAMES_TOLD = 100
"""Games without a page that the host is told of: anybody can ask for them."""

Dress = Callable[[Site, str], Site]
"""Makes of a site that is read from a disk the one that is served, at a version."""


@dataclass(frozen=True)
class State:
    """What is known of a store at a moment. `version` is never that of anything else, not of another server either."""

    version: str
    contents: SiteContents | None
    problem: str = ""
    """Why there are no contents, for viewers."""

    @property
    def games(self) -> int:
        return self.contents.table.games if self.contents else 0

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The games that have pages."""
        return frozenset(self.contents.numbers) if self.contents else frozenset()

    @property
    def text(self) -> str:
        """How things stand, in a line."""
        if self.contents:
            return WEB_WORDS.live.format(self.games)
        return WEB_WORDS.waiting if self.problem == WEB_WORDS.not_read else WEB_WORDS.out_of_date


class StoreReader:
    """Reads a store while `run` runs. `complain` is told, in a line, what is wrong with it."""

    def __init__(self, path: Path, plan: SitePlan, dress: Dress, complain: Callable[[str], None]) -> None:
        self.path, self._plan, self._dress, self._complain = path, plan, dress, complain
        self._boot, self._count = secrets.token_hex(4), 0
        self.state = State(self._next_version(), None, WEB_WORDS.not_read)
        self.is_read = trio.Event()
        """Whether it has been read for the first time, or that has failed."""
        self._changed = trio.Event()
        self._seen: tuple[int, ...] | None = None
        self._told = ""
        self._games_told: set[int] = set()

    async def changed(self, since: State) -> State:
        """The state, as soon as it is another one."""
        while self.state is since:
            await self._changed.wait()
        return self.state

    def read_first(self) -> None:
        """Read it now, before anything is served. Raises `ArenaError`; that there is no game yet is no error."""
        self._seen = self._look()
        version = self._next_version()
        try:
            self.state = self._state_of(version)
        except NoGamesError:
            self.state = State(version, None, WEB_WORDS.not_read)
        self.is_read.set()

    async def run(self) -> None:
        """Read it when it has changed, until cancelled."""
        while True:
            pause = await self.refresh()
            await trio.sleep(pause)

    async def refresh(self) -> float:
        """Read the store if it has changed. Returns after how many seconds it is to be looked at again."""
        found = await trio.to_thread.run_sync(self._look)
        if self.is_read.is_set() and found == self._seen:
            return LOOK_SECONDS
        state, cost = await trio.to_thread.run_sync(self._read_timed, self._next_version(), abandon_on_cancel=True)
        self._seen = found  # what came while it was read is seen at the next look
        self.state = state
        self._changed.set()
        self._changed = trio.Event()
        self.is_read.set()
        return max(LEAST_SECONDS, cost * (1 / SHARE - 1))

    def _next_version(self) -> str:
        self._count += 1
        return f"{self._boot}-{self._count}"

    def _look(self) -> tuple[int, ...] | None:
        """What changes when the store does."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def _read_timed(self, version: str) -> tuple[State, float]:
        """The state, and the processor time that it took: who is kept waiting for the CPU is not to wait longer."""
        start = time.thread_time()
        return self._read(version), time.thread_time() - start

    def _read(self, version: str) -> State:
        try:
            return self._state_of(version)
        except NoGamesError:
            self._tell("")
            return State(version, None, WEB_WORDS.not_read)
        except ArenaError as error:
            self._tell(printable(str(error), lines=True))
        except Exception as error:  # whatever a stranger's file brings about, the other pages go on
            self._tell(printable(f"{self.path}: {type(error).__name__}: {error}"))
        return State(version, None, WEB_WORDS.unreadable)

    def _state_of(self, version: str) -> State:
        """Raises `ArenaError`."""
        with Store(self.path, create=False) as store:
            contents = read_site(store, self._plan)
        damage = f"{self.path}: what is damaged does not count:\n{damage_text(contents.damage)}"
        self._tell(damage if contents.damage else "")
        return State(version, replace(contents, site=self._dress(contents.site, version)))

    def tell_of_game(self, number: int, error: ArenaError) -> None:
        """Tell why a game has no page, once for each game, and for so many games."""
        if number not in self._games_told and len(self._games_told) < MOST_GAMES_TOLD:
            self._games_told.add(number)
            self._complain(printable(f"{self.path}: game {number} has no page: {error}"))

    def _tell(self, problem: str) -> None:
        """Tell of a problem, once until it is another one."""
        if problem and problem != self._told:
            self._complain(problem)
        self._told = problem


GAME = re.compile(r"games/([1-9]\d{0,17})\.(html|js)", re.ASCII)
CACHE_BYTES = 64 << 20
"""Of pages that have been made and may be asked for again."""
HTML, SCRIPT = "text/html; charset=utf-8", "text/javascript; charset=utf-8"


class PageCache:
    """Pages by name, those that nobody has asked for longest going first."""

    def __init__(self, most: int = CACHE_BYTES) -> None:
        self._most, self._size = most, 0
        self._pages: OrderedDict[object, Asset] = OrderedDict()

    def get(self, key: object) -> Asset | None:
        found = self._pages.get(key)
        if found is not None:
            self._pages.move_to_end(key)
        return found

    def put(self, key: object, page: Asset) -> None:
        self._pages[key] = page
        self._size += len(page.body)
        while self._size > self._most and len(self._pages) > 1:
            self._size -= len(self._pages.popitem(last=False)[1].body)

    def clear(self) -> None:
        self._pages.clear()
        self._size = 0


class StorePages:
    """The pages of one store."""

    def __init__(self, reader: StoreReader) -> None:
        self.reader = reader
        self._cache = PageCache()
        self._cached = reader.state
        self._making = trio.Lock()
        """One page is made at a time: who asks for the same one meanwhile finds it made."""

    async def page(self, request: Request) -> Response:
        """The answer to who asks for `name`, or for the first page. Raises `Refused`."""
        page = await self._asset(request.path_params.get("name") or "index.html")
        return page.answer(request)

    async def _asset(self, name: str) -> Asset:
        await self.reader.is_read.wait()
        async with self._making:
            state = self.reader.state
            if state.contents is None:
                if state.problem == WEB_WORDS.not_read and not name.endswith(".js"):
                    raise RequestRefused(200, state.problem)
                raise RequestRefused(503, state.problem, {"Retry-After": "5"})
            if state is not self._cached:
                self._cached = state
                self._cache.clear()
            found = self._cache.get(name)
            if found is None:
                found = await trio.to_thread.run_sync(self._make, state, name)
                self._cache.put(name, found)
            return found

    def _make(self, state: State, name: str) -> Asset:
        """Raises `Refused` if there is no such page."""
        assert state.contents is not None
        game = GAME.fullmatch(name)
        if game and int(game[1]) in state.numbers:
            page, script = self._game(state.contents, int(game[1]))
            return asset(page.encode(), HTML) if game[2] == "html" else asset(script.encode(), SCRIPT)
        text = None if game else state.contents.text(name, PlayedGames())
        if text is None:
            raise RequestRefused(404, WEB_WORDS.not_found)
        return asset(text.encode(), SCRIPT if name.endswith(".js") else HTML)

    def _game(self, contents: SiteContents, number: int) -> GameText:
        try:
            with Store(self.reader.path, create=False) as store:
                return contents.game_texts.of(store.stored(number))
        except ArenaError as error:  # whose words may name what a reader may not know: seeds, a rank
            self.reader.tell_of_game(number, error)
            raise RequestRefused(503, WEB_WORDS.no_page) from error
