"""What a bot sees of the machine's files in bubblewrap's sandbox, as options for it."""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from arena.bots.limits import MIB
from arena.bots.links import Link
from arena.bots.sandbox.programs import SYSTEM, is_within

SHARED_MEMORY = MIB
"""Bytes of /dev/shm: room for the semaphores of Python's multiprocessing."""
ETC = (
    "alternatives",
    "crypto-policies",
    "java*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
)
"""What is shown of /etc: where links lead on into the system, and what programs do not start without."""
NETWORK_ETC = (
    "ca-certificates",
    "gai.conf",
    "hosts",
    "nsswitch.conf",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
)
"""What is shown of /etc as well to a build that may use the network."""
OPEN_PROC = ("/proc/sys", "/proc/pressure")
"""Where the kernel lets ordinary users write, or those of a user namespace, and what holds for more than a process."""


@lru_cache
def system_options() -> tuple[str, ...]:
    """The options that show the system, with the folders that the kernel makes up.

    Process 1, bwrap's own, is hidden: an ordinary user's bot could read what bwrap was started with, and write to its
    memory, which no limit holds.
    """
    line: list[str] = []
    for folder in SYSTEM:
        if folder.is_symlink():
            line += ["--symlink", os.readlink(folder), str(folder)]
        elif folder.is_dir():
            line += ["--ro-bind", str(folder), str(folder)]
    line += ["--perms", "0755", "--dir", "/etc"]
    for path in _etc():
        line += ["--ro-bind-try", str(path), str(path)]
    line += ["--proc", "/proc"]
    for part in OPEN_PROC:
        line += ["--ro-bind-try", part, part]
    line += ["--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    line += ["--ro-bind-try", "/dev/null", "/proc/locks"]  # those of the whole machine
    line += ["--dev", "/dev", "--remount-ro", "/dev/pts"]  # which also keeps bots from making terminals
    return (*line, "--perms", "1777", "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm")


@lru_cache
def _etc() -> tuple[Path, ...]:
    """What is shown of /etc here."""
    return tuple(path for pattern in ETC for path in sorted(Path("/etc").glob(pattern)))


def network_options() -> list[str]:
    """The options that show what programs read to use the network."""
    paths = [str(path) for pattern in NETWORK_ETC for path in sorted(Path("/etc").glob(pattern))]
    return [word for path in paths for word in ("--ro-bind-try", path, path)]


def shown_options(folders: Sequence[Path], links: Sequence[Link]) -> list[str]:
    """The options that show what lies outside the system, in folders that the bot may go through."""
    line: list[str] = []
    made, shown = {Path("/"), Path("/tmp"), Path("/etc")}, list(SYSTEM)

    def make_way(to: Path) -> None:
        for parent in reversed(to.parents):
            if parent not in made:
                made.add(parent)
                line.extend(["--perms", "0755", "--dir", str(parent)])

    for folder in folders:
        if not is_within(folder, tuple(shown)):
            make_way(folder)
            line += ["--ro-bind", str(folder), str(folder)]
            shown.append(folder)
    shown += _etc()
    for link in links:
        if not is_within(link.place, tuple(shown)):
            make_way(link.place)
            line += ["--symlink", link.target, str(link.place)]
    return line
