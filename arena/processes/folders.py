"""Locks on the folders of built bots, so that several arenas can play from one folder at the same time.

An arena holds a folder exclusively while it builds there, and shared while it plays: a flock on the folder itself,
which leaves no file and ends with the process. An arena that finds others playing does not build. No bot can lock in a
sandbox. On a file system without locks each arena builds as if it were alone.
"""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import trio

from arena.bots.spec import BotSpec
from arena.errors import ArenaError
from arena.system.concurrency import Run
from arena.system.printable import printable
from arena.system.user_files import hold_lock, release_lock

WAIT_SECONDS = 0.1
"""Seconds between attempts to get a lock: a blocking call could not be cancelled by Ctrl-C."""


class BotInUseError(ArenaError):
    """Another arena plays with a bot's built program, which this one would change."""


def in_use(bot: BotSpec, why: str) -> BotInUseError:
    return BotInUseError(
        f"{printable(str(bot.path))}: another arena plays with what its build has made there; wait for that "
        f"arena, stop it, or play from a copy of the folder: {why}"
    )


class BotFolders:
    """The locked folders that one arena plays from, until the end of the `with` statement."""

    def __init__(self) -> None:
        self._locks: dict[Path, int] = {}

    def __enter__(self) -> "BotFolders":
        return self

    def __exit__(self, *_: object) -> None:
        for folder in list(self._locks):
            self._give_up(folder)

    @contextlib.contextmanager
    def building(self, bot: BotSpec, say: Callable[[str], None], run: Run) -> Iterator[bool]:
        """Hold a bot's folder for its build and from then on; yield whether it may be changed: no other arena holds it.

        Waits while another arena builds there. If the build fails, the folder is released.
        """
        if bot.folder in self._locks:
            yield False  # this arena plays from it already
            return
        lock = self._opened(bot.folder)
        try:
            is_alone = lock is None or _hold(lock, (fcntl.LOCK_EX, fcntl.LOCK_SH), bot, say, run) == fcntl.LOCK_EX
            yield is_alone
            if lock is not None and is_alone:
                _hold(lock, (fcntl.LOCK_SH,), bot, say, run)
        except BaseException:
            self._give_up(bot.folder)
            raise

    def play_from(self, bots: Iterable[BotSpec], say: Callable[[str], None], run: Run) -> None:
        """Hold the folders of the bots that have a build, for playing."""
        for bot in bots:
            if bot.build is None or bot.fault is not None or bot.folder in self._locks:
                continue
            lock = self._opened(bot.folder)
            if lock is not None:
                _hold(lock, (fcntl.LOCK_SH,), bot, say, run)

    def _opened(self, folder: Path) -> int | None:
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None  # its reader reports what is wrong
        hold_lock(lock)
        self._locks[folder] = lock
        return lock

    def _give_up(self, folder: Path) -> None:
        lock = self._locks.pop(folder, None)
        if lock is not None:
            release_lock(lock)


def _hold(lock: int, ways: Sequence[int], bot: BotSpec, say: Callable[[str], None], run: Run) -> int:
    """Lock a folder in the first of these modes that is possible, and return the mode; may wait for other arenas."""
    held = _locked(lock, ways)
    if held is None:
        say(f"{printable(bot.name)}: waiting for another arena, which builds it")
    while held is None:
        run(trio.sleep, WAIT_SECONDS)
        held = _locked(lock, ways)
    return held


def _locked(lock: int, ways: Sequence[int]) -> int | None:
    for how in ways:
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        except OSError:
            return how
        return how
    return None
