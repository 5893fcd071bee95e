"""The events of watched games on their way from a worker: whole, in order, and never in the way of an outcome."""

from collections.abc import Awaitable, Callable

import msgspec
import pytest
import trio
import trio.testing

from arena.game.game_spec import GameSpec
from arena.game.persons import person
from arena.game.time_control import TimeControl
from arena.league.executor.task import Watched
from arena.league.executor.worker import MOST_WAITING, EventStream
from arena.play.game_events import ActionPlayed, GameStarted
from arena.stratego.game import variant_of
from arena.stratego.rules.action_types import infiltration, parse_action, rescue
from arena.stratego.rules.board import MOVES
from arena.stratego.rules.events import Event, Fought, Guessed, Moved, Rescued, Resigned, Revealed
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.state import told_of
from protocol.notation import Color, Rank, Survivor

MOVE = MOVES["a4-a5"]
EVENTS: tuple[Event, ...] = (
    Moved(Color.RED, MOVE),
    Moved(Color.BLUE, parse_action("d2-d3-e3")),
    Moved(Color.BLUE, rescue(MOVE, Rank.COLONEL, 17)),
    Moved(Color.RED, infiltration(3, 5, Rank.BOMB)),
    *(Fought(3, Rank.SPY, Rank.MARSHAL, who, Color.BLUE, silent) for who in Survivor for silent in (False, True)),
    Revealed(7, Rank.BOMB),
    Rescued(Color.RED, 4, Rank.MINER),
    Guessed(2, Rank.SCOUT, True),
    Resigned(Color.BLUE),
)


class Pipe:
    """What a stream is sent over; while it is full nothing is taken."""

    def __init__(self) -> None:
        self.sent: list[Watched] = []
        self.is_full = False

    def send(self, message: Watched) -> None:
        self.sent.append(message)

    def flush(self) -> bool:
        return not self.is_full


def action(ply: int) -> ActionPlayed:
    return ActionPlayed("game", ply, Color.RED, "a4-a5", told_of((Moved(Color.RED, MOVE),)), 10, 20)


def plies(sent: list[Watched]) -> list[int]:
    return [event.ply for message in sent for event in message.events if isinstance(event, ActionPlayed)]


def arrived(event: GameStarted | ActionPlayed) -> GameStarted | ActionPlayed:
    """The event at the other end of the pipe."""
    (got,) = msgspec.msgpack.decode(msgspec.msgpack.encode(Watched((event,), 0)), type=Watched).events
    return got


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_every_kind_of_event_arrives_as_it_was(event: Event) -> None:
    played = ActionPlayed("game", 3, Color.BLUE, "a4-a5", told_of((event, *EVENTS[:2])), 100, 200)
    assert arrived(played) == played


def test_a_start_arrives_as_it_was() -> None:
    spec = GameSpec("game", variant_of(load_ruleset("duel")), TimeControl(), (person("Ada"), person("Bea")), (1, 2), 3)
    started = GameStarted(spec, ("one set-up", "another"), None)
    assert arrived(started) == started


def run(pipe: Pipe, told: Callable[[EventStream], Awaitable[None]]) -> None:
    """Run a stream into a pipe, while events are told, and for a second more."""

    async def main() -> None:
        stream = EventStream(pipe)  # type: ignore[arg-type]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.send)
            await told(stream)
            await trio.sleep(1)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def test_events_go_in_batches() -> None:
    pipe = Pipe()

    async def tell(stream: EventStream) -> None:
        for ply in range(100):
            stream.tell(action(ply))

    run(pipe, tell)
    assert [plies([message]) for message in pipe.sent] == [list(range(100))]


def test_while_the_pipe_is_full_nothing_is_sent_and_what_is_too_much_is_counted() -> None:
    pipe = Pipe()

    async def tell(stream: EventStream) -> None:
        pipe.is_full = True
        for ply in range(MOST_WAITING + 7):
            stream.tell(action(ply))
        await trio.sleep(1)
        assert pipe.sent == []
        pipe.is_full = False

    run(pipe, tell)
    assert plies(pipe.sent) == list(range(MOST_WAITING))
    assert [message.dropped for message in pipe.sent] == [7]


def test_events_of_later_games_are_sent_too() -> None:
    pipe = Pipe()

    async def tell(stream: EventStream) -> None:
        for ply in range(3):
            stream.tell(action(ply))
            await trio.sleep(1)
            assert plies(pipe.sent) == list(range(ply + 1)), "sent while the game goes on"
            stream.flush()  # the end of the game

    run(pipe, tell)


def test_at_the_end_of_a_game_its_events_go_first_or_not_at_all() -> None:
    pipe = Pipe()
    stream = EventStream(pipe)  # type: ignore[arg-type]
    stream.tell(action(1))
    stream.flush()
    pipe.is_full = True
    stream.tell(action(2))
    stream.flush()
    assert plies(pipe.sent) == [1]
    assert [message.dropped for message in pipe.sent] == [0, 1]
    stream.flush()
    assert len(pipe.sent) == 2, "where nothing has happened nothing is sent"
