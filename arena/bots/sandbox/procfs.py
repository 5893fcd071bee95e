"""What the system tells of processes: who started whom, what they hold, what they have used. Reads, and does nothing.

On Linux this is read from /proc, 15 microseconds a process. Where /proc is not, psutil serves: it takes a hundred times
that, and a league polls every process of every bot 20 times a second. What a bot can make long (its tree, a list
of children) is read up to a stated length only.

The trap: what /proc tells of a process it tells of its first thread. A program may end that one and go on with others
(`pthread_exit` in `main`): then it is a zombie there that holds no memory and has no environment. So where the first
thread has ended and there are others, one of them is asked (`_of_other_thread`).
"""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import psutil

_LINUX = sys.platform == "linux"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
ENVIRONMENT = 64 * 1024
"""Bytes of a process's environment that are looked at."""
_READ = 65536
_DEAD = (b"Z", b"X", b"x")
_STOPPED = (b"T", b"t")
_THREADS_ASKED = 64
"""Threads that are looked through for one that has not ended."""
_DIGITS = 8
"""Bytes that the number of a process takes in a list, with the space behind it."""
_VAST = 32 << 30
"""Bytes of address space from which on page tables can matter: they are a 512th of it at the most, 64 MiB."""
EVERYTHING = sys.maxsize
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
_spare: list[int] = []

T = TypeVar("T")


class Process(NamedTuple):
    """A process as it was when it was looked at. A dead one that nobody has reaped yet holds nothing but its number.

    `started` is when it was started, in ticks of the kernel's clock since the machine was: with the number it tells the
    process from all others, as numbers are used again. `resident` is bytes of memory, those that it shares with others
    counted in full; of a process with a vast address space with its page tables.
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
    """Split a file `stat` of /proc from the state on: the name before it, in brackets, may hold anything."""
    return stat[stat.rfind(b")") + 2 :].split()


def _of_other_thread(pid: int, name: str, most: int = EVERYTHING) -> bytes:
    """Read a file of /proc of a thread that is not the first one and has not ended; empty if there is none."""
    try:
        tasks = _with_room(lambda: os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return b""
    for task in tasks[:_THREADS_ASKED]:
        stat = read_file(f"/proc/{pid}/task/{task}/stat") if task != str(pid) else b""
        if stat and stat_fields(stat)[0] not in _DEAD:
            return stat if name == "stat" else read_file(f"/proc/{pid}/task/{task}/{name}", most)
    return b""


def ticks_now() -> int:
    """Return the `Process.started` of a process that is started now."""
    if not _LINUX:
        return int(time.time() * TICKS_PER_SECOND)
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * TICKS_PER_SECOND // 1_000_000_000


def children(pid: int, most: int = EVERYTHING) -> list[int]:
    """Return the numbers of a process's children, the oldest first, the dead that nobody has reaped included.

    Of more than `most` that many are listed, or a few more.
    """
    if not _LINUX:
        with contextlib.suppress(psutil.Error):
            return [child.pid for child in psutil.Process(pid).children()][:most]
        return []
    try:
        tasks = _with_room(lambda: os.listdir(f"/proc/{pid}/task"))
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
        return [int(name) for name in _with_room(lambda: os.listdir("/proc")) if name.isdigit()] if _LINUX else []
    except OSError:
        return []


def _children_of_thread(pid: int, thread: int | str, most: int) -> Iterator[int]:
    # There is a space behind each number: what stands behind the last one has been cut off.
    text = read_file(f"/proc/{pid}/task/{thread}/children", most * _DIGITS).rpartition(b" ")[0]
    return map(int, text.split())


def walk(roots: Iterable[int], most: int = EVERYTHING) -> Iterator[Process]:
    """Yield these processes and all that are below them.

    It ends as soon as there are more than `most` processes and threads, and costs no more than looking at so many. The
    children of a process are looked up after it has been given out: what is done to it then, they have inherited or
    are found.
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


def descend(roots: Iterable[int], most: int = EVERYTHING) -> list[Process]:
    """Return these processes and all that are below them."""
    return list(walk(roots, most))


def descriptors(pid: int, most: int) -> int:
    """How many files, pipes and the like a process has open. As many as it may have, `most`, where it has closed itself
    to others of its user; 0 if it is gone, or where /proc is not."""
    if not _LINUX:
        return 0
    try:
        return os.stat(f"/proc/{pid}/fd").st_size or len(_with_room(lambda: os.listdir(f"/proc/{pid}/fd")))
    except PermissionError:
        return most
    except OSError:
        return 0


