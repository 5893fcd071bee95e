"""Control groups, version 2: the kernel counts, limits, freezes and kills all processes of a bot together.

A process cannot leave its group, and its children are born in it. So all kinds of memory count, and the processor time
of children that are never waited for, and one write freezes or kills the group, however fast a program forks.

Groups are folders of a kernel file system. A folder that hands limits down to its subfolders must contain no process
itself (except for the root). So the arena first moves the processes of its own group, itself included, into a leaf:

    own group (a scope, or all there is of a container)
        arena-leaf              what was in the own group
        arena-1234-x7ab         for the bots of the arena that is process 1234
            bot-1  bot-2  ...   one for each bot

Only groups can be made in this file system, so that removing an empty folder is always safe. Where systemd manages the
groups, it moves processes about, except in groups that it has delegated, such as a scope.
"""

import contextlib
import errno
import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.bots.limits import Limits
from arena.errors import ArenaError

MOUNT = Path("/sys/fs/cgroup")
LEAF = "arena-leaf"
"""The group for the processes that were in the arena's own group before the arena made others there."""
NEEDED = frozenset({"memory", "pids"})
"""The controllers that keep the limits. Processor time is counted without any."""
WELCOME = frozenset({"cpu"})
"""Controllers that are used if available; `cpu` keeps bots from getting more of a busy CPU by more threads."""
MEMBERS = "cgroup.procs"
_CONTROLLERS = "cgroup.controllers"
SHARED_OUT = "cgroup.subtree_control"
SCOPE = "stratego-arena"
"""The beginning of a scope's name: a user's systemd does not mark the groups that it has delegated."""
MARKS = ("user.delegate", "trusted.delegate")
"""The attributes by which systemd marks delegated groups."""

JOIN = 'echo 0 >"$0" && exec "$@"'
"""The shell script that joins a control group, with the file of members as argument 0, and then runs its arguments."""
_TRIES = 20
"""How often processes are moved out of a group: others may be started in it meanwhile."""
_READ = 4096


class CgroupError(ArenaError):
    """Control groups for bots are impossible here; the text says why, and what to do about it."""


class Group:
    """The control group of one bot. Made by `Hierarchy.make`; unusable after `remove`.

    A process joins the group by writing `0` to the file `members`, before it does anything else.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.members = folder / MEMBERS
        self._descriptors: list[int] = []
        try:
            # Kept open: these are used at each turn, or when there may be no descriptors left.
            self._cpu = self._open("cpu.stat", os.O_RDONLY)
            self._freeze = self._open("cgroup.freeze", os.O_WRONLY)
            self._kill = self._open("cgroup.kill", os.O_WRONLY)
        except OSError:
            self.remove()
            raise

    def _open(self, name: str, flags: int) -> int:
        descriptor = os.open(self._folder / name, flags)
        self._descriptors.append(descriptor)
        return descriptor

    def joined(self, line: Sequence[str]) -> tuple[str, ...]:
        """Return the command line that joins the group and then runs this one."""
        return ("/bin/sh", "-c", JOIN, str(self.members), *line)

    def cpu_us(self) -> int:
        """Return the microseconds of processor time used so far, dead processes included.

        Exact for frozen and waiting processes; for running ones up to the last tick of the kernel, a few milliseconds
        ago.
        """
        return int(os.pread(self._cpu, _READ, 0).split(None, 2)[1])

    def freeze(self, frozen: bool) -> None:
        """Freeze all its processes, or let them run again, without waiting for them to stop."""
        os.pwrite(self._freeze, b"1" if frozen else b"0", 0)

    def kill(self) -> None:
        """Kill all its processes, frozen or not, without waiting for them to die."""
        os.pwrite(self._kill, b"1", 0)

    def memory_peak(self) -> int | None:
        """Return the peak memory in bytes, cached files included; None before Linux 5.19."""
        try:
            return int((self._folder / "memory.peak").read_text())
        except FileNotFoundError:
            return None

    def memory_now(self) -> int:
        return int((self._folder / "memory.current").read_text())

    def oom_kills(self) -> int:
        """Return how many of its processes were killed for exceeding the group's own memory limit."""
        events = _counters(self._folder / "memory.events")
        return events["oom_kill"] if events["oom"] else 0

    def remove(self) -> bool:
        """Remove the group. Returns False while dying processes are in it; then try again."""
        while self._descriptors:
            os.close(self._descriptors.pop())
        try:
            self._folder.rmdir()
        except OSError as error:
            return error.errno != errno.EBUSY
        return True


