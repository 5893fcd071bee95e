"""A cache that does not grow for ever: what was used longest ago goes first.

What the workers of this machine play with just now stays, and what was used a moment ago, as it may have been sent for
a run that is being made ready. Whatever else is removed is sent or built again when it is asked for.
"""

import contextlib
import os
import re
import stat
import time
from collections.abc import Collection, Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from arena.bots.sandbox import files
from arena.errors import ArenaError
from arena.league.executor.cluster.cache import Cache
from arena.league.executor.cluster.copies import keys_in_use
from arena.league.executor.cluster.trees import remove

MOST_KEPT = 8 << 30
"""Bytes on the disk that are kept of bots, in use or not. What is in use may be more."""
LONGEST_UNUSED = 30 * 86_400.0
"""Seconds after which a bot is removed that was not played, however little is kept."""
SPARED_SECONDS = 600.0
"""What was used in this time stays."""
EACH_SECONDS = 3600.0
"""So often a machine looks at all that it keeps."""
LOOKED = "looked"
"""A file that says when that was, by its time."""
BLOCK = 512
_KEPT = re.compile(r"(?P<key>[0-9a-f]{64})(-[a-z0-9-]+)?")
_LOCK = re.compile(r"(?P<key>[0-9a-f]{64})\.lock")
_PASSING = re.compile(r"(draft|trial|discarded)-.+")
"""What is there while something is put there or thrown away, or was left by a worker that was killed."""


@dataclass(frozen=True)
class Kept:
    """A pack, or what was built of one: its `name` in the folder, its bytes on the disk, when it was used last."""

    name: str
    key: str
    size: int
    used_at: float


def to_remove(kept: Collection[Kept], in_use: Set[str], now: float, most: int = MOST_KEPT) -> list[Kept]:
    """What is to be removed so that at most so many bytes are kept, as far as that can be; `in_use` are keys of packs.
    A clock that was set back makes nothing old."""
    free = [one for one in kept if one.key not in in_use and now - one.used_at > SPARED_SECONDS]
    free.sort(key=lambda one: (one.used_at, one.name))
    removed = [one for one in free if now - one.used_at > LONGEST_UNUSED]
    left = sum(one.size for one in kept) - sum(one.size for one in removed)
    for one in free[len(removed) :]:
        if left <= most:
            break
        removed.append(one)
        left -= one.size
    return removed


def trim(cache: Cache) -> None:
    """Remove what is not to be kept, if nobody has looked at that for a while."""
    looked = cache.folder / LOOKED
    with contextlib.suppress(OSError):
        if 0 <= time.time() - os.lstat(looked).st_mtime < EACH_SECONDS:
            return
    with contextlib.suppress(OSError):
        remove(looked)
        looked.touch()
        _remove(cache, MOST_KEPT)


def make_room(cache: Cache) -> bool:
    """The disk is full: remove all that is not in use. Returns whether there was anything."""
    try:
        return _remove(cache, 0) > 0
    except OSError:
        return False


def _remove(cache: Cache, most: int) -> int:
    """Returns how many bots have been removed, in bytes. Raises `OSError`."""
    now = time.time()
    in_use = keys_in_use(cache.folder)
    kept = list(_kept(cache.folder))
    removed = to_remove(kept, in_use, now, most)
    for one in removed:
        with contextlib.suppress(ArenaError):
            cache.discard(cache.folder / one.name)
    left = {one.key for one in kept} - {one.key for one in removed}
    for place in cache.folder.iterdir():
        lock = _LOCK.fullmatch(place.name)
        if not (lock or _PASSING.fullmatch(place.name)) or now - _used_at(place) <= SPARED_SECONDS:
            continue
        if lock is None:
            remove(place)
        elif lock["key"] not in left | in_use:
            cache.remove_lock(lock["key"])
    return sum(one.size for one in removed)


def _used_at(place: Path) -> float:
    try:
        return os.lstat(place).st_mtime
    except OSError:  # it has just been removed
        return float("inf")


def _kept(folder: Path) -> Iterator[Kept]:
    for place in folder.iterdir():
        if match := _KEPT.fullmatch(place.name):
            yield Kept(place.name, match["key"], _size(place), _used_at(place))


def _size(place: Path) -> int:
    """Bytes on the disk, as far as they can be seen."""
    size = 0
    with contextlib.suppress(OSError, files.FilesError):
        found = os.lstat(place)
        size += found.st_blocks * BLOCK
        if stat.S_ISDIR(found.st_mode):
            for entry in files.entries(place, passes_over=True):
                size += entry.found.st_blocks * BLOCK
    return size