def own_memory(pid: int) -> int:
    """Bytes of resident memory that are no files' (pages shared with others counted in full), page tables included. 0
    if that cannot be told."""
    return _of_status(pid, b"RssAnon:", b"RssShmem:", b"VmPTE:") if _LINUX else _unshared_with_psutil(pid)


def _of_status(pid: int, *names: bytes) -> int:
    status = read_file(f"/proc/{pid}/status")
    if b"\nVmPTE:" not in status:
        status = _of_other_thread(pid, "status")
    return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(names))


def fair_resident(pid: int) -> int:
    """Bytes of resident memory, pages shared by several processes divided among them, and of page tables. 0 if that
    cannot be told.

    The kernel goes through all its pages for that: some 30 ms for 400 MB. Where /proc is not, what is shared is left
    out. A process may have closed itself to others of its user (PR_SET_DUMPABLE): then all is counted in full.
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
    """The number by which the system knows the clock of a process's processor time; None where it has no such number.

    It is what clock_getcpuclockid makes of the process id.
    """
    return (~pid << 3) | 2 if _LINUX else None


def cpu_us(pid: int) -> int | None:
    """Microseconds of processor time that a process has used, all its threads together; None once it has been reaped.

    Its children's time is not in it. On Linux this is the process's own exact clock, and costs half a microsecond.
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
    """Microseconds of processor time of the children that a process has waited for, and theirs; 0 if that cannot be
    told. On Linux this is counted in ticks of 10 ms, rounded down."""
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
    """By thread of a process: microseconds on a CPU, and microseconds of waiting for one. Empty if the system does not
    tell."""
    try:
        tasks = _with_room(lambda: os.listdir(f"/proc/{pid}/task")) if _LINUX else []
    except OSError:
        return {}
    read = ((int(task), parse_schedstat(read_file(f"/proc/{pid}/task/{task}/schedstat"))) for task in tasks)
    return {task: times for task, times in read if times}


def parse_schedstat(data: bytes) -> tuple[int, int] | None:
    """Return the microseconds that a thread was on a CPU and that it waited for one; None if the file was empty."""
    ran, waited, *_ = (*data.split(), b"", b"")
    return (int(ran) // 1000, int(waited) // 1000) if waited else None


def oom_kills() -> int:
    """How many processes the kernel of this machine has killed so far because memory had run out, that of the machine
    or of a control group; 0 where it does not tell."""
    _, found, rest = read_file("/proc/vmstat").rpartition(b"\noom_kill ")
    return int(rest.split(b"\n", 1)[0]) if found else 0


def is_asleep(pid: int) -> bool:
    """Whether a process's first thread, or another one if that has ended, waits for something, as one does that reads
    its input."""
    if not _LINUX:
        with contextlib.suppress(psutil.Error):
            return psutil.Process(pid).status() == psutil.STATUS_SLEEPING
        return False
    state = stat_fields(read_file(f"/proc/{pid}/stat"))[:1]
    if state and state[0] in _DEAD:
        state = stat_fields(_of_other_thread(pid, "stat"))[:1]
    return state == [b"S"]


def variable(pid: int, name: str) -> str | None:
    """Return a variable of the environment that a process was started with; empty if there is none of that name.

    None if that cannot be told, as of a process that is dying. Only so much is looked at as programs are usually given:
    one may have made its environment megabytes long, and reading that would keep the arena from all other games.
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
        descriptor = _with_room(lambda: os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return b""
    try:
        data = os.read(descriptor, min(_READ, most))
        more = data
        while more and _PAGE // 2 < len(data) < most:  # what is longer than a page comes in parts
            more = os.read(descriptor, min(_READ, most - len(data)))
            data += more
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return data


def _with_room(opening: Callable[[], T]) -> T:
    """Do what opens a file, and if there is no descriptor left for it, give up the spare one for the time of that.

    Who cannot look must not think that there is nothing to see: a bot's processes would be left alive.
    """
    try:
        return opening()
    except OSError as error:
        if error.errno not in NO_DESCRIPTOR or not _spare:
            raise
    os.close(_spare.pop())
    try:
        return opening()
    finally:
        keep_spare_descriptor()


def keep_spare_descriptor() -> None:
    """Hold a descriptor back, as far as there is one, for looking at processes when there are no others."""
    with contextlib.suppress(OSError):
        if not _spare:
            _spare.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))


def _unshared_with_psutil(pid: int) -> int:
    """Return the bytes of resident memory that are not shared; 0 if unknown."""
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
