"""Pages of the hosts: what runs, the season's next step, teams and accounts, bots, the audit log, unlikely results."""

import math
import shutil
from typing import NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

import arena.host.accounts as who
import arena.host.seasons as stage
import arena.host.submissions as sent
from arena.errors import ArenaError
from arena.host.challenges import waiting
from arena.host.cup_site import CupSite, go_to, number_in
from arena.host.feeds import announce_to_all
from arena.host.guarded import Need, Visitor
from arena.host.seasons import SeasonState
from arena.league.league_options import FormatName, FormatOptions
from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.ratings.strengths import moments
from arena.report.site.pages import SiteContents
from arena.web.guard import RequestRefused
from protocol.seats import Color

Form = dict[str, str]
AUDIT_ROWS = 100
LEAST_GAMES = 10
MOST_PAIRS = 200
LAST = 10**15 - 1
SUBMISSIONS_LISTED = 500
FORMATS = tuple(name for name in FormatName if name is not FormatName.GAUNTLET)
MOST_CONFIDENT = 0.999  # a draw share of 1 would make the scale 0


class AuditRow(msgspec.Struct, frozen=True):
    id: int
    time: float
    name: str | None
    address: str
    action: str
    detail: str


class UnlikelyPair(NamedTuple):
    """Two bots, the points of the first, and what the ratings predict. `by_chance` are such pairs among all of them."""

    bots: tuple[str, str]
    teams: tuple[str, str]
    games: int
    points: float
    expected: float
    deviations: float
    by_chance: float


def unlikely_pairs(contents: SiteContents, teams: dict[str, str]) -> list[UnlikelyPair]:
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
    pages, doors = HostPages(site), site.doors
    read = {"": pages.overview, "/season": pages.season, "/teams": pages.teams, "/bots": pages.bots}
    read |= {"/audit": pages.audit, "/pairs": pages.pairs}
    changes = {"": pages.change, "/season": pages.change_season, "/teams": pages.change_team}
    return [
        *(doors.page(f"/host{path}", function, Need.HOST) for path, function in read.items()),
        *(doors.change(f"/host{path}", function, Need.HOST) for path, function in changes.items()),
    ]


class HostPages:
    def __init__(self, site: CupSite) -> None:
        self.site, self.database = site, site.database

    async def overview(self, request: Request, visitor: Visitor) -> Response:
        site, usage = self.site, shutil.disk_usage(self.site.folder)
        return site.answer(
            request,
            visitor,
            "host.html",
            season=stage.current(self.database),
            playing=site.playing,
            pipeline=site.pipeline,
            queue=[
                (one, sent.why_waiting(self.database, site.cup, one, site.pipeline.trouble))
                for one in sent.queue(self.database)
            ],
            parked=sent.in_states(self.database, (sent.SubmissionState.PARKED,)),
            teams=self._teams(),
            now=site.now,
            free=usage.free / usage.total,
            free_gib=usage.free / (1 << 30),
            waiting=waiting(self.database),
            failed=self.database.value("select count(*) from delivery where error <> '' and attempts > 1"),
        )

    def _teams(self) -> dict[int, str]:
        return {team.id: team.name for team in who.teams(self.database)}

    async def change(self, request: Request, visitor: Visitor, form: Form) -> Response:
        """Announce, or make an invitation."""
        match form.get("do"):
            case "announce":
                announce_to_all(self.database, visitor.actor, form.get("text", ""))
            case "invite":
                word = who.invite(self.database, visitor.actor, is_host=form.get("host") == "yes")
                return self._secret(request, visitor, "Invitation", word)
        return go_to("/host")

    def _secret(self, request: Request, visitor: Visitor, title: str, word: str) -> Response:
        link = f"{self.site.cup.address}/join/{word}"
        return self.site.answer(request, visitor, "secret.html", title=title, secret=link)

    # --- the season ---------------------------------------------------------------------------------------------------

    async def season(self, request: Request, visitor: Visitor) -> Response:
        season, bots = stage.current(self.database), sent.playing(self.database)
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
                    stage.begin_final(database, cup, self._format(form), self._order(), actor)
                case "open" if stage.current(database).state is SeasonState.FINISHED:
                    stage.open_season(database, cup, actor)
                case _:
                    raise RequestRefused(409, "The season is in another state than this page said: load it again.")
        except ArenaError as error:
            raise who.ChangeRefusedError(str(error)) from error
        self.site.wake()
        return go_to("/host/season")

    def _format(self, form: Form) -> FormatOptions:
        name = next((one for one in FORMATS if one.value == form.get("format")), FormatName.ROUND_ROBIN)
        rounds = number_in(form["rounds"], "rounds") if form.get("rounds") and name is FormatName.SWISS else None
        best_of = number_in(form["best_of"], "best of") if form.get("best_of") and name is FormatName.KNOCKOUT else None
        return FormatOptions(name, rounds=rounds, best_of=best_of)

    def _order(self) -> list[str]:
        """Return the digests of the ladder's players, the best first, which seed a final."""
        contents = self.site.contents(self.site.ladder)
        return [line.digest for line in contents.table.lines] if contents else []

    # --- teams, accounts and bots -------------------------------------------------------------------------------------

    async def teams(self, request: Request, visitor: Visitor) -> Response:
        database, cup = self.database, self.site.cup
        teams = [
            (team, who.members(database, team.id), sent.quota_of(database, cup, team.id))
            for team in who.teams(database)
        ]
        accounts = [(one, who.tokens_of(database, one.id)) for one in who.accounts(database)]
        return self.site.answer(request, visitor, "host_teams.html", teams=teams, accounts=accounts)

    async def change_team(self, request: Request, visitor: Visitor, form: Form) -> Response:
        database, actor, number = self.database, visitor.actor, number_in(form.get("id", ""), "id")
        match form.get("do"):
            case "quota":
                quota = {name: number_in(form[name], name) if form.get(name) else None for name in ("a_day", "active")}
                sent.set_quota(database, actor, number, **quota)
            case "disable" | "enable" as do:
                reason = form.get("reason", "")
                who.set_disabled(database, actor, number, reason, is_disabled=do == "disable")
            case "revoke":
                who.revoke_token(database, actor, number)
            case "remove":
                who.remove_member(database, actor, number)
            case "link":
                word = who.make_link(database, actor, number)
                return self._secret(
                    request, visitor, f"Link to sign in for {who.get_account(database, number).name}", word
                )
        return go_to("/host/teams")

    async def bots(self, request: Request, visitor: Visitor) -> Response:
        sql = "select * from submission order by id desc limit ?"
        found = self.database.rows(sent.Submission, sql, SUBMISSIONS_LISTED)
        return self.site.answer(request, visitor, "host_bots.html", submissions=found, teams=self._teams())

    async def audit(self, request: Request, visitor: Visitor) -> Response:
        before = number_in(request.query_params.get("before") or str(LAST), "before")
        sql = (
            "select audit.id, time, name, address, action, detail from audit left join account on account.id = account "
            "where audit.id < ? order by audit.id desc limit ?"
        )
        rows = self.database.rows(AuditRow, sql, before, AUDIT_ROWS)
        return self.site.answer(request, visitor, "audit.html", rows=rows, has_more=len(rows) == AUDIT_ROWS)

    async def pairs(self, request: Request, visitor: Visitor) -> Response:
        contents, teams = self.site.contents(self.site.ladder), self.site.teams_by_player()
        found = await self.site.compute(lambda: unlikely_pairs(contents, teams)) if contents else []
        return self.site.answer(request, visitor, "pairs.html", pairs=found, least=LEAST_GAMES)
