"""Marks that a bot's processes cannot take off, by which orphans are told.

A mark is a hard resource limit that has had no effect since Linux 2.4.25. It is inherited whatever a process does, is
there until it has been reaped, and may be lowered but never raised (root may). It is put on from outside, right after
the start. What starts nothing but bots lowers its own beforehand, so that nothing of a bot's is ever without one; in a
host program what a bot starts in its first moment may be, if the host's thread is kept from running just then.
"""

import contextlib
import os
import secrets
import sys

from arena.bots.sandbox.procfs import EVERYTHING
from arena.bots.sandbox.rlimits import MARK

if sys.platform == "linux":
    import resource

MARKS = range(2**40, 2**62)


def mark_of(pid: int) -> int | None:
    """The hard limit that is the mark, without end where there is none; None if that cannot be told."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            _, hard = resource.prlimit(pid, MARK)
            return EVERYTHING if hard == resource.RLIM_INFINITY else hard
    return None


def put_mark(pid: int) -> int | None:
    """Give a process a mark of its own, lower than that of this process. None if it can have none."""
    ceiling = mark_of(os.getpid())
    if ceiling is None or ceiling <= MARKS.start:
        return None
    mark = MARKS.start + secrets.randbelow(min(ceiling, MARKS.stop) - MARKS.start)
    return mark if _set(pid, mark) else None


def lower_own_mark() -> int | None:
    """Lower the mark of this process, so that whatever has the one from before is not below it.

    Returns the one from before; None if there is nothing below it.
    """
    own = mark_of(os.getpid())
    if own is None or own <= MARKS.start:
        return None
    _set(0, min(own, MARKS.stop) - 1)
    return own


def _set(pid: int, mark: int) -> bool:
    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(pid, MARK, (mark, mark))
        return True
    return False
