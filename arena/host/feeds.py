"""What programs read of a competition: JSON with ETags, an Atom feed, its health, and numbers for Prometheus."""

import shutil
import time
from collections import Counter
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute

from arena.host.accounts import Actor, ChangeRefusedError, require_host
from arena.host.challenges import waiting
from arena.host.cup_database import CupDatabase
from arena.host.cup_site import CupSite
from arena.host.guarded import Visitor
from arena.host.seasons import Season, current, seasons
from arena.host.submissions import SubmissionState
from arena.system.printable import printable
from arena.web.guard import Asset
from arena.web.server import Application
from arena.web.store_pages import TYPES

ENTRIES = 50
GAMES_LISTED = 500
LONGEST_ANNOUNCEMENT, LONGEST_TITLE = 4000, 120
ATOM = "application/atom+xml; charset=utf-8"
EVENTS = """
select 'event-' || id as key, case when action = 'new leader' then json_extract(detail, '$.text') else action end
  || ' (season ' || json_extract(detail, '$.season') || ')' as title, time
from audit where action like 'season %' or action = 'new leader' order by id desc limit ?
"""


class Announcement(msgspec.Struct, frozen=True):
    id: int
    text: str
    created: float


class FeedEntry(msgspec.Struct, frozen=True):
    """An entry of the Atom feed; its `key` never changes."""

    key: str
    title: str
    time: float
    text: str = ""


def announcements(database: CupDatabase, most: int = ENTRIES) -> list[Announcement]:
    return database.rows(Announcement, "select * from announcement order by id desc limit ?", most)


def announce_to_all(database: CupDatabase, actor: Actor, text: str) -> None:
    text = printable(text.strip(), LONGEST_ANNOUNCEMENT, lines=True)
    if not text:
        raise ChangeRefusedError("text: expected some words, got none")
    with database.change():
        require_host(database, actor)
        number = database.insert("announcement", text=text, created=time.time())
        database.note("announced", {"announcement": number, "text": text}, actor.account, actor.address)


def public_season(season: Season) -> dict[str, object]:
    return {**msgspec.structs.asdict(season), "state": season.state, "seed": season.public_seed}


def feed_entries(site: CupSite) -> list[FeedEntry]:
    """Return what has happened, the last first: announcements, versions, seasons and leaders."""
    found = site.database.rows(FeedEntry, EVENTS, ENTRIES)
    for one in announcements(site.database):
        title = one.text.partition("\n")[0][:LONGEST_TITLE]
        found.append(FeedEntry(f"announcement-{one.id}", title, one.created, one.text))
    for bot in site.public_bots(ENTRIES):
        title = f"{bot.bot} of {bot.team}: a new version is in the ladder"
        found.append(FeedEntry(f"submission-{bot.id}", title, bot.since))
    return sorted(found, key=lambda entry: -entry.time)[:ENTRIES]


def atom_date(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class CountedRequests:
    """An application of which the answers are counted by status."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self.answers: Counter[int] = Counter()
        self.seconds = 0.0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        begun = time.monotonic()

        async def send_counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.answers[message["status"]] += 1
                self.seconds += time.monotonic() - begun
            await send(message)

        await self._application(scope, receive, send_counted)


class Feeds:
    """The routes; `requests` are counted once the application is there."""

    def __init__(self, site: CupSite) -> None:
        self.site = site
        self.requests: CountedRequests | None = None

    def routes(self) -> list[BaseRoute]:
        page = self.site.doors.page
        pages = {"/feed.atom": self._atom, "/health": self._health, "/metrics": self._metrics}
        pages |= {f"/api/{name}": self._api for name in ("cup", "ladder", "bots", "seasons", "games", "news")}
        return [page(path, function) for path, function in pages.items()]

    async def _atom(self, request: Request, visitor: Visitor) -> Response:
        site, entries = self.site, feed_entries(self.site)
        updated = entries[0].time if entries else current(site.database).opened
        values = {"address": site.cup.address, "entries": entries, "updated": updated, "date": atom_date}
        return Asset.of(site.look.page("feed.atom", "feed.atom", **values).encode(), ATOM).answer(request)

    async def _api(self, request: Request, visitor: Visitor) -> Response:
        value = self._value(request.url.path.rpartition("/")[2])
        return Asset.of(msgspec.json.encode(value), TYPES["json"]).answer(request)

    def _value(self, name: str) -> object:
        site, cup = self.site, self.site.cup
        contents = site.contents(site.ladder)
        match name:
            case "cup":
                season = public_season(current(site.database))
                return {"title": cup.title, "play": cup.play, "submissions": cup.submissions, "season": season}
            case "bots":
                return site.public_bots()
            case "seasons":
                return [public_season(one) for one in seasons(site.database)]
            case "news":
                return announcements(site.database)
            case "ladder":
                teams = site.teams_by_player()
                lines = contents.table.lines if contents else ()
                named = [{**msgspec.to_builtins(line), "team": teams.get(line.digest, "")} for line in lines]
                return {"season": site.ladder, "lines": named}
        league = contents.league if contents else None
        games = [
            (game.number, game.red, game.blue, game.result, game.reason, game.plies, game.started)
            for game in (league.games[: -GAMES_LISTED - 1 : -1] if league else ())
        ]
        columns = ("number", "red", "blue", "result", "reason", "plies", "started")
        return {"season": site.ladder, "bots": league.order if league else (), "columns": columns, "games": games}

    async def _health(self, request: Request, visitor: Visitor) -> Response:
        is_playing, is_building = not self.site.playing.problem, not self.site.pipeline.trouble
        status = 200 if is_playing and is_building else 503
        return JSONResponse({"is_playing": is_playing, "is_building": is_building}, status)

    async def _metrics(self, request: Request, visitor: Visitor) -> Response:
        site, requests = self.site, self.requests
        counts = Counter(site.database.column("select state from submission"))
        text = site.look.page(
            "metrics.txt",
            "metrics",
            site_of=site,
            states=[(state.value, counts[state.value]) for state in SubmissionState],
            answers=sorted(requests.answers.items()) if requests else (),
            seconds=requests.seconds if requests else 0.0,
            season=current(site.database),
            challenges=waiting(site.database),
            disk=shutil.disk_usage(site.folder),
        )
        return PlainTextResponse(text)
