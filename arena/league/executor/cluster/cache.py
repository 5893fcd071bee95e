"""What a machine has been sent, and what it has built of it. Several workers share it; no bot is played from it.

    KEY                 a pack, as it was sent (`arena.league.executor.cluster.packing`)
    KEY-WAY/bot/NAME    of a bot with a build, its folder as it was built in one way, such as in a sandbox
    KEY-WAY/digest      the digest of that, with all that was made
    KEY.lock            one at a time builds

The time of what is kept says when it was used last (`arena.league.executor.cluster.trimming`).

Each worker plays with copies of its own (`arena.league.executor.cluster.copies`). What is taken from here is compared
with its digest first; what is not as it was put here is thrown away, and is sent or built again.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.bots.sandbox import files
from arena.errors import ArenaError
from arena.hostfile import NotAFileError, is_at, open_regular
from arena.league.executor.cluster.messages import CarriedBot
from arena.league.executor.cluster.packing import MOST_BYTES, PackError, key_of, unpack
from arena.league.executor.cluster.trees import remove, tree_digest
from arena.printable import printable

VARIABLE = "ARENA_CLUSTER_CACHE"
"""The variable of the environment that says where bots are kept."""
TREE, DIGEST = "bot", "digest"
NOT_AS_SENT = "a bot's files did not arrive as they were sent"
MOST_PACK_BYTES = 2 * MOST_BYTES
"""More than any pack has: names come on top of what the files hold."""
OF_THE_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EFBIG}
)
"""What the system says when it is the machine that cannot keep more, and no file is to blame."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SENT_HERE = secrets.token_hex(8)
"""What the names of packs begin with that are just being sent to this process."""
_KEY = re.compile(r"[0-9a-f]{64}")


class SpoiltError(Exception):
    """What was kept is not as it was put there; the text says how. It has been thrown away."""


class FullError(ArenaError):
    """The disk has no room for what is to be kept."""


def unkept(error: OSError, words: str) -> ArenaError:
    """What is raised where the system does not take what is to be kept; `words` say what that is, and where."""
    return (FullError if error.errno in FULL else ArenaError)(f"{words}: {error.strerror}")


