"""The pages of a store as they are asked for: those of `arena report`, by the same names, made once for all viewers."""

import re
from collections import OrderedDict

import trio
from starlette.requests import Request
from starlette.responses import Response

from arena.errors import ArenaError
from arena.league.store import Store
from arena.report.site.contents import Played, SiteContents
from arena.report.site.game_texts import GameText
from arena.web.files import Asset, asset
from arena.web.guard import Refused
from arena.web.look import WEB_WORDS
from arena.web.store_reader import State, StoreReader

GAME = re.compile(r"games/([1-9]\d{0,17})\.(html|js)", re.ASCII)
CACHE_BYTES = 64 << 20
"""Of pages that have been made and may be asked for again."""
HTML, SCRIPT = "text/html; charset=utf-8", "text/javascript; charset=utf-8"


class Cache:
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
        self._cache = Cache()
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
                    raise Refused(200, state.problem)
                raise Refused(503, state.problem, {"Retry-After": "5"})
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
        text = None if game else state.contents.text(name, Played())
        if text is None:
            raise Refused(404, WEB_WORDS.not_found)
        return asset(text.encode(), SCRIPT if name.endswith(".js") else HTML)

    def _game(self, contents: SiteContents, number: int) -> GameText:
        try:
            with Store(self.reader.path, create=False) as store:
                return contents.game_texts.of(store.stored(number))
        except ArenaError as error:  # whose words may name what a reader may not know: seeds, a rank
            self.reader.tell_of_game(number, error)
            raise Refused(503, WEB_WORDS.no_page) from error
