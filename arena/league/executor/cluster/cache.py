"""The bots that a machine has been sent: one folder for each pack, by its key, there whole or not at all.

    KEY/sent/NAME      the files as they were sent
    KEY/LEVEL/NAME     of a bot with a build, a copy that was built at this level of the sandbox
    KEY/LEVEL/built    there once that has been done

Several workers of a machine share it. What is in it is compared with its digest each time a run begins, so that files
that have changed are another bot's, and refused.
"""

import contextlib
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from arena.bots import BotSpec, load_bot
from arena.bots.asked import AskedBot
from arena.bots.build import build_all
from arena.bots.build_checks import BuildLimits
from arena.bots.loading import made_to_speak
from arena.bots.run import Run
from arena.bots.sandbox import files
from arena.bots.sandbox.levels import Level
from arena.bots.sandbox.programs import HostPrograms
from arena.errors import ArenaError, UsageError
from arena.league.executor.cluster.messages import CarriedBot
from arena.league.executor.cluster.packing import MOST_BYTES, PackError, key_of, unpack
from arena.league.executor.wire import packed, unpacked
from arena.printable import printable

VARIABLE = "ARENA_CLUSTER_CACHE"
"""The variable of the environment that says where bots are kept."""
SENT, BUILT = "sent", "built"
_KEY = re.compile(r"[0-9a-f]{64}")


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
        self._folder = folder

    def missing(self, bots: Sequence[CarriedBot]) -> tuple[str, ...]:
        """The keys of the packs that are not here."""
        keys = dict.fromkeys(bot.key for bot in bots if bot.key)
        return tuple(key for key in keys if not (self._of(key) / SENT).is_dir())

    def put(self, key: str, pack: bytes) -> None:
        """Keep a pack. Raises `ArenaError`, with nothing kept."""
        if key_of(pack) != key:
            raise ArenaError("a bot's files did not arrive as they were sent")
        home = self._of(key)
        if (home / SENT).is_dir():
            return
        draft = home / f"draft-{secrets.token_hex(8)}"
        try:
            draft.mkdir(0o755, parents=True)
            unpack(pack, draft)
            with contextlib.suppress(FileExistsError):
                draft.rename(home / SENT)
        except PackError as error:
            raise ArenaError(f"a bot's files cannot be unpacked: {error}") from None
        except OSError as error:
            if not (home / SENT).is_dir():  # else another worker of this machine was quicker
                raise ArenaError(f"a bot's files cannot be kept in {self._folder}: {error.strerror}") from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def find(self, bot: CarriedBot) -> BotSpec:
        """A bot that is here, as it was sent. Raises `UsageError` if its files are not those that it was sent with."""
        if not bot.key:
            return bot.bot.bot()
        return _loaded(self._of(bot.key) / SENT / os.fsdecode(bot.file), bot)

    def built(
        self,
        bot: CarriedBot,
        sent: BotSpec,
        level: Level,
        limits: BuildLimits,
        *,
        host: HostPrograms,
        say: Callable[[str], None],
        run: Run,
    ) -> BotSpec:
        """A bot that is to be built, `sent` as it was found, built at this level; at most once on a machine. Raises
        `UsageError` if it cannot be built, or is another one then, and `HostError`."""
        home = self._of(bot.key)
        folder = home / level.value
        copy = folder / sent.folder.name
        with _locked(home):
            if not (folder / BUILT).exists():
                shutil.rmtree(folder, ignore_errors=True)
                try:
                    copy.mkdir(0o755, parents=True)
                    files.copy_folder(sent.folder, copy, MOST_BYTES, None)
                except (OSError, files.FilesError) as error:
                    raise UsageError(f"{sent.name} cannot be copied to be built: {error}") from None
                (done,) = build_all([_loaded(copy, bot)], level, limits, host, say, run=run)
                if done.fault is not None:
                    raise UsageError(done.fault)
                (folder / BUILT).touch()
            return _loaded(copy, bot)

    def _of(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ArenaError(f"expected the key of a pack, got {printable(key, 80)!r}")
        return self._folder / key


def _loaded(path: Path, bot: CarriedBot) -> BotSpec:
    """The bot at a path, under the name that it takes part with. Raises `UsageError` if it is not the one meant."""
    arguments = tuple(map(unpacked, bot.arguments))
    found = load_bot(path, AskedBot(str(path), arguments=arguments) if arguments else None)
    meant = bot.bot
    if bot.is_made_to_speak:
        found = made_to_speak(found, meant.dialect)
    if packed(found.digest) != meant.digest:
        raise UsageError(
            f"{unpacked(meant.name)}: its files are not those that it was sent with, or its build makes other ones "
            f"here: expected the digest {unpacked(meant.digest)[:16]}, got {found.digest[:16]} in {path}"
        )
    return replace(found, name=unpacked(meant.name), entered_as=unpacked(meant.entered_as), language=meant.language)


@contextlib.contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One at a time builds a bot on this machine."""
    descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
