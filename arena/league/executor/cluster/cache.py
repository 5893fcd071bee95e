"""What a machine has been sent, and what it has built of it. Several workers share it; no bot is played from it.

    KEY                 a pack, as it was sent (`arena.league.executor.cluster.packing`)
    KEY-WAY/bot/NAME    of a bot with a build, its folder as it was built in one way, such as in a sandbox
    KEY-WAY/digest      the digest of that, with all that was made
    KEY.lock            one at a time builds

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
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.bots.sandbox import files
from arena.errors import ArenaError
from arena.hostfile import NotAFileError, open_regular
from arena.league.executor.cluster.messages import CarriedBot
from arena.league.executor.cluster.packing import MOST_BYTES, PackError, key_of, unpack
from arena.printable import printable

VARIABLE = "ARENA_CLUSTER_CACHE"
"""The variable of the environment that says where bots are kept."""
TREE, DIGEST = "bot", "digest"
MOST_PACK_BYTES = 2 * MOST_BYTES
"""More than any pack has: names come on top of what the files hold."""
OF_THE_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EFBIG}
)
"""What the system says when it is the machine that cannot keep more, and no file is to blame."""
_KEY = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


class SpoiltError(Exception):
    """What was kept is not as it was put there; the text says how. It has been thrown away."""


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

    def put(self, key: str, pack: bytes) -> None:
        """Keep a pack. Raises `ArenaError`, with nothing kept."""
        place = self._of(key)
        if key_of(pack) != key:
            raise ArenaError("a bot's files did not arrive as they were sent")
        self.make()
        draft = self.folder / f"draft-{secrets.token_hex(8)}"
        try:
            draft.write_bytes(pack)
            draft.replace(place)
        except OSError as error:
            raise self._cannot_keep(error) from None
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)

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
        try:
            descriptor = os.open(self.folder / f"{self._of(key).name}.lock", flags, 0o644)
        except OSError as error:
            raise self._cannot_keep(error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

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
        return ArenaError(f"a bot's files cannot be kept in {printable(str(self.folder))}: {error.strerror}")

    def _of(self, key: str, way: str = "") -> Path:
        if not _KEY.fullmatch(key):
            raise ArenaError(f"expected the key of a pack, got {printable(key, 80)!r}")
        return self.folder / (f"{key}-{way}" if way else key)


def _refuse_link(place: Path) -> None:
    if stat.S_ISLNK(os.lstat(place).st_mode):
        raise files.FilesError("a link had taken its place")


def tree_digest(folder: Path) -> str:
    """The SHA-256 of all that is in a folder: names, contents, texts of links, and what can be run. No link is
    followed. Raises `FilesError` and `OSError`."""
    whole = hashlib.sha256()
    for entry in files.entries(folder):
        mode = entry.found.st_mode
        content = b""
        if stat.S_ISLNK(mode):
            content = os.fsencode(os.readlink(entry.name, dir_fd=entry.folder))
        elif stat.S_ISREG(mode):
            content = _content(entry)
        kind = b"%o %d" % (stat.S_IFMT(mode), bool(mode & 0o100) and stat.S_ISREG(mode))
        name = os.fsencode(entry.path)
        whole.update(b"%s %d %s %d %s\n" % (kind, len(name), name, len(content), content))
    return whole.hexdigest()


def _content(entry: files.Entry) -> bytes:
    content = hashlib.sha256()
    with open(open_regular(entry.name, entry.folder), "rb") as file:
        while data := file.read(_CHUNK):
            content.update(data)
    return content.digest()


def remove(place: Path) -> None:
    """Remove a folder, a file or a link, as far as that can be done. No link is followed."""
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            place.unlink()
            return
        _open_up(place)
        for folder, names, _ in os.walk(place):  # from the top on: what is closed can be opened by its owner
            for name in names:
                _open_up(Path(folder, name))
        shutil.rmtree(place, ignore_errors=True)


def _open_up(folder: Path) -> None:
    with contextlib.suppress(OSError):
        mode = os.lstat(folder).st_mode
        if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
            folder.chmod(0o700)
