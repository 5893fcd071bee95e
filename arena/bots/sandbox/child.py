"""One child of this process: how it ended, reaping it, and killing it."""

import contextlib
import os
import signal


def exit_status(pid: int) -> tuple[int, int] | None:
    """How a child died, as waitid's code and status, without reaping it; None while it lives."""
    try:
        result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return (os.CLD_EXITED, 0)
    return None if result is None else (result.si_code, result.si_status)


def killed_words(number: int) -> str:
    """That a process was killed by the signal of this number, in words that follow its name."""
    try:
        name = signal.Signals(number).name
    except ValueError:  # the real-time signals have no names
        name = "unknown"
    return f"was killed by signal {number} ({name})"


def reap(pid: int) -> tuple[int, int]:
    """Reap a dead child. Returns its wait status, and the processor time that it and its own have used, in us."""
    return try_reap(pid) or (0, 0)


def try_reap(pid: int) -> tuple[int, int] | None:
    """The same as `reap`; None if it is not dead, or no child."""
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
