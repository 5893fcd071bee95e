"""What the arena's own processes begin with, and how they hear that their parent is gone."""

import os
import subprocess
import sys

import pytest
import trio
from trio.testing import MockClock

from arena.league.executor import child_process

CHILD = """
import os, signal, sys
from arena.league.executor import child_process
signal.signal(signal.SIGHUP, signal.SIG_IGN)
pipe = os.pipe()
os.set_inheritable(pipe[0], True)
child_process.begin(*pipe)
for number in child_process.IGNORED:
    os.kill(os.getpid(), number)
print(os.get_inheritable(pipe[0]), signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)
"""


def until_gone(parent: int) -> bool:
    """Whether what is done beside it is cancelled, within an hour of a clock that is not waited for."""
    serving = trio.CancelScope()

    async def main() -> None:
        with trio.move_on_after(3600), serving:
            await child_process.until_gone(parent, serving)
            await trio.sleep_forever()

    trio.run(main, clock=MockClock(autojump_threshold=0))
    return serving.cancelled_caught


def test_a_child_passes_over_signals_leaves_ignored_ones_ignored_and_keeps_its_pipes_to_itself() -> None:
    ran = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "False True\n", "")


def test_a_parent_that_was_dead_before_is_noticed() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert until_gone(gone.pid)


def test_a_number_that_is_another_process_s_by_now_is_no_parent() -> None:
    assert until_gone(os.getpid())


@pytest.mark.parametrize("why", [PermissionError, AttributeError])
def test_where_no_descriptor_tells_of_its_death_the_parent_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, why: type[Exception]
) -> None:
    def refused(pid: int) -> int:
        raise why

    parents = iter([41, 41, 41, 1])
    monkeypatch.setattr(os, "pidfd_open", refused, raising=False)
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    assert until_gone(41)
    assert list(parents) == []
