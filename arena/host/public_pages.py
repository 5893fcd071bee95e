"""Pages for everybody: the front page, the bots, the seasons, the rules, how to submit, and the way in."""

from functools import partial

import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

import arena.host.accounts as who
from arena.host.cup_site import CupSite, SitePages, go_to
from arena.host.feeds import PUBLIC_BOTS, announcements
from arena.host.guarded import SIGN_IN, Need, Visitor
from arena.host.own_games import own_page
from arena.host.seasons import SeasonState, current, seasons
from arena.host.team_pages import SUBMIT
from arena.league.league_options import variant_of
from arena.report.site.charts import whiskers
from arena.report.site.pages import rules_values
from arena.web.guard import static_route

LADDER_TOP = 10


def public_routes(site: CupSite) -> list[BaseRoute]:
    """Return routes that come last: those of leagues take all paths of two parts."""
    doors, pages = site.doors, PublicPages(site)

    async def ladder(request: Request, visitor: Visitor) -> Response:
        """Go to the ladder, or to the replay of a game that was watched."""
        return go_to(f"/{site.ladder}{request.url.path if 'name' in request.path_params else '/index.html'}")

    kept = {"/": pages.front, "/index.html": pages.front, "/bots": pages.bots, "/seasons": pages.seasons}
    kept |= {"/rules": pages.rules, "/submit": pages.submit}
    read = {"/events": site.season_page, "/ladder": ladder, "/games/{name}": ladder}
    return [
        *(site.kept(path, function) for path, function in kept.items()),
        *(doors.page(path, function) for path, function in read.items()),
        *site.form(SIGN_IN, pages.sign_in_form, pages.sign_in, Need.NOTHING, is_rare=True),
        *site.form("/join/{word}", pages.invitation, pages.join, Need.NOTHING, is_rare=True),
        *site.live.routes(),
        static_route("/own/{league}"),
        doors.page("/own/{league}/{name:path}", partial(own_page, site), Need.TEAM),
        static_route("/{league}"),
        doors.page("/{league}/{name:path}", site.season_page),
    ]


class PublicPages(SitePages):
    async def front(self, request: Request, visitor: Visitor) -> Response:
        site, season = self.site, current(self.database)
        lines = site.ranked[:LADDER_TOP]
        ended = season.number - (season.state is not SeasonState.FINISHED)
        contents, final = site.contents(site.ladder), await site.read(f"final-{ended}")
        finalists = final.table.lines if final else ()
        marks = whiskers([(line.elo, line.elo_low, line.elo_high) for line in lines])
        return site.answer(
            request,
            visitor,
            "front.html",
            season=season,
            ended=ended,
            final=final,
            contents=contents,
            lines=list(zip(lines, marks, strict=True)),
            teams=site.teams_of([*lines, *finalists]),
            announcements=announcements(site.database, 5),
        )

    async def bots(self, request: Request, visitor: Visitor) -> Response:
        site = self.site
        rows, contents = site.rows_before(request, PUBLIC_BOTS), site.contents(site.ladder)
        return site.answer(request, visitor, "cup_bots.html", rows=rows, lines=site.lines(), contents=contents)

    async def seasons(self, request: Request, visitor: Visitor) -> Response:
        rows = [(one, self.site.leagues(one)) for one in reversed(seasons(self.site.database))]
        return self.site.answer(request, visitor, "seasons.html", rows=rows)

    async def rules(self, request: Request, visitor: Visitor) -> Response:
        variant = await trio.to_thread.run_sync(variant_of, self.site.cup.play.options(self.site.folder))
        return self.site.answer(request, visitor, **rules_values(variant, {}))

    async def submit(self, request: Request, visitor: Visitor) -> Response:
        return self.site.answer(request, visitor, "submit.html", api=f"{self.site.cup.address}{SUBMIT}")

    async def sign_in_form(self, request: Request, visitor: Visitor) -> Response:
        return self.site.answer(request, visitor, "sign_in.html", is_open=self.site.cup.registration.by == "open")

    async def sign_in(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        name, team = form.get("name", "").strip(), form.get("team", "").strip()
        if form.get("do") == "register":
            return self._signed_in(visitor, who.register(self.database, self.site.cup, name, team, visitor.address).id)
        token = who.find_token(self.database, form.get("token", "").strip())
        if token is None:
            raise who.ChangeRefusedError("token: this one is not good. Ask your host for a link to sign in.")
        return self._signed_in(visitor, token.account, token.id)

    def _signed_in(self, visitor: Visitor, account: int, token: int | None = None) -> Response:
        is_host = who.get_account(self.database, account).is_host
        response = go_to("/team" if who.team_of(self.database, account) or not is_host else "/host")
        self.site.doors.sign_in(response, account, visitor.address, token)
        return response

    async def invitation(self, request: Request, visitor: Visitor) -> Response:
        database = self.database
        found = who.find_invitation(database, request.path_params["word"])
        team = who.get_team(database, found.team) if found.team is not None else None
        account = who.get_account(database, found.account) if found.account is not None else None
        return self.site.answer(request, visitor, "join.html", found=found, team=team, account=account)

    async def join(self, request: Request, visitor: Visitor, form: dict[str, str]) -> Response:
        database, cup, word = self.database, self.site.cup, request.path_params["word"]
        match form.get("do"):
            case "accept":
                who.accept(database, cup, visitor.actor, word)
                return go_to("/team")
            case "sign-in":
                account, token = who.sign_in_by_link(database, word, visitor.address)
                return self._signed_in(visitor, account, token)
        name, team = form.get("name", "").strip(), form.get("team", "").strip()
        return self._signed_in(visitor, who.join(database, cup, word, name, team, address=visitor.address).id)
