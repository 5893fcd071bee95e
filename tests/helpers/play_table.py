"""A table at which a test plays: a session that is served, with its pages, in the loop of another thread."""

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest
import trio
from random_play import lively, random_rows
from served import PATIENCE, Answer, Served, start_serving

from arena.bots.spec import BotSpec, person_spec
from arena.game.game_spec import GameSpec, person, without_clock
from arena.game.person_seat import SeatStage
from arena.game.record import GameRecord, History
from arena.game.time_control import TimeControl
from arena.play.session import Session
from arena.stratego.game import variant_of
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_state import StrategoSeatState, state_of
from arena.stratego.seat_view import legal_actions
from arena.web.address import LOCAL_NAMES, Hosts
from arena.web.seat_server import NextCommands, PlayPages, SeatTable
from protocol.notation import Color

Played = GameRecord | History | None
COMMANDS = NextCommands(
    go_on="arena play --resume game", show=lambda number: f"arena show store {number}", report="arena report store"
)


@dataclass
class PlayTable:
    """A table that is served. `record` is what `Session.play` returned, once `end` has waited for it."""

    served: Served
    table: SeatTable
    pages: PlayPages
    ended: list[Played]

    @property
    def session(self) -> Session:
        return self.table.session

    def address(self, color: Color) -> str:
        return f"{self.served.listening.url}{self.table.tokens[color]}/"

    def path(self, color: Color, name: str = "") -> str:
        return f"/{self.table.tokens[color]}/{name}"

    def state(self, color: Color) -> StrategoSeatState:
        """What a seat is shown now."""
        state: StrategoSeatState = self.served.call(state_of, self.session, color)
        return state

    def until(self, color: Color, stage: SeatStage, plies: int = 0) -> StrategoSeatState:
        """Wait until a seat is there, after so many plies at least."""
        self.served.until(lambda: self.session.state(color).stage is stage and self.session.state(color).plies >= plies)
        return self.state(color)

    def post(self, color: Color, name: str, body: object = None, **headers: str) -> Answer:
        """What a page of ours would send, but for what is said otherwise."""
        given = {"Origin": f"http://{self.served.host}", "Content_Type": "application/json", **headers}
        data = body if isinstance(body, bytes) else msgspec.json.encode(body if body is not None else {})
        return self.served.get(self.path(color, name), "POST", data, **given)

    def end(self) -> Played:
        """Wait until the session has been played."""
        self.served.until(lambda: bool(self.ended))
        return self.ended[0]


def seated(
    rules: str = "duel",
    names: tuple[str, str] = ("Ada", "Bea"),
    *,
    time: TimeControl | None = None,
    max_plies: int | None = None,
    history: History | None = None,
    bot: BotSpec | None = None,
) -> Session:
    """A session of two persons, or of Red and this `bot`."""
    persons = person(names[0]), person(names[1])
    ruleset = load_ruleset(rules)
    spec = GameSpec(
        id="0123456789abcdef",
        variant=variant_of(replace(ruleset, max_plies=max_plies) if max_plies else ruleset),
        time=time or without_clock(TimeControl()),
        players=(persons[0], bot.player if bot else persons[1]),
        seeds=(11, 22),
        pair_seed=33,
    )
    return Session(spec, (person_spec(names[0]), bot or person_spec(names[1])), history=history)


def serve_session(session: Session, blue: Callable[[Session, Color], Awaitable[None]] | None = None) -> PlayTable:
    """Play and serve it; `blue` plays that side, if somebody does. `stop` the server at the end."""
    table = SeatTable(session, COMMANDS)
    pages = PlayPages(table)
    complaints: list[str] = []
    served = start_serving(pages.application(Hosts(LOCAL_NAMES), complain=complaints.append))
    served.complaints = complaints
    ended: list[Played] = []

    async def play() -> None:
        ended.append(await session.play())
        session.stored(7)

    served.call(trio.lowlevel.spawn_system_task, pages.follow)
    served.call(trio.lowlevel.spawn_system_task, play)
    if blue is not None:
        served.call(trio.lowlevel.spawn_system_task, blue, session, Color.BLUE)
    return PlayTable(served, table, pages, ended)


Seat = Callable[..., PlayTable]


@pytest.fixture
def seat() -> Iterator[Seat]:
    """A session as `seated` makes it, played and served; its server is stopped at the end of the test."""
    tables: list[PlayTable] = []

    def make(*arguments: Any, blue: Any = None, **options: Any) -> PlayTable:
        tables.append(serve_session(seated(*arguments, **options), blue))
        return tables[-1]

    yield make
    for table in tables:
        table.served.stop()
        assert not table.served.complaints


def at_random(seed: int, plies: int = 1000) -> Callable[[Session, Color], Awaitable[None]]:

    async def play(session: Session, color: Color) -> None:
        numbers = random.Random(seed + color)
        state = await session.changed(color)
        while state.stage not in (SeatStage.OVER, SeatStage.PAUSED):
            if state.stage is SeatStage.SETTING_UP:
                session.set_up(color, session.random_setup(color, numbers.randrange(1000)))
            elif state.stage is SeatStage.MOVING and not state.resigns:
                if state.plies >= plies:
                    session.resign(color)
                else:
                    session.act(color, numbers.choice(state.choices).action)
            state = await session.changed(color, state.version)

    return play


def from_lines(rows: Sequence[str], actions: Sequence[str]) -> Callable[[Session, Color], Awaitable[None]]:
    """Sets up and plays what is given; then it waits."""

    async def play(session: Session, color: Color) -> None:
        left = list(actions)
        state = await session.changed(color)
        while state.stage not in (SeatStage.OVER, SeatStage.PAUSED):
            if state.stage is SeatStage.SETTING_UP:
                session.set_up(color, rows)
            elif state.stage is SeatStage.MOVING and left:
                session.act(color, left.pop(0))
            state = await session.changed(color, state.version)

    return play


def history_until(rules: str, form: str) -> History:
    """A random game up to a turn of Red in which an action is legal whose text has `form` in it."""
    ruleset = load_ruleset(rules)
    for seed in range(100):
        numbers = random.Random(seed)
        rows = [random_rows(ruleset, numbers) for _ in Color]
        game, actions = EngineGame(ruleset, *rows), list[str]()
        while not game.outcome and game.ply < 100:
            if game.to_move is Color.RED and any(form in action for action in legal_actions(game)):
                return History(("", ""), ("/".join(rows[0]), "/".join(rows[1])), tuple(actions), (0,) * game.ply, ())
            actions.append(lively(game, numbers).text)
            game.apply(actions[-1])
    raise AssertionError(f"no random game under {rules} comes to a {form!r}")


__all__ = ["COMMANDS", "PATIENCE", "PlayTable", "at_random", "from_lines", "history_until", "seated", "serve_session"]
