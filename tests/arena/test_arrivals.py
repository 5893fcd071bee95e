"""When an answer came: what the arena does meanwhile is not charged to the bot, and what the bot does is.

The rules are tried with a clock that only the test moves; that they hold in a trio run, with the system's own clock.
"""

import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import trio
import trio.testing

import arena.processes.arrivals
from arena.game.time_control import Suspension
from arena.processes.arrivals import (
    BEAT_SECONDS,
    CALL_SECONDS,
    DOZE_SECONDS,
    MOMENT,
    Arrivals,
)

needs_epoll = pytest.mark.skipif(not hasattr(select, "epoll"), reason="without epoll nobody looks")
needs_schedstat = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this kernel does not tell how long a thread waited for a CPU"
)

PATIENCE = 120.0
"""Seconds after which a test counts as one that never ends."""
BUSY_SECONDS = 0.05
"""How long the arena works without a look: many times what it may charge."""
ASLEEP_SECONDS = 0.02
"""How long the arena has slept when an answer comes."""

WRITES_TO_A_SLEEPER = """
import os, sys, time
sleeper, asleep_seconds = sys.argv[1], float(sys.argv[2])
def is_asleep():
    with open(sleeper) as stat:
        return stat.read().rpartition(")")[2].split()[0] == "S"
for _ in sys.stdin:
    since = time.perf_counter()
    while time.perf_counter() < since + asleep_seconds:
        if not is_asleep():
            since = time.perf_counter()
    before = time.perf_counter()
    os.write(1, b"x")
    print(before, time.perf_counter(), file=sys.stderr, flush=True)
"""
"""For each line that it is given: waits until a thread has been asleep for a while, writes to it, and says when."""


class Pipe:
    """A pipe that a bot may say something in; the arena reads its output."""

    def __init__(self) -> None:
        self.output, self.input = os.pipe()
        os.set_blocking(self.output, False)

    def say(self) -> None:
        os.write(self.input, b"x")

    def close(self) -> None:
        os.close(self.output)
        os.close(self.input)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.close()


