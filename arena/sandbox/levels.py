"""The sandbox levels, weakest first, what each needs here, and how a bot is started at each.

    basic    a plain child in a session of its own, with limits; works everywhere
    bwrap    the same in namespaces of its own: no network, no other process, no file but its own and the system's
    cgroup   the same in a control group as well: memory and processor time of the whole tree are counted by the kernel

A level that does not work here is refused with the reason. Only `auto` chooses, and says what it chose.
"""

import enum
import os
import platform
import resource
import sys
from collections.abc import Iterable

import msgspec

from arena.errors import UsageError

AUTO = "auto"


class Level(enum.Enum):
    BASIC = "basic"
    BWRAP = "bwrap"
    CGROUP = "cgroup"

    def why_not(self) -> str | None:
        """Return None if the level works here, otherwise the reason and what to do about it."""
        if self is Level.BASIC:
            return None
        from arena.sandbox import bwrap_check

        reason = bwrap_check.why_not()
        if reason is None and self is Level.CGROUP:
            from arena.sandbox.cgroup import CgroupError, Hierarchy

            try:
                Hierarchy.find().close()
            except CgroupError as error:
                reason = str(error)
        return reason


def choose(asked: str) -> Level:
    """Return the level of that name, or for `auto` the strongest that works. Raises `UsageError` with the reason."""
    if asked == AUTO:
        return next(level for level in reversed(Level) if level.why_not() is None)
    level = Level(asked)
    reason = level.why_not()
    if reason is not None:
        raise UsageError(f"--sandbox {asked} does not work here: {reason}\n'arena doctor' shows what does")
    return level


def strongest(levels: Iterable[str]) -> str:
    names = [level.value for level in Level]
    return max(levels, key=names.index, default=names[0])


class LevelTrial(msgspec.Struct, frozen=True):
    """A level and whether it works here, with the reason and remedy if not, and its gaps on this machine."""

    level: Level
    works: bool
    reason: str
    gaps: tuple[str, ...]


class Health(msgspec.Struct, frozen=True):
    system: str
    user: str
    python: str
    open_files: int
    trials: tuple[LevelTrial, ...]


def examine() -> Health:
    """Try everything out, in about a second."""
    reasons = {level: level.why_not() for level in Level}
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return Health(
        system=f"{platform.system()} {platform.release()} ({platform.machine()})",
        user="root" if root else "an ordinary user",
        python=platform.python_version(),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        trials=tuple(
            LevelTrial(level, reason is None, reason or "", _gaps(level, root)) for level, reason in reasons.items()
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
    from arena.sandbox import bwrap_check

    return bwrap_check.gaps(in_control_group=level is Level.CGROUP)