class Hierarchy:
    """The place of the groups of this arena's bots. Made by `find`; close it after all groups are removed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def find(cls) -> "Hierarchy":
        """Find a place where groups can be made, and prepare it, in some milliseconds.

        May move all processes of the arena's own group (see the module's text). Raises `CgroupError`.
        """
        if sys.platform != "linux":
            raise CgroupError("control groups are there on Linux only; choose another level")
        own = own_group(Path("/proc/self/cgroup").read_text(), MOUNT)
        check(own, systemd_rules=Path("/run/systemd/system").is_dir())
        try:
            with _alone(own):
                _make_room(own)
                folder = Path(tempfile.mkdtemp(prefix=f"arena-{os.getpid()}-", dir=own))
                _share_out(folder)
        except OSError as error:
            raise CgroupError(
                f"no control groups can be made in {own} ({error.strerror}): start the arena in one of its own"
            ) from error
        hierarchy = cls(folder)
        if not (folder / "cgroup.kill").exists():
            hierarchy.close()
            raise CgroupError("this kernel cannot kill a control group: Linux 5.14 or later is needed")
        return hierarchy

    def make(self, name: str, limits: Limits, helpers: int) -> Group:
        """Make a group of that name with these limits; a name is free again once its group is removed.

        `helpers` processes of the sandbox are allowed on top. Raises `CgroupError`, with the system's error as its
        cause.
        """
        folder = self._folder / name
        settings = {
            "memory.max": limits.memory,
            "memory.swap.max": 0,
            "memory.oom.group": 1,
            "pids.max": limits.processes + helpers,
        }
        try:
            folder.mkdir()
            try:
                for file, value in settings.items():
                    if file != "memory.swap.max" or (folder / file).exists():  # a kernel without swap has none
                        _write(folder / file, str(value))
                return Group(folder)
            except OSError:
                _remove(folder)
                raise
        except OSError as error:
            raise CgroupError(f"the control group {folder} cannot be made: {error.strerror}") from error

    def close(self) -> None:
        for folder in (*_folders(self._folder), self._folder):
            _remove(folder)


@contextlib.contextmanager
def _alone(own: Path) -> Iterator[None]:
    descriptor = os.open(own, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _make_room(own: Path) -> None:
    """Hand the limits down to the subgroups, after moving all processes out. Raises `OSError`."""
    if is_root(own) or set((own / SHARED_OUT).read_text().split()) >= NEEDED:
        _share_out(own)
        return
    leaf = own / LEAF
    leaf.mkdir(exist_ok=True)
    for _ in range(_TRIES - 1):
        _move_all(own, leaf)
        with contextlib.suppress(OSError):  # a process was started in it since then
            _share_out(own)
            return
    _share_out(own)


def _share_out(group: Path) -> None:
    _write(group / SHARED_OUT, " ".join(f"+{name}" for name in NEEDED))
    for name in WELCOME:
        with contextlib.suppress(OSError):
            _write(group / SHARED_OUT, f"+{name}")


def _move_all(source: Path, target: Path) -> None:
    for _ in range(_TRIES):
        members = (source / MEMBERS).read_text().split()
        if not members:
            return
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                _write(target / MEMBERS, pid)


def _folders(group: Path) -> list[Path]:
    try:
        return [path for path in group.iterdir() if path.is_dir()]
    except OSError:
        return []


def _remove(group: Path) -> None:
    with contextlib.suppress(OSError):
        group.rmdir()


def _write(file: Path, text: str) -> None:
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _counters(file: Path) -> dict[str, int]:
    return {name: int(number) for name, number in (line.split() for line in file.read_text().splitlines())}


def own_group(membership: str, mount: Path) -> Path:
    """Return the folder of a process's group, from the text of its /proc/PID/cgroup.

    Processes that the arena has moved to a leaf count as still in the group above. Raises `CgroupError`.
    """
    lines = [line.split(":", 2) for line in membership.splitlines()]
    elsewhere = {name for _, controllers, _ in lines for name in controllers.split(",")} & NEEDED
    if elsewhere:
        raise CgroupError(
            f"version 1 of control groups holds {_listed(elsewhere)} here: boot the machine with version 2 "
            "alone (with systemd: kernel parameter systemd.unified_cgroup_hierarchy=1)"
        )
    path = next((group for number, controllers, group in lines if number == "0" and not controllers), None)
    if path is None or not (mount / _CONTROLLERS).exists():
        raise CgroupError(f"no control groups of version 2 are mounted here: mount -t cgroup2 none {mount}")
    folder = mount / path.lstrip("/")
    if "/.." in path or not folder.is_dir():
        raise CgroupError(
            f"the arena's control group {path} is not in the part that is mounted here: "
            "start the container with a control group namespace of its own (docker run --cgroupns=private)"
        )
    return folder.parent if folder.name == LEAF and folder != mount else folder


def check(own: Path, *, systemd_rules: bool) -> None:
    """Raise `CgroupError` unless this process may make groups with limits in this one."""
    if systemd_rules and not _is_delegated(own):
        user = "" if os.geteuid() == 0 else "--user "
        raise CgroupError(
            f"the control group {own} is systemd's: start the arena in a scope of its own, "
            f"systemd-run {user}--scope --unit={SCOPE}-1 -p Delegate=yes arena ...",
        )
    try:
        missing = NEEDED - set((own / _CONTROLLERS).read_text().split())
    except OSError as error:
        raise CgroupError(f"the control group {own} cannot be read ({error.strerror}): mount it there") from error
    if missing:
        remedy = (
            f"boot the kernel with cgroup_enable={','.join(sorted(missing))}"
            if is_root(own)
            else f"write +{' +'.join(sorted(missing))} to {SHARED_OUT} in the folders above it"
        )
        raise CgroupError(f"the control group {own} has not got {_listed(missing)}: {remedy}")
    for path in (own, own / MEMBERS, own / SHARED_OUT):
        if not os.access(path, os.W_OK):
            raise CgroupError(
                f"{path} cannot be written to: have it mounted writable, and run the arena as root or have root give "
                f"{own} and the files in it to this user (chown)"
            )


def is_root(group: Path) -> bool:
    """Return whether this is the root of all control groups of the machine, not just of those in a container."""
    return not (group / "cgroup.type").exists()


def _listed(controllers: frozenset[str] | set[str]) -> str:
    return " and ".join(f"the {name} controller" for name in sorted(controllers))


def _is_delegated(group: Path) -> bool:
    if group.name.startswith(SCOPE) and group.name.endswith(".scope"):
        return True
    for mark in MARKS:
        with contextlib.suppress(OSError, AttributeError):  # not every system has such attributes
            if os.getxattr(group, mark) == b"1":
                return True
    return False
