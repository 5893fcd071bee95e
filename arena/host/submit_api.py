"""Submissions are sent by the form of a team or by programs such as `arena submit`, which follow their stages."""

from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

import arena.host.submissions as sent
from arena.host.cup_site import CupSite, go_to
from arena.host.guarded import Need, Upload, Visitor
from arena.host.team_pages import TeamPages

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
