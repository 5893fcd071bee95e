"""Pages of a team: its submissions with their logs, its games, challenges and members, and the own account.

Submissions are sent by the form of a team, or by programs such as `arena submit`, which follow their stages.
"""

from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute

import arena.host.accounts as who
import arena.host.challenges as asked
import arena.host.submissions as sent
from arena.host.cup_site import LAST, NUMBER, CupSite, SitePages, go_to, number_in
from arena.host.guarded import Form, Need, Upload, Visitor
from arena.host.own_games import compare, own_games, players_of
from arena.host.seasons import seasons
from arena.web.guard import NOT_FOUND, RequestRefused

OPPONENTS = 500
CHALLENGES = (
    "select challenge.*, own.bot as bot, other.bot as opponent from challenge join submission own "
    "on own.id = submission join submission other on other.id = against where own.team = ?"
)
DECISIONS = {
    "withdraw": sent.SubmissionState.WITHDRAWN,
    "unpark": sent.SubmissionState.PROBATION,
    "disqualify": sent.SubmissionState.DISQUALIFIED,
}


def team_routes(site: CupSite) -> list[BaseRoute]:
    doors, pages = site.doors, TeamPages(site)
    one = "/team/submissions/{number}"
    return [
        doors.page("/team/games", pages.games, Need.TEAM),
        doors.page("/team/compare", pages.compare, Need.TEAM),
        *site.form("/team", pages.team, pages.change_team, Need.ACCOUNT),
        *site.form("/account", pages.account, pages.change_account, Need.ACCOUNT),
        *site.form(one, pages.submission, pages.change_submission, Need.ACCOUNT),
        doors.page(f"{one}/file", pages.file, Need.ACCOUNT),
        *site.form("/team/challenges", pages.challenges, pages.challenge, Need.TEAM),
    ]


