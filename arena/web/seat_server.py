"""The web pages of a game that people play. The answer to a request that is not allowed says why, in `refused`."""

import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import msgspec
import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from arena.game import displayed
from arena.game.person_seat import SeatStage, SeatState
from arena.game.record import GameRecord
from arena.league.person_game import Repeat
from arena.play.game_events import GameStarted
from arena.play.session import LONGEST_ANSWER, RefusedError, Session
from arena.report.game_data import FollowedGame, GameData, game_labels, views_of
from arena.report.shown import SeenBy, end_words, stage_words
from arena.report.site.page_frame import Site
from arena.system.concurrency import background, open_nursery
from arena.system.printable import isolated, printable
from arena.web.address import Hosts, Listening, hosts_of
from arena.web.feed import Event, Feed, Viewers
from arena.web.guard import Complain, Guard, PageLook
from arena.web.server import LIMITS, Application, Server
from protocol.seats import Color

BYTES = 24


@dataclass(frozen=True)
class NextCommands:
    """Shell commands for the time after the game; a page leaves out empty ones."""

    go_on: str = ""
    show: Callable[[int], str] = lambda number: ""
    report: str = ""


class SeatTable:
    """A session with a secret for each seat, which is safe in a path. With `repeat` another game may follow."""

    def __init__(self, session: Session, commands: NextCommands, repeat: Repeat | None = None) -> None:
        self.session, self.commands, self.repeat = session, commands, repeat
        known = {} if repeat is None else repeat.tokens
        names = {color: session.spec.players[color].name for color in session.persons}
        self.tokens = {color: known.setdefault(name, secrets.token_urlsafe(BYTES)) for color, name in names.items()}
        self.page: SeatPage = displayed(session.spec.kind.displays.page, SeatPage)()
        self._followed_from: tuple[GameStarted | None, GameRecord | None] = (None, None)
        self._begun = 0
        self._followed: dict[SeenBy, FollowedGame] = {}

    def seat_of(self, given: str) -> Color | None:
        """Return the seat of a token, in constant time for all tokens."""
        text = given.encode("utf-8", "surrogatepass")
        found = [color for color, token in self.tokens.items() if hmac.compare_digest(token.encode(), text)]
        return found[0] if found else None

    def answer(self, color: Color, since: int = 0, begun: int = 0) -> "SeatAnswer":
        """Return the answer to a page of a seat that has the first `since` plies of the game that was `begun`."""
        session = self.session
        game = self._game_of(color)
        since = min(since, game.ply) if game and begun == self._begun else 0
        state = session.known(color)
        return SeatAnswer(
            state=state,
            status=status_text(state),
            game=session.spec.id,
            begun=self._begun,
            since=since,
            part=game.part(since) if game else None,
            after=commands_after(self, state),
            can_repeat=self.repeat is not None and session.record is not None,
        )

    def _game_of(self, color: Color) -> FollowedGame | None:
        """Return the game as the person in a seat may see it; None before both sides have set up."""
        start, record = self.session.start, self.session.record
        if self._followed_from != (start, record):
            self._followed_from, self._followed = (start, record), {}
            self._begun += 1
        setups = start.setups if start else record.setups if record else (None, None)
        sets_up = self.session.seat(color).stage in (SeatStage.SETTING_UP, SeatStage.READY)  # perhaps once more
        if setups[0] is None or setups[1] is None or (sets_up and not record):
            return None
        audience = SeenBy.ALL if record else SeenBy(color.word)
        game = self._followed.get(audience)
        if game is None:
            history = start.history if start else None
            game = FollowedGame(self.session.spec, (setups[0], setups[1]), audience, history=history)
            self._followed[audience] = game
        for event in self.session.played:
            if event.ply > game.ply:
                game.play(event)
        return game


class SeatAnswer(msgspec.Struct, frozen=True):
    """The state of a seat for its page, and the part of the game that the page does not have yet.

    `part` are the plies after the first `since` (all of them with the position before the first one), None before both
    sides have set up. A page sends `begun` back, which changes when the game is begun again and when it is over: then
    the page gets all of it. Then `after` has the next possible commands, and `can_repeat` tells whether another game
    can be played.
    """

    state: SeatState
    status: str
    game: str
    begun: int
    since: int
    part: GameData | None
    after: tuple[str, ...]
    can_repeat: bool


