"""The events of watched games on their way from a worker: whole, in order, and never in the way of an outcome."""

from collections.abc import Awaitable, Callable

import trio
import trio.testing

from arena.game import to_both
from arena.league.executor.task import Watched
from arena.league.executor.worker import MOST_WAITING, EventStream
from arena.play.game_events import ActionPlayed
from protocol.notation import Color


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
    return ActionPlayed("game", ply, Color.RED, "a4-a5", to_both("moved red a4-a5"), 10, 20)


def plies(sent: list[Watched]) -> list[int]:
    return [event.ply for message in sent for event in message.events if isinstance(event, ActionPlayed)]


def run(pipe: Pipe, told: Callable[[EventStream], Awaitable[None]]) -> None:

    async def main() -> None:
        stream = EventStream(pipe)  # type: ignore[arg-type]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.send)
            await told(stream)
            await trio.sleep(1)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


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
