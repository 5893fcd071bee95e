"""A build in a sandbox: on a copy of the bot's folder, as a user that owns no other files, and what is put back.

The build sees the system and the programs of the host. In the copy no link is followed, and only regular files are
opened. It is put back once all processes of the build are dead, so that no process can change it.
"""

import contextlib
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

import trio

from arena.bots.bot_files import stamp_of_status
from arena.bots.covered import Stamp
from arena.bots.limits import BuildLimits, Limits, size_text
from arena.bots.spec import BotSpec
from arena.errors import ArenaError, UsageError
from arena.processes.trial import Ended, run_to_end
from arena.sandbox import bwrap
from arena.sandbox.bwrap import TOOL_PATH
from arena.sandbox.cgroup import Hierarchy
from arena.sandbox.launch import Launch, disk_fault
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
MOST_FILES = 200_000
MOST_DEPTH = 100
"""The deepest nesting of folders; the trees of node and cargo have some thirty levels."""


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


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder that only the arena's user can read, and remove it afterwards."""
    with disk_faults("no folder for the copy can be made"):
        folder = Path(tempfile.mkdtemp(prefix="arena-build-")).resolve()
    try:
        yield folder
    finally:
        open_up(folder)
        subprocess.run(["rm", "-rf", "--", folder], check=False, capture_output=True, env={"PATH": TOOL_PATH})


def open_up(folder: Path) -> None:
    """Make a build's files and folders readable for their owner. Neither this nor rm follows a link."""
    folders = ("-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";")
    closed = ("-type", "f", "!", "-perm", "-400", "-exec", "chmod", "u+r", "{}", "+")
    line = ["find", str(folder), "(", *folders, ")", "-o", "(", *closed, ")"]
    subprocess.run(line, check=False, capture_output=True, env={"PATH": TOOL_PATH})


@contextlib.contextmanager
def disk_faults(what: str) -> Iterator[None]:
    """Raise errors of the system as `HostError` if the machine's disk is to blame, otherwise as `UsageError`."""
    try:
        yield
    except OSError as error:
        fault: ArenaError = disk_fault(error, printable(what)) or UsageError(printable(f"{what}: {error}"))
        raise fault from None


def _entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths of all files and folders below a folder, each folder before its content.

    Unreadable folders are skipped. Raises `UsageError` if there are too many.
    """
    waiting, number = [""], 0
    while waiting:
        inner = waiting.pop()
        if inner.count("/") > MOST_DEPTH:
            raise UsageError(f"{inner[:60]}...: folders are nested more than {MOST_DEPTH} deep")
        with contextlib.suppress(FileNotFoundError, PermissionError), os.scandir(folder / inner) as listing:
            for entry in listing:
                number += 1
                if number > MOST_FILES:
                    raise UsageError(f"there are more than {MOST_FILES} files")
                with contextlib.suppress(FileNotFoundError):
                    yield inner + entry.name, entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{inner}{entry.name}/")


def size_on_disk(folder: Path) -> int:
    """Return the bytes on disk of a folder's files. Raises `UsageError`."""
    return sum(found.st_blocks * 512 for _, found in _entries(folder))


def stamps(folder: Path) -> dict[str, Stamp]:
    return {path: stamp_of_status(found) for path, found in _entries(folder)}


def copy_folder(source: Path, target: Path, most: int, owner: int | None) -> None:
    """Copy a folder's files and links, of at most `most` bytes, into a new folder that belongs to `owner`.

    FIFOs, sockets and devices are left out. Raises `UsageError` and `OSError`.
    """
    target.mkdir(0o755)
    if owner is not None:
        os.chown(target, owner, owner)
    for path, found in _entries(source):
        copy, mode = target / path, found.st_mode
        if stat.S_ISDIR(mode):
            copy.mkdir(0o755)
        elif stat.S_ISLNK(mode):
            copy.symlink_to(os.readlink(source / path))
        elif stat.S_ISREG(mode):
            most -= found.st_size
            if most < 0:
                raise UsageError("its files are larger than --build-disk allows")
            _copy_file(source / path, copy, found, (mode & 0o777) | 0o600)
        else:
            continue
        if owner is not None:
            os.chown(copy, owner, owner, follow_symlinks=False)


def put_back(
    copy: Path, folder: Path, before: dict[str, Stamp], most: int, link_target: Callable[[str, str], str]
) -> None:
    """Copy the changes of a copy back into the folder that it was made from.

    Files that are new, or differ from `before`, replace what is there; no file is removed. Files are readable for
    everybody, and writable for their owner only. `link_target(path, target)` returns the text of a link, or raises.
    Raises `UsageError` and `OSError`.
    """
    changed = {path: found for path, found in _entries(copy) if before.get(path) != stamp_of_status(found)}
    targets = {
        path: link_target(path, os.readlink(copy / path))
        for path, found in changed.items()
        if stat.S_ISLNK(found.st_mode)
    }
    size = sum(found.st_size for found in changed.values() if stat.S_ISREG(found.st_mode))
    if size > most:
        raise UsageError(f"its new files have {size} bytes; {most} are allowed")
    for path, found in changed.items():
        there, mode = folder / path, found.st_mode
        if stat.S_ISDIR(mode) and not (os.path.lexists(there) and (there.is_symlink() or not there.is_dir())):
            there.mkdir(0o755, exist_ok=True)
        elif stat.S_ISDIR(mode) or os.path.realpath(there.parent) != str(there.parent):
            raise UsageError(f"{path}: the build makes a folder where a file or a link is")
        elif path in targets or stat.S_ISREG(mode):
            draft = there.with_name(f".build-{secrets.token_hex(8)}")
            try:
                if path in targets:
                    draft.symlink_to(targets[path])
                else:
                    _copy_file(copy / path, draft, found, 0o755 if mode & 0o111 else 0o644)
                draft.replace(there)
            except IsADirectoryError:
                raise UsageError(f"{path}: the build makes a file where a folder is") from None
            finally:
                draft.unlink(missing_ok=True)


def _copy_file(source: Path, target: Path, found: os.stat_result, mode: int) -> None:
    shutil.copyfile(source, target, follow_symlinks=False)
    target.chmod(mode)
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