class SeatPage:
    """The page of a seat in any game. A game may have a class of its own below this one."""

    def page(self, table: SeatTable, color: Color) -> dict[str, Any]:
        """Return the values for the template. Its `data` is JSON for the script."""
        spec = table.session.spec
        kind, players = spec.kind, (spec.players[0].name, spec.players[1].name)
        red, blue = map(isolated, players)
        return {
            "title": f"You play {kind.seat_names[color]}: {red} - {blue}, {spec.variant.name}",
            "data": {"seat": color.word},
            "labels": game_labels(spec.variant, players, {}),
            "views": views_of(kind, players, SeenBy.ALL),
            "presets": [],
            "rules": [
                *filter(None, kind.rules_in_words(spec.variant).strip().split("\n\n")),
                *(f"{name}: {value}" for name, value in spec.variant.rules),
            ],
        }


def status_text(state: SeatState) -> str:
    words = stage_words(state)
    return "\n".join(filter(None, (end_words(state) or f"{words[:1].upper()}{words[1:]}.", state.remark)))


def commands_after(table: SeatTable, state: SeatState) -> tuple[str, ...]:
    commands = table.commands
    if state.stage is SeatStage.PAUSED:
        lines = [("Resume it later", commands.go_on)]
    elif state.end is None:
        return ()
    elif state.end.number is None:
        return ("The game is not stored yet.",)
    else:
        lines = [("Replay it", commands.show(state.end.number)), ("As pages, with a board", commands.report)]
    return tuple(f"{label}: {command}" for label, command in lines if command)


SEAT_VIEWERS = 20
"""Tabs that may follow one seat; the limit is per seat, so that no player can use up the other's."""
LONGEST_REFUSAL = 500
FOOTER = "Anyone who has the address of this page can play for you. It is good for this game, until its command ends."
BAD_BODY = "Expected JSON as the page itself sends it."
Rows = Annotated[tuple[Annotated[str, msgspec.Meta(max_length=LONGEST_ANSWER)], ...], msgspec.Meta(max_length=40)]


class SentSetup(msgspec.Struct, forbid_unknown_fields=True):
    rows: Rows


class SentAct(msgspec.Struct, forbid_unknown_fields=True):
    """An action for this ply: an action that another tab has played already is not played twice."""

    action: Annotated[str, msgspec.Meta(max_length=LONGEST_ANSWER)]
    ply: int


class SentAgain(msgspec.Struct, forbid_unknown_fields=True):
    swap: bool


class SentNothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


