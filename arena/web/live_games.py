"""All games that are being played, and the pages on which they can be watched.

Whatever is told is noted at once, or when the host's delay is over. Viewers are told in ticks: a board at most ten
times a second, the list once, however fast bots are and however many look.
"""

import json
from collections import deque
from collections.abc import Callable
from typing import Any

import trio
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from arena.league.executor.event_stream import Happened, WireAction
from arena.report.piece_names import Names
from arena.report.progress import duration_text
from arena.report.site.audience import SeenBy as Reading
from arena.web.beside import GameStored, LeagueProgress, Over, Told
from arena.web.feed import Event, EventAnswer, Feed, Viewers
from arena.web.guard import RequestRefused
from arena.web.page_look import PageLook
from arena.web.watched_game import LIVE_WORDS, WatchedGame

BOARD_SECONDS, LIST_SECONDS = 0.1, 1.0
MOST_DELAYED = 20_000
"""Batches of events that wait for the delay; what comes beyond is dropped, and its games cannot be followed."""
KEPT_OVER = 64
"""Games that are over and still have a page, for who was watching."""


class LiveGames:
    """What is known of the games, and their pages below `now`."""

    def __init__(self, viewers: Viewers, look: PageLook, audience: Reading, names: Names, delay: float = 0.0) -> None:
        self._viewers, self._look, self._audience, self._names, self._delay = viewers, look, audience, names, delay
        self.games: dict[str, WatchedGame] = {}
        self._feeds: dict[str, Feed] = {}
        self._over: deque[str] = deque()
        self._changed: set[str] = set()
        self._list = Feed(viewers, lambda: [self._list_event()])
        self._is_list_new = False
        self._waiting: deque[tuple[float, Told]] = deque()
        self._has_some = trio.Event()
        self.progress: LeagueProgress | None = None
        self.is_over = False

    # --- what is told -------------------------------------------------------------------------------------------------

    def tell(self, message: Told) -> None:
        """Something has been told, which is shown when the delay is over."""
        if not self._delay:
            self._note(message)
        elif len(self._waiting) < MOST_DELAYED or not isinstance(message, Happened):
            self._waiting.append((trio.current_time() + self._delay, message))
            self._has_some.set()

    def end(self) -> None:
        """There is no more to come: what waits is shown now."""
        while self._waiting:
            self._note(self._waiting.popleft()[1])
        self._note(Over())
        self._publish_boards()
        self._publish_list()

    def _note(self, message: Told) -> None:
        match message:
            case Happened(events, dropped):
                for event in events:
                    self._note_event(event)
                if dropped:
                    for game in self.games.values():  # it is not known of which games they were: the next ply tells
                        self._changed.add(game.spec.id)
            case GameStored(id, number, text) if id in self.games:
                self.games[id].number, self.games[id].end = number, text
                self._changed.add(id)
                self._forget_oldest(id)
            case LeagueProgress():
                self.progress = message
            case Over():
                self.is_over = True
                for game in self.games.values():
                    game.end = game.end or LIVE_WORDS.over
                    self._changed.add(game.spec.id)
            case _:
                return
        self._is_list_new = True

    def _note_event(self, event: Any) -> None:
        if isinstance(event, WireAction):
            if event.game in self.games:
                self.games[event.game].play(event.event())
                self._changed.add(event.game)
            return
        started = event.event()
        self.games[started.spec.id] = WatchedGame(started.spec, started.setups, self._audience, self._names)
        self._changed.add(started.spec.id)

    def _forget_oldest(self, id: str) -> None:
        self._over.append(id)
        while len(self._over) > KEPT_OVER:
            old = self._over.popleft()
            self.games.pop(old, None)
            self._changed.discard(old)
            feed = self._feeds.pop(old, None)
            if feed is not None:
                feed.close()

    # --- what viewers are told ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Note what has waited long enough, and tell viewers in ticks, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._note_delayed)
            nursery.start_soon(self._every, BOARD_SECONDS, self._publish_boards)
            nursery.start_soon(self._every, LIST_SECONDS, self._publish_list)

    async def _note_delayed(self) -> None:
        while True:
            await self._has_some.wait()
            while self._waiting:
                due, message = self._waiting[0]
                await trio.sleep_until(due)
                if self._waiting and self._waiting[0][1] is message:
                    self._waiting.popleft()
                    self._note(message)
            self._has_some = trio.Event()

    @staticmethod
    async def _every(seconds: float, publish: Callable[[], None]) -> None:
        while True:
            publish()
            await trio.sleep(seconds)

    def _publish_boards(self) -> None:
        changed, self._changed = self._changed, set()
        for id in changed:
            feed = self._feeds.get(id)
            if feed is not None and len(feed):
                feed.publish(self._board_event(id))

    def _publish_list(self) -> None:
        if self._is_list_new:
            self._is_list_new = False
            if len(self._list):
                self._list.publish(self._list_event())

    def _board_event(self, id: str) -> Event:
        game = self.games.get(id)
        return Event(json.dumps(game.state() if game else {"note": LIVE_WORDS.gone}, ensure_ascii=False), "board")

    def _list_event(self) -> Event:
        told = {"text": self.text, "rows": self._rows(), "over": self.is_over}
        return Event(json.dumps(told, ensure_ascii=False), "games")

    def _rows(self) -> list[list[Any]]:
        running = [game for game in self.games.values() if not game.end]
        return [
            [game.spec.id, game.spec.players[0].name, game.spec.players[1].name, game.ply]
            for game in sorted(running, key=lambda game: game.title)
        ]

    @property
    def text(self) -> str:
        """How far the league is, in a line."""
        if self.is_over:
            return LIVE_WORDS.ended
        progress = self.progress
        if progress is None:
            return ""
        words = LIVE_WORDS.progress if progress.planned is None else LIVE_WORDS.progress_of
        parts = [words.format(done=progress.done, planned=progress.planned)]
        if progress.seconds_left:
            parts.append(LIVE_WORDS.left.format(duration_text(progress.seconds_left)))
        return ", ".join(parts)

    # --- pages --------------------------------------------------------------------------------------------------------

    def routes(self) -> list[BaseRoute]:
        """Where they are."""
        return [
            Route("/now.html", self._list_page),
            Route("/now/events", self._list_events),
            Route("/now/{game}.html", self._game_page),
            Route("/now/{game}/events", self._game_events),
        ]

    async def _list_page(self, request: Request) -> Response:
        page = self._look.page("now.html", "now.html", say=LIVE_WORDS, rows=self._rows(), progress=self.text)
        return HTMLResponse(page)

    async def _list_events(self, request: Request) -> EventAnswer:
        return self._list.answer()

    def _game(self, request: Request) -> WatchedGame:
        game = self.games.get(request.path_params["game"])
        if game is None:
            raise RequestRefused(404, LIVE_WORDS.gone)
        return game

    async def _game_page(self, request: Request) -> Response:
        game = self._game(request)
        notes = [LIVE_WORDS.all_ranks if self._audience is Reading.ALL else LIVE_WORDS.public]
        if self._delay:
            notes.append(LIVE_WORDS.delayed.format(f"{self._delay:g}"))
        here = f"now/{game.spec.id}.html"
        page = self._look.page("watch.html", here, say=LIVE_WORDS, game=game, state=game.state(), notes=notes)
        return HTMLResponse(page)

    async def _game_events(self, request: Request) -> EventAnswer:
        id = self._game(request).spec.id
        if id not in self._feeds:
            self._feeds[id] = Feed(self._viewers, lambda: [self._board_event(id)])
        return self._feeds[id].answer()
