"""The copy of a bot's folder in which a sandboxed build works, and what is put back from it.

No link is followed, and only regular files are opened. The copy is put back once all processes of the build are dead,
so that no process can change it.
"""

import contextlib
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from arena.bots.bot_files import stamp_of_status
from arena.bots.covered import Stamp
from arena.errors import ArenaError, UsageError
from arena.sandbox.bwrap import TOOL_PATH
from arena.sandbox.launch import disk_fault
from arena.system.printable import printable

MOST_FILES = 200_000
MOST_DEPTH = 100
"""The deepest nesting of folders; the trees of node and cargo have some thirty levels."""


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
