"""What programs read of a competition: JSON with ETags, an Atom feed, its health, and numbers for Prometheus."""

import shutil
import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute

from arena.host.accounts import Actor, ChangeRefusedError
from arena.host.challenges import waiting
from arena.host.cup_database import CupDatabase
from arena.host.cup_site import SitePages
from arena.host.guarded import Visitor
from arena.host.seasons import Season, current, seasons
from arena.system.printable import printable
from arena.web.store_pages import TYPES

ENTRIES = 50
LISTED = 500
LONGEST_ANNOUNCEMENT = 4000
ATOM = "application/atom+xml; charset=utf-8"
PUBLIC_BOTS = (
    "select submission.id, bot, team.name as team, digest, submission.state, games, player, "
    "coalesce(ended, changed) as since from submission join team on team.id = team "
    "left join stage on submission = submission.id and stage.name = 'trial' "
    "where (stage.state = 'done' or player <> '') and submission.state <> 'failed'"
)
NEWS = f"""
select *, strftime('%Y-%m-%dT%H:%M:%SZ', time, 'unixepoch') as date from (select * from (
  select 'event-' || id as key, case when action = 'new leader' then json_extract(detail, '$.text') else action end
    || ' (season ' || json_extract(detail, '$.season') || ')' as title, time, '' as text
    from audit where action like 'season %' or action = 'new leader' order by id desc limit ?1)
  union all select * from (
  select 'announcement-' || id, substr(text, 1, instr(text || char(10), char(10)) - 1), created, text
    from announcement order by id desc limit ?1)
  union all select * from (
  select 'submission-' || id, bot || ' of ' || team || ': a new version is in the ladder', since, ''
    from ({PUBLIC_BOTS}) order by id desc limit ?1))
order by time desc limit ?1
"""


def announcements(database: CupDatabase, most: int = ENTRIES) -> list[dict[str, Any]]:
    return database.rows(dict, "select * from announcement order by id desc limit ?", most)


def announce_to_all(database: CupDatabase, actor: Actor, text: str) -> None:
    text = printable(text.strip(), LONGEST_ANNOUNCEMENT, lines=True)
    if not text:
        raise ChangeRefusedError("text: expected some words, got none")
    with database.change():
        number = database.insert("announcement", text=text, created=time.time())
        database.note("announced", {"announcement": number, "text": text}, actor.account, actor.address)


def public_season(season: Season) -> dict[str, object]:
    return {**msgspec.structs.asdict(season), "seed": season.public_seed}


class Feeds(SitePages):
    def routes(self) -> list[BaseRoute]:
        names = ("cup", "ladder", "matchups", "bots", "seasons", "games", "news")
        kept = {"/feed.atom": self._atom, **{f"/api/{name}": self._api for name in names}}
        routes = [self.site.kept(path, function, is_same=True) for path, function in kept.items()]
        page = self.site.doors.page
        return [page("/health", self._health), page("/metrics", self._metrics), *routes]

    async def _atom(self, request: Request, visitor: Visitor) -> Response:
        entries = self.database.rows(dict, NEWS, ENTRIES)
        text = self.site.look.page("feed.atom", "feed.atom", cup=self.site.cup, entries=entries)
        return Response(text, media_type=ATOM)

    async def _api(self, request: Request, visitor: Visitor) -> Response:
        value = self._value(request.url.path.rpartition("/")[2])
        return Response(msgspec.json.encode(value), media_type=TYPES["json"])

    def _value(self, name: str) -> object:
        site, cup, database = self.site, self.site.cup, self.database
        match name:
            case "cup":
                season = public_season(current(database))
                return {"title": cup.title, "play": cup.play, "submissions": cup.submissions, "season": season}
            case "bots":
                return database.rows(dict, f"{PUBLIC_BOTS} order by submission.id desc limit ?", LISTED)
            case "seasons":
                return [public_season(one) for one in seasons(database)]
            case "news":
                return announcements(database)
        contents, of_season = site.contents(site.ladder), {"season": site.ladder}
        if contents is None:
            return of_season
        if name == "ladder":
            ranked = site.ranked
            teams = site.teams_of(ranked)
            lines = [{**msgspec.to_builtins(one), "team": teams.get(one.digest, "")} for one in ranked]
            return of_season | {"lines": lines}
        names, table = contents.league.order, contents.table.crosstable
        if name == "matchups":
            rows = {one: {other: (met.points, met.games) for other, met in table.row(one).items()} for one in names}
            return of_season | {"columns": ("points", "games"), "bots": rows}
        columns = ("number", "red", "blue", "result", "reason", "plies", "started")
        games = [[getattr(game, column) for column in columns] for game in contents.league.games[: -LISTED - 1 : -1]]
        return of_season | {"bots": names, "columns": columns, "games": games}

    async def _health(self, request: Request, visitor: Visitor) -> Response:
        is_playing, is_building = not self.site.playing.problem, not self.site.pipeline.trouble
        status = 200 if is_playing and is_building else 503
        return JSONResponse({"is_playing": is_playing, "is_building": is_building}, status)

    async def _metrics(self, request: Request, visitor: Visitor) -> Response:
        values = {
            "states": self.database.rows(dict, "select state, count(*) as number from submission group by state"),
            "season": current(self.database),
            "challenges": waiting(self.database),
            "disk": shutil.disk_usage(self.site.folder),
            "competition": self.site,
        }
        return PlainTextResponse(self.site.look.page("metrics.txt", "metrics", **values))
