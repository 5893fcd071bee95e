"""What this process tells the kernel of itself: that orphans are to become its children, and who may look into it."""

import ctypes
import sys
from functools import lru_cache

GET_DUMPABLE, SET_DUMPABLE, SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 3, 4, 36, 37
"""Numbers of <linux/prctl.h>."""
_closings = 0
"""How often this process has been closed to programs of its user and not been opened again."""
_dumpable_before = 1


def adopts_orphans() -> bool:
    """Whether orphans below this process become its children."""
    answer = ctypes.c_int()
    if sys.platform == "linux":
        _libc().prctl(GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def close_to_bots() -> None:
    """Keep programs of the same user out of this process: its memory, environment and descriptors (Linux).

    It writes no core file then either. Programs of root are not kept out by anything. `open_to_others` ends it.
    """
    global _closings, _dumpable_before  # noqa: PLW0603  (a property of the process as a whole, not of any object in it)
    if not _closings:
        _dumpable_before = prctl(GET_DUMPABLE, 0)
    _closings += 1
    prctl(SET_DUMPABLE, 0)


def open_to_others() -> None:
    """Let programs of the same user look into this process again, if nothing else has closed it."""
    global _closings  # noqa: PLW0603  (as above)
    _closings -= 1
    if not _closings and _dumpable_before == 1:
        prctl(SET_DUMPABLE, 1)


def prctl(option: int, value: int) -> int:
    """The system call; 0 where there is none."""
    return int(_libc().prctl(option, value, 0, 0, 0)) if sys.platform == "linux" else 0


@lru_cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
