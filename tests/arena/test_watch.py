"""What a bot can make the arena do by being many, deep or large: a bounded number of looks, and those that cost in a
thread. The processes are made up, so that each look can be counted."""

import os
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
import trio
import trio.testing

from arena.bots.limits import MIB, Limits
from arena.sandbox import freezer, procfs, reaper, rlimits, watch
from arena.sandbox.freezer import Freezer
from arena.sandbox.procfs import Process
from arena.sandbox.watch import Watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is read on Linux only")

LEADER = 10
LIMITS = Limits(memory=64 * MIB, processes=16)


@dataclass
class Machine:
    """Processes that are not there: `children` of each by number, what each holds, and what was asked about them."""

    children: dict[int, list[int]] = field(default_factory=dict)
    threads: int = 1
    resident: int = MIB
    is_dead: bool = False
    opened: int = 8
    """What each has open."""
    looks: int = 0
    listings: int = 0
    grows: bool = False
    """Whether each process that is looked at has just started another one."""

    def look(self, pid: int) -> Process:
        self.looks += 1
        if self.grows:
            self.children[pid] = [pid + 1]
        return Process(pid, 1, LEADER, LEADER, 5, self.is_dead and pid != LEADER, False, self.threads, self.resident)

    def children_of_thread(self, pid: int, thread: int | str, most: int) -> Iterator[int]:
        self.listings += 1
        return iter(self.children.get(pid, [])[: most + 1])


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(procfs, "look", machine.look)
    monkeypatch.setattr(procfs, "_children_of_thread", machine.children_of_thread)
    monkeypatch.setattr(os, "listdir", lambda path: [str(task) for task in range(machine.threads)])
    monkeypatch.setattr(watch, "descriptors", lambda pid, most: min(machine.opened, most))
    monkeypatch.setattr(reaper, "sweep", lambda: None)
    monkeypatch.setitem(reaper.owners, LEADER, reaper.Owner(LEADER))
    return machine


def watch_over(limits: Limits = LIMITS) -> Watch:
    return Watch(LEADER, limits, 0, lambda found: False, is_counted=False)


WIDE = {LEADER: list(range(100, 10_100))}
DEEP = {LEADER: [100], **{pid: [pid + 1] for pid in range(100, 10_100)}}


@pytest.mark.parametrize("children", [WIDE, DEEP], ids=["wide", "deep"])
@pytest.mark.parametrize("is_dead", [False, True], ids=["alive", "dead"])
def test_a_look_goes_through_no_more_processes_than_the_bot_may_have_and_one(
    machine: Machine, children: dict[int, list[int]], is_dead: bool
) -> None:
    machine.children, machine.is_dead = children, is_dead
    assert "had 17 processes and threads; 16 are allowed" in watch_over().look()
    assert machine.looks <= LIMITS.processes + 1
    assert machine.listings <= LIMITS.processes + 1


def test_open_files_of_all_processes_together_have_a_limit(machine: Machine) -> None:
    """A thousand; of one that may have many processes, as a build may, sixteen for each."""
    machine.children, machine.opened = {LEADER: list(range(100, 109))}, 102
    assert watch_over().look() == ""
    machine.opened = 103
    assert watch_over().look() == "had 1030 open files, all its processes together; 1024 are allowed"
    assert watch_over(Limits(memory=64 * MIB, processes=128)).look() == ""


def test_between_parts_of_a_long_look_others_have_their_turn(machine: Machine) -> None:
    machine.children = {LEADER: list(range(100, 199))}
    steps: list[int] = []

    async def other() -> None:
        while True:
            steps.append(machine.looks)
            await trio.lowlevel.checkpoint()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(other)
            await trio.lowlevel.checkpoint()
            await watch_over(Limits(processes=100)).look_in_steps()
            nursery.cancel_scope.cancel()

    trio.run(main)
    assert max(after - before for before, after in pairwise(steps)) <= 2 * watch.STEP, (
        "in each round of trio's either may come first"
    )
    assert machine.looks == 100


