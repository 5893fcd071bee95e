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
    """What a path leads through: all links on the way in their order, and what is at the end, which is no link.

    `stages` are the whole path as it is at each link, resolved that far, and the end. `left` are the folders that a
    `..` in one of the links has led out of.
    """

    links: tuple[Link, ...]
    end: Path
    stages: tuple[Path, ...]
    left: tuple[Path, ...] = ()

    @property
    def places(self) -> tuple[Path, ...]:
        """Where each link is, and the end: whoever may write one of them decides where the path leads."""
        return (*(link.place for link in self.links), self.end)


def follow(path: Path) -> Trail:
    """Follow an absolute path to its end. Raises `OSError`, as opening it would, if there is none."""
    here, links, stages, left = Path("/"), list[Link](), list[Path](), list[Path]()
    waiting = list(reversed(path.parts[1:]))
    own = len(waiting)  # so many of the names that wait are of the path itself, the others of links
    while waiting:
        name = waiting.pop()
        is_of_a_link = len(waiting) >= own
        own = min(own, len(waiting))
        if name in ("", "."):
            continue
        if name == "..":
            if is_of_a_link:
                left.append(here)
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
    return Trail(tuple(links), here, (*stages, here), tuple(left))


def links_out(folder: Path, names: Iterable[str]) -> Iterator[Link]:
    """Yield those of the files in a folder that are links out of it."""
    root = Path(os.path.realpath(folder))
    for name in names:
        with suppress(OSError, ValueError):
            place = root / name
            if place.is_symlink() and not Path(os.path.realpath(place)).is_relative_to(root):
                yield Link(Path(name), os.readlink(place))


def at_its_folder(path: Path) -> Path:
    """The same path with no link left in the path of its folder. Raises `OSError`."""
    return follow(path.parent).end / path.name
