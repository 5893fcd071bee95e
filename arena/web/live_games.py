"""The running games of a league, and the pages on which they can be watched."""

from collections import deque
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any

import msgspec
import trio
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from arena.errors import ArenaError
from arena.game.person_seat import ClockState
from arena.league.executor.task import Watched
from arena.play.game_events import ActionPlayed, GameStarted
from arena.report.game_data import FollowedGame, GameData, views_of
from arena.report.progress import duration_text
from arena.report.shown import SeenBy
from arena.system.printable import counted
from arena.web.beside import GameStored, LeagueProgress, Over, Told
from arena.web.feed import Event, Feed, Viewers
from arena.web.guard import PageLook, RequestRefused

BOARD_SECONDS, LIST_SECONDS = 0.1, 1.0
LISTS_A_SECOND = 25
"""The lists that are sent to viewers in a second: many viewers get them less often."""
BOARDS_SHOWN = 12
"""Games with a small board in the list of running games."""
BOARD_AFTER = 1.0
"""Seconds of a game before its board is drawn in the list: nobody sees those of quick games."""
MOST_DELAYED = 20_000
"""Batches of events that wait for the delay; games of later ones cannot be followed."""
KEPT_OVER = 64
GONE = "This game is not being played now. If it is over, it is in the list of games."
BROKEN = "Moves of this game were missed, so it cannot be followed. It can be replayed when it is over."
AGAIN = "The machine disturbed this game, so it is played again from the start."
UNFINISHED = "The league has ended before this game."


@dataclass(eq=False)
class RunningGame:
    """A running game as viewers see it. It `is_again` if it was disturbed and has started anew."""

    followed: FollowedGame
    began: float
    turn_began: float
    is_again: bool = False
    number: int | None = None
    has_page: bool = False
    """Whether its replay can be had."""
    end: str = ""
    sent: int = 0
    """The plies that its viewers have."""
    drawn: int | None = None
    """The ply that `item` shows."""
    item: str = ""
    """The text of this game in the list of running games."""

    def play(self, event: ActionPlayed) -> None:
        self.followed.play(event)
        self.turn_began = trio.current_time()

    def event(self, since: int) -> Event:
        """Return the plies after the first `since`, and the state: what there is to say, and the clocks."""
        part, clocks = None, list[ClockState]()
        with suppress(ArenaError):
            part = self.followed.part(since)
            clocks = [] if self.end else self.followed.clocks(int((trio.current_time() - self.turn_began) * 1000))
        is_last = bool(self.end) and (self.has_page or self.number is None)
        return board_event(since, part, note=self.note, is_last=is_last, href=self.href, clocks=clocks)

    @property
    def note(self) -> str:
        return self.end or (BROKEN if self.followed.is_broken else AGAIN if self.is_again else "")

    @property
    def href(self) -> str:
        return f"../games/{self.number}.html" if self.has_page else ""


def board_event(since: int, part: GameData | None, **state: Any) -> Event:
    return Event(msgspec.json.encode({"since": since, "part": part, "state": state}).decode(), "board")


