"""What a bot's processes are doing is told by where their threads wait in the kernel."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from waiting import until

from arena.game.hints import Activity
from arena.processes.usage import activity_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")

READY = "import os, sys, time, select, signal, threading\nos.write(2, b'.')\n"
THREAD = "threading.Thread(target=lambda: {}, daemon=True).start(); {}"
PROGRAMS = {
    "reads": (Activity.WAITS_FOR_INPUT, "sys.stdin.readline()"),
    "selects": (Activity.WAITS_FOR_INPUT, "select.select([0], [], [])"),
    "polls": (Activity.WAITS_FOR_INPUT, "p = select.poll(); p.register(0); p.poll()"),
    "has a child that reads": (Activity.WAITS_FOR_INPUT, "os.fork() and os.wait() or sys.stdin.readline()"),
    "has a thread that reads": (Activity.WAITS_FOR_INPUT, THREAD.format("os.read(0, 1)", "threading.Event().wait()")),
    "reads, and thinks in a thread": (Activity.RUNS, THREAD.format("[0 for _ in iter(int, 1)]", "os.read(0, 1)")),
    "thinks, and polls in a thread": (
        Activity.RUNS,
        THREAD.format("select.epoll().poll()", "[0 for _ in iter(int, 1)]"),
    ),
    "sleeps": (Activity.WAITS, "time.sleep(60)"),
    "sleeps, and polls in a thread": (Activity.WAITS, THREAD.format("select.epoll().poll()", "time.sleep(60)")),
    "selects nothing for a time": (Activity.WAITS, "select.select([], [], [], 60)"),
    "selects for a time": (Activity.UNKNOWN, "select.select([0], [], [], 60)"),
    "reads from another pipe": (Activity.WAITS, "os.read(os.pipe()[0], 1)"),
    "works": (Activity.RUNS, "while True: pass"),
    "writes what nobody reads": (Activity.WAITS_TO_WRITE, "while True: os.write(1, b'x' * 65536)"),
    "stops": (Activity.STOPPED, "os.kill(os.getpid(), signal.SIGSTOP)"),
}

JAVASCRIPT = """
require('readline').createInterface({input: process.stdin}).on('line', line => { while (line == 'think'); });
process.stderr.write('.');
"""
JAVA = """
import java.io.*;
public class Program {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.err.print(".");
        for (String line; (line = in.readLine()) != null;) while (line.equals("think"));
    }
}
"""


def below(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid, *(int(word) for word in file.read().split())]


def check_activity(expected: Activity, line: Sequence[str], said: bytes = b"") -> None:
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stderr is not None
            assert process.stderr.read(1) == b"."
            process.stdin.write(said)
            process.stdin.flush()
            if not Path(f"/proc/{process.pid}/syscall").read_text():
                pytest.skip("this machine does not tell where a process waits")
            until(lambda: activity_of(below(process.pid)) is expected)
        finally:
            for pid in reversed(below(process.pid)):
                subprocess.run(["kill", "-KILL", str(pid)], check=False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_activity_is_seen_as_what_it_is(name: str) -> None:
    expected, text = PROGRAMS[name]
    check_activity(expected, [sys.executable, "-S", "-c", READY + text])


@pytest.mark.parametrize(("language", "program"), [("node", JAVASCRIPT), ("java", JAVA)])
def test_the_helper_threads_of_a_runtime_do_not_speak_for_the_program(
    language: str, program: str, tmp_path: Path
) -> None:
    if shutil.which("javac" if language == "java" else language) is None:
        pytest.skip(f"there is no {language} here")
    source = tmp_path / {"node": "program.js", "java": "Program.java"}[language]
    source.write_text(program)
    line = ["node", str(source)]
    if language == "java":
        subprocess.run(["javac", source], check=True)
        line = ["java", "-cp", str(tmp_path), "Program"]
    check_activity(Activity.RUNS, line, b"think\n")
    check_activity(Activity.WAITS_FOR_INPUT, line, b"turn\n")


def test_of_a_process_that_is_not_there_nothing_is_known() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        process.wait()
        assert activity_of([process.pid]) is Activity.UNKNOWN
