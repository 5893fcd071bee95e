"""Of a bot's processes those count that are its own, whatever a sandbox has put before them."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from waiting import until

from arena.game.hints import Activity
from arena.processes.usage import OwnProcesses
from arena.sandbox import killing, reaper

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")

SPIN = "while :; do :; done"


@contextmanager
def started(script: str) -> Iterator[int]:
    """A shell with this script, as a bot's first process; all of it is killed at the end."""
    shell = shutil.which("sh")
    assert shell is not None
    popen = subprocess.Popen([shell, "-c", script], stdin=subprocess.PIPE, start_new_session=True)
    reaper.register(popen.pid, f"token of {popen.pid}")
    try:
        yield popen.pid
    finally:
        killing.kill_now(popen.pid)
        popen.communicate()
        reaper.forget(popen.pid)


def test_one_that_waits_is_asleep_and_none_that_the_machine_keeps_waiting() -> None:
    with started("read line") as pid:
        own = OwnProcesses(pid, 0)
        until(own.is_asleep)
        until(lambda: own.activity() is Activity.WAITS_FOR_INPUT)
        assert not own.is_starved(0, 1000)


def test_one_that_works_is_starved_until_it_has_had_its_time() -> None:
    with started(SPIN) as pid:
        own = OwnProcesses(pid, 0)
        until(lambda: own.worked_us() > 50_000)
        os.kill(pid, signal.SIGSTOP)
        until(lambda: own.activity() is Activity.STOPPED)
        assert not own.is_starved(own.worked_us(), 1000), "it is the bot that has stopped it"
        os.kill(pid, signal.SIGCONT)
        until(lambda: own.is_starved(own.worked_us(), 1000))
        assert not own.is_starved(0, 0.05)


def test_what_stands_before_its_first_process_is_none_of_its_own() -> None:
    with started(f"exec 3<&0; (read line <&3) & {SPIN}") as pid:
        all_of_it, own = OwnProcesses(pid, 0), OwnProcesses(pid, 1)
        until(lambda: all_of_it.cpu_us() > 50_000)
        until(own.is_asleep)
        assert all_of_it.worked_us() > 50_000
        assert own.worked_us() < 50_000
        assert own.cpu_us() < 50_000


def test_before_a_first_process_is_there_the_sandbox_is_at_work() -> None:
    with started("read line") as pid:
        own = OwnProcesses(pid, 1)
        assert own.cpu_us() == 0
        assert not own.is_asleep()
        assert own.is_starved(0, 0.0)


def test_of_one_that_was_reaped_the_last_figure_stays() -> None:
    with started(SPIN) as pid:
        own = OwnProcesses(pid, 0)
        until(lambda: own.cpu_us() > 20_000)
        used = own.cpu_us()
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED)
        assert own.cpu_us() == used
