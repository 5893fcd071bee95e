"""What one worker plays with in one run: a copy of each bot's files, made anew when the run begins and removed at its
end, so that nothing that is written there lasts.

    play-SLOT/KEY-NUMBER/bot/NAME   a bot's file or folder
    play-SLOT/keys                  the keys of all that is there, each in a line
    play-SLOT.lock                  held for as long as that is used

The slot is the first that no other worker of the machine has: so a bot has the same path in each run, which what it is
built to may have in it.

At the default level of the sandbox bots can write there, to their own files and to those of others. What the system
says of the files (`arena.bots.look`) shows it, without reading: it is compared after each batch of games, before the
records go out, so that nothing counts that was played with other files. More strictly than between the games of one
machine: a file whose content has been put back counts as changed, and so does a folder that was moved away and back.
"""

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.bots import BotSpec
from arena.bots.bot_files import look_at
from arena.bots.changed import compare, named
from arena.bots.look import Look, Parts
from arena.errors import ArenaError, UsageError
from arena.hostfile import NotAFileError, open_regular
from arena.league.executor.cluster.cache import Cache, unkept
from arena.league.executor.cluster.trees import remove
from arena.printable import printable

PREFIX, LOCK, KEYS = "play-", ".lock", "keys"
SHORT = 16
"""Characters of a key in the name of a folder."""
MOVED = "it, or a folder that it is in, has been moved or written to"
Stamps = tuple[tuple[int, ...], ...]


class Copies:
    """The folder of one worker's copies. Use it in a `with` statement."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._slot = -1
        self._numbers: Counter[str] = Counter()
        self._lock: int | None = None

    @property
    def _folder(self) -> Path:
        return self._cache.folder / f"{PREFIX}{self._slot}"

    def __enter__(self) -> "Copies":
        """Raises `ArenaError`."""
        self._cache.make()
        try:
            while self._lock is None:
                self._slot += 1
                self._lock = _locked(self._folder.with_suffix(LOCK))
            remove(self._folder)
            self._folder.mkdir(0o755)
            _remove_stale(self._cache.folder)
        except OSError as error:
            self.__exit__()
            raise self._cannot_unpack(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            remove(self._folder)
            os.close(self._lock)
            self._lock = None

    def new_place(self, key: str) -> Path:
        """An empty folder for a bot whose pack has this key. Raises `ArenaError`."""
        self._numbers[key] += 1
        place = self._folder / f"{key[:SHORT]}-{self._numbers[key]}" / "bot"
        try:
            place.mkdir(0o755, parents=True)
            with (self._folder / KEYS).open("a") as file:
                file.write(f"{key}\n")
        except OSError as error:
            raise self._cannot_unpack(error) from None
        return place

    def where(self, place: Path) -> str:
        """What tells this place from all others where a pack of its key is unpacked on this machine."""
        return f"{self._slot}-{place.parent.name.rpartition('-')[2]}"

    def clear(self, place: Path) -> None:
        """Have a folder of `new_place` be empty. Raises `ArenaError`."""
        remove(place)
        try:
            place.mkdir(0o755)
        except OSError as error:
            raise self._cannot_unpack(error) from None

    def _cannot_unpack(self, error: OSError) -> ArenaError:
        return unkept(error, f"bots cannot be unpacked in {self._cache.folder}")


def keys_in_use(folder: Path) -> set[str]:
    """The keys of the packs of whatever workers of this machine play with just now, whose cache is in this folder."""
    keys: set[str] = set()
    for lock in folder.glob(f"{PREFIX}*{LOCK}"):
        with contextlib.suppress(OSError, NotAFileError):
            descriptor = _locked(lock)
            if descriptor is not None:
                os.close(descriptor)
                continue
            with open(open_regular(lock.with_suffix("") / KEYS), "rb") as file:
                keys.update(file.read().decode("ascii", "replace").split())
    return keys


def _remove_stale(folder: Path) -> None:
    """Remove what workers have left that were killed: nobody holds the lock of that any more."""
    for lock in folder.glob(f"{PREFIX}*{LOCK}"):
        descriptor = _locked(lock)
        if descriptor is not None:
            remove(lock.with_suffix(""))
            os.close(descriptor)


def _locked(path: Path) -> int | None:
    """The descriptor of a file that nobody else holds the lock of; None if somebody does. Raises `OSError`."""
    if path.is_symlink() or path.is_dir():  # which nobody has put there but a bot
        remove(path)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


@dataclass(frozen=True)
class Seen:
    """What has become of a copy: in words how it has `changed`, if it has, and files that have come, by name."""

    changed: str = ""
    new: Mapping[str, str] | None = None


class WatchedCopy:
    """A bot's copy, as it was when this was made: `bot` is loaded from it, under the digest of its own files."""

    def __init__(self, bot: BotSpec) -> None:
        """Raises `UsageError` if it is not there any more."""
        assert bot.look is not None
        self.bot = bot
        self._look = bot.look
        self._told: set[Parts] = set()
        """The new files that have been told of."""
        covered = bot.look.covered
        # A bot may write into the folder in which it runs, and nobody into those above: a folder that is moved away
        # and back changes none of its files, but the folder that it is in.
        above = covered.folder.parents
        self._above = (above[0],) if covered.only is not None else (above[0], above[1])
        self._stamps = self._stamps_now()

    def _stamps_now(self) -> Stamps:
        try:
            found = [os.lstat(folder) for folder in self._above]
        except OSError as error:
            raise UsageError(f"{printable(str(error.filename))}: {error.strerror}") from None
        return tuple((one.st_dev, one.st_ino, one.st_mtime_ns, one.st_ctime_ns) for one in found)

    def look(self) -> Seen:
        """What has become of it, since this was asked before if it is about new files."""
        try:
            seen = look_at(self._look.covered)
            if self._stamps_now() != self._stamps:
                return Seen(MOVED)
        except UsageError as error:
            return Seen(str(error))
        if words := self._changed(seen):
            return Seen(words)
        if not self._look.is_settled:  # the stamps alone do not tell yet
            self._look, change = compare(self.bot, self._look)
            if change is not None and not change.is_only_new:
                return Seen(change.fault or named(change.files))
        new = [parts for parts in seen.stamps if parts not in self._look.stamps and parts not in self._told]
        self._told.update(new)
        return Seen(new=dict.fromkeys(map(_shown, new), "new")) if new else Seen()

    def _changed(self, seen: Look) -> str:
        known = self._look
        changed = {_shown(parts): "gone" for parts in known.stamps if parts not in seen.stamps}
        changed |= {
            _shown(parts): "changed" for parts, stamp in seen.stamps.items() if known.stamps.get(parts, stamp) != stamp
        }
        if seen.program != known.program and known.covered.never is not None:
            program = os.path.relpath(known.covered.never, known.covered.folder)
            changed[printable(program)] = "changed" if seen.program else "gone"
        return named(changed) if changed else ""


def _shown(parts: Parts) -> str:
    return printable(os.fsdecode(b"/".join(parts)), 100)
