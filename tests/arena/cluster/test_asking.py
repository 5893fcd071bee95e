"""What workers are asked is answered, or known never to be."""

import pytest
import trio
import trio.testing
from fake_gate import CARGO, FakeGate

from arena.league.executor.cluster.asking import Requests
from arena.league.executor.cluster.messages import Answer, Close, Done, Refused, Reply, Unprepared, encode
from arena.league.executor.cluster.seat import Seat
from arena.league.executor.pipes import WireError

CLOSE = encode(Close(CARGO.run.id))
SEAT, OTHER = Seat("tcp://a:1", "a", "a"), Seat("tcp://b:1", "b", "b")


async def answered(reply: Reply | None) -> Answer | None:
    """What comes of a request to one worker; without a reply that worker goes."""
    requests = Requests(FakeGate())
    found: list[Answer | None] = []

    async def ask() -> None:
        found.append(await requests.answer(SEAT, CLOSE))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        requests.forget(OTHER)
        await trio.testing.wait_all_tasks_blocked()
        assert not found
        if reply is None:
            requests.forget(SEAT)
        else:
            assert requests.note(reply)
    return found[0]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (Reply(1, encode(Done())), Done()),
        (Reply(1, lost="the way is not free"), Unprepared()),
        (Reply(1, lost="KeyError: 'x'", is_fault=True), Refused("KeyError: 'x'")),
        (None, None),
    ],
)
def test_a_request_is_answered_or_known_never_to_be(reply: Reply | None, answer: Answer | None) -> None:
    assert trio.run(answered, reply) == answer


@pytest.mark.parametrize("data", [b"", b"\xff", b"\x91\x01"])
def test_what_is_no_answer_is_an_error(data: bytes) -> None:
    async def asked() -> None:
        requests = Requests(FakeGate())

        async def reply() -> None:
            await trio.testing.wait_all_tasks_blocked()
            requests.note(Reply(1, data))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(reply)
            with pytest.raises(WireError):
                await requests.answer(SEAT, CLOSE)

    trio.run(asked)


def test_replies_to_batches_are_not_of_these_requests() -> None:
    requests = Requests(FakeGate())
    number = requests.submit(SEAT, CLOSE)
    assert not requests.note(Reply(number, encode(Done())))


def test_nobody_waits_for_an_answer_once_the_run_is_stopped() -> None:
    async def main() -> None:
        requests = Requests(FakeGate())
        requests.stop()
        assert await requests.answer(SEAT, CLOSE) is None

    trio.run(main)
