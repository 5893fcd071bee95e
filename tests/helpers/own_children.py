"""Which processes a test has started, in a process that other tests have started some in before.

The browser of the tests of pages stays from one test to the next, and starts processes of its own whenever it likes.
"""

from collections.abc import Callable
from contextlib import suppress

import psutil


def started_from_now() -> Callable[[], list[psutil.Process]]:
    """`started()`: what this process has come to have below it since this call, the dead included; without what those
    have started that were there before."""
    before = set(psutil.Process().children(recursive=True))

    def started() -> list[psutil.Process]:
        found = psutil.Process().children(recursive=True)
        return [process for process in found if process not in before and before.isdisjoint(_above(process))]

    return started


def _above(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):  # it is gone meanwhile
        return process.parents()
    return []