def cache_folder() -> Path:
    """Where this machine keeps the bots that it is sent."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(os.path.abspath(named))
    caches = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(caches) if os.path.isabs(caches) else Path(os.path.expanduser("~"), ".cache")
    return folder / "stratego-arena" / "bots"


class Cache:
    """The bots of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self) -> None:
        """Have the folder be there, and such that files can be put into it. Raises `ArenaError`."""
        trial = self.folder / f"trial-{secrets.token_hex(8)}"
        try:
            self.folder.mkdir(0o755, parents=True, exist_ok=True)
            trial.touch()
            trial.unlink()
        except OSError as error:
            raise self._cannot_keep(error) from None

    # --- packs --------------------------------------------------------------------------------------------------------

    def missing(self, bots: Sequence[CarriedBot]) -> tuple[str, ...]:
        """The keys of the packs that are not here."""
        keys = dict.fromkeys(bot.key for bot in bots if bot.key)
        return tuple(key for key in keys if not os.path.lexists(self._of(key)))

    def put(self, key: str, part: bytes, at: int = 0, size: int | None = None) -> None:
        """Keep a pack of so many bytes, which comes in parts: this one begins at this place, and all before it have
        been put here by this process. Without a size it is all of it. Raises `ArenaError`, with nothing kept."""
        place = self._of(key)
        self.make()
        draft = self.folder / f"draft-{_SENT_HERE}-{key}"
        try:
            if not at:
                self._need_room(size or len(part))
            if _written(draft, part, at, size, key):
                draft.replace(place)
        except OSError as error:
            remove(draft)
            raise self._cannot_keep(error) from None
        except ArenaError:
            remove(draft)
            raise

    def _need_room(self, size: int) -> None:
        """Raise `OSError` if the disk has less."""
        system = os.statvfs(self.folder)
        if system.f_bavail * system.f_frsize < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def unpack(self, key: str, folder: Path) -> None:
        """Put the files of a pack into an empty folder. Raises `SpoiltError` and `ArenaError`."""
        place = self._of(key)
        try:
            with open(open_regular(place), "rb") as file:
                pack = file.read(MOST_PACK_BYTES)
        except (NotAFileError, OSError) as error:
            self._discard_or_raise(place, error)
            raise SpoiltError(f"its files in the cache could not be read: {error.strerror}") from None
        if key_of(pack) != key:
            self.discard(place)
            raise SpoiltError("its files in the cache had been changed")
        _note_used(place)
        try:
            unpack(pack, folder)
        except PackError as error:
            raise ArenaError(f"a bot's files cannot be unpacked: {error}") from None
        except OSError as error:
            raise self._cannot_keep(error) from None

    # --- what has been built ------------------------------------------------------------------------------------------

    def has_built(self, key: str, way: str) -> bool:
        """Whether there is a folder that was built of a pack in this way."""
        return os.path.lexists(self._of(key, way))

    def take_built(self, key: str, way: str, folder: Path, most: int) -> str:
        """Copy a folder that was built into an empty one; returns the `tree_digest` that it is to have.

        Raises `SpoiltError` and `ArenaError`.
        """
        place = self._of(key, way)
        try:
            _refuse_link(place)
            with open(open_regular(place / DIGEST), "rb") as file:
                digest = file.read(len(hashlib.sha256().hexdigest())).decode("ascii", "replace")
            files.copy_folder(place / TREE, folder, most, None)
            _note_used(place)
        except (files.FilesError, NotAFileError, OSError) as error:
            if isinstance(error, OSError):
                self._discard_or_raise(place, error)
            self.discard_built(key, way)
            raise SpoiltError(f"what had been built of it cannot be used: {error}") from None
        return digest

    def discard_built(self, key: str, way: str) -> None:
        """Throw away what was built. Raises `ArenaError`."""
        self.discard(self._of(key, way))

    def keep_built(self, key: str, way: str, folder: Path, most: int) -> None:
        """Keep a folder with what was built of a pack in this way. Raises `ArenaError`, with nothing kept."""
        draft = self.folder / f"draft-{secrets.token_hex(8)}"
        try:
            (draft / TREE).mkdir(0o755, parents=True)
            files.copy_folder(folder, draft / TREE, most, None)
            (draft / DIGEST).write_text(tree_digest(draft / TREE))
            self.discard_built(key, way)
            draft.rename(self._of(key, way))
        except files.FilesError:
            pass  # it is more than is kept: it is built again the next time
        except OSError as error:
            raise self._cannot_keep(error) from None
        finally:
            remove(draft)

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """One at a time builds a bot on this machine. Raises `ArenaError`."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = self._lock_of(key)
        while True:
            try:
                descriptor = os.open(lock, flags, 0o644)
            except OSError as error:
                raise self._cannot_keep(error) from None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if not is_at(lock, descriptor, follow_symlinks=False):  # it was removed before we had it
                    continue
                yield
                return
            finally:
                os.close(descriptor)

    def remove_lock(self, key: str) -> None:
        """Remove the lock of a bot that is not here any more, unless it is being built."""
        lock = self._lock_of(key)
        with contextlib.suppress(OSError):
            descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if is_at(lock, descriptor, follow_symlinks=False):
                    lock.unlink()
            finally:
                os.close(descriptor)

    def _lock_of(self, key: str) -> Path:
        return self.folder / f"{self._of(key).name}.lock"

    # --- throwing away ------------------------------------------------------------------------------------------------

    def discard(self, place: Path) -> None:
        """Throw away what is at a place in the folder, and nothing that it leads to. Raises `ArenaError`."""
        aside = self.folder / f"discarded-{secrets.token_hex(8)}"
        try:
            place.rename(aside)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ArenaError(
                f"{printable(str(place))} was changed, and cannot be thrown away: {error.strerror}"
            ) from None
        remove(aside)

    def _discard_or_raise(self, place: Path, error: OSError) -> None:
        """After an error: if it says something of what is at the place, throw that away."""
        if error.errno in OF_THE_MACHINE:
            raise self._cannot_keep(error) from None
        self.discard(place)

    def _cannot_keep(self, error: OSError) -> ArenaError:
        return unkept(error, f"a bot's files cannot be kept in {printable(str(self.folder))}")

    def _of(self, key: str, way: str = "") -> Path:
        if not _KEY.fullmatch(key):
            raise ArenaError(f"expected the key of a pack, got {printable(key, 80)!r}")
        return self.folder / (f"{key}-{way}" if way else key)


def _written(draft: Path, part: bytes, at: int, size: int | None, key: str) -> bool:
    """Write a part of a pack to its place in a file; returns whether it was the last one. Raises `OSError`, and
    `ArenaError` if that is not what was sent."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | (0 if at else os.O_CREAT | os.O_TRUNC)
    try:
        descriptor = os.open(draft, flags, 0o644)
    except FileNotFoundError:  # the part before this one has not come
        raise ArenaError(NOT_AS_SENT) from None
    with open(descriptor, "r+b") as file:
        if file.seek(0, os.SEEK_END) != at:
            raise ArenaError(NOT_AS_SENT)
        file.write(part)
        if size is not None and file.tell() < size:
            return False
        file.seek(0)
        if hashlib.file_digest(file, hashlib.sha256).hexdigest() != key:
            raise ArenaError(NOT_AS_SENT)
    return True


def _note_used(place: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(place, follow_symlinks=False)


def _refuse_link(place: Path) -> None:
    if stat.S_ISLNK(os.lstat(place).st_mode):
        raise files.FilesError("a link had taken its place")
