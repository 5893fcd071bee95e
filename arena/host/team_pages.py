"""Pages of a team: its submissions with their logs, its games, challenges and members, and the own account."""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute

import arena.host.accounts as who
import arena.host.challenges as asked
import arena.host.submissions as sent
from arena.errors import ArenaError
from arena.host.cup_site import NUMBER, CupSite, go_to, number_in
from arena.host.guarded import Need, Visitor
from arena.host.own_games import compare, own_games, own_records, players_of
from arena.host.seasons import seasons
from arena.web.guard import NOT_FOUND, RequestRefused

LEAGUES = ("season", "final", "challenges")
Form = dict[str, str]


def team_routes(site: CupSite) -> list[BaseRoute]:
    doors, pages = site.doors, TeamPages(site)
    one = "/team/submissions/{number}"
    read = {"/team": pages.team, "/account": pages.account, one: pages.submission, f"{one}/file": pages.file}
    of_team = {"/team/games": pages.games, "/team/games/{league}.jsonl": pages.records, "/team/compare": pages.compare}
    return [
        *(doors.page(path, function, Need.ACCOUNT) for path, function in read.items()),
        *(doors.page(path, function, Need.TEAM) for path, function in of_team.items()),
        doors.change(one, pages.change_submission),
        doors.page("/team/challenges", pages.challenges, Need.TEAM),
        doors.change("/team/challenges", pages.challenge, Need.TEAM),
        doors.change("/team/members", pages.change_members),
        doors.change("/account", pages.change_account),
    ]


