"""A process of the arena's own that has been stopped (SIGSTOP) is told to go on, and killed if that is of no use.

No terminal stops these processes: each begins a session. What stops one may be a bot at the default level, and whoever
waits for it would wait for ever. One that is traced is left alone: somebody debugs it.
"""

import enum
import signal
from collections.abc import Callable

from arena.bots.sandbox.procfs import look, read_file
from arena.counted import counted

LOOK_SECONDS = 1.0
"""How often it is looked whether a process is stopped."""
STOPPED_LOOKS = 10
"""One that was found stopped so many times in a row is told to go on: a shorter stop is none of our business."""
MOST_WOKEN = 2
"""One that was told so often, and is stopped once more, is killed."""
QUIET_LOOKS = 60
"""After so many looks in a row at which it was not stopped, what was before does not count."""


class Step(enum.Enum):
    """What is to be done about a process."""

    NOTHING = enum.auto()
    WAKE = enum.auto()
    KILL = enum.auto()


class Stops:
    """How often one process was found stopped, and what to do about it."""

    def __init__(self) -> None:
        self._in_a_row = self._quiet = self._woken = 0

    def note(self, *, is_stopped: bool) -> Step:
        """It has been looked at once more; returns what is to be done."""
        if not is_stopped:
            self._in_a_row = 0
            self._quiet += 1
            if self._quiet >= QUIET_LOOKS:
                self._woken = 0
            return Step.NOTHING
        self._quiet = 0
        self._in_a_row += 1
        if self._in_a_row < STOPPED_LOOKS:
            return Step.NOTHING
        self._in_a_row = 0
        self._woken += 1
        return Step.KILL if self._woken > MOST_WOKEN else Step.WAKE

    def act(self, pid: int, send: Callable[[signal.Signals], None]) -> str:
        """Look at the process once more and do what is to be done; `send` sends it a signal. Returns in words, behind
        the process's name, what was done: mostly nothing."""
        match self.note(is_stopped=is_stopped(pid)):
            case Step.WAKE:
                send(signal.SIGCONT)
                return "was stopped by a signal (SIGSTOP); it is told to go on"
            case Step.KILL:
                send(signal.SIGKILL)
                return f"was killed: it was stopped by signals (SIGSTOP) {counted(MOST_WOKEN + 1, 'time')}"
        return ""


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal, and is not traced."""
    process = look(pid)
    if process is None or not process.is_stopped:
        return False
    status = read_file(f"/proc/{pid}/status")
    return not status or b"\nTracerPid:\t0\n" in status
