"""Submissions are sent by the form of a team or by programs such as `arena submit`, which follow their stages."""

from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from arena.host.cup_site import NUMBER, CupSite, go_to
from arena.host.guarded import Need, Upload, Visitor
from arena.host.submissions import (
    IN_PIPELINE,
    PLAYING,
    Stage,
    SubmissionState,
    get_submission,
    receive,
    stages_of,
    why_waiting,
)
from arena.web.guard import RequestRefused

SUBMIT = "/api/submissions"


class SentSubmission(msgspec.Struct, frozen=True):
    """A submission for its team. It `is_over` when it got into the ladder or failed, and `has_failed` in that case."""

    id: int
    bot: str
    state: SubmissionState
    is_over: bool
    has_failed: bool
    reason: str
    waits_for: str
    stages: list[Stage]


def submit_routes(site: CupSite) -> list[BaseRoute]:
    database, cup = site.database, site.cup

    async def submit(request: Request, visitor: Visitor, upload: Upload) -> Response:
        bot = upload.fields.get("bot", "").strip() or Path(upload.name).name.split(".")[0]
        given: dict[str, Any] = {"team": visitor.own_team.id, "bot": bot, "file": upload.file, "sent_as": upload.name}
        submission = receive(database, cup, site.folder, visitor.actor, **given)
        site.wake()
        return sent(submission.id, 201) if visitor.is_program else go_to(f"/team/submissions/{submission.id}")

    async def follow(request: Request, visitor: Visitor) -> Response:
        word = request.path_params["number"]
        submission = get_submission(database, int(word) if NUMBER.fullmatch(word) else 0)
        if not visitor.is_host and (visitor.team is None or visitor.team.id != submission.team):
            raise RequestRefused(404, "Your team has no such submission.")
        return sent(submission.id)

    def sent(number: int, status: int = 200) -> Response:
        one = get_submission(database, number)
        is_over = one.state not in IN_PIPELINE
        has_failed = is_over and one.state not in PLAYING
        why = "" if is_over else why_waiting(database, cup, one)
        stages = stages_of(database, number)
        found = SentSubmission(number, one.bot, one.state, is_over, has_failed, one.reason, why, stages)
        return Response(msgspec.json.encode(found), status, media_type="application/json")

    return [*site.doors.upload(SUBMIT, submit), site.doors.page(f"{SUBMIT}/{{number}}", follow, Need.ACCOUNT)]
