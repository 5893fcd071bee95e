"""Find the arena's own control group, and whether others can be made in it, by reading alone.

Where systemd manages the groups, it moves processes about, except in groups that it has delegated. A scope is such a
group for a program that a user starts; `in_scope` returns the command that starts one. An ordinary user has a systemd
of his own, which makes scopes without further rights.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from arena.errors import ArenaError

GUARD = "STRATEGO_ARENA_SCOPE"
"""The environment variable that marks a program that the arena has already restarted in a scope."""
LEAF = "arena-leaf"
"""The group for the processes that were in the arena's own group before the arena made others there."""
NEEDED = frozenset({"memory", "pids"})
"""The controllers that keep the limits. Processor time is counted without any."""
MEMBERS = "cgroup.procs"
SHARED_OUT = "cgroup.subtree_control"

_CONTROLLERS = "cgroup.controllers"
_PREFIX = "stratego-arena-"
_MARKS = ("user.delegate", "trusted.delegate")
"""The attributes by which systemd marks delegated groups. A user's systemd sets none, so our scopes are known by their
names.
"""


class CgroupError(ArenaError):
    """Control groups for bots are impossible here; the text says why, and what to do about it.

    `scope_helps`: restarting the arena in a scope is enough.
    """

    def __init__(self, reason: str, scope_helps: bool = False) -> None:
        super().__init__(reason)
        self.scope_helps = scope_helps


def own_group(mountinfo: str, membership: str) -> Path:
    """Return the folder of a process's group, from the texts of its /proc/PID/mountinfo and /proc/PID/cgroup.

    Processes that the arena has moved to a leaf count as still in the group above. Raises `CgroupError`.
    """
    path, elsewhere = None, set()
    for line in membership.splitlines():
        number, controllers, group = line.split(":", 2)
        if number == "0" and not controllers:
            path = group
        else:
            elsewhere.update(controllers.split(","))
    if elsewhere & NEEDED:
        raise CgroupError(
            f"version 1 of control groups holds {_listed(elsewhere & NEEDED)} here: boot the machine with version 2 "
            "alone (with systemd: kernel parameter systemd.unified_cgroup_hierarchy=1)"
        )
    mounts = list(_mounts(mountinfo))
    if path is None or not mounts:
        raise CgroupError("no control groups of version 2 are mounted here: mount -t cgroup2 none /sys/fs/cgroup")
    for root, point in mounts:
        above = root.rstrip("/")
        if path == root or (path.startswith(above + "/") and "/.." not in path):
            folder = point / path.removeprefix(above).lstrip("/")
            return folder.parent if folder.name == LEAF and folder != point else folder
    raise CgroupError(
        f"the arena's control group {path} is not in the part that is mounted here: "
        "start the container with a control group namespace of its own (docker run --cgroupns=private)"
    )


def check(own: Path, systemd_rules: bool) -> None:
    """Raise `CgroupError` unless this process may make groups with limits in this one."""
    if systemd_rules and not _is_delegated(own):
        user = "" if os.geteuid() == 0 else "--user "
        raise CgroupError(
            f"the control group {own} is systemd's: start the arena in a scope of its own, "
            f"systemd-run {user}--scope -p Delegate=yes arena ...",
            scope_helps=True,
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


def _mounts(mountinfo: str) -> Iterator[tuple[str, Path]]:
    for line in mountinfo.splitlines():
        fields, _, filesystem = line.partition(" - ")
        if filesystem.startswith("cgroup2 "):
            root, point = (_unescaped(word) for word in fields.split(" ")[3:5])
            yield root, Path(point)


def _unescaped(word: str) -> str:
    """Decode a path: the kernel writes blanks and the like as a backslash and three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)


def _listed(controllers: frozenset[str] | set[str]) -> str:
    return " and ".join(f"the {name} controller" for name in sorted(controllers))


def systemd_rules() -> bool:
    return Path("/run/systemd/system").is_dir()


def in_scope(command: Sequence[str], environment: Mapping[str, str] = os.environ) -> list[str] | None:
    """Return the command that restarts `command` in a scope of its own, with the same terminal, folder and environment.

    Replace this process by it (`os.execvp`); the process id stays. None without a working systemd, and in a scope of
    the arena already.
    """
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    named_in_full = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))  # bots may lie in the others
    tool = shutil.which("systemd-run", path=named_in_full)
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if tool is None or GUARD in environment or not systemd_rules() or not (as_root or _has_own_systemd(environment)):
        return None
    return [
        tool,
        *([] if as_root else ["--user"]),
        "--scope",
        "--quiet",
        "--collect",
        f"--unit={_PREFIX}{os.getpid()}",
        "--property=Delegate=yes",
        f"--setenv={GUARD}=1",
        "--",
        *command,
    ]


def _has_own_systemd(environment: Mapping[str, str]) -> bool:
    folder = environment.get("XDG_RUNTIME_DIR")
    return "DBUS_SESSION_BUS_ADDRESS" in environment or (folder is not None and Path(folder, "bus").exists())


def _is_delegated(group: Path) -> bool:
    is_ours = group.name.startswith(_PREFIX) and group.name.endswith(".scope")
    return is_ours or any(_attribute(group, mark) == b"1" for mark in _MARKS)


def _attribute(path: Path, name: str) -> bytes:
    try:
        return os.getxattr(path, name)
    except (OSError, AttributeError):  # not every system has such attributes
        return b""
