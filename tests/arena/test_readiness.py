"""A descriptor is waited for even where one of the bots has used up what its user may wait for."""

import errno
import os
import select
from collections.abc import Callable, Iterator

import pytest
import trio
import trio.lowlevel
import trio.testing
from schedules import schedule
from waiting import PATIENCE

from arena.bots.spec import BotSpec
from arena.game.time_control import TimeControl
from arena.league.settings import Settings
from arena.play.runner import play_game
from arena.processes.arrivals import Arrivals
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from arena.system import concurrency
from arena.system.concurrency import readable, writable
from protocol.notation import Reason

pytestmark = pytest.mark.skipif(not hasattr(select, "epoll"), reason="only Linux counts what a user waits for")

Pipe = tuple[int, int]
CLOSED = 900
"""A descriptor that nobody has."""
PATIENT = TimeControl(move_ms=600_000, setup_ms=600_000, start_ms=600_000)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        os.close(descriptor)


async def full(_: int) -> None:
    """What trio says where nothing more may be waited for."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def nothing_may_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trio.lowlevel, "wait_readable", full)
    monkeypatch.setattr(trio.lowlevel, "wait_writable", full)


@pytest.mark.usefixtures("nothing_may_be_waited_for")
def test_what_comes_is_seen_though_nothing_may_be_waited_for(pipe: Pipe) -> None:
    seen: list[bytes] = []

    async def read() -> None:
        await readable(pipe[0])
        seen.append(os.read(pipe[0], 10))

    async def main() -> None:
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(read)
                await trio.sleep(2 * concurrency.POLL_SECONDS)
                await writable(pipe[1])
                assert seen == []
                os.write(pipe[1], b"move")

    trio.run(main)
    assert seen == [b"move"]


@pytest.mark.usefixtures("nothing_may_be_waited_for")
def test_a_descriptor_that_another_task_has_closed_is_not_asked_for_ever() -> None:
    with pytest.raises(trio.ClosedResourceError):
        trio.run(readable, CLOSED)


class FullEpoll:
    """Stands for an epoll to which nothing can be added."""

    def register(self, output: int, events: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def unregister(self, output: int) -> None:
        raise FileNotFoundError

    def poll(self, timeout: float) -> list[tuple[int, int]]:
        return []


def test_output_that_cannot_be_watched_is_read_and_counts_from_then() -> None:
    async def main() -> None:
        arrivals = Arrivals(trio.current_time)
        arrivals._epoll = FullEpoll()  # type: ignore[assignment]
        arrivals.watch(5)
        assert arrivals.may_have(5)
        assert not arrivals.spin(5, 60.0)
        assert not arrivals.doze(5)
        before = arrivals.now()
        came, now = arrivals.take(5, before)
        assert before <= came <= now
        arrivals.forget(5)
        assert not arrivals.may_have(5)

    trio.run(main)


@pytest.mark.usefixtures("nothing_may_be_waited_for")
def test_a_game_is_played_to_its_end_by_the_rules(
    make_bot: Callable[..., BotSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Arrivals, "watch", lambda self, output: self._unwatched.add(output))
    bots = make_bot("introduce()\nset_up()\nplay()", "ann"), make_bot("introduce()\nset_up()\nplay(9)", "bob")
    game, _ = schedule(Settings(variant_of(load_ruleset("duel")), PATIENT), [bot.player for bot in bots], 1)

    record = trio.run(play_game, game, *bots)
    assert record.verdict.reason is Reason.CRASH
    assert "exited with code 0" in record.verdict.detail
    assert len(record.actions) >= 17
