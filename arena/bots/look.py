"""What the system says of the files that a bot's digest covers, by which a change shows without reading."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.bots.ignore import NOTHING_IGNORED, Ignored

SETTLED_NS = 2 * 10**9
"""A file that was written to no longer ago may be written to again without its times' showing it: some file systems
count in seconds."""

Parts = tuple[bytes, ...]
"""A path as the names of its folders and its own, from the bot's folder on."""
Stamp = tuple[int, ...]
"""Inode, size, time of the last change of content and of the last change of all, in ns since 1970; for a link to a file
of the folder, the same of that file after it."""


@dataclass(frozen=True)
class Covered:
    """Which files a digest covers, in a folder at a path without links: `only` one, or all but those `ignored`.

    `always` are files of it that count though they are ignored, hidden or in a folder of builds; `never` one that does
    not, because it is built.
    """

    folder: Path
    only: str | None = None
    ignored: Ignored = NOTHING_IGNORED
    always: tuple[Path, ...] = ()
    never: Path | None = None


@dataclass(frozen=True)
class Look:
    """What the system says of the covered files at a time (ns since 1970): it tells without reading that none changed.

    `program` is the stamp of the program that is built, which no digest covers; None where there is none. `made` is the
    SHA-256 of its content, where that was read: a program that is built again may be the same.
    """

    covered: Covered
    stamps: Mapping[Parts, Stamp]
    program: Stamp | None
    at: int
    made: bytes | None = None

    @property
    def is_settled(self) -> bool:
        """Whether a later change of content is sure to show in the stamps."""
        times = (time for stamp in self.stamps.values() for time in (*stamp[2::4], *stamp[3::4]))
        return max(times, default=0) < self.at - SETTLED_NS
