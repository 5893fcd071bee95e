"""Limits of the system for each process of a bot: they stop what happens faster than the watch can see.

They are set from outside, just after the start, for the processes that exist by then: setting them before would take a
fork of the arena, which delays all games by milliseconds. The limits on the whole tree (`arena.bots.limits`) are kept
by the watch.

RLIMIT_AS is left alone: Java and node reserve far more address space than they use. RLIMIT_DATA counts what they could
use without asking again, also more than they do, so it gets room on top.
"""

import contextlib
import ctypes
import os
import platform
import resource
import struct
import sys
from typing import NamedTuple

from arena.bots.limits import GIB, Limits
from arena.sandbox.procfs import read_file, walk

CPU_SECONDS = 3600
"""Processor time that one process may use: stops a spinning bot even without a watch."""
OPEN_FILES = 256
DATA_ROOM = 2 * GIB
"""Room on top of the memory limit: Java commits that much on a machine with 24 GiB."""
FEW = 64
"""The most processes that are limited where there is no limit on them: those of a sandbox that is being set up."""
PROCESSES_ROOM = 64
"""The system counts a user's processes and threads, not a bot's. A bot gets this multiple of its share on top of what
the machine has, which stops only a program that forks for ever.
"""


def use_all_descriptors() -> None:
    """Let this process open as many descriptors as it may: a game takes about twelve."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def process_limits(limits: Limits) -> dict[str, int]:
    return {
        "data": limits.memory + DATA_ROOM,
        "cpu": CPU_SECONDS,
        "fsize": limits.tmp,
        "nofile": OPEN_FILES,
        "nice": 0,  # no higher priority than the arena's, even if the host's users may have that
        "rtprio": 0,
        "core": 1,  # not 0, at which a machine with a handler for crashes would still hand each of a bot's to that
    }


def at_most_own(name: str, value: int) -> int:
    """Return the value, or the arena's own limit of this name where that is lower and cannot be raised."""
    _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def limit_tree(pid: int, limits: Limits | None, cpus: frozenset[int]) -> None:
    """Set the limits of a process that has just been started, and its CPUs (all if empty).

    Its children so far get them too; later ones inherit them. The process is limited before the search for its
    children, so that those it starts meanwhile have the limits, too.
    """
    if sys.platform != "linux" or not (limits or cpus):
        return
    values = process_limits(limits) if limits else {}
    if limits:
        _, total = read_file("/proc/loadavg").split()[3].split(b"/")
        values["nproc"] = int(total) + PROCESSES_ROOM * limits.processes
    numbers = {getattr(resource, f"RLIMIT_{name.upper()}"): value for name, value in values.items()}

    def limit(pid: int) -> None:
        with contextlib.suppress(OSError):  # it is dead by now
            if cpus:
                os.sched_setaffinity(pid, cpus)
            for number, value in numbers.items():
                _, hard = resource.prlimit(pid, number)
                lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.prlimit(pid, number, (lowest, lowest))

    limit(pid)
    for process in walk([pid], limits.processes if limits else FEW):
        if process.pid != pid:
            limit(process.pid)


SHORT_US = 100
"""The shortest slice that the kernel gives."""

# From <linux/sched/types.h> and the kernel's tables of calls.
CALLS = {"x86_64": (314, 315), "amd64": (314, 315), "aarch64": (274, 275), "arm64": (274, 275)}
RESET_ON_FORK = 1
SIZE = 48
LAYOUT = "IIQiIQQQ"


class Scheduling(NamedTuple):
    """The kernel's `struct sched_attr`. Of an ordinary thread `runtime_ns` is the time slice; older kernels: 0."""

    size: int
    policy: int
    flags: int
    nice: int
    priority: int
    runtime_ns: int
    deadline_ns: int
    period_ns: int


def ask_for_short_slices() -> bool:
    """Ask for the shortest time slices for the calling thread alone; return whether the kernel agreed.

    A thread with a scheduling policy chosen by its user or a negative nice value is left alone: its children would lose
    that.
    """
    before = scheduling()
    if before is None or before.policy != 0 or before.nice < 0:
        return False
    wanted = before._replace(size=SIZE, flags=before.flags | RESET_ON_FORK, runtime_ns=SHORT_US * 1000)
    return _call(0, 0, ctypes.create_string_buffer(struct.pack(LAYOUT, *wanted), SIZE), 0) == 0


def scheduling(pid: int = 0) -> Scheduling | None:
    """Return the scheduling of a process's main thread, or with 0 of the calling thread; None if unknown."""
    found = ctypes.create_string_buffer(SIZE)
    if _call(1, pid, found, SIZE, 0) != 0:
        return None
    return Scheduling(*struct.unpack(LAYOUT, found.raw))


def _call(which: int, *arguments: object) -> int:
    numbers = CALLS.get(platform.machine()) if sys.platform == "linux" else None
    if numbers is None or struct.calcsize("P") != 8:
        return -1
    return int(ctypes.CDLL(None).syscall(numbers[which], *arguments))
