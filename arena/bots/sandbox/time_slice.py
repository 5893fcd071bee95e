"""How soon a worker makes way for the bots that it has just told to move.

A bot that is woken often waits for the CPU of the very worker that woke it, which goes on with other games: for as long
as the rest of the worker's time slice (2.8 ms by default), and that is charged to the bot. Linux lets a thread ask for
shorter slices, from version 6.12 on and without any right. Older kernels take the call and do as before.

Its children do not inherit this (SCHED_FLAG_RESET_ON_FORK): bots that think are not to be interrupted all the time.
"""

import ctypes
import platform
import struct
import sys
from typing import NamedTuple

SHORT_US = 100
"""The shortest slice that the kernel gives."""

# From <linux/sched/types.h> and the kernel's tables of calls.
CALLS = {"x86_64": (314, 315), "amd64": (314, 315), "aarch64": (274, 275), "arm64": (274, 275)}
"""The numbers of `sched_setattr` and `sched_getattr`."""
RESET_ON_FORK = 1
SIZE = 48
"""Bytes of the first version of `struct sched_attr`."""
LAYOUT = "IIQiIQQQ"


class Scheduling(NamedTuple):
    """The kernel's `struct sched_attr`: of an ordinary thread `runtime_ns` is its time slice, where the kernel has
    that, and 0 in older ones."""

    size: int
    policy: int
    flags: int
    nice: int
    priority: int
    runtime_ns: int
    deadline_ns: int
    period_ns: int


def ask_for_short_slices() -> bool:
    """Ask for the shortest time slices for the calling thread alone; whether the kernel took it.

    A thread with a scheduling policy that its user chose stays as it is, and one with a negative nice value: its
    children would lose that.
    """
    before = scheduling()
    if before is None or before.policy != 0 or before.nice < 0:
        return False
    wanted = before._replace(size=SIZE, flags=before.flags | RESET_ON_FORK, runtime_ns=SHORT_US * 1000)
    return _call(0, 0, ctypes.create_string_buffer(struct.pack(LAYOUT, *wanted), SIZE), 0) == 0


def scheduling(pid: int = 0) -> Scheduling | None:
    """How the main thread of a process, or with 0 the calling thread, is scheduled; None where nobody tells."""
    found = ctypes.create_string_buffer(SIZE)
    if _call(1, pid, found, SIZE, 0) != 0:
        return None
    return Scheduling(*struct.unpack(LAYOUT, found.raw))


def _call(which: int, *arguments: object) -> int:
    numbers = CALLS.get(platform.machine()) if sys.platform == "linux" else None
    if numbers is None or struct.calcsize("P") != 8:
        return -1
    return int(ctypes.CDLL(None).syscall(numbers[which], *arguments))
