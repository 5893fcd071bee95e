"""Pages of the hosts: what runs, the season's next step, accounts, links, bots, the audit log, unlikely results."""

import json
import math
import shutil
from collections.abc import Mapping
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

import arena.host.accounts as who
import arena.host.seasons as stage
import arena.host.submissions as sent
from arena.errors import ArenaError
from arena.host.challenges import waiting
from arena.host.cup_site import ROWS, CupSite, SitePages, go_to, number_in
from arena.host.feeds import announce_to_all
from arena.host.guarded import Form, Need, Visitor
from arena.host.seasons import SeasonState
from arena.league.league_options import FormatName, FormatOptions
from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.ratings.strengths import moments
from arena.report.site.pages import SiteContents
from protocol.seats import Color

LEAST_GAMES = 10
MOST_PAIRS = 200
FORMATS = tuple(name for name in FormatName if name is not FormatName.GAUNTLET)
MOST_CONFIDENT = 0.999  # a draw share of 1 would make the scale 0
ACCOUNTS = (
    "select account.*, coalesce(team.name, '') as team from account left join member on account = account.id "
    "left join team on team.id = team where instr(lower(account.name || ' ' || coalesce(team.name, '')), lower(?))"
)
SUBMISSIONS = "select submission.*, team.name as team_name from submission join team on team.id = team"
AUDIT = "select audit.id, time, name, address, action, detail from audit left join account on account.id = account"


class UnlikelyPair(NamedTuple):
    """Two bots, the points of the first, and what the ratings predict. `by_chance` are such pairs among all of them."""

    bots: tuple[str, str]
    teams: tuple[str, str]
    games: int
    points: float
    expected: float
    deviations: float
    by_chance: float


def unlikely_pairs(contents: SiteContents, teams: Mapping[str, str]) -> list[UnlikelyPair]:
    """Return the pairs whose results differ most from what the Elo of all games predicts, the least likely first."""
    table, met = contents.table, contents.league.met
    scale = ELO_PER_LOGIT * (1 - min(table.draw_share or 0.0, MOST_CONFIDENT))
    share = 1 - scale / ELO_PER_LOGIT
    tie, first = 2 * share / (1 - share), (table.advantage.elo if table.advantage else 0.0) / scale
    found, lines = [], [line for line in table.lines if line.elo is not None]
    pairs = [(one, two) for n, one in enumerate(lines) for two in lines[n + 1 :] if two.name in met[one.name]]
    for one, two in pairs:
        games, points, expected, variance = 0, 0.0, 0.0, 0.0
        for color, outcomes in met[one.name][two.name].items():
            played = outcomes.total()
            lead = ((one.elo or 0.0) - (two.elo or 0.0)) / scale + (first if color is Color.RED else -first)
            usual = moments(lead, tie)
            games, points = games + played, points + outcomes["W"] + outcomes["D"] / 2
            expected, variance = expected + played * usual.score, variance + played * usual.variance
        if games >= LEAST_GAMES and variance > 0:
            deviations = (points - expected) / math.sqrt(variance)
            chance = math.erfc(abs(deviations) / math.sqrt(2)) * len(pairs)
            named = (teams.get(one.digest, ""), teams.get(two.digest, ""))
            found.append(UnlikelyPair((one.name, two.name), named, games, points, expected, deviations, chance))
    return sorted(found, key=lambda pair: pair.by_chance)[:MOST_PAIRS]


def host_routes(site: CupSite) -> list[BaseRoute]:
    pages = HostPages(site)
    read = {"accounts": pages.accounts, "bots": pages.bots, "audit": pages.audit, "pairs": pages.pairs}
    return [
        *(site.doors.page(f"/host/{name}", function, Need.HOST) for name, function in read.items()),
        *site.form("/host", pages.overview, pages.announce, Need.HOST),
        *site.form("/host/season", pages.season, pages.change_season, Need.HOST),
        *site.form("/host/links", pages.links, pages.change_links, Need.HOST),
        *site.form("/host/accounts/{number}", pages.account, pages.change_account, Need.HOST),
    ]


