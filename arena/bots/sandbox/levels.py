"""The sandbox levels, weakest first, what each needs here, and how a bot is started under one.

    basic    a plain child in a session of its own, with limits; works everywhere
    bwrap    the same in namespaces of its own: no network, no other process, no file but its own and the system's
    cgroup   the same in a control group as well: memory and processor time of the whole tree are counted by the kernel

What a host asks for is what it gets: a level that does not work here is refused with the reason. Only `auto` chooses,
and says what it chose.
"""

import enum
import os
import sys
from collections.abc import Iterable, Sequence

from arena.bots.sandbox import bwrap_check
from arena.bots.sandbox.cgroup import CgroupError, Group, Hierarchy
from arena.bots.sandbox.systemd_scope import in_scope
from arena.errors import UsageError

AUTO = "auto"
JOIN = 'echo 0 >"$0" && exec "$@"'
"""What a shell does to be in a control group, of which its argument 0 is the list of members, before anything else."""


class Level(enum.Enum):
    """A sandbox level; see the module's text."""

    BASIC = "basic"
    BWRAP = "bwrap"
    CGROUP = "cgroup"

    def why_not(self) -> str | None:
        """None if the level works here, else the reason and what to do about it."""
        if self is Level.BASIC:
            return None
        reason = bwrap_check.why_not()
        if reason is None and self is Level.CGROUP:
            try:
                Hierarchy.find().close()
            except CgroupError as error:
                reason = str(error)
        return reason


def enter_scope(asked: str) -> None:
    """Start this very command again in a scope of its own, if that is all that control groups lack here.

    Returns if it is not, or if they were not asked for.
    """
    if asked not in (AUTO, Level.CGROUP.value) or Level.BWRAP.why_not() is not None:
        return
    try:
        Hierarchy.find().close()
    except CgroupError as error:
        line = in_scope(sys.orig_argv) if error.scope_helps else None
        if line:
            os.execvp(line[0], line)


def choose(asked: str) -> Level:
    """The level of that name, or the strongest that works for `auto`. Raises `UsageError` with the reason if it does
    not work here."""
    if asked == AUTO:
        return next(level for level in reversed(Level) if level.why_not() is None)
    level = Level(asked)
    reason = level.why_not()
    if reason is not None:
        raise UsageError(f"--sandbox {asked} does not work here: {reason}\n'arena doctor' shows what does")
    return level


def strongest(levels: Iterable[str]) -> str:
    """The strongest of some levels, by their names; of none it is the weakest that there is."""
    names = [level.value for level in Level]
    return max(levels, key=names.index, default=names[0])


def joined(line: Sequence[str], group: Group) -> tuple[str, ...]:
    """The line that first joins a control group."""
    return ("/bin/sh", "-c", JOIN, str(group.members), *line)
