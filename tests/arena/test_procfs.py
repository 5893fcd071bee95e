"""What is told of a process whose first thread has ended while another goes on: in /proc it looks like a dead one."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from waiting import until

from arena.sandbox import reaper
from arena.sandbox.procfs import children, fair_resident, is_asleep, look, own_memory, variable, walk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc here")

PROGRAM = """
import ctypes, os, threading, time
held = b"x" * (32 << 20)
if os.fork() == 0:
    time.sleep(1000)
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""
MIB = 1 << 20


@pytest.fixture
def headless() -> Iterator[int]:
    """The number of such a process, which holds 32 MiB and has a child."""
    command = [sys.executable, "-I", "-S", "-c", PROGRAM]
    with subprocess.Popen(command, env={"WHOSE": "mine"}, start_new_session=True) as popen:
        try:
            until(lambda: state(popen.pid) == "Z", "its first thread ends")
            yield popen.pid
        finally:
            os.killpg(popen.pid, 9)


def state(pid: int) -> str:
    """That of its first thread."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_it_is_alive_holds_its_memory_and_has_its_environment_and_its_children(headless: int) -> None:
    until(lambda: is_asleep(headless), "the other thread sleeps")
    process = look(headless)
    assert process is not None
    assert not process.is_dead
    assert process.threads == 2
    assert process.resident > 32 * MIB
    assert own_memory(headless) > 32 * MIB
    assert fair_resident(headless) > 32 * MIB // 2  # which the child shares
    assert variable(headless, "WHOSE") == "mine"
    assert len(children(headless)) == 1
    assert len(list(walk([headless]))) == 2


def test_one_that_is_stopped_is_told_to_be(headless: int) -> None:
    os.kill(headless, 19)
    until(lambda: (process := look(headless)) and process.is_stopped, "it is stopped")
    assert not is_asleep(headless)


def test_one_that_is_killed_is_dead_once_it_can_be_reaped_and_not_before(headless: int) -> None:
    os.kill(headless, 9)

    def is_dead() -> bool:
        process = look(headless)
        assert process is not None
        if process.is_dead:
            assert reaper.exit_status(headless) is not None
        return process.is_dead

    until(is_dead, "it is dead")
    assert own_memory(headless) == fair_resident(headless) == 0
    assert variable(headless, "WHOSE") is None
