"""Following paths that strangers may have written, without doing anything to what is at their end.

A path is followed as the kernel follows it, link by link, so that it can be said of each place on the way who owns it.
Nothing is opened on the way; `arena.system.user_files.open_regular` opens what is at the end.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST_LINKS = 40
"""As many links as Linux follows in one path."""


@dataclass(frozen=True)
class Link:
    """A symbolic link: where it is, with no link left in the path of its folder, and the text that it holds."""

    place: Path
    target: str


@dataclass(frozen=True)
class Trail:
    """The way that a path leads: all links in their order, and what is at the end, which is no link.

    `stages` are the whole path as it is at each link, resolved that far, and the end.
    """

    links: tuple[Link, ...]
    end: Path
    stages: tuple[Path, ...]

    @property
    def places(self) -> tuple[Path, ...]:
        """Where each link is, and the end."""
        return (*(link.place for link in self.links), self.end)


def follow(path: Path) -> Trail:
    """Follow an absolute path to its end. Raises `OSError`, as opening it would, if there is none."""
    here, links, stages = Path("/"), list[Link](), list[Path]()
    waiting = list(reversed(path.parts[1:]))
    while waiting:
        name = waiting.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = here.parent
            continue
        place = here / name
        try:
            target = os.readlink(place)
        except OSError as error:
            if error.errno != errno.EINVAL:  # which it is for all that is there and no link
                raise
            here = place
            continue
        links.append(Link(place, target))
        stages.append(Path(place, *reversed(waiting)))
        if len(links) > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        if target.startswith("/"):
            here = Path("/")
        waiting += reversed(target.split("/"))
    return Trail(tuple(links), here, (*stages, here))


def links_out(folder: Path, names: Iterable[str]) -> Iterator[Link]:
    """Yield those of the files in a folder that are links out of it."""
    root = Path(os.path.realpath(folder))
    for name in names:
        with suppress(OSError, ValueError):
            place = root / name
            if place.is_symlink() and not Path(os.path.realpath(place)).is_relative_to(root):
                yield Link(Path(name), os.readlink(place))


def at_its_folder(path: Path) -> Path:
    """Return the same path with no link left in the path of its folder. Raises `OSError`."""
    return Path(os.path.realpath(path.parent, strict=True), path.name)