class TeamPages(SitePages):
    async def team(self, request: Request, visitor: Visitor) -> Response:
        site, database, team = self.site, self.database, visitor.team
        if team is None:
            return site.answer(request, visitor, "no_team.html")
        rows = site.rows_before(request, "select * from submission where team = ?", team.id)
        submissions = msgspec.convert(rows, list[sent.Submission], strict=False)
        return site.answer(
            request,
            visitor,
            "team.html",
            rows=submissions,
            lines=site.lines(),
            why={one.id: self._why(one) for one in submissions},
            quota=sent.quota_of(database, site.cup, team.id),
            members=who.members(database, team.id),
            links=who.links(database, visitor.actor, "and team = ?", team.id),
        )

    def _why(self, submission: sent.Submission) -> str:
        """Say what a submission waits for; the player knows more of those that could play."""
        site = self.site
        words = sent.why_waiting(self.database, site.cup, submission, site.pipeline.trouble)
        more = site.playing.why_waiting(submission.id) if submission.state in sent.PLAYING else ""
        return f"{words} {more}".strip()

    def own_submission(self, request: Request, visitor: Visitor) -> sent.Submission:
        word = request.path_params["number"]
        number = int(word) if NUMBER.fullmatch(word) else 0
        found = self.database.row(sent.Submission, "select * from submission where id = ?", number)
        if found is None or not (visitor.is_host or (visitor.team and visitor.team.id == found.team)):
            raise RequestRefused(404, NOT_FOUND)
        return found

    async def submission(self, request: Request, visitor: Visitor) -> Response:
        one = self.own_submission(request, visitor)
        stages = {stage.name: stage for stage in sent.stages_of(self.database, one.id)}
        return self.site.answer(
            request,
            visitor,
            "submission.html",
            one=one,
            stages=[(name, stages.get(name)) for name in sent.StageName],
            team=who.get_team(self.database, one.team),
            sender=who.get_account(self.database, one.account),
            why=self._why(one),
            is_on_way=one.state in sent.IN_PIPELINE,
            is_running=one.state in (*sent.IN_PIPELINE, *sent.PLAYING),
            has_file=sent.received_file(self.site.folder, one.id).is_file(),
        )

    async def file(self, request: Request, visitor: Visitor) -> Response:
        one = self.own_submission(request, visitor)
        path = sent.received_file(self.site.folder, one.id)
        if not path.is_file():
            raise RequestRefused(404, "The files of this submission are not kept any more.")
        name = quote(one.sent_as.rpartition("/")[2] or one.bot)
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        return FileResponse(path, headers=headers, media_type="application/octet-stream")

    async def change_submission(self, request: Request, visitor: Visitor, form: Form) -> Response:
        one = self.own_submission(request, visitor)
        if state := DECISIONS.get(form.get("do", "")):
            reason = form.get("reason", "")
            sent.decide(self.database, self.site.cup, visitor.actor, one.id, state, reason=reason)
        self.site.wake()
        return go_to(f"/team/submissions/{one.id}")

    async def games(self, request: Request, visitor: Visitor) -> Response:
        site, query = self.site, request.query_params
        chosen = {name: query.get(name, "") for name in ("against", "only")}
        league, before = query.get("league") or site.ladder, number_in(query.get("before") or str(LAST), "before")
        store, own = site.league(league), players_of(site, visitor.own_team.id)
        found = await site.compute(lambda: own_games(store[0], own, before=before, **chosen)) if store else ()
        leagues = [name for season in reversed(seasons(self.database)) for name in site.leagues(season)]
        values = {"rows": found, "league": league, "leagues": leagues, **chosen}
        return site.answer(request, visitor, "own_games.html", **values)

    async def compare(self, request: Request, visitor: Visitor) -> Response:
        sql = "select * from submission where team = ? and player <> '' order by id desc limit 100"
        own = self.database.rows(sent.Submission, sql, visitor.own_team.id)
        numbers = [request.query_params.get(name, "") for name in ("new", "old")]
        chosen = [one for number in numbers for one in own if str(one.id) == number]
        store, found = self.site.league(self.site.ladder), {}
        if store and len(chosen) == len(numbers):
            found = await self.site.compute(lambda: compare(store[0], chosen))
        totals = [sum((counts[place] for counts in found.values()), Counter()) for place in range(len(chosen))]
        values = {"own": own, "numbers": numbers, "chosen": chosen, "found": found, "totals": totals}
        return self.site.answer(request, visitor, "compare.html", **values)

    async def challenges(self, request: Request, visitor: Visitor) -> Response:
        database, team = self.database, visitor.own_team.id
        rows = self.site.rows_before(request, CHALLENGES, team)
        left = asked.games_left_today(database, self.site.cup, team)
        own = sent.in_states(database, sent.PLAYING, "and team = ?", team)
        sql = f"select distinct bot from submission where {sent.IS_PLAYING} order by bot limit ?"
        bots = database.column(sql, OPPONENTS)
        return self.site.answer(request, visitor, "challenges.html", rows=rows, own=own, bots=bots, left=left)

    async def challenge(self, request: Request, visitor: Visitor, form: Form) -> Response:
        sql = f"select max(id) from submission where bot = ? and {sent.IS_PLAYING}"
        against = self.database.value(sql, form.get("against", "").strip())
        if against is None:
            raise who.ChangeRefusedError("against: expected the name of a bot in the ladder")
        numbers = {name: number_in(form.get(name, ""), name) for name in ("submission", "games")}
        asked.ask(self.database, self.site.cup, visitor.actor, visitor.own_team.id, against=against, **numbers)
        self.site.wake()
        return go_to("/team/challenges")

    async def change_team(self, request: Request, visitor: Visitor, form: Form) -> Response:
        database, actor = self.database, visitor.actor
        match form.get("do"):
            case "make":
                who.make_team(database, actor, form.get("team", "").strip())
            case "invite" if visitor.team is not None:
                word = who.invite(database, actor, team=visitor.team.id)
                return self.site.link(request, visitor, "Invitation to your team", word)
            case "revoke":
                who.revoke_link(database, actor, number_in(form.get("id", ""), "id"))
            case "remove":
                who.remove_member(database, actor, number_in(form.get("id", ""), "id"))
        return go_to("/team")

    async def account(self, request: Request, visitor: Visitor) -> Response:
        number = visitor.actor.account or 0
        links = who.links(self.database, visitor.actor, "and account = ?", number)
        tokens = who.tokens_of(self.database, number)
        return self.site.answer(request, visitor, "account.html", tokens=tokens, links=links)

    async def change_account(self, request: Request, visitor: Visitor, form: Form) -> Response:
        site, database, actor, response = self.site, self.database, visitor.actor, go_to("/account")
        assert actor.account is not None
        match form.get("do"):
            case "token":
                name = form.get("name", "").strip()
                token = who.make_token(database, actor, actor.account, name)
                return site.answer(request, visitor, "secret.html", title=f"Token {name}", secret=token)
            case "revoke":
                who.revoke_token(database, actor, number_in(form.get("id", ""), "id"))
            case "revoke-link":
                who.revoke_link(database, actor, number_in(form.get("id", ""), "id"))
            case "link":
                return site.link(request, visitor, "Link to sign in", who.make_link(database, actor, actor.account))
            case "out":
                response = go_to("/")
                site.doors.sign_out(visitor, response)
            case "everywhere":
                who.sign_out_everywhere(database, actor, actor.account)
                site.doors.sign_in(response, actor.account, visitor.address)
        return response


SUBMIT = "/api/submissions"


def submit_routes(site: CupSite) -> list[BaseRoute]:
    database, cup, pages = site.database, site.cup, TeamPages(site)

    async def submit(request: Request, visitor: Visitor, upload: Upload) -> Response:
        bot = upload.fields.get("bot", "").strip() or Path(upload.name).name.split(".")[0]
        given: dict[str, Any] = {"team": visitor.own_team.id, "bot": bot, "file": upload.file, "sent_as": upload.name}
        submission = sent.receive(database, cup, site.folder, visitor.actor, **given)
        site.wake()
        return told(submission, 201) if visitor.is_program else go_to(f"/team/submissions/{submission.id}")

    async def follow(request: Request, visitor: Visitor) -> Response:
        return told(pages.own_submission(request, visitor))

    def told(one: sent.Submission, status: int = 200) -> Response:
        is_over = one.state not in sent.IN_PIPELINE
        found = {name: getattr(one, name) for name in ("id", "bot", "state", "reason")} | {
            "is_over": is_over,
            "has_failed": is_over and one.state not in sent.PLAYING,
            "waits_for": "" if is_over else sent.why_waiting(database, cup, one, site.pipeline.trouble),
            "stages": sent.stages_of(database, one.id),
        }
        return Response(msgspec.json.encode(found), status, media_type="application/json")

    return [
        *site.doors.upload(SUBMIT, submit, again=pages.team),
        site.doors.page(f"{SUBMIT}/{{number}}", follow, Need.ACCOUNT),
    ]
