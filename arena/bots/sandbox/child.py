"""One child of this process: how it ended, reaping it, killing it; and whether orphans become children."""

import contextlib
import ctypes
import os
import signal
import sys
from functools import lru_cache

SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 36, 37
"""Numbers of <linux/prctl.h>."""


def exit_status(pid: int) -> tuple[int, int] | None:
    """Return how a child died, as waitid's code and status, without reaping it; None while it lives."""
    try:
        result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return (os.CLD_EXITED, 0)
    return None if result is None else (result.si_code, result.si_status)


def killed_words(number: int) -> str:
    """Say that a process was killed by the signal of this number; the words follow the name of the process."""
    try:
        name = signal.Signals(number).name
    except ValueError:  # the real-time signals have no names
        name = "unknown"
    return f"was killed by signal {number} ({name})"


def reap(pid: int) -> tuple[int, int]:
    """Reap a dead child. Returns its wait status, and the processor time of it and its own children, in us."""
    return try_reap(pid) or (0, 0)


def try_reap(pid: int) -> tuple[int, int] | None:
    """Reap a child as `reap` does; None if it is not dead, or no child."""
    try:
        reaped, status, usage = os.wait4(pid, os.WNOHANG)
    except OSError:
        return None
    return (status, round((usage.ru_utime + usage.ru_stime) * 1_000_000)) if reaped else None


def kill(pid: int) -> None:
    """Kill a process, if it is still there."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if it is still there."""
    with contextlib.suppress(OSError):
        os.killpg(group, number)


def adopts_orphans() -> bool:
    """Whether orphans below this process become its children."""
    answer = ctypes.c_int()
    if sys.platform == "linux":
        _libc().prctl(GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def prctl(option: int, value: int) -> int:
    """Make the system call; 0 where there is none."""
    return int(_libc().prctl(option, value, 0, 0, 0)) if sys.platform == "linux" else 0


@lru_cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
