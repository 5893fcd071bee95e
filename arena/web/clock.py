"""The clock of a server's time limits."""

import contextlib
import time
from pathlib import Path

import trio

LOOK_SECONDS = 0.05
TASKS = Path("/proc/self/task")


class OwnClock(trio.abc.Clock):
    """A clock that stands still while the process is ready to run and gets no CPU.

    With it, a busy machine does not make a server cut off requests that it had no time to answer.
    """

    def __init__(self) -> None:
        self._looked, self._waited = time.perf_counter(), cpu_wait()
        self._left_out = self._latest = 0.0

    def start_clock(self) -> None:
        pass

    def current_time(self) -> float:
        now = time.perf_counter()
        if now - self._looked > LOOK_SECONDS:
            waited = cpu_wait()
            self._left_out += min(max(0.0, waited - self._waited), now - self._looked)
            self._looked, self._waited = now, waited
        self._latest = max(self._latest, now - self._left_out)
        return self._latest

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - self.current_time()


def cpu_wait() -> float:
    """Return how many seconds the threads of this process have waited for a CPU; 0 if the system does not tell."""
    nanoseconds = 0
    with contextlib.suppress(OSError):
        for task in TASKS.iterdir():
            with contextlib.suppress(OSError):  # a thread that has just ended
                nanoseconds += int((task / "schedstat").read_text().split()[1])
    return nanoseconds / 1e9