class Scripted:
    """Arrivals with a clock that only the test moves, and the times of a run as the test tells them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pipe: Pipe) -> None:
        self.moment = 0.0
        self.waited = 0.0
        self.worked = 0.0
        self.suspended = 0.0
        monkeypatch.setattr(arena.processes.arrivals, "_worked", lambda: self.worked)
        monkeypatch.setattr(arena.processes.arrivals, "_suspended", lambda: self.suspended)
        monkeypatch.setattr(Arrivals, "_waited_for_cpu", lambda _: self._waited())
        self.clock: Callable[[], float] = lambda: self.moment
        self._writes = False
        self.arrivals = Arrivals(self._now)
        self.pipe = pipe
        self.arrivals.watch(pipe.output)

    def _now(self) -> float:
        return self.clock()

    def work(self, until: float) -> None:
        """The arena is at work, without a look."""
        self.worked += until - self.moment
        self.moment = until

    def look(self, at: float) -> None:
        """The arena goes round without sleeping, after it has worked."""
        self.work(at)
        self.arrivals.before_io_wait(0)
        self.arrivals.after_io_wait(0)

    def sleep(self, at: float, until: float, waited: float = 0.0, asked: float = 1000) -> None:
        """The arena sleeps until it is woken by an answer, the last part of it because no CPU is free for it.

        It has `asked` to be woken after so many seconds.
        """
        self.work(at)
        self.arrivals.before_io_wait(asked)
        self.pipe.say()
        self.moment = until
        self.waited += waited
        self.arrivals.after_io_wait(asked)

    def doze(self, until: float, *, waited: float = 0.0) -> bool:
        """The arena dozes until it is woken by an answer, the last part of it because no CPU is free for it."""
        moments = iter([self.moment])

        def clock() -> float:
            if next(moments, None) is None:
                self.moment = until
                self.waited += waited
            return self.moment

        before, self.clock, self._writes = self.clock, clock, True
        has_come = self.arrivals.doze(self.pipe.output)
        self.clock = before
        return has_come

    def _waited(self) -> float:
        """Return how long the arena has waited for a CPU; it asks when it begins to doze."""
        if self._writes:
            self.pipe.say()
            self._writes = False
        return self.waited

    def take(self, at: float, asked: float) -> float:
        """When what is read now came; the clock of the games says `at` then."""
        self.work(at)
        came, read = self.arrivals.take(self.pipe.output, asked)
        assert read == max(asked, self.arrivals.now())
        assert came <= read
        os.read(self.pipe.output, 100)
        return came


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, pipe: Pipe) -> Iterator[Scripted]:
    made = Scripted(monkeypatch, pipe)
    yield made
    made.arrivals.after_run()


def keep_busy(seconds: float) -> None:
    """Work for so long, without a look."""
    end = trio.current_time() + seconds
    while trio.current_time() < end:
        pass


# --- the rules, with a clock of the test's own ------------------------------------------------------------------------


@needs_epoll
def test_an_answer_that_wakes_the_arena_counts_from_then_however_late_it_is_read(scripted: Scripted) -> None:
    scripted.look(9.0)
    scripted.sleep(10.0, until=12.0)
    assert scripted.take(13.0, asked=9.5) == 12.0


@needs_epoll
def test_what_the_arena_waited_for_a_cpu_after_it_was_woken_is_not_the_bots(scripted: Scripted) -> None:
    scripted.waited = 100.0
    scripted.sleep(10.0, until=12.0, waited=0.5)
    assert scripted.take(13.0, asked=9.5) == 11.5


@needs_epoll
def test_an_answer_did_not_come_before_the_look_that_did_not_find_it(scripted: Scripted) -> None:
    """The kernel may have counted waits from before the sleep too."""
    scripted.sleep(10.0, until=12.0, waited=3.0)
    assert scripted.take(13.0, asked=9.5) == 10.0


@needs_epoll
def test_an_answer_counts_from_the_middle_between_two_looks_that_are_close_together(scripted: Scripted) -> None:
    scripted.look(10.0)
    scripted.pipe.say()
    scripted.look(10.0 + MOMENT)
    assert scripted.take(13.0, asked=9.5) == pytest.approx(10.0 + MOMENT / 2)


@needs_epoll
@pytest.mark.parametrize("found_by", ["look", "look before sleep", "reading"])
def test_an_answer_found_after_long_work_is_charged_no_more_than_a_moment_of_it(
    scripted: Scripted, found_by: str
) -> None:
    scripted.look(10.0)
    scripted.pipe.say()
    if found_by == "look":
        scripted.look(10.05)
    elif found_by == "look before sleep":
        scripted.work(10.05)
        scripted.arrivals.before_io_wait(1)
        scripted.moment = 10.06
        scripted.arrivals.after_io_wait(1)
    assert scripted.take(10.07, asked=9.5) == 10.0 + MOMENT


@needs_epoll
def test_no_answer_comes_before_the_bot_was_asked(scripted: Scripted) -> None:
    scripted.sleep(10.0, until=12.0)
    assert scripted.take(13.0, asked=12.5) == 12.5


@needs_epoll
def test_what_was_taken_is_forgotten_and_the_next_answer_has_a_time_of_its_own(scripted: Scripted) -> None:
    scripted.sleep(10.0, until=11.0)
    assert scripted.take(11.5, asked=9.5) == 11.0
    scripted.sleep(12.0, until=14.0)
    assert scripted.take(15.0, asked=11.7) == 14.0
    assert scripted.arrivals.take(scripted.pipe.output, 9.5) == (15.0, 15.0)


@needs_epoll
def test_a_spin_ends_with_the_look_that_finds_something_and_that_is_when_it_came(scripted: Scripted) -> None:
    """Each look is the poll and the time stamp in one: what it finds came since the one before."""
    scripted.look(10.0)
    moments = iter([10.01, 10.02, 10.02 + MOMENT])

    def now() -> float:
        scripted.moment = next(moments, scripted.moment)
        if scripted.moment > 10.02:
            scripted.pipe.say()
        return scripted.moment

    scripted.clock = now
    assert scripted.arrivals.spin(scripted.pipe.output, PATIENCE)
    assert scripted.moment == 10.02 + MOMENT
    assert scripted.arrivals.take(scripted.pipe.output, 9.5)[0] == pytest.approx(10.02 + MOMENT / 2)


@needs_epoll
def test_a_spin_in_which_nothing_comes_is_given_up_though_the_clock_of_the_run_stands_still(scripted: Scripted) -> None:
    scripted.look(10.0)
    assert not scripted.arrivals.spin(scripted.pipe.output, 0.001)
    scripted.pipe.say()
    assert scripted.arrivals.spin(scripted.pipe.output, 0.0)


@needs_epoll
@pytest.mark.parametrize(
    ("slept", "waited", "came"),
    [
        (DOZE_SECONDS, 0.0, DOZE_SECONDS),
        (DOZE_SECONDS, DOZE_SECONDS / 4, DOZE_SECONDS * 3 / 4),
        (BUSY_SECONDS / 2, 0.0, DOZE_SECONDS),  # what the arena slept longer than it asked is not the bot's
    ],
)
def test_an_answer_to_a_dozing_arena_came_when_it_was_woken(
    scripted: Scripted, slept: float, waited: float, came: float
) -> None:
    scripted.look(10.0)
    assert scripted.doze(10.0 + slept, waited=waited)
    assert scripted.take(10.0 + slept, 10.0) == pytest.approx(10.0 + came)


@needs_epoll
def test_a_doze_ends_for_the_output_of_another_bot_and_does_not_begin_with_it(scripted: Scripted) -> None:
    other = Pipe()
    scripted.arrivals.watch(other.output)
    assert not scripted.arrivals.doze(other.output)
    scripted.pipe.say()
    assert not scripted.arrivals.doze(other.output)
    assert scripted.arrivals.may_have(scripted.pipe.output)
    other.close()


@needs_epoll
def test_a_stop_is_noticed_in_a_doze(scripted: Scripted) -> None:
    scripted.look(10.0)
    scripted.doze(13.0)
    assert scripted.arrivals.stops == [Suspension(3.0, 3.0)]


@needs_epoll
def test_what_came_from_a_forgotten_descriptor_is_not_taken_for_the_next_of_that_number(scripted: Scripted) -> None:
    scripted.sleep(10.0, until=11.0)
    scripted.arrivals.forget(scripted.pipe.output)
    other = Pipe()
    os.dup2(other.output, scripted.pipe.output)
    scripted.arrivals.watch(scripted.pipe.output)
    scripted.work(20.0)
    assert scripted.arrivals.take(scripted.pipe.output, 9.5) == (20.0, 20.0)
    other.close()


def test_without_epoll_an_answer_counts_from_when_it_is_read(monkeypatch: pytest.MonkeyPatch, pipe: Pipe) -> None:
    monkeypatch.setattr(arena.processes.arrivals, "select", SimpleNamespace())
    scripted = Scripted(monkeypatch, pipe)
    scripted.sleep(10.0, until=11.0)
    scripted.look(12.0)
    assert scripted.arrivals.may_have(pipe.output), "nobody knows"
    assert not scripted.arrivals.spin(pipe.output, PATIENCE)
    assert scripted.take(13.0, asked=9.5) == 13.0
    scripted.arrivals.forget(pipe.output)
    scripted.arrivals.after_run()


# --- stops of the arena -----------------------------------------------------------------------------------------------

LONG = 12.3


def stop(scripted: Scripted, seconds: float) -> None:
    """The arena is stopped where it is."""
    scripted.moment += seconds


@needs_epoll
def test_time_that_is_neither_slept_nor_worked_nor_waited_is_a_stop_and_the_clock_of_the_games_leaves_it_out(
    scripted: Scripted,
) -> None:
    scripted.look(10.0)
    stop(scripted, LONG)
    scripted.look(10.0 + LONG)
    (found,) = scripted.arrivals.stops
    assert found == pytest.approx((LONG, LONG))
    assert scripted.arrivals.now() == pytest.approx(10.0)
    assert scripted.arrivals.left_out == pytest.approx(LONG)
    scripted.look(15.0 + LONG)
    assert scripted.arrivals.now() == pytest.approx(15.0)
    assert len(scripted.arrivals.stops) == 1


@needs_epoll
def test_what_comes_in_a_stop_counts_from_before_it_however_late_it_is_found(scripted: Scripted) -> None:
    scripted.look(10.0)
    scripted.pipe.say()
    stop(scripted, LONG)
    assert scripted.take(10.0 + LONG, asked=9.5) == pytest.approx(10.0)
    assert len(scripted.arrivals.stops) == 1


@needs_epoll
@pytest.mark.parametrize("how", ["asleep", "at work", "without a CPU", "in a call"])
def test_long_sleep_work_waits_for_a_cpu_and_calls_are_no_stops(scripted: Scripted, how: str) -> None:
    scripted.look(10.0)
    if how == "asleep":
        scripted.sleep(10.0, until=10.0 + LONG)
    elif how == "at work":
        scripted.look(10.0 + LONG)
    elif how == "without a CPU":
        stop(scripted, LONG)
        scripted.waited += LONG
        scripted.look(10.0 + LONG)
    else:
        with scripted.arrivals.blocking_call():
            stop(scripted, CALL_SECONDS)
    assert scripted.arrivals.stops == []
    assert scripted.arrivals.now() == scripted.moment


@needs_epoll
def test_a_stop_in_a_call_that_takes_much_longer_than_such_calls_do_is_noticed(scripted: Scripted) -> None:
    with scripted.arrivals.blocking_call():
        stop(scripted, CALL_SECONDS + LONG)
    assert len(scripted.arrivals.stops) == 1


@needs_epoll
def test_what_the_arena_works_before_its_heartbeat_is_no_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = trio.testing.MockClock()
    monkeypatch.setattr(arena.processes.arrivals, "_worked", clock.current_time)

    class Works(trio.abc.Instrument):
        """A task keeps the arena at work until the heartbeat is due."""

        def after_io_wait(self, timeout: float) -> None:
            del timeout
            clock.jump(LONG)

    async def run() -> list[Suspension]:
        arrivals = Arrivals.of_this_run()
        trio.lowlevel.add_instrument(Works())
        for _ in range(5):
            await trio.lowlevel.checkpoint()
        return arrivals.stops

    assert trio.run(run, clock=clock) == []


@needs_epoll
def test_the_machines_sleep_is_a_stop_in_which_no_bot_ran_and_no_clock(scripted: Scripted) -> None:
    scripted.look(10.0)
    scripted.suspended = LONG
    scripted.arrivals.note_suspension()
    scripted.arrivals.note_suspension()
    assert scripted.arrivals.stops == [Suspension(LONG, 0.0)]
    assert scripted.arrivals.now() == 10.0


@needs_epoll
def test_a_run_looks_again_and_again_whatever_its_games_do() -> None:
    """Else a long sleep would hide a stop in it."""
    asked = []

    class Listens(trio.abc.Instrument):
        def before_io_wait(self, timeout: float) -> None:
            asked.append(timeout)

    async def run() -> None:
        Arrivals.of_this_run()
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(Listens())
        while len(asked) < 3:  # noqa: ASYNC110  (a busy machine may wake it late)
            await trio.sleep(3 * BEAT_SECONDS)
        assert max(asked) <= BEAT_SECONDS

    trio.run(run)


@needs_epoll
@needs_schedstat
def test_an_answer_that_comes_while_the_arena_sleeps_counts_from_about_its_arrival(pipe: Pipe) -> None:
    """Not from when the arena fell asleep, nor from when it came round to it. Other programs on the machine may disturb
    some of the tries."""
    thread = f"/proc/{os.getpid()}/task/{threading.get_native_id()}/stat"
    command = [sys.executable, "-I", "-S", "-c", WRITES_TO_A_SLEEPER, thread, str(ASLEEP_SECONDS)]

    async def one_try() -> tuple[float, float, float]:
        """Just before the answer was written, when it came, and just after it was written."""
        assert writer.stdin
        assert writer.stderr
        zero = trio.current_time() - time.perf_counter()
        asked = trio.current_time()
        writer.stdin.write(b"now\n")
        await trio.lowlevel.wait_readable(pipe.output)
        keep_busy(ASLEEP_SECONDS)
        came, _ = Arrivals.of_this_run().take(pipe.output, asked)
        os.read(pipe.output, 100)
        before, after = (float(word) + zero for word in writer.stderr.readline().split())
        return before, came, after

    async def tries() -> list[tuple[float, float, float]]:
        arrivals = Arrivals.of_this_run()
        arrivals.watch(pipe.output)
        with trio.fail_after(PATIENCE):
            found = [await one_try() for _ in range(5)]
        arrivals.forget(pipe.output)
        return found

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=pipe.input, stderr=subprocess.PIPE, bufsize=0
    ) as writer:
        found = trio.run(tries)
        writer.communicate()
    slack = ASLEEP_SECONDS / 4
    right = [before - slack <= came <= after + slack for before, came, after in found]
    assert sum(right) > len(right) / 2, found
