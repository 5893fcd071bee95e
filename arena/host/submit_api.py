"""What programs such as `arena submit` ask for, as JSON: a submission is sent, and its stages are followed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from arena.host.cup_database import CupDatabase
from arena.host.cup_settings import Cup
from arena.host.guarded import GuardedRoutes, Need, Upload, Visitor
from arena.host.submissions import (
    IN_PIPELINE,
    PLAYING,
    Stage,
    Submission,
    SubmissionState,
    get_submission,
    mover,
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


def sent_submission(database: CupDatabase, cup: Cup, submission: Submission) -> SentSubmission:
    is_over = submission.state not in IN_PIPELINE
    return SentSubmission(
        submission.id,
        submission.bot,
        submission.state,
        is_over,
        has_failed=is_over and submission.state not in PLAYING,
        reason=submission.reason,
        waits_for="" if is_over else why_waiting(database, cup, submission),
        stages=stages_of(database, submission.id),
    )


def submit_routes(
    doors: GuardedRoutes, folder: Path, cup: Cup, database: CupDatabase, wake: Callable[[], None]
) -> list[BaseRoute]:
    async def submit(request: Request, visitor: Visitor, upload: Upload) -> Response:
        if visitor.team is None:
            raise RequestRefused(403, "You are in no team: make one, or ask for an invitation to one.")

        bot = upload.fields.get("bot", "") or Path(upload.name).name.split(".")[0]
        move = mover(folder, upload.file)
        team = visitor.team.id
        submission = receive(database, cup, visitor.actor, team, bot, size=upload.size, sent_as=upload.name, move=move)
        wake()
        return _json(sent_submission(database, cup, submission), 201)

    async def follow(request: Request, visitor: Visitor) -> Response:
        word = str(request.path_params["number"])
        submission = get_submission(database, int(word) if word.isdecimal() and len(word) < 18 else 0)
        if not visitor.is_host and (visitor.team is None or visitor.team.id != submission.team):
            raise RequestRefused(404, "Your team has no such submission.")
        return _json(sent_submission(database, cup, submission))

    return [*doors.upload(SUBMIT, submit), doors.page(f"{SUBMIT}/{{number}}", follow, Need.ACCOUNT)]


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
