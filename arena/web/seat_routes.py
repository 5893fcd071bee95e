"""The routes of a table: the page of a seat, its state, the events that say that there is a new one, and what is sent.

What a person sends and the rules or the moment do not allow is no error: the answer says why, in `refused`, and the
game goes on. A request that no page of ours makes is one, and has the status of it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.play.session import RefusedError, Session
from arena.report.sentences import capitalised
from arena.report.site.page_frame import Site
from arena.system.concurrency import open_nursery
from arena.system.printable import printable
from arena.web.address import Hosts
from arena.web.feed import Event, Feed, Viewers
from arena.web.guard import application
from arena.web.page_look import PageLook
from arena.web.seat_page import SeatTable, answer_of, earlier_of, page_of
from arena.web.seat_words import ENGLISH, PlayWords
from arena.web.server import LIMITS, Application, ServerLimits
from protocol.notation import Color

SEAT_VIEWERS = 20
"""Tabs that may follow one seat. Each seat has its own, so that nobody can take the places of the other player."""
LONGEST_REFUSAL = 500
"""Characters of a refusal, which may repeat what was sent."""
Rows = Annotated[tuple[Annotated[str, msgspec.Meta(max_length=40)], ...], msgspec.Meta(max_length=40)]


class SentSetup(msgspec.Struct, forbid_unknown_fields=True):
    """A set-up, own back row first."""

    rows: Rows


class SentAct(msgspec.Struct, forbid_unknown_fields=True):
    """An action for this ply: one that another tab has played already is not played twice."""

    action: Annotated[str, msgspec.Meta(max_length=40)]
    ply: int


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """What is sent where there is nothing to say."""


Handler = Callable[[Request], Awaitable[Response]]


class PlayPages:
    """The pages of a table. `follow` has to run beside the server: it tells browsers of what changes."""

    def __init__(self, table: SeatTable, limits: ServerLimits = LIMITS, words: PlayWords = ENGLISH) -> None:
        self._table, self._words = table, words
        self._look = PageLook(Site(words.site, (), words.footer))
        few = replace(limits, viewers=min(limits.viewers, SEAT_VIEWERS))
        self._feeds = {color: Feed(Viewers(few), partial(self._greeting, color)) for color in table.tokens}

    def application(self, hosts: Hosts, *, complain: Callable[[str], None] = lambda text: None) -> Application:
        """What can be served."""
        routes = [
            Route("/{token}", self._move_on),
            Route("/{token}/", self._page),
            Route("/{token}/state", self._state),
            Route("/{token}/then", self._then),
            Route("/{token}/events", self._events),
            Route("/{token}/setup", self._post(SentSetup, self._set_up), methods=["POST"]),
            Route("/{token}/act", self._post(SentAct, self._act), methods=["POST"]),
            Route("/{token}/resign", self._post(Nothing, self._resign), methods=["POST"]),
            Route("/{token}/pause", self._post(Nothing, self._pause), methods=["POST"]),
        ]
        return application(routes, self._look, hosts, posts=True, complain=complain)

    async def follow(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Tell browsers of each change, until cancelled."""
        async with open_nursery() as nursery:
            for color, feed in self._feeds.items():
                nursery.start_soon(self._follow_seat, color, feed)
            task_status.started()

    @property
    def viewers(self) -> int:
        """How many browsers follow the game."""
        return sum(map(len, self._feeds.values()))

    def close(self) -> None:
        """End the connections of those who follow; a browser comes again by itself, as long as there is a server."""
        for feed in self._feeds.values():
            feed.close()

    async def _follow_seat(self, color: Color, feed: Feed) -> None:
        version = 0
        while True:
            version = (await self._session.changed(color, version)).version
            feed.publish(_event(version))

    def _greeting(self, color: Color) -> list[Event]:
        return [_event(self._session.state(color).version)]

    @property
    def _session(self) -> Session:
        return self._table.session

    def _seat(self, request: Request) -> Color:
        """Whose address was asked for; any other is that of no page."""
        color = self._table.seat_of(request.path_params["token"])
        if color is None:
            raise HTTPException(404)
        return color

    # --- what is looked at --------------------------------------------------------------------------------------------

    async def _move_on(self, request: Request) -> Response:
        """An address that was copied without its last slash."""
        self._seat(request)
        return RedirectResponse(f"/{request.path_params['token']}/", 308)

    async def _page(self, request: Request) -> Response:
        page = page_of(self._table, self._seat(request), self._words)
        return HTMLResponse(self._look.page("play.html", "token/", page=page, say=self._words))

    async def _state(self, request: Request) -> Response:
        color = self._seat(request)
        asked = _number(request.query_params.get("from", "0"))
        if asked is None:
            raise HTTPException(400, self._words.bad_from)
        return _json(answer_of(self._table, color, asked, self._words))

    async def _then(self, request: Request) -> Response:
        """The board after an earlier ply."""
        color = self._seat(request)
        plies = self._session.state(color).plies
        asked = _number(request.query_params.get("ply", ""))
        if asked is None or asked > plies:
            raise HTTPException(400, self._words.bad_ply.format(plies=plies))
        return _json(earlier_of(self._table, color, asked))

    async def _events(self, request: Request) -> Response:
        return self._feeds[self._seat(request)].answer()  # type: ignore[return-value]

    # --- what is done -------------------------------------------------------------------------------------------------

    def _post(self, kind: type[Any], do: Callable[[Color, Any], None]) -> Handler:
        """Takes a value of this type, and does that for the seat; what is refused is said."""

        async def answer(request: Request) -> Response:
            color = self._seat(request)
            if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise HTTPException(415, self._words.bad_body)
            try:
                value = msgspec.json.decode(await request.body(), type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise HTTPException(400, self._words.bad_body) from None
            try:
                do(color, value)
            except RefusedError as error:
                return _json({"refused": capitalised(printable(str(error), LONGEST_REFUSAL))})
            return _json({})

        return answer

    def _set_up(self, color: Color, sent: SentSetup) -> None:
        self._session.set_up(color, sent.rows)

    def _act(self, color: Color, sent: SentAct) -> None:
        if sent.ply != self._session.state(color).plies + 1:
            raise RefusedError(self._words.gone_on)
        self._session.act(color, sent.action)

    def _resign(self, color: Color, sent: Nothing) -> None:
        self._session.resign(color)

    def _pause(self, color: Color, sent: Nothing) -> None:
        if not self._table.can_pause:
            raise RefusedError(self._words.no_pause)
        self._session.pause()


def _number(text: str) -> int | None:
    """A number as a page of ours writes it."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None


def _event(version: int) -> Event:
    return Event(str(version), "state")


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")
