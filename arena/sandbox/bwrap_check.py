"""Check by a trial whether bubblewrap works on this machine, and explain what the host can do if not."""

import contextlib
import os
import platform
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from arena.bots.limits import Limits
from arena.sandbox.bwrap import (
    COMPLAINT,
    PLAIN,
    TOOL_PATH,
    TRIAL_SECONDS,
    bare_mounts,
    command,
    counts_one_bot,
    options_of_bwrap,
    spare_user,
    through_shell,
)
from arena.sandbox.cgroup import MOUNT
from arena.sandbox.seccomp import filter_program

SETTINGS = (
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user.max_user_namespaces", "0", "10000"),
)
"""Settings that keep ordinary users from making user namespaces: the name, that value, and the one that is needed."""
CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")


@lru_cache
def why_not() -> str | None:
    """Return None if bots can run in this sandbox here, otherwise the reason and what to do. Runs a trial."""
    if sys.platform != "linux":
        return "bubblewrap works on Linux only"
    for name, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux"), ("setpriv", "util-linux")):
        if shutil.which(name, path=TOOL_PATH) is None:
            return f"{name} is not installed: apt install {package} (or what your system has for it)"
    if "--size" not in options_of_bwrap():
        return "this bubblewrap is too old: version 0.6 or later is needed"
    said = _trial()
    if said is None:
        return None
    return f"bubblewrap does not work here: {said}{_advice()}"


def gaps(*, in_control_group: bool = False) -> tuple[str, ...]:
    """List what the sandbox lacks on this machine, a sentence each, without a full stop.

    `in_control_group` leaves out gaps that a control group for each bot closes.
    """
    found = []
    if filter_program() is None:
        found.append(f"there is no filter of system calls for {platform.machine()}")
    elif os.geteuid() != 0 and "--disable-userns" not in options_of_bwrap():
        found.append(
            "only the filter of system calls keeps bots from making user namespaces (bubblewrap 0.8 would too)"
        )
    if not counts_one_bot():
        found.append("the number of a bot's processes is not limited (Linux 5.14 or later can)")
    if not (in_control_group or shares_by_session()):
        found.append(
            "a bot that starts many processes gets more of a busy CPU (the level cgroup prevents it, or outside of "
            "control groups with a share of their own, sysctl -w kernel.sched_autogroup_enabled=1)"
        )
    return tuple(found)


def shares_by_session() -> bool:
    """Return whether a busy CPU is shared among sessions here, so that all processes of a bot together get one share.

    The kernel does that only for processes without a control group that has its own share.
    """
    try:
        if Path("/proc/sys/kernel/sched_autogroup_enabled").read_text().strip() != "1":
            return False
        groups = Path("/proc/self/cgroup").read_text()
    except OSError:
        return False
    return not _has_own_share(groups, MOUNT)


def _has_own_share(groups: str, hierarchy: Path) -> bool:
    """Return whether a control group of a process (the text of its /proc/PID/cgroup) has its own share of the CPU.

    `hierarchy` is the mount point of version 2, where a group with a share has a file for its weight.
    """
    for line in groups.splitlines():
        number, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(",") and path != "/":
            return True
        if number == "0":
            place = hierarchy / path.strip("/")
            if any((folder / "cpu.weight").exists() for folder in (place, *place.parents)):
                return True
    return False


def _trial() -> str | None:
    try:
        done = subprocess.run(
            through_shell(command(bare_mounts(PLAIN), Limits(), spare_user())),
            check=False,
            cwd="/",
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRIAL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1].removeprefix(COMPLAINT) if said else f"it exited with code {done.returncode}"


def _advice() -> str:
    if os.geteuid() != 0:
        for setting, bad, good in SETTINGS:
            with contextlib.suppress(OSError):
                if Path("/proc/sys", setting.replace(".", "/")).read_text().strip() == bad:
                    return f"; ordinary users may not make user namespaces: sysctl -w {setting}={good} (as root)"
    if any(Path(mark).exists() for mark in CONTAINER_MARKS):
        return (
            "; this is a container, which has to be allowed to make namespaces: "
            "docker run --privileged, or --cap-add SYS_ADMIN --security-opt seccomp=unconfined "
            "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"
        )
    return ""
