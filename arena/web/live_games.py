"""The running games of a league, and the pages on which they can be watched."""

import json
from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import Any

import trio
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from arena.errors import ArenaError
from arena.game import State, displayed
from arena.game.game_spec import GameSpec
from arena.game.replay import ReplayStep, started
from arena.league.executor.task import Watched
from arena.play.game_events import ActionPlayed, GameStarted
from arena.report.progress import duration_text
from arena.report.shown import SeenBy, Shown
from arena.system.printable import isolated
from arena.web.beside import GameStored, LeagueProgress, Over, Told
from arena.web.feed import Event, Feed, Viewers
from arena.web.guard import PageLook, RequestRefused

BOARD_SECONDS, BOARDS_A_LIST = 0.1, 10
MOST_DELAYED = 20_000
"""Batches of events that wait for the delay; games of later ones cannot be followed."""
KEPT_OVER = 64
MOVES_SHOWN = 12
GONE = "This game is not being played now. If it is over, it is in the list of games."
BROKEN = "The moves came too fast to be followed. The game can be replayed when it is over."
ENDED = "The league is over."


class WatchedGame:
    """A running game for one kind of viewer. It `is_broken` when an event was lost."""

    template = "watch_plain.html"
    all_note = "All that there is to know."
    public_note = "What both sides know. All is shown when the game is over."

    def __init__(self, spec: GameSpec, setups: tuple[str, str], audience: SeenBy) -> None:
        self.spec, self.audience = spec, audience
        self.ply = 0
        self.number: int | None = None
        self.end = ""
        self.is_broken = False
        self._setups = setups
        self._waiting: list[ActionPlayed] = []  # not played here yet
        self._seen: State | None = None
        self._moves: list[str] = []

    @property
    def title(self) -> str:
        red, blue = self.spec.players
        return f"{isolated(red.name)} - {isolated(blue.name)}"

    def play(self, event: ActionPlayed) -> None:
        if event.ply != self.ply + 1:
            self.is_broken = True
        self.ply = event.ply
        if not self.is_broken:
            self._waiting.append(event)

    def state(self) -> dict[str, Any]:
        """Return the game as its viewer knows it, with its last moves."""
        self._catch_up()
        href = f"../games/{self.number}.html" if self.number is not None else ""
        state: dict[str, Any] = {"ply": self.ply, "end": self.end, "href": href}
        if self.is_broken or self._seen is None:
            return state | {"note": BROKEN}
        return state | {"moves": self._moves} | self.position()

    def _catch_up(self) -> None:
        if self.is_broken:
            return
        waiting, self._waiting = self._waiting, []
        try:
            if self._seen is None:
                self._seen = started(self.spec, self._setups)
                self.begun(self._seen)
            for event in waiting:
                self._seen.play(event.action)
                step = ReplayStep(event.ply, event.color, event.action, event.told, event.taken_us)
                self._moves = [*self._moves, *self.words(step)][-MOVES_SHOWN:]
        except ArenaError:
            self.is_broken = True

    # --- what a game may show in its own way --------------------------------------------------------------------------

    def begun(self, seen: State) -> None:
        """Called with the state before the first action."""
        self._shown = Shown(self.spec.kind, seen, self.audience, {})
        self._moves = self._shown.told(None)[-MOVES_SHOWN:]

    def words(self, step: ReplayStep) -> Sequence[str]:
        """Return the lines about an action that has just been played, as the viewer may know them."""
        return self._shown.told(step)

    def position(self) -> dict[str, Any]:
        """Return the position for the page: as text and as an image, if the viewer may see it."""
        return {"text": self._shown.text(), "image": self._shown.image()}


class LiveGames:
    def __init__(self, viewers: Viewers, look: PageLook, audience: SeenBy, delay: float = 0.0) -> None:
        self._viewers, self._look, self._audience, self._delay = viewers, look, audience, delay
        self.games: dict[str, WatchedGame] = {}
        self._feeds: dict[str, Feed] = {}
        self._over: deque[str] = deque()
        self._changed: set[str] = set()
        self._list = Feed(viewers, lambda: [self._list_event()])
        self._is_list_new = False
        self._waiting: deque[tuple[float, Told]] = deque()
        self.progress: LeagueProgress | None = None
        self.is_over = False

    def tell(self, message: Told) -> None:
        if not self._delay:
            self._note(message)
        elif len(self._waiting) < MOST_DELAYED or not isinstance(message, Watched):
            self._waiting.append((trio.current_time() + self._delay, message))

    def end(self) -> None:
        while self._waiting:
            self._note(self._waiting.popleft()[1])
        self._note(Over())
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
                self.games[id].number, self.games[id].end = number, text
                self._changed.add(id)
                self._forget_oldest(id)
            case LeagueProgress():
                self.progress = message
            case Over():
                self.is_over = True
                for game in self.games.values():
                    game.end = game.end or "over"
                    self._changed.add(game.spec.id)
            case _:
                return
        self._is_list_new = True

    def _note_event(self, event: GameStarted | ActionPlayed) -> None:
        if isinstance(event, ActionPlayed):
            if event.game in self.games:
                self.games[event.game].play(event)
                self._changed.add(event.game)
            return
        watched = displayed(event.spec.kind.displays.watched, WatchedGame)
        self.games[event.spec.id] = watched(event.spec, event.setups, self._audience)
        self._changed.add(event.spec.id)

    def _forget_oldest(self, id: str) -> None:
        self._over.append(id)
        while len(self._over) > KEPT_OVER:
            old = self._over.popleft()
            self.games.pop(old, None)
            self._changed.discard(old)
            feed = self._feeds.pop(old, None)
            if feed is not None:
                feed.close()

    async def run(self) -> None:
        for rounds in count():
            while self._waiting and self._waiting[0][0] <= trio.current_time():
                self._note(self._waiting.popleft()[1])
            self._publish_boards()
            if rounds % BOARDS_A_LIST == 0:
                self._publish_list()
            await trio.sleep(BOARD_SECONDS)

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
        return Event(json.dumps(game.state() if game else {"note": GONE}, ensure_ascii=False), "board")

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
        progress = self.progress
        if self.is_over:
            return ENDED
        if progress is None:
            return ""
        planned = "" if progress.planned is None else f" of {progress.planned}"
        left = f", about {duration_text(progress.seconds_left)} left" if progress.seconds_left else ""
        return f"{progress.done}{planned} games over{left}"

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/now.html", self._list_page),
            Route("/now/events", self._list_events),
            Route("/now/{game}.html", self._game_page),
            Route("/now/{game}/events", self._game_events),
        ]

    async def _list_page(self, request: Request) -> Response:
        return HTMLResponse(self._look.page("now.html", "now.html", rows=self._rows(), progress=self.text))

    async def _list_events(self, request: Request) -> Feed:
        return self._list

    def _game(self, request: Request) -> WatchedGame:
        game = self.games.get(request.path_params["game"])
        if game is None:
            raise RequestRefused(404, GONE)
        return game

    async def _game_page(self, request: Request) -> Response:
        game = self._game(request)
        notes = [game.all_note if self._audience is SeenBy.ALL else game.public_note]
        if self._delay:
            notes.append(f"Shown {self._delay:g} s later than it is played.")
        here = f"now/{game.spec.id}.html"
        return HTMLResponse(self._look.page(game.template, here, game=game, state=game.state(), notes=notes))

    async def _game_events(self, request: Request) -> Feed:
        id = self._game(request).spec.id
        if id not in self._feeds:
            self._feeds[id] = Feed(self._viewers, lambda: [self._board_event(id)])
        return self._feeds[id]