class PlayPages:
    """The web pages of a game that people play. `follow` announces changes to browsers; run it with the server."""

    def __init__(self, table: SeatTable) -> None:
        self._table = table
        self._look = PageLook(Site("arena play", (), FOOTER))
        few = replace(LIMITS, viewers=SEAT_VIEWERS)
        self._feeds = {color: Feed(Viewers(few), partial(self._greeting, color)) for color in table.tokens}

    def application(self, hosts: Hosts, *, complain: Complain = lambda text: None) -> Application:
        session = self._session
        posts: dict[str, tuple[type[Any], Callable[[Color, Any], None]]] = {
            "setup": (SentSetup, lambda color, sent: session.set_up(color, sent.rows)),
            "random": (
                SentNothing,
                lambda color, _: session.set_up(color, session.random_setup(color, secrets.randbits(32))),
            ),
            "act": (SentAct, self._act),
            "resign": (SentNothing, lambda color, _: session.resign(color)),
            "pause": (SentNothing, lambda color, _: session.pause()),
            "again": (SentAgain, self._again),
        }
        routes = [
            Route("/{token}", self._move_on),
            Route("/{token}/", self._page),
            Route("/{token}/state", self._state),
            Route("/{token}/events", self._events),
            *(
                Route(f"/{{token}}/{name}", self._post(kind, do), methods=["POST"])
                for name, (kind, do) in posts.items()
            ),
        ]
        return Guard(routes, self._look, hosts, posts=True, complain=complain)

    async def follow(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        async with open_nursery() as nursery:
            for color, feed in self._feeds.items():
                nursery.start_soon(self._follow_seat, color, feed)
            task_status.started()

    @property
    def viewers(self) -> int:
        return sum(map(len, self._feeds.values()))

    def close(self) -> None:
        """End the events; a browser connects again by itself while there is a server."""
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
        color = self._table.seat_of(request.path_params["token"])
        if color is None:
            raise HTTPException(404)
        return color

    async def _move_on(self, request: Request) -> Response:
        self._seat(request)
        return RedirectResponse(f"/{request.path_params['token']}/", 308)

    async def _page(self, request: Request) -> Response:
        page = self._table.page.page(self._table, self._seat(request))
        return HTMLResponse(self._look.page("seat.html", "token/", page=page))

    async def _state(self, request: Request) -> Response:
        color = self._seat(request)
        since, begun = (_number(request.query_params.get(name, "0")) for name in ("since", "begun"))
        if since is None or begun is None:
            raise HTTPException(400, "Expected since=NUMBER, the number of plies that the page has, and begun=NUMBER.")
        return _json(self._table.answer(color, since, begun))

    async def _events(self, request: Request) -> Feed:
        return self._feeds[self._seat(request)]

    def _post(self, kind: type[Any], do: Callable[[Color, Any], None]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            color = self._seat(request)
            if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise HTTPException(415, BAD_BODY)
            try:
                value = msgspec.json.decode(await request.body(), type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise HTTPException(400, BAD_BODY) from None
            try:
                do(color, value)
            except RefusedError as error:
                text = printable(str(error), LONGEST_REFUSAL)
                names_action = isinstance(value, SentAct) and str(error).startswith(f"{value.action}: ")
                return _json({"refused": text if names_action else text[:1].upper() + text[1:]})
            return _json({})

        return answer

    def _act(self, color: Color, sent: SentAct) -> None:
        if sent.ply != self._session.state(color).plies + 1:
            raise RefusedError("The game has moved on: look at the board, and choose again.")
        self._session.act(color, sent.action)

    def _again(self, color: Color, sent: SentAgain) -> None:
        repeat = self._table.repeat
        if repeat is None or self._session.record is None:
            raise RefusedError("Another game can be played when this one is over, if the command began it.")
        repeat.is_wanted, repeat.swaps_colors = True, sent.swap


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None


def _event(version: int) -> Event:
    return Event(str(version), "state")


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


SHUTDOWN_SECONDS = 0.5
LINGER_SECONDS = 10.0
"""The time for which the pages of a finished game are served without a viewer, as a browser may be reloading them."""
LOOK_SECONDS = 0.2


def page_face(
    listening: Listening,
    tell: Callable[[dict[Color, str]], None],
    *,
    complain: Complain,
    commands: NextCommands | None = None,
    ended: Callable[[], None] = lambda: None,
    linger: float = LINGER_SECONDS,
    repeat: Repeat | None = None,
) -> Callable[[Session], Awaitable[None]]:
    """Return a face that serves a session until `linger` seconds after the last viewer of a finished game, or until
    another game is wanted.
    """

    async def show(session: Session) -> None:
        table = SeatTable(session, commands or NextCommands(), repeat)
        pages = PlayPages(table)
        application = pages.application(hosts_of([listening.address]), complain=complain)
        async with background(pages.follow) as nursery:
            await nursery.start(Server(application).run, [listening])
            tell({color: f"{listening.url}{token}/" for color, token in table.tokens.items()})
            try:
                await last(session, pages)
            finally:
                pages.close()  # a browser cannot tell a server that stops from one that fails
                with trio.move_on_after(SHUTDOWN_SECONDS, shield=True):
                    while pages.viewers:  # noqa: ASYNC110 - no event says that a browser has left
                        await trio.sleep(SHUTDOWN_SECONDS / 50)

    async def last(session: Session, pages: PlayPages) -> None:
        color, version = session.persons[0], 0
        while not session.is_over:
            version = (await session.changed(color, version)).version
        if session.record is not None:
            ended()
        seen = trio.current_time()
        while (pages.viewers or trio.current_time() - seen < linger) and not (repeat and repeat.is_wanted):
            if pages.viewers:
                seen = trio.current_time()
            await trio.sleep(LOOK_SECONDS)

    return show
