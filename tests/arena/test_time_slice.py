"""`arena.sandbox.rlimits`: tried in processes of their own, because a thread cannot take it back."""

import json
import subprocess
import sys

import pytest

from arena.sandbox.rlimits import SHORT_US, scheduling

PROGRAM = """
import json, os, subprocess, sys, threading
{before}
from arena.sandbox.rlimits import ask_for_short_slices, scheduling
first = scheduling()
taken = ask_for_short_slices()
ask = "from arena.sandbox.rlimits import scheduling; print(*scheduling())"
child = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
others = []
thread = threading.Thread(target=lambda: others.append(scheduling()))
thread.start()
thread.join()
print(json.dumps([taken, first, scheduling(), [int(word) for word in child], others[0]]))
"""
POLICY, FLAGS, NICE, RUNTIME = 1, 2, 3, 5
"""Where these stand in `Scheduling`."""

pytestmark = pytest.mark.skipif(scheduling() is None, reason="this system does not tell how a thread is scheduled")
has_slices = pytest.mark.skipif(
    not (found := scheduling()) or not found.runtime_ns, reason="this kernel knows no time slice of a thread's own"
)


def asked(before: str = "") -> list[list[int]]:
    """Whether it was taken; and how the thread, before and after it, a child and another thread are scheduled."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(before=before)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    answer: list[list[int]] = json.loads(shown)
    return answer


@has_slices
def test_the_thread_that_asks_gets_short_slices_and_its_children_and_other_threads_those_of_before() -> None:
    taken, first, then, child, thread = asked()
    assert taken
    assert then[RUNTIME] == SHORT_US * 1000
    assert child[RUNTIME] == thread[RUNTIME] == first[RUNTIME] > SHORT_US * 1000


def test_the_nice_value_stays_what_it_was_for_all() -> None:
    taken, first, then, child, _ = asked("os.nice(3)")
    assert taken
    assert first[NICE] == then[NICE] == child[NICE] >= 3


def test_a_policy_that_the_user_chose_stays() -> None:
    taken, first, then, child, _ = asked("os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))")
    assert not taken
    assert first == then == child
