"""The clock of a server: what the machine keeps from the process does not count."""

import time

import pytest
import trio

from arena.web import server as clock
from arena.web.server import OwnClock


class Machine:
    """A machine whose time and whose queue for a CPU are set by the test."""

    now = waited = 0.0

    def pass_time(self, seconds: float, waiting: float = 0.0) -> None:
        self.now += seconds
        self.waited += waiting


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    one = Machine()
    monkeypatch.setattr(time, "perf_counter", lambda: one.now)
    monkeypatch.setattr(clock, "cpu_wait", lambda: one.waited)
    return one


def test_time_passes_while_the_process_runs_or_sleeps(machine: Machine) -> None:
    own = OwnClock()
    machine.pass_time(10)
    assert own.current_time() == 10


def test_time_without_a_cpu_is_left_out(machine: Machine) -> None:
    own = OwnClock()
    machine.pass_time(10, waiting=8)
    assert own.current_time() == 2
    assert own.deadline_to_sleep_time(5) == 3


def test_the_clock_never_goes_back(machine: Machine) -> None:
    own = OwnClock()
    machine.pass_time(0.04, waiting=0.04)
    first = own.current_time()
    machine.pass_time(0.02, waiting=2)  # two threads wait at once
    assert own.current_time() == first


def test_a_thread_that_waits_for_a_cpu_is_seen() -> None:
    before = clock.cpu_wait()
    assert before >= 0
    assert clock.cpu_wait() >= before


def test_tasks_sleep_by_it() -> None:
    async def main() -> None:
        with trio.fail_after(60):
            await trio.sleep(0.01)

    trio.run(main, clock=OwnClock())
