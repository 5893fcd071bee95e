"""Build a bot in a sandbox: on a copy of its folder, as a user that owns no other files.

The build sees the system and the programs that the host has named. Its results are put back into the folder once all
its processes are dead, so that no process can change them; a failed build leaves no trace.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import trio

from arena.bots.build_files import (
    LINE_LENGTH,
    BuildLimits,
    copied,
    judge,
    manifest_of,
    open_up,
    put_there,
    refuse_if_nothing_is_made,
    refuse_other_manifest,
    scratch,
)
from arena.bots.limits import Limits, size_text
from arena.bots.spec import BotSpec
from arena.bots.trial import Run, run_to_end
from arena.errors import UsageError
from arena.sandbox import bwrap, files
from arena.sandbox.cgroup import Hierarchy
from arena.sandbox.launch import Launch
from arena.sandbox.levels import Level, joined
from arena.sandbox.mounts import HOME, Rivals, refuse_rivals
from arena.sandbox.programs import HostPrograms, own_files
from arena.sandbox.rlimits import process_limits
from arena.sandbox.runtimes import find_tools
from arena.system.printable import printable

PROCESSES = 512
"""Processes and threads of a build: compilers start one for each CPU, and some more."""
OPEN_FILES = 4096
LOOK_SECONDS = 0.1
"""How often the disk is measured, if that takes at most 1/`LOOK_SHARE` of the time."""
LOOK_SHARE = 4
FREE_SPACE_SHARE = 2
"""Deleted files that are still open show only as lost free space: this many times the limit is too much, as others
write to the disk as well.
"""


def build_in_sandbox(
    bot: BotSpec,
    build: str,
    level: Level,
    limits: BuildLimits,
    *,
    host: HostPrograms,
    bots: Sequence[BotSpec],
    run: Run,
) -> None:
    """Build a bot in a sandbox of this level, in a copy of its folder, and put the results back there.

    The build cannot see the files of the other `bots`. Raises `UsageError` if it fails or its result is refused, and
    `SandboxError` if something that the host has named cannot be shown to it.
    """
    tools = find_tools(bot, host)
    refuse_rivals(bot, own_files(bot), tools.folders, Rivals(bots))
    user = bwrap.spare_user()
    held = Limits(limits.memory, PROCESSES, limits.disk)
    with scratch() as place, _group(level, limits) as make_group:
        copy = copied(bot, place / "bot", limits.disk, user)
        before, manifest = files.stamps(copy), manifest_of(copy)
        path = (*dict.fromkeys(str(folder) for folder in tools.path), "/usr/local/bin", "/usr/bin", "/bin")
        workshop = bwrap.Workshop(
            copy=copy,
            folders=tools.folders,
            links=tools.links,
            path=os.pathsep.join(path),
            process_limits={**process_limits(held), "nofile": OPEN_FILES},
            processes=PROCESSES,
            disk=limits.disk,
            network=limits.network,
        )
        launch = Launch(bwrap.build_line(build, workshop, user), Path("/"), {}, held, helpers=bwrap.PROCESSES)
        launch = make_group(launch)
        ended = run(run_to_end, launch, limits.seconds, _DiskWatch(copy, limits.disk).watch)
        judge(bot, build, level, ended)
        open_up(copy)
        refuse_if_nothing_is_made(bot, copy)
        refuse_other_manifest(bot, manifest, copy)
        links = _LinkTargets(bot, host).inside
        put_there(bot, copy, before, limits.disk, links)


class _DiskWatch:
    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._free = self._free_now()

    def _free_now(self) -> int:
        system = os.statvfs(self._folder)
        return system.f_bfree * system.f_frsize

    async def watch(self) -> str:
        """Return, with the reason, once it is more than is allowed."""
        while True:
            begun = trio.current_time()
            words = self._look()
            if words:
                return words
            await trio.sleep(max(LOOK_SECONDS, LOOK_SHARE * (trio.current_time() - begun)))

    def _look(self) -> str:
        try:
            used = files.size_on_disk(self._folder)
        except files.FilesError as error:
            return f"made too many files: {error}"
        if used > self._most or self._free - self._free_now() > FREE_SPACE_SHARE * self._most:
            return f"wrote more than the {size_text(self._most)} of files that are allowed (--build-disk)"
        return ""


class _LinkTargets:
    """Checks the links that a build has made: they may lead to its own files, the system, and the host's programs."""

    def __init__(self, bot: BotSpec, host: HostPrograms) -> None:
        self._bot, self._host = bot, host

    def inside(self, path: str, target: str) -> str:
        """Return the text for a link at this path; links to the bot's own files become relative.

        Raises `UsageError` for a link that leads out of the folder.
        """
        parts = PurePosixPath(target).parts
        climbs = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
        is_within = os.path.isabs(target) or climbs <= len(PurePosixPath(path).parent.parts)
        if is_within and ".." not in parts[climbs:]:  # which may mean another place if a link comes before it
            folder = Path(HOME, path).parent
            leads_to = Path(os.path.normpath(folder / target))
            if leads_to.is_relative_to(HOME):
                return os.path.relpath(leads_to, folder) if os.path.isabs(target) else target
            if os.path.isabs(target) and self._is_of_the_host(leads_to):
                return target
        raise UsageError(
            f"{printable(str(self._bot.path))}: its build makes a link that leads out of its folder: "
            f"{printable(path, LINE_LENGTH)} leads to {printable(target, LINE_LENGTH)}: expected links "
            "to its own files or to programs of the system"
        )

    def _is_of_the_host(self, path: Path) -> bool:
        return os.path.exists(path) and self._host.why_not(path) is None


@contextlib.contextmanager
def _group(level: Level, limits: BuildLimits) -> Iterator[Callable[[Launch], Launch]]:
    if level is not Level.CGROUP:
        yield lambda launch: launch
        return
    hierarchy = Hierarchy.find()

    def join(launch: Launch) -> Launch:
        # /tmp is memory to the kernel; memory itself is limited by the watch.
        group = hierarchy.make("build", Limits(limits.memory + limits.disk, PROCESSES), bwrap.PROCESSES)
        return replace(launch, command=joined(launch.command, group), group=group)

    try:
        yield join
    finally:
        hierarchy.close()