def test_a_look_that_takes_long_is_followed_by_a_pause_that_is_longer(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten milliseconds a process, as if it were slow: all looks together take no more than their part of the time."""
    machine.children = {LEADER: list(range(100, 109))}
    monkeypatch.setattr(time, "thread_time", lambda: machine.looks * 0.010)

    async def main() -> None:
        with trio.move_on_after(100):
            await watch_over().until_over()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    assert machine.looks >= 10, "it goes on looking"
    assert machine.looks * 0.010 <= 100 / watch.WATCH_SHARE + 0.2


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often memory was read exactly, by the name of the thread."""
    counted: Counter[str] = Counter()

    def read(pid: int) -> int:
        counted[threading.current_thread().name] += 1
        return 5 * MIB

    monkeypatch.setattr(watch, "fair_resident", read)
    monkeypatch.setattr(watch, "own_memory", lambda pid: 5 * MIB)
    return counted


def test_what_is_shared_may_be_a_multiple_of_the_limit_and_no_more(machine: Machine, readings: Counter[str]) -> None:
    machine.children = {LEADER: list(range(100, 110))}
    machine.resident = 45 * MIB
    assert watch_over().look() == ""
    machine.resident = 47 * MIB
    assert "with what its processes share counted for each of them; 8 times 64M are allowed" in watch_over().look()
    assert readings.total() == 0


def test_the_limits_of_what_goes_on_starting_processes_are_set_in_bounded_time(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.grows = True
    limited: list[int] = []

    def prlimit(pid: int, number: int, limits: tuple[int, int] | None = None) -> tuple[int, int]:
        limited.extend([pid] if limits else [])
        return resource.RLIM_INFINITY, resource.RLIM_INFINITY

    monkeypatch.setattr(resource, "prlimit", prlimit)
    rlimits.limit_tree(LEADER, LIMITS, frozenset())
    assert machine.looks == LIMITS.processes + 1
    assert set(limited) == set(range(LEADER, LEADER + LIMITS.processes + 1))


# --- who may not think in the opponent's turn -------------------------------------------------------------------------


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """The processor time of each process, in microseconds; no signal is sent anywhere."""
    times: dict[int, int] = {LEADER: 1_000_000}
    monkeypatch.setattr(freezer, "cpu_us", times.get)
    monkeypatch.setattr(freezer, "signal_group", lambda group, number: None)
    monkeypatch.setattr(os, "kill", lambda pid, number: None)
    return times


def process(pid: int, started: int = 5, *, is_stopped: bool = True) -> Process:
    return Process(pid, LEADER, pid, pid, started, False, is_stopped, 1, MIB)


def test_a_process_that_is_found_while_frozen_counts_from_then(clocks: dict[int, int]) -> None:
    frozen = Freezer(LEADER, None, 0)
    frozen.freeze(1.0)
    clocks[20] = 700_000
    assert frozen.found([process(LEADER), process(20, is_stopped=False)])
    clocks[20] += 1_000
    frozen.thaw(2.0)
    assert frozen.used_us == 1_000


def test_a_little_in_each_turn_is_never_held_against_a_bot(clocks: dict[int, int]) -> None:
    """A running program goes on for a moment when it is stopped, and opponents may answer at once."""
    frozen = Freezer(LEADER, None, 0)
    for turn in range(1000):
        frozen.freeze(float(turn))
        clocks[LEADER] += freezer.FREE_US
        frozen.thaw(turn + 0.0001)
    assert frozen.used_us == 10_000_000
    assert frozen.complaint() == ""


def test_who_thinks_in_the_opponents_turns_is_told_how_much_and_how_much_was_allowed(clocks: dict[int, int]) -> None:
    frozen = Freezer(LEADER, None, 0)
    for turn in range(2):
        frozen.freeze(float(turn))
        clocks[LEADER] += 110_000
        frozen.thaw(turn + 0.2)
        assert (frozen.complaint() == "") is (turn == 0)
    assert frozen.complaint() == (
        "used 220 ms of processor time in the opponent's turns, which took 0.4 s; without pondering 10 ms are free in "
        "each, and of the rest 140 ms are allowed"
    )
