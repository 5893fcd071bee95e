"""What all pages of a competition share: their look, their menu, and the stores of its seasons."""

import json
import re
import time
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import trio
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.host.accounts import ChangeRefusedError
from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.export import PUBLIC
from arena.host.guarded import ChangeFunction, GuardedRoutes, Need, PageFunction, Visitor
from arena.host.pipeline import Pipeline
from arena.host.playing import ContinuousPlay
from arena.host.read_apart import read_apart
from arena.host.seasons import Season, current, is_whole, store_files
from arena.host.submissions import IS_PLAYING
from arena.host.webhooks import Deliveries
from arena.league.readers import HOST
from arena.report.shown import SeenBy
from arena.report.site.page_frame import Site
from arena.report.site.pages import SiteContents
from arena.report.site.site_contents import SitePlan
from arena.report.standings import Line
from arena.sandbox.levels import Level
from arena.system.printable import shown
from arena.web.feed import Viewers
from arena.web.guard import NOT_FOUND, Asset, Complain, PageLook, RequestRefused
from arena.web.live_games import LiveGames
from arena.web.store_pages import NOT_READ, ServedStore, StoreReader
from arena.web.store_server import FOOTER, LIVE

FOLDER = str(Path(__file__).parent / "templates")
MENU = (
    ("Front page", "index.html"),
    ("Ladder", "ladder"),
    ("Now playing", "now.html"),
    ("Bots", "bots"),
    ("Seasons", "seasons"),
    ("Rules", "rules"),
    ("Submit", "submit"),
)
READ_SECONDS = 5.0
ROWS = 100
LAST = 10**15 - 1
NUMBER = re.compile(r"\d{1,15}", re.ASCII)
T = TypeVar("T")


def when(seconds: float | None) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds)) if seconds else ""


def number_in(text: str, what: str) -> int:
    if not NUMBER.fullmatch(text):
        raise ChangeRefusedError(f"{what}: expected a whole number, got {shown(text)}. Correct the form.")
    return int(text)


def go_to(path: str) -> Response:
    return RedirectResponse(path, 303, {"Cache-Control": "no-store"})


class SitePages:
    def __init__(self, site: "CupSite") -> None:
        self.site, self.database = site, site.database


