"""Read what the system reports of processes: their parents, memory and processor time.

Linux reports it in /proc, 15 microseconds a process. Elsewhere psutil is used, which takes a hundred times that, and a
league looks at every process of every bot twenty times a second. Data that a bot can make long (its tree, a list of
children) is read up to a stated length only.

/proc reports the first thread of a process. A program may end that thread and continue with others (`pthread_exit` in
`main`): then it is a zombie without memory and environment. So where the first thread has ended and there are others,
one of them is read (`_of_other_thread`).
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

_LINUX = sys.platform == "linux"
if TYPE_CHECKING or not _LINUX:
    import psutil

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
ENVIRONMENT = 64 * 1024
"""The most bytes of a process's environment that are read."""
_READ = 65536
_DEAD = (b"Z", b"X", b"x")
_STOPPED = (b"T", b"t")
_THREADS_ASKED = 64
"""The most threads that are searched for one that has not ended."""
_DIGITS = 8
"""Bytes of a process number in a list, with the space after it."""
_VAST = 32 << 30
"""Bytes of address space from which on page tables can matter: they are at most a 512th of it, 64 MiB."""
EVERYTHING = sys.maxsize
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Process(NamedTuple):
    """A process at one moment. A dead one that has not been reaped yet holds only its number.

    `started` is its start in ticks of the kernel's clock since boot: with the number it identifies the process, as
    numbers are reused. `resident` is bytes of memory, shared pages counted in full; for a vast address space with its
    page tables.
    """

    pid: int
    parent: int
    group: int
    session: int
    started: int
    is_dead: bool
    is_stopped: bool
    threads: int
    resident: int


def look(pid: int) -> Process | None:
    """Return a process as it is now; None if there is none of that number."""
    if not _LINUX:
        return _look_with_psutil(pid)
    data = read_file(f"/proc/{pid}/stat")
    if not data:
        return None
    fields = stat_fields(data)
    state, space, pages = fields[0], fields[20], fields[21]
    threads = int(fields[17])
    if threads > 1 and state in _DEAD and (other := _of_other_thread(pid, "stat")):
        others = stat_fields(other)
        state, space, pages = others[0], others[20], others[21]
    return Process(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        started=int(fields[19]),
        is_dead=state in _DEAD and threads <= 1,
        is_stopped=state in _STOPPED,
        threads=threads,
        resident=int(pages) * _PAGE + (_of_status(pid, b"VmPTE:") if int(space) > _VAST else 0),
    )


def stat_fields(stat: bytes) -> list[bytes]:
    """Split a `stat` file of /proc from the state on: the name in brackets before it may hold anything."""
    return stat[stat.rfind(b")") + 2 :].split()


def _of_other_thread(pid: int, name: str, most: int = EVERYTHING) -> bytes:
    """Read a file of /proc from a live thread that is not the first one; empty if there is none."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return b""
    for task in tasks[:_THREADS_ASKED]:
        stat = read_file(f"/proc/{pid}/task/{task}/stat") if task != str(pid) else b""
        if stat and stat_fields(stat)[0] not in _DEAD:
            return stat if name == "stat" else read_file(f"/proc/{pid}/task/{task}/{name}", most)
    return b""


def children(pid: int, most: int = EVERYTHING) -> list[int]:
    """Return a process's children, the oldest first, unreaped dead ones included; not many more than `most`."""
    if not _LINUX:
        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()][:most]
        return []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found: list[int] = []
    for task in tasks:
        if len(found) >= most:
            break
        found += _children_of_thread(pid, task, most)
    return found


def every_process() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()] if _LINUX else []
    except OSError:
        return []


def _children_of_thread(pid: int, thread: int | str, most: int) -> Iterator[int]:
    # There is a space after each number: what comes after the last one has been cut off.
    text = read_file(f"/proc/{pid}/task/{thread}/children", most * _DIGITS).rpartition(b" ")[0]
    return map(int, text.split())


def walk(roots: Iterable[int], most: int = EVERYTHING) -> Iterator[Process]:
    """Yield these processes and all below them, until there are more than `most` processes and threads.

    The children of a process are looked up after it has been yielded: they inherit what the caller does to it, or are
    yielded too.
    """
    waiting, size = list(roots), 0
    for pid in waiting:
        process = look(pid)
        if process:
            yield process
            size += process.threads or 1
            if size > most:
                return
            if process.threads == 1 and _LINUX:
                waiting += _children_of_thread(pid, pid, most)
            elif not process.is_dead:
                waiting += children(pid, most)


def descriptors(pid: int, most: int) -> int:
    """Return how many descriptors a process has open.

    That is `most` for a process that has closed itself to others of its user, and 0 if it is gone or there is no /proc.
    """
    if not _LINUX:
        return 0
    try:
        return os.stat(f"/proc/{pid}/fd").st_size or len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return most
    except OSError:
        return 0


def own_memory(pid: int) -> int:
    """Return the resident bytes that belong to no files, shared pages in full, with page tables; 0 if unknown."""
    return _of_status(pid, b"RssAnon:", b"RssShmem:", b"VmPTE:") if _LINUX else _unshared_with_psutil(pid)