class TeamPages:
    def __init__(self, site: CupSite) -> None:
        self.site, self.database = site, site.database

    async def team(self, request: Request, visitor: Visitor) -> Response:
        if visitor.team is None:
            return self.site.answer(request, visitor, "no_team.html")
        team, lines = visitor.team, self.site.lines()
        submissions = [
            (one, lines.get((one.bot, one.player)), self._why(one))
            for one in sent.submissions_of(self.database, team.id)
        ]
        values = {"quota": sent.quota_of(self.database, self.site.cup, team.id), "leagues": self._leagues()}
        members = who.members(self.database, team.id)
        return self.site.answer(request, visitor, "team.html", submissions=submissions, members=members, **values)

    def _why(self, submission: sent.Submission) -> str:
        """Say what a submission waits for; the player knows more of those that could play."""
        site = self.site
        words = sent.why_waiting(self.database, site.cup, submission, site.pipeline.trouble)
        more = site.playing.why_waiting(submission.id) if submission.state in sent.PLAYING else ""
        more = site.now if site.playing.problem else more
        return f"{words} {more}".strip()

    def _leagues(self) -> list[str]:
        names = [f"{kind}-{one.number}" for one in reversed(seasons(self.database)) for kind in LEAGUES]
        return [name for name in names if self.site.league(name)]

    def _own(self, request: Request, visitor: Visitor) -> sent.Submission:
        """Return the submission of a path, for its team and for hosts alone."""
        word = request.path_params["number"]
        number = int(word) if NUMBER.fullmatch(word) else 0
        found = self.database.row(sent.Submission, "select * from submission where id = ?", number)
        if found is None or not (visitor.is_host or (visitor.team and visitor.team.id == found.team)):
            raise RequestRefused(404, NOT_FOUND)
        return found

    async def submission(self, request: Request, visitor: Visitor) -> Response:
        one = self._own(request, visitor)
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
            is_running=one.state in (*sent.IN_PIPELINE, *sent.PLAYING),
            has_file=sent.received_file(self.site.folder, one.id).is_file(),
        )

    async def file(self, request: Request, visitor: Visitor) -> Response:
        one = self._own(request, visitor)
        path = sent.received_file(self.site.folder, one.id)
        if not path.is_file():
            raise RequestRefused(404, "The files of this submission are not kept any more.")
        name = quote(one.sent_as.rpartition("/")[2] or one.bot)
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "Cache-Control": "no-store"}
        return FileResponse(path, headers=headers, media_type="application/octet-stream")

    async def change_submission(self, request: Request, visitor: Visitor, form: Form) -> Response:
        one = self._own(request, visitor)
        match form.get("do"):
            case "withdraw":
                sent.withdraw(self.database, visitor.actor, one.id)
            case "unpark":
                sent.unpark(self.database, self.site.cup, visitor.actor, one.id)
            case "disqualify":
                sent.disqualify(self.database, visitor.actor, one.id, form.get("reason", ""))
            case _:
                raise RequestRefused(400, "Expected the form of the page.")
        self.site.wake()
        return go_to(f"/team/submissions/{one.id}")

    # --- games --------------------------------------------------------------------------------------------------------

    async def games(self, request: Request, visitor: Visitor) -> Response:
        team, query = visitor.own_team.id, request.query_params
        asked_for = {name: query.get(name, "") for name in ("against", "only")}
        league = query.get("league") or self.site.ladder
        store, own = self.site.league(league), players_of(self.site, team)
        found = await self.site.compute(lambda: own_games(store[0], own, **asked_for)) if store else ()
        bots = sorted({one.bot for one in self.site.public_bots()})
        values = {"games": found, "league": league, "leagues": self._leagues(), "bots": bots, **asked_for}
        return self.site.answer(request, visitor, "own_games.html", **values)

    async def records(self, request: Request, visitor: Visitor) -> Response:
        found, bots = self.site.league(request.path_params["league"]), players_of(self.site, visitor.own_team.id)
        if found is None:
            raise RequestRefused(404, NOT_FOUND)
        path, is_whole = found[0], self.site.is_whole(found[1])
        body = await self.site.compute(lambda: own_records(path, bots, is_whole=is_whole))
        return Response(body, media_type="application/x-ndjson")

    async def compare(self, request: Request, visitor: Visitor) -> Response:
        own = [one for one in sent.submissions_of(self.database, visitor.own_team.id) if one.player]
        numbers = [request.query_params.get(name, "") for name in ("new", "old")]
        chosen = [one for number in numbers for one in own if str(one.id) == number]
        store, found, problem = self.site.league(self.site.ladder), None, ""
        if store and len(chosen) == len(numbers):
            try:
                found = await self.site.compute(lambda: compare(store[0], chosen))
            except ArenaError as error:
                problem = str(error)
        values = {"own": own, "numbers": numbers, "chosen": chosen, "found": found, "problem": problem}
        return self.site.answer(request, visitor, "compare.html", **values)

    async def challenges(self, request: Request, visitor: Visitor) -> Response:
        team, bots = visitor.own_team.id, sent.playing(self.database)
        found = asked.of_team(self.database, team)
        names = {n: sent.get_submission(self.database, n).label for one in found for n in (one.submission, one.against)}
        left = asked.games_left_today(self.database, self.site.cup, team)
        values = {"own": [one for one in bots if one.team == team], "bots": bots, "names": names, "left": left}
        return self.site.answer(request, visitor, "challenges.html", challenges=found, **values)

    async def challenge(self, request: Request, visitor: Visitor, form: Form) -> Response:
        numbers = {name: number_in(form.get(name, ""), name) for name in ("submission", "against", "games")}
        asked.ask(self.database, self.site.cup, visitor.actor, visitor.own_team.id, **numbers)
        self.site.wake()
        return go_to("/team/challenges")

    # --- members and the account --------------------------------------------------------------------------------------

    async def change_members(self, request: Request, visitor: Visitor, form: Form) -> Response:
        match form.get("do"):
            case "make":
                who.make_team(self.database, visitor.actor, form.get("name", "").strip())
            case "invite" if visitor.team is not None:
                word = who.invite(self.database, visitor.actor, team=visitor.own_team.id)
                return self.secret(request, visitor, "Invitation to your team", f"{self.site.cup.address}/join/{word}")
            case "remove":
                who.remove_member(self.database, visitor.actor, number_in(form.get("account", ""), "account"))
        return go_to("/team")

    def secret(self, request: Request, visitor: Visitor, title: str, secret: str) -> Response:
        """Answer with what is shown once."""
        return self.site.answer(request, visitor, "secret.html", title=title, secret=secret)

    async def account(self, request: Request, visitor: Visitor) -> Response:
        assert visitor.account is not None
        return self.site.answer(
            request, visitor, "account.html", tokens=who.tokens_of(self.database, visitor.account.id)
        )

    async def change_account(self, request: Request, visitor: Visitor, form: Form) -> Response:
        assert visitor.account is not None
        match form.get("do"):
            case "token":
                name = form.get("name", "").strip()
                token = who.make_token(self.database, visitor.actor, visitor.account.id, name)
                return self.secret(request, visitor, f"Token {name}", token)
            case "revoke":
                who.revoke_token(self.database, visitor.actor, number_in(form.get("token", ""), "token"))
            case "link":
                word = who.make_link(self.database, visitor.actor, visitor.account.id)
                return self.secret(request, visitor, "Link to sign in", f"{self.site.cup.address}/join/{word}")
        return go_to("/account")