class LiveGames:
    def __init__(self, viewers: Viewers, look: PageLook, audience: SeenBy, delay: float = 0.0) -> None:
        self._viewers, self._look, self._audience, self._delay = viewers, look, audience, delay
        self.games: dict[str, RunningGame] = {}
        self.feeds: dict[str, Feed] = {}
        self._over: deque[str] = deque()
        self._changed: set[str] = set()
        self._list = Feed(viewers, lambda: [self.list_event(self.items())])
        self._listed: dict[str, str] = {}
        self._listed_at = -inf
        self._is_list_new = False
        self._waiting: deque[tuple[float, Told]] = deque()
        self.progress: LeagueProgress | None = None
        self.is_over = False
        self.is_stored = False
        """Whether the other pages have all games of the league that is over."""

    def tell(self, message: Told) -> None:
        if not self._delay:
            self._note(message)
        elif len(self._waiting) < MOST_DELAYED or not isinstance(message, Watched):
            self._waiting.append((trio.current_time() + self._delay, message))

    def end(self) -> None:
        """Tell viewers that the league is over."""
        while self._waiting:
            self._note(self._waiting.popleft()[1])
        self._note(Over())
        self._publish_boards()
        self._publish_list()

    def interrupt(self, note: str) -> None:
        """End the running games with this note."""
        for id in [id for id, game in self.games.items() if not game.end]:
            self._end(id, note)

    def read(self, numbers: Collection[int], *, is_last: bool = False) -> None:
        """Note that the other pages have these games; if `is_last`, all that there will be."""
        for id, game in self.games.items():
            if game.number in numbers and not game.has_page:
                game.has_page = True
                self._changed.add(id)
        if is_last:
            self.is_stored = self._is_list_new = True
            self._publish_boards()
            self._publish_list()

    def _note(self, message: Told) -> None:
        match message:
            case Watched(events, dropped):
                for event in events:
                    self._note_event(event)
                if dropped:  # the next ply shows of which games they were
                    self._changed.update(self.games)
            case GameStored(id, number, text) if id in self.games:
                self.games[id].number = number or None
                self._end(id, text)
            case LeagueProgress():
                self.progress = message
            case Over():
                self.is_over = True
                self.interrupt(UNFINISHED)
            case _:
                return
        self._is_list_new = True

    def _note_event(self, event: GameStarted | ActionPlayed) -> None:
        id = event.spec.id if isinstance(event, GameStarted) else event.game
        if isinstance(event, GameStarted):
            followed = FollowedGame(event.spec, event.setups, self._audience)
            now = trio.current_time()
            self.games[id] = RunningGame(followed, now, now, is_again=id in self.games)
        elif id in self.games:
            self.games[id].play(event)
        self._changed.add(id)

    def _end(self, id: str, note: str) -> None:
        """End a game with this note, and forget the oldest ones that are over."""
        self.games[id].end = note
        self._changed.add(id)
        self._is_list_new = True
        self._over.append(id)
        while len(self._over) > KEPT_OVER:
            old = self._over.popleft()
            self.games.pop(old, None)
            self._changed.discard(old)
            feed = self.feeds.pop(old, None)
            if feed is not None:
                feed.close()

    async def run(self) -> None:
        next_list = -inf
        while True:
            while self._waiting and self._waiting[0][0] <= trio.current_time():
                self._note(self._waiting.popleft()[1])
            self._publish_boards()
            if trio.current_time() >= next_list:
                self._publish_list()
                next_list = trio.current_time() + max(LIST_SECONDS, len(self._list) / LISTS_A_SECOND)
            await trio.sleep(BOARD_SECONDS)

    def _publish_boards(self) -> None:
        changed, self._changed = self._changed, set()
        for id in changed & self.feeds.keys() & self.games.keys():
            game, feed = self.games[id], self.feeds[id]
            if len(feed):
                feed.publish(game.event(game.sent))
            game.sent = game.followed.ply

    def _publish_list(self) -> None:
        # Without viewers the list stays new, because the next one may first get an older list.
        if self._is_list_new and len(self._list):
            self._is_list_new = False
            self._list.publish(self.list_event(self._draw()))

    def list_event(self, items: Mapping[str, str]) -> Event:
        """Return the list of games as on the page."""
        told = {"text": self.text, "games": "".join(items.values()), "is_over": self.is_over}
        return Event(msgspec.json.encode({**told, "is_stored": self.is_stored}).decode(), "games")

    def items(self) -> dict[str, str]:
        """Return the list for a new viewer, which is made at most once a second for all."""
        is_old = trio.current_time() - self._listed_at > LIST_SECONDS
        return self._draw() if is_old else self._listed

    def _draw(self) -> dict[str, str]:
        running = [(id, game) for id, game in self.games.items() if not game.end]
        for at, (_, game) in enumerate(running):
            if game.drawn != game.followed.ply:
                is_young = trio.current_time() - game.began < BOARD_AFTER
                picture: Mapping[str, Any] = {}
                with suppress(ArenaError):  # of one that cannot be followed
                    picture = game.followed.picture() if at < BOARDS_SHOWN and not is_young else {}
                game.item = self._look.page("running.html", "", game=game.followed, picture=picture)
                game.drawn = None if is_young else game.followed.ply
                self._is_list_new |= is_young
        self._listed, self._listed_at = {id: game.item for id, game in running}, trio.current_time()
        return self._listed

    @property
    def text(self) -> str:
        progress = self.progress
        if progress is None:
            return "The league is over." if self.is_over else ""
        done = f"{progress.done} of {progress.planned} games"
        if progress.planned in (None, progress.done):
            done = counted(progress.done, "game")
        elif self.is_over:
            return f"The league has stopped: {done} were played."
        if self.is_over:
            return f"The league is over: {done}."
        left = f", about {duration_text(progress.seconds_left)} left" if progress.seconds_left else ""
        return f"{done} over{left}"

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/now.html", self._list_page),
            Route("/now/events", self._list_events),
            Route("/now/{game}.html", self._game_page),
            Route("/now/{game}/events", self._game_events),
        ]

    async def _list_page(self, request: Request) -> Response:
        items = self.items().values()
        return HTMLResponse(self._look.page("now.html", "now.html", items=items, progress=self.text))

    async def _list_events(self, request: Request) -> Feed:
        return self._list

    async def _game_page(self, request: Request) -> Response:
        game = self.games.get(request.path_params["game"])
        if game is None:
            raise RequestRefused(404, GONE)
        spec, data = game.followed.spec, None
        with suppress(ArenaError):
            data = game.followed.part()
        page = self._look.page(
            "watch.html",
            f"now/{spec.id}.html",
            game=game,
            views=views_of(spec.kind, (spec.players[0].name, spec.players[1].name), self._audience),
            data=data,
            seen=data.views[self._audience.value] if data else None,
            delay=self._delay,
        )
        return HTMLResponse(page)

    async def _game_events(self, request: Request) -> Response | Feed:
        id = request.path_params["game"]
        if id not in self.games:  # a viewer that has lost its connection reads why
            return Response(board_event(0, None, note=GONE, is_last=True).encoded(), media_type="text/event-stream")
        if id not in self.feeds:
            self.feeds[id] = Feed(self._viewers, lambda: [self.games[id].event(0)])
        return self.feeds[id]
