"""What this machine can enforce: each level tried out, each promise beside the levels that keep it."""

import os
import platform
import resource
import sys

import msgspec

from arena.bots.sandbox import bwrap_check
from arena.bots.sandbox.levels import Level


class Trial(msgspec.Struct, frozen=True):
    """A level and whether it works here; `reason` says why not and what to do about it, `gaps` what it lacks here."""

    level: Level
    works: bool
    reason: str
    gaps: tuple[str, ...]


class Promise(msgspec.Struct, frozen=True):
    """Something that a bot may try, and what becomes of it at each level that works here, in a few words."""

    what: str
    by: dict[Level, str]


class Health(msgspec.Struct, frozen=True):
    """All that `arena doctor` shows."""

    system: str
    user: str
    python: str
    open_files: int
    trials: tuple[Trial, ...]
    promises: tuple[Promise, ...]


def examine() -> Health:
    """Try everything out; takes about a second."""
    reasons = {level: level.why_not() for level in Level}
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return Health(
        system=f"{platform.system()} {platform.release()} ({platform.machine()})",
        user="root" if root else "an ordinary user",
        python=platform.python_version(),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        trials=tuple(
            Trial(level, reason is None, reason or "", _gaps(level, root)) for level, reason in reasons.items()
        ),
        promises=tuple(
            Promise(what, {level: words for level, words in zip(Level, by, strict=True) if reasons[level] is None})
            for what, *by in _promises()
        ),
    )


def _gaps(level: Level, root: bool) -> tuple[str, ...]:
    if level is Level.BASIC:
        if sys.platform != "linux":
            return (
                f"on {platform.system()} daemons that a bot leaves behind are not found, and its memory and processes "
                "are looked at, not limited",
            )
        return ("bots run as root: use an account of their own, or a sandbox",) if root else ()
    return bwrap_check.gaps(in_control_group=level is Level.CGROUP)


def _promises() -> list[tuple[str, str, str, str]]:
    linux = sys.platform == "linux"
    return [
        ("outlive its game", "killed" if linux else "daemons can", "killed", "killed"),
        ("outlive the arena", "it can", "killed", "killed"),
        ("take too much memory", "seen in 50 ms, killed", "seen in 50 ms, killed", "killed by the kernel"),
        ("start too many processes", "seen in 50 ms, killed", "refused", "refused"),
        ("hide processor time in children", "it can", "it can", "all is counted"),
        ("do harm while it is built", "it can", "is in a sandbox", "is in a sandbox"),
        ("fill the disk", "it can", "its /tmp only", "its /tmp only"),
        ("read or write other files", "it can", "sees its own only", "sees its own only"),
        ("use the network", "it can", "has none", "has none"),
        ("see or signal other processes", "it can", "sees its own only", "sees its own only"),
    ]
