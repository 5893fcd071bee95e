"""A process of the arena's own that somebody stops is told to go on, and killed if that is of no use."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from arena.league.executor.stopped import MOST_WOKEN, QUIET_LOOKS, STOPPED_LOOKS, Step, Stops, is_stopped

IN_ONE_STOP = [Step.NOTHING] * (STOPPED_LOOKS - 1)


def steps(*looks: bool) -> list[Step]:
    """What is done at each of these looks."""
    stops = Stops()
    return [stops.note(is_stopped=look) for look in looks]


def test_a_short_stop_is_left_alone() -> None:
    shorter = [True] * (STOPPED_LOOKS - 1)
    assert set(steps(*shorter, False, *shorter, False)) == {Step.NOTHING}


def test_who_stays_stopped_is_told_to_go_on_and_in_the_end_killed() -> None:
    expected = [*IN_ONE_STOP, Step.WAKE] * MOST_WOKEN + [*IN_ONE_STOP, Step.KILL]
    assert steps(*[True] * len(expected)) == expected


def test_a_moment_between_two_stops_does_not_save_it() -> None:
    stop = [True] * STOPPED_LOOKS + [False]
    assert Step.KILL in steps(*stop * (MOST_WOKEN + 1))


def test_stops_of_long_ago_do_not_count() -> None:
    stop = [True] * STOPPED_LOOKS
    assert Step.KILL not in steps(*(stop * MOST_WOKEN + [False] * QUIET_LOOKS) * 3)


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_stopped_process_is_sent_what_sets_it_going_and_that_is_said(child: "subprocess.Popen[bytes]") -> None:
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED)
    stops = Stops()
    said = [stops.act(child.pid, child.send_signal) for _ in range(STOPPED_LOOKS)]
    assert said == [""] * (STOPPED_LOOKS - 1) + ["was stopped by a signal (SIGSTOP); it is told to go on"]
    os.waitid(os.P_PID, child.pid, os.WCONTINUED)
    assert not is_stopped(child.pid)


def test_a_process_that_is_traced_is_left_to_who_traces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.league.executor import stopped

    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        assert is_stopped(child.pid)
        monkeypatch.setattr(stopped, "read_file", lambda path: b"Name:\tpython\nTracerPid:\t77\nUid:\t0\n")
        assert not is_stopped(child.pid)
        child.kill()


def command_line(process: psutil.Process) -> str:
    """Nothing for one that has ended: other tests may have left some that are not collected yet."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