class HostPages(SitePages):
    async def overview(self, request: Request, visitor: Visitor) -> Response:
        database, usage = self.database, shutil.disk_usage(self.site.folder)
        lists = {"queue": sent.queue(database), "parked": sent.in_states(database, (sent.SubmissionState.PARKED,))}
        teams = json.dumps([one.team for found in lists.values() for one in found[:ROWS]])
        sql = "select * from team where id in (select value from json_each(?))"
        return self.site.answer(
            request,
            visitor,
            "host.html",
            season=stage.current(database),
            lists=lists,
            teams={team.id: team.name for team in database.rows(who.Team, sql, teams)},
            waiting=waiting(database),
            failed=database.value("select count(*) from delivery where error <> '' and attempts > 1"),
            disk=usage,
        )

    async def announce(self, request: Request, visitor: Visitor, form: Form) -> Response:
        announce_to_all(self.database, visitor.actor, form.get("text", ""))
        return go_to("/host")

    async def season(self, request: Request, visitor: Visitor) -> Response:
        season = stage.current(self.database)
        bots = self.database.value(f"select count(*) from submission where {sent.IS_PLAYING}")
        return self.site.answer(request, visitor, "host_season.html", season=season, bots=bots, formats=FORMATS)

    async def change_season(self, request: Request, visitor: Visitor, form: Form) -> Response:
        database, cup, actor = self.database, self.site.cup, visitor.actor
        try:
            match form.get("do"):
                case "freeze":
                    stage.freeze(database, cup, actor)
                case "thaw":
                    stage.thaw(database, cup, actor)
                case "final":
                    ranked = [line.digest for line in self.site.ranked]
                    stage.begin_final(database, cup, self._format(form), ranked, actor)
                case "open" if stage.current(database).state is SeasonState.FINISHED:
                    stage.open_season(database, cup, actor)
                case _:
                    raise who.ChangeRefusedError("the season is in another state than the page said: look again")
        except ArenaError as error:
            raise who.ChangeRefusedError(str(error)) from error
        self.site.wake()
        return go_to("/host/season")

    def _format(self, form: Form) -> FormatOptions:
        name = next((one for one in FORMATS if one.value == form.get("format")), FormatName.ROUND_ROBIN)
        rounds = number_in(form["rounds"], "rounds") if form.get("rounds") and name is FormatName.SWISS else None
        best_of = number_in(form["best_of"], "best_of") if form.get("best_of") and name is FormatName.KNOCKOUT else None
        return FormatOptions(name, rounds=rounds, best_of=best_of)

    async def accounts(self, request: Request, visitor: Visitor) -> Response:
        find = request.query_params.get("find", "")
        rows = self.site.rows_before(request, ACCOUNTS, find)
        return self.site.answer(request, visitor, "host_accounts.html", rows=rows, find=find)

    async def account(self, request: Request, visitor: Visitor) -> Response:
        database = self.database
        one = who.get_account(database, number_in(request.path_params["number"], "account"))
        team = who.team_of(database, one.id)
        return self.site.answer(
            request,
            visitor,
            "host_account.html",
            one=one,
            tokens=who.tokens_of(database, one.id),
            team=team,
            members=who.members(database, team.id) if team else (),
            quota=sent.quota_of(database, self.site.cup, team.id) if team else None,
        )

    async def change_account(self, request: Request, visitor: Visitor, form: Form) -> Response:
        database, actor = self.database, visitor.actor
        number = number_in(request.path_params["number"], "account")
        match form.get("do"):
            case "quota" if team := who.team_of(database, number):
                quota = {name: number_in(form[name], name) if form.get(name) else None for name in ("a_day", "active")}
                sent.set_quota(database, actor, team.id, **quota)
            case "disable" | "enable" as do:
                who.set_disabled(database, actor, number, form.get("reason", ""), is_disabled=do == "disable")
            case "everywhere":
                who.sign_out_everywhere(database, actor, number)
            case "revoke":
                who.revoke_token(database, actor, number_in(form.get("id", ""), "id"))
            case "remove":
                who.remove_member(database, actor, number)
            case "link":
                title = f"Link to sign in for {who.get_account(database, number).name}"
                return self.site.link(request, visitor, title, who.make_link(database, actor, number))
        return go_to(f"/host/accounts/{number}")

    async def links(self, request: Request, visitor: Visitor) -> Response:
        links = who.links(self.database, visitor.actor)
        return self.site.answer(request, visitor, "host_links.html", links=links)

    async def change_links(self, request: Request, visitor: Visitor, form: Form) -> Response:
        if form.get("do") == "revoke":
            who.revoke_link(self.database, visitor.actor, number_in(form.get("id", ""), "id"))
            return go_to("/host/links")
        word = who.invite(self.database, visitor.actor, is_host=form.get("host") == "yes")
        return self.site.link(request, visitor, "Invitation", word)

    async def bots(self, request: Request, visitor: Visitor) -> Response:
        return self.site.answer(request, visitor, "host_bots.html", rows=self.site.rows_before(request, SUBMISSIONS))

    async def audit(self, request: Request, visitor: Visitor) -> Response:
        return self.site.answer(request, visitor, "audit.html", rows=self.site.rows_before(request, AUDIT))

    async def pairs(self, request: Request, visitor: Visitor) -> Response:
        contents, teams = self.site.contents(self.site.ladder), self.site.teams_of(self.site.ranked)
        found = await self.site.compute(lambda: unlikely_pairs(contents, teams)) if contents else []
        return self.site.answer(request, visitor, "pairs.html", pairs=found, least=LEAST_GAMES)