def _of_status(pid: int, *names: bytes) -> int:
    status = read_file(f"/proc/{pid}/status")
    if b"\nVmPTE:" not in status:
        status = _of_other_thread(pid, "status")
    return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(names))


def fair_resident(pid: int) -> int:
    """Return the resident bytes, with shared pages divided among their processes, and page tables; 0 if unknown.

    The kernel walks all its pages for that: some 30 ms for 400 MB. Without /proc, shared pages are left out. For a
    process that has closed itself to others of its user (PR_SET_DUMPABLE) they count in full.
    """
    if not _LINUX:
        return _unshared_with_psutil(pid)
    rollup = read_file(f"/proc/{pid}/smaps_rollup") or _of_other_thread(pid, "smaps_rollup")
    for line in rollup.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024 + _of_status(pid, b"VmPTE:")
    process = look(pid)
    return process.resident if process else 0


def cpu_clock(pid: int) -> int | None:
    """Return the clock id of a process's processor time, as clock_getcpuclockid does; None elsewhere than on Linux."""
    return (~pid << 3) | 2 if _LINUX else None


def cpu_us(pid: int) -> int | None:
    """Return the microseconds of processor time of a process, without its children; None once it has been reaped.

    On Linux this is exact, and costs half a microsecond.
    """
    clock = cpu_clock(pid)
    if clock is not None:
        try:
            return time.clock_gettime_ns(clock) // 1000
        except OSError:
            return None
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return None
    return round((times.user + times.system) * 1_000_000)


def waited_us(pid: int) -> int:
    """Return the microseconds of processor time of the descendants that a process has waited for; 0 if unknown.

    On Linux this is counted in ticks of 10 ms, rounded down.
    """
    if not _LINUX:
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.Error:
            return 0
        return round((times.children_user + times.children_system) * 1_000_000)
    data = read_file(f"/proc/{pid}/stat")
    fields = stat_fields(data)
    return (int(fields[13]) + int(fields[14])) * 1_000_000 // TICKS_PER_SECOND if data else 0


def thread_times(pid: int) -> dict[int, tuple[int, int]]:
    """Return the microseconds on a CPU and of waiting for one by thread of a process; empty if unknown."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task") if _LINUX else []
    except OSError:
        return {}
    read = ((int(task), parse_schedstat(read_file(f"/proc/{pid}/task/{task}/schedstat"))) for task in tasks)
    return {task: times for task, times in read if times}


def parse_schedstat(data: bytes) -> tuple[int, int] | None:
    """Return the microseconds that a thread was on a CPU and waited for one; None for an empty file."""
    ran, waited, *_ = (*data.split(), b"", b"")
    return (int(ran) // 1000, int(waited) // 1000) if waited else None


def oom_kills() -> int:
    """Return how many processes this kernel has killed because memory had run out; 0 if unknown."""
    _, found, rest = read_file("/proc/vmstat").rpartition(b"\noom_kill ")
    return int(rest.split(b"\n", 1)[0]) if found else 0


def is_asleep(pid: int) -> bool:
    """Return whether a process's first live thread waits for something, such as input."""
    if not _LINUX:
        with contextlib.suppress(psutil.Error):
            return psutil.Process(pid).status() == psutil.STATUS_SLEEPING
        return False
    state = stat_fields(read_file(f"/proc/{pid}/stat"))[:1]
    if state and state[0] in _DEAD:
        state = stat_fields(_of_other_thread(pid, "stat"))[:1]
    return state == [b"S"]


def variable(pid: int, name: str) -> str | None:
    """Return a variable from the environment that a process was started with; empty if it is not set, None if unknown.

    Only `ENVIRONMENT` bytes are read: a bot may have made its environment megabytes long.
    """
    data = read_file(f"/proc/{pid}/environ", ENVIRONMENT) or _of_other_thread(pid, "environ", ENVIRONMENT)
    if not data:
        return None
    start = f"{name}=".encode()
    return next(
        (entry[len(start) :].decode("ascii", "replace") for entry in data.split(b"\0") if entry.startswith(start)), ""
    )


def read_file(path: str, most: int = EVERYTHING) -> bytes:
    """Return a small file of /proc, whole or its first `most` bytes; empty if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = os.read(descriptor, min(_READ, most))
        more = data
        while more and _PAGE // 2 < len(data) < most:  # longer files are read page by page
            more = os.read(descriptor, min(_READ, most - len(data)))
            data += more
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return data


def _unshared_with_psutil(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_full_info().uss)
    except (psutil.Error, AttributeError):
        return 0


def _look_with_psutil(pid: int) -> Process | None:
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            return Process(
                pid=pid,
                parent=process.ppid(),
                group=os.getpgid(pid) if hasattr(os, "getpgid") else pid,
                session=os.getsid(pid) if hasattr(os, "getsid") else pid,
                started=int(process.create_time() * TICKS_PER_SECOND),
                is_dead=process.status() == psutil.STATUS_ZOMBIE,
                is_stopped=process.status() == psutil.STATUS_STOPPED,
                threads=process.num_threads(),
                resident=process.memory_info().rss,
            )
    except (psutil.Error, OSError):
        return None
