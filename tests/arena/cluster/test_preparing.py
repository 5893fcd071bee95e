"""A worker is sent the bots that it has not got, and asked again while the way to it is not free."""

from collections.abc import Sequence

import pytest
import trio
import trio.testing
from fake_gate import FIT, RUN

from arena.league.executor.cluster import preparing
from arena.league.executor.cluster.carrying import Cargo
from arena.league.executor.cluster.left_out import LeftOut
from arena.league.executor.cluster.messages import (
    Answer,
    Done,
    Missing,
    Prepare,
    Prepared,
    PutBot,
    Refused,
    Request,
    Unprepared,
    decode_request,
)
from arena.league.executor.cluster.preparing import MOST_SENT, prepare
from arena.league.executor.pipes import WireError

READY = Prepared(2, "Linux", FIT)
PREPARE = Prepare(RUN)
PUT_A, PUT_B = PutBot("a", b"pack a", 0, 6), PutBot("b", b"pack b", 0, 6)


def asked(*answers: Answer | None) -> tuple[Answer | None, list[Request]]:
    """What comes of it where a worker answers so, and what it is asked."""
    left, requests = list(answers), list[Request]()

    async def ask(data: bytes) -> Answer | None:
        await trio.lowlevel.checkpoint()
        requests.append(decode_request(data))
        return left.pop(0)

    async def main() -> Answer | None:
        return await prepare(ask, Cargo(RUN, {"a": b"pack a", "b": b"pack b"}), LeftOut(), lambda line: None)

    answer: Answer | None = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    return answer, requests


def test_a_worker_that_has_all_bots_is_sent_none() -> None:
    assert asked(READY) == (READY, [PREPARE])


def test_a_worker_is_sent_the_bots_that_it_has_not_got_and_no_others() -> None:
    assert asked(Missing(("b",)), Done(), READY) == (READY, [PREPARE, PUT_B, PREPARE])


def test_a_large_bot_is_sent_in_parts_and_no_further_one_where_one_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "PART_BYTES", 4)
    parts = [PutBot("b", b"pack", 0, 6), PutBot("b", b" b", 4, 6)]
    assert asked(Missing(("b",)), Done(), Done(), READY) == (READY, [PREPARE, *parts, PREPARE])
    full = Refused("no space left")
    assert asked(Missing(("b",)), full) == (full, [PREPARE, parts[0]])


def test_a_worker_that_cannot_keep_a_bot_is_sent_no_other() -> None:
    full = Refused("no space left")
    assert asked(Missing(("a", "b")), full) == (full, [PREPARE, PUT_A])


def test_a_worker_that_asks_for_other_files_gets_none() -> None:
    answer, requests = asked(Missing(("/etc/passwd",)))
    assert answer == Refused("it asks for a bot that does not take part")
    assert requests == [PREPARE]


def test_a_worker_that_cannot_be_reached_is_asked_again() -> None:
    assert asked(Unprepared(), Unprepared(), READY) == (READY, [PREPARE] * 3)


@pytest.mark.parametrize("answers", [(None,), (Missing(("a",)), None), (Unprepared(), None)])
def test_a_worker_that_is_gone_is_asked_no_more(answers: Sequence[Answer | None]) -> None:
    assert asked(*answers)[0] is None


def test_a_worker_that_sends_what_is_no_message_is_refused() -> None:
    async def ask(data: bytes) -> Answer | None:
        raise WireError("expected a message")

    answer = trio.run(prepare, ask, Cargo(RUN, {}), LeftOut(), lambda line: None)
    assert answer == Refused("it sends what is no message: expected a message")


def test_what_a_worker_says_of_bots_that_had_changed_there_is_told_and_they_are_sent() -> None:
    remarks: list[str] = []
    answers: list[Answer] = [Missing(("a",)), Done(), Missing(("b",), ("b: its pack had been changed",)), Done(), READY]

    async def ask(data: bytes) -> Answer | None:
        return answers.pop(0)

    answer = trio.run(prepare, ask, Cargo(RUN, {"a": b"pack a", "b": b"pack b"}), LeftOut(), remarks.append)
    assert (answer, remarks) == (READY, ["b: its pack had been changed"])


def test_a_worker_that_has_never_got_what_it_was_sent_is_refused() -> None:
    answers: list[Answer] = [Missing(("a",)), Done()]
    answer, requests = asked(*answers * MOST_SENT)
    assert answer == Refused("it does not keep the bots that it is sent: it was sent some 3 times")
    assert len(requests) == 2 * MOST_SENT
