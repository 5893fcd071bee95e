"""Marks that a bot's processes cannot take off, by which orphans are told.

A mark is a hard resource limit that has had no effect since Linux 2.4.25. It is inherited whatever a process does, is
there until it has been reaped, and may be lowered but never raised (root may). It is put on from outside, right after
the start. What starts nothing but bots lowers its own beforehand, so that nothing of a bot's is ever without one; in a
host program what a bot starts in its first moment may be, if the host's thread is kept from running just then.

A mark speaks for those below it, too: a process without one gives marks far apart, and one that has a mark gives marks
little lower than its own, so that what stands below a process is in a range of its own (`is_below`). A low limit alone
proves nothing: a program may have got it from `ulimit -x`, or be another arena.
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
FAR_APART = range(2**50, 2**61)
"""Out of these a process that has no mark itself gives marks. Commands, which lower their own by one, are above."""
REACH = 2**32
"""Marks are so much lower than that of the process that gives them, at the most, if that has one."""
WINDOW = 2**38
"""What is so much lower than a mark comes from the process that has it: room for 64 levels of arenas within bots."""


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
    ours = FAR_APART if ceiling >= MARKS.stop else range(max(MARKS.start, ceiling - REACH), ceiling)
    mark = ours.start + secrets.randbelow(len(ours))
    return mark if _set(pid, mark) else None


def are_far_apart() -> bool:
    """Whether the marks that this process gives are so far apart that, among all processes of the machine, what is in
    the range below one comes from whoever has been given it."""
    own = mark_of(os.getpid())
    return own is not None and own >= MARKS.stop


def is_below(mark: int, above: int) -> bool:
    """Whether what has the first mark comes from the process that has been given the second one."""
    return above - WINDOW <= mark <= above


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