class CupSite:
    """The parts of a competition, and what its pages have in common. `show` keeps those of its seasons up to date."""

    def __init__(self, folder: Path, cup: Cup, database: CupDatabase, level: Level, complain: Complain) -> None:
        self.folder, self.cup, self.database, self.complain = folder, cup, database, complain
        self.viewers = Viewers()
        self.look = PageLook(Site(cup.title, MENU, FOOTER, folders=(FOLDER,)))
        self.live = LiveGames(self.viewers, self.look, SeenBy.PUBLIC)
        self.deliveries = Deliveries(database, cup)
        self.playing = ContinuousPlay(folder, cup, database, level, live=self.live, complain=complain)
        self.pipeline = Pipeline(folder, cup, database, changed=self.wake, complain=complain)
        self.doors = GuardedRoutes(folder, cup, database)
        self._served: dict[tuple[str, bool], ServedStore] = {}
        self._kept: dict[str, Asset] = {}
        self._kept_of: object = None
        self._nursery: trio.Nursery | None = None
        self._one_at_once = trio.Lock()

    def wake(self) -> None:
        self.playing.wake()
        self.deliveries.wake()
        self.pipeline.wake()

    async def show(self) -> None:
        async with trio.open_nursery() as self._nursery:
            await trio.sleep_forever()

    async def compute(self, function: Callable[[], T]) -> T:
        """Call what may take long in a thread, one such call at once."""
        async with self._one_at_once:
            return await trio.to_thread.run_sync(function)

    def answer(self, request: Request, visitor: Visitor, template: str, **values: object) -> Response:
        """Answer with a page. The front page changes with the ladder."""
        here = request.url.path.removeprefix("/") or "index.html"
        own = [("Team", "team"), ("Account", "account")] if visitor.account else [("Sign in", "sign-in")]
        if visitor.is_host:
            own.append(("Host", "host"))
        site = msgspec.structs.replace(self.look.site, menu=(*MENU, *own))
        if here == "index.html" and (served := self.served(self.ladder)):
            site = msgspec.structs.replace(site, head=LIVE, state=served.reader.state.version)
        refused = getattr(request.state, "refused", "")
        values |= {"refused": refused, "fields": request.state.fields if refused else {}}
        page = self.look.page(template, here, site=site, competition=self, visitor=visitor, when=when, **values)
        return HTMLResponse(page, 409 if refused else 200)

    def kept(self, path: str, show: PageFunction, *, is_same: bool = False) -> Route:
        """Return the route of a page that is kept until it changes: for visitors without an account, or for all."""

        async def answer(request: Request, visitor: Visitor) -> Response:
            await self.read(self.ladder)
            if not is_same and (visitor.account or request.url.query):
                return await show(request, visitor)
            if self._kept_of != (state := self._state()):
                self._kept, self._kept_of = {}, state
            kept = self._kept
            if path not in kept:
                made = await show(request, visitor)
                kept[path] = Asset.of(bytes(made.body), made.headers["content-type"])
            return kept[path].answer(request)

        return self.doors.page(path, answer)

    def _state(self) -> object:
        """Return what changes with all that kept pages show. Games are counted when the ladder is read again."""
        versions = [served.reader.state.version for served in self._served.values()]
        return self.database.revision, self.playing.now, self.leagues(current(self.database)), versions

    def link(self, request: Request, visitor: Visitor, title: str, word: str) -> Response:
        return self.answer(request, visitor, "secret.html", title=title, secret=f"{self.cup.address}/join/{word}")

    def form(self, path: str, show: PageFunction, change: ChangeFunction, need: Need, **more: bool) -> list[Route]:
        """Return the routes of a page with forms, which shows a refused one again with the reason."""
        return [self.doors.page(path, show, need), self.doors.change(path, change, need, again=show, **more)]

    def rows_before(self, request: Request, sql: str, *values: object) -> list[Any]:
        """Return the rows of a query for a page: the last ones, or those below a number in the address."""
        before = number_in(request.query_params.get("before") or str(LAST), "before")
        return self.database.rows(
            dict, f"select * from ({sql}) where id < ? order by id desc limit {ROWS}", *values, before
        )

    def teams_of(self, lines: Sequence[Line]) -> dict[str, str]:
        sql = (
            "select player, team.name as team from submission join team on team.id = team "
            f"where player in (select value from json_each(?)) order by {IS_PLAYING}, submission.id"
        )
        return {
            one["player"]: one["team"]
            for one in self.database.rows(dict, sql, json.dumps([line.digest for line in lines]))
        }

    @property
    def ladder(self) -> str:
        return f"season-{current(self.database).number}"

    def leagues(self, season: Season) -> list[str]:
        return [path.stem for path in store_files(self.folder, season.number)]

    def league(self, name: str) -> tuple[Path, Season] | None:
        """Return the store of a league by its name in paths; None without one."""
        number = name.partition("-")[2]
        season = self.database.row(Season, "select * from season where cast(number as text) = ?", number)
        if season is None:
            return None
        return next(((path, season) for path in store_files(self.folder, season.number) if path.stem == name), None)

    def served(self, name: str) -> ServedStore | None:
        found = self.league(name) if not name.startswith("challenges") else None
        if found is None or self._nursery is None:
            return None
        path, season = found
        key = name, is_whole(self.cup, season)
        if key not in self._served:
            self._served[key] = self._serve(name, path, season, is_whole=key[1])
            self._nursery.start_soon(self._served[key].run)
        return self._served[key]

    def _serve(self, name: str, path: Path, season: Season, *, is_whole: bool) -> ServedStore:
        title = f"{self.cup.title}: {'final of ' if name.startswith('final') else ''}season {season.number}"
        plan = SitePlan(HOST if is_whole else PUBLIC, title=title, dialogues=False, has_logs=False)

        def dress(site: Site, version: str) -> Site:
            *own, rules = site.menu
            above = [
                (name, f"../{href}") for name, href in (*MENU, ("Team", "team")) if name not in ("Ladder", "Rules")
            ]
            return Site(site.title, (above[0], *own, *above[1:], rules), FOOTER, self.look.site.folders, LIVE, version)

        def tell() -> None:
            if name == self.ladder:
                self.live.read(reader.state.numbers)

        reader = StoreReader(path, plan, dress, self.complain, read_apart)
        return ServedStore(name, f"/{name}", reader, self.viewers, None, tell=tell)

    def contents(self, name: str) -> SiteContents | None:
        served = self.served(name)
        return served.reader.state.contents if served else None

    async def read(self, name: str) -> SiteContents | None:
        """Return the contents of a league; after a start, wait until they have been read."""
        if served := self.served(name):
            with trio.move_on_after(READ_SECONDS):
                await served.reader.is_read.wait()
        return self.contents(name)

    @property
    def ranked(self) -> Sequence[Line]:
        """The lines of the present ladder by Elo: points depend on opponents, which are not the same for all."""
        contents = self.contents(self.ladder)
        lines = contents.table.lines if contents else ()
        return sorted(lines, key=lambda line: -inf if line.elo is None else line.elo, reverse=True)

    def lines(self) -> dict[tuple[str, str], Line]:
        contents, by_name = self.contents(self.ladder), {line.name: line for line in self.ranked}
        names = contents.roster.names.items() if contents else ()
        return {(player.name, player.digest): by_name[name] for player, name in names if name in by_name}

    async def season_page(self, request: Request, visitor: Visitor) -> Any:
        """Answer with a page of a league, or with the events of the present ladder."""
        name, page = request.path_params.get("league", self.ladder), request.path_params.get("name", "events")
        served = self.served(name)
        if served is None:
            raise RequestRefused(200, NOT_READ) if name == self.ladder else RequestRefused(404, NOT_FOUND)
        return served.feed if page == "events" else await served.answer(request, page or "index.html")
