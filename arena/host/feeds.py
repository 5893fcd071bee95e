"""What programs read of a competition: JSON with ETags, an Atom feed, its health, and numbers for Prometheus."""

import os
import shutil
import time
from collections import Counter
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute

from arena.host.accounts import Actor, ChangeRefusedError, require_host
from arena.host.cup_site import CupSite
from arena.host.database import Database
from arena.host.guarded import Visitor
from arena.host.seasons import Season, current, seasons
from arena.host.submissions import SubmissionState
from arena.system.printable import printable
from arena.web.guard import Asset
from arena.web.server import Application

ENTRIES = 50
GAMES_LISTED = 500
LONGEST_ANNOUNCEMENT = 4000
ATOM = "application/atom+xml; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"


class Announcement(msgspec.Struct, frozen=True):
    id: int
    text: str
    created: float


class Entry(msgspec.Struct, frozen=True):
    """An entry of the feed; `key` never changes."""

    key: str
    title: str
    time: float
    text: str = ""


class PublicSeason(msgspec.Struct, frozen=True):
    """A season without its secret: the seed is empty until it is finished."""

    number: int
    state: str
    seed_hash: str
    seed: str
    opened: float
    finished: float | None


def announcements(database: Database, most: int = ENTRIES) -> list[Announcement]:
    return database.rows(Announcement, "select * from announcement order by id desc limit ?", most)


def announce_to_all(database: Database, actor: Actor, text: str) -> None:
    text = printable(text.strip(), LONGEST_ANNOUNCEMENT, lines=True)
    if not text:
        raise ChangeRefusedError("text: expected some words, got none")
    with database.change():
        require_host(database, actor)
        number = database.insert("announcement", text=text, created=time.time())
        database.note("announced", {"announcement": number, "text": text}, actor.account, actor.address)


def _season(season: Season) -> PublicSeason:
    return PublicSeason(
        season.number, season.state.value, season.seed_hash, season.public_seed, season.opened, season.finished
    )


def feed_entries(site: CupSite) -> list[Entry]:
    """Return what has happened, the last first: announcements, versions, seasons and leaders."""
    database = site.database
    found = [
        Entry(f"announcement-{one.id}", one.text.partition("\n")[0][:120], one.created, one.text)
        for one in announcements(database)
    ]
    found += [
        Entry(f"submission-{one.id}", f"{one.bot} of {one.team}: a new version is in the ladder", one.since)
        for one in site.public_bots()[:ENTRIES]
    ]
    words = "case when action = 'new leader' then json_extract(detail, '$.text') else action end"
    sql = (
        f"select 'event-' || id as key, {words} || ' (season ' || json_extract(detail, '$.season') || ')' as title, "
        "time from audit where action like 'season %' or action = 'new leader' order by id desc limit ?"
    )
    found += database.rows(Entry, sql, ENTRIES)
    return sorted(found, key=lambda entry: -entry.time)[:ENTRIES]


def atom(site: CupSite) -> bytes:
    address, entries = site.cup.address, feed_entries(site)
    feed = Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _text(feed, "title", site.cup.title)
    _text(feed, "id", f"{address}/feed.atom")
    SubElement(feed, "link", rel="self", href=f"{address}/feed.atom")
    SubElement(feed, "link", href=f"{address}/")
    _text(feed, "updated", _date(entries[0].time if entries else current(site.database).opened))
    _text(SubElement(feed, "author"), "name", site.cup.title)
    for entry in entries:
        one = SubElement(feed, "entry")
        _text(one, "title", entry.title)
        _text(one, "id", f"{address}/feed.atom#{entry.key}")
        SubElement(one, "link", href=f"{address}/")
        _text(one, "updated", _date(entry.time))
        _text(one, "content", entry.text or entry.title)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + tostring(feed)


def _text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = printable(text, lines=True)


def _date(seconds: float) -> str:
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
        return [
            page("/feed.atom", self._atom),
            page("/health", self._health),
            page("/metrics", self._metrics),
            *(page(f"/api/{name}", self._api) for name in ("cup", "ladder", "bots", "seasons", "games", "news")),
        ]

    async def _atom(self, request: Request, visitor: Visitor) -> Response:
        return Asset.of(atom(self.site), ATOM).answer(request)

    async def _api(self, request: Request, visitor: Visitor) -> Response:
        site = self.site
        match request.url.path.rpartition("/")[2]:
            case "cup":
                cup, season = site.cup, _season(current(site.database))
                value: object = {"title": cup.title, "play": cup.play, "submissions": cup.submissions, "season": season}
            case "ladder":
                contents, teams = site.contents(site.ladder), {one.player: one.team for one in site.public_bots()}
                lines = [
                    {**msgspec.to_builtins(line), "team": teams.get(line.digest, ""), "declared": None, "author": None}
                    for line in (contents.table.lines if contents else ())
                ]
                value = {"season": site.ladder, "games": contents.table.games if contents else 0, "lines": lines}
            case "bots":
                value = site.public_bots()
            case "seasons":
                value = [_season(one) for one in seasons(site.database)]
            case "games":
                value = self._games()
            case _:
                value = announcements(site.database)
        return site.json(request, value)

    def _games(self) -> dict[str, object]:
        contents = self.site.contents(self.site.ladder)
        league = contents.league if contents else None
        games = [
            {
                "number": game.number,
                "red": league.order[game.red],
                "blue": league.order[game.blue],
                "result": game.result,
                "reason": game.reason,
                "plies": game.plies,
                "started": game.started,
            }
            for game in (league.games[: -GAMES_LISTED - 1 : -1] if league else ())
            if league
        ]
        return {"season": self.site.ladder, "games": games}

    async def _health(self, request: Request, visitor: Visitor) -> Response:
        problems = [text for text in (self.site.playing.problem, self.site.pipeline.trouble) if text]
        state = {
            "ok": not problems,
            "playing": not self.site.playing.problem,
            "building": not self.site.pipeline.trouble,
        }
        return JSONResponse(state, 503 if problems else 200)

    async def _metrics(self, request: Request, visitor: Visitor) -> Response:
        site, database = self.site, self.site.database
        usage = shutil.disk_usage(site.folder)
        states = dict.fromkeys((state.value for state in SubmissionState), 0)
        for state in database.column("select state from submission"):
            states[state] += 1
        lines = [f'arena_submissions{{state="{state}"}} {number}' for state, number in states.items()]
        answers = self.requests.answers if self.requests else Counter[int]()
        lines += [f'arena_requests_total{{status="{status}"}} {number}' for status, number in sorted(answers.items())]
        values = {
            "arena_request_seconds_total": self.requests.seconds if self.requests else 0,
            "arena_season": current(database).number,
            "arena_games_of_season": current(database).counted,
            "arena_games_per_hour": site.playing.games_per_hour,
            "arena_running_games": sum(not game.end for game in site.live.games.values()),
            "arena_challenges_waiting": database.value("select count(*) from challenge where state = 'waiting'"),
            "arena_deliveries_waiting": database.value("select count(*) from delivery where done is null"),
            "arena_viewers": site.viewers.count,
            "arena_is_playing": int(not site.playing.problem),
            "arena_disk_free_bytes": usage.free,
            "arena_disk_bytes": usage.total,
            "arena_load": os.getloadavg()[0],
        }
        lines += [f"{name} {value:g}" for name, value in values.items()]
        return PlainTextResponse("\n".join(lines) + "\n", media_type=METRICS)
