"""Run a build in a sandbox: on a copy of the bot's folder, as a user that owns no other files.

The build sees the system and the programs of the host.
"""

import contextlib
import os
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

import trio

from arena.bots.build_copy import size_on_disk
from arena.bots.limits import BuildLimits, Limits, size_text
from arena.bots.spec import BotSpec
from arena.bots.trial import Ended, run_to_end
from arena.errors import UsageError
from arena.sandbox import bwrap
from arena.sandbox.cgroup import Hierarchy
from arena.sandbox.launch import Launch
from arena.sandbox.levels import Level
from arena.sandbox.mounts import HOME
from arena.sandbox.programs import HostPrograms
from arena.system.concurrency import Run
from arena.system.printable import printable

PROCESSES = 512
"""Processes and threads of a build: compilers start one for each CPU, and some more."""
LOOK_SECONDS = 0.1
"""How often the disk is measured, if that takes at most 1/`LOOK_SHARE` of the time."""
LOOK_SHARE = 4
FREE_SPACE_SHARE = 2
"""Deleted files that are still open show only as lost free space: this many times the limit is too much, as others
write to the disk as well.
"""


def run_build(
    build: str, copy: Path, user: int | None, level: Level, limits: BuildLimits, *, host: HostPrograms, run: Run
) -> Ended:
    """Run a build in this copy of a bot's folder, as `user`. Raises `SandboxError` as `HostPrograms.shown` does."""
    held = Limits(limits.memory, PROCESSES, limits.disk)
    of_path = [found for folder in host.path for found in host.usable(folder, is_shown=True)]
    path = [*map(str, (*host.named_folders, host.python.parent, *of_path)), "/usr/local/bin", "/usr/bin", "/bin"]
    path_text = os.pathsep.join(dict.fromkeys(path))
    line = bwrap.build_line(build, copy, host.shown, path=path_text, limits=held, user=user, network=limits.network)
    launch = Launch(line, Path("/"), {}, held, helpers=bwrap.PROCESSES)
    with contextlib.ExitStack() as stack:
        if level is Level.CGROUP:
            hierarchy = stack.enter_context(contextlib.closing(Hierarchy.find()))
            # /tmp is memory to the kernel; memory itself is limited by the watch.
            group = hierarchy.make("build", Limits(limits.memory + limits.disk, PROCESSES), bwrap.PROCESSES)
            launch = replace(launch, command=group.joined(launch.command), group=group)
        return run(run_to_end, launch, limits.seconds, partial(_watch_disk, copy, limits.disk))


async def _watch_disk(folder: Path, most: int) -> str:
    """Return, with the reason, once the folder holds more than is allowed."""

    def free() -> int:
        system = os.statvfs(folder)
        return system.f_bfree * system.f_frsize

    before = free()
    while True:
        begun = trio.current_time()
        try:
            used = size_on_disk(folder)
        except UsageError as error:
            return f"made too many files: {error}"
        if used > most or before - free() > FREE_SPACE_SHARE * most:
            return f"wrote more than the {size_text(most)} of files that are allowed (--build-disk)"
        await trio.sleep(max(LOOK_SECONDS, LOOK_SHARE * (trio.current_time() - begun)))


def link_outside(bot: BotSpec, host: HostPrograms, path: str, target: str) -> str:
    """Return the text for a link that a build has made at this path; links to the bot's own files become relative.

    Raises `UsageError` for a link that leads out of the folder, unless to programs of the host.
    """
    parts = PurePosixPath(target).parts
    climbs = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    is_within = os.path.isabs(target) or climbs <= len(PurePosixPath(path).parent.parts)
    if is_within and ".." not in parts[climbs:]:  # which may mean another place if a link comes before it
        folder = Path(HOME, path).parent
        leads_to = Path(os.path.normpath(folder / target))
        if leads_to.is_relative_to(HOME):
            return os.path.relpath(leads_to, folder) if os.path.isabs(target) else target
        if os.path.isabs(target) and leads_to.exists() and host.why_not(leads_to, is_shown=True) is None:
            return target
    raise UsageError(
        f"{printable(str(bot.path))}: its build makes a link that leads out of its folder: "
        f"{printable(path, 1000)} leads to {printable(target, 1000)}: expected links "
        "to its own files or to programs of the system"
    )
