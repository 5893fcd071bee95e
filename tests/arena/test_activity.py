"""What a bot's processes are doing is told by where their threads wait in the kernel."""

import subprocess
import sys

import pytest
from waiting import until

from arena.bots.sandbox.activity import activity_of
from arena.game.hints import Activity

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")

READY = "import os, sys, time, select, signal\nos.write(2, b'.')\n"
PROGRAMS = {
    "reads": (Activity.WAITS_FOR_INPUT, "sys.stdin.readline()"),
    "selects": (Activity.WAITS_FOR_INPUT, "select.select([0], [], [])"),
    "polls": (Activity.WAITS_FOR_INPUT, "p = select.poll(); p.register(0); p.poll()"),
    "has a child that reads": (Activity.WAITS_FOR_INPUT, "os.fork() and os.wait() or sys.stdin.readline()"),
    "sleeps": (Activity.WAITS, "time.sleep(60)"),
    "selects for a time": (Activity.WAITS, "select.select([0], [], [], 60)"),
    "reads from another pipe": (Activity.WAITS, "os.read(os.pipe()[0], 1)"),
    "works": (Activity.RUNS, "while True: pass"),
    "writes what nobody reads": (Activity.WAITS_TO_WRITE, "while True: os.write(1, b'x' * 65536)"),
    "stops": (Activity.STOPPED, "os.kill(os.getpid(), signal.SIGSTOP)"),
}


def below(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid, *(int(word) for word in file.read().split())]


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_activity_is_seen_as_what_it_is(name: str) -> None:
    expected, text = PROGRAMS[name]
    with subprocess.Popen(
        [sys.executable, "-S", "-c", READY + text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.read(1) == b"."
            if activity_of([process.pid]) is Activity.UNKNOWN:
                pytest.skip("this machine does not tell where a process waits")
            until(lambda: activity_of(below(process.pid)) is expected)
        finally:
            for pid in reversed(below(process.pid)):
                subprocess.run(["kill", "-KILL", str(pid)], check=False)


def test_of_a_process_that_is_not_there_nothing_is_known() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        process.wait()
        assert activity_of([process.pid]) is Activity.UNKNOWN
