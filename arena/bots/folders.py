"""The folders of bots that are built, and that several arenas may play from at a time: none takes from another what it
plays with.

An arena holds such a folder alone while it builds there, and together with others while it plays: a lock of the system
(flock) on the folder itself, which leaves no file in it and is gone with its process. An arena that finds others
playing builds nothing (`arena.bots.build`). In a sandbox no bot can lock anything. On a file system without such locks
each arena builds as if it were alone.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import trio

from arena.bots.spec import BotSpec
from arena.bots.trial import Run
from arena.errors import ArenaError
from arena.system.printable import printable
from arena.system.user_files import hold_lock, release_lock

try:
    import fcntl
except ImportError:  # Windows, where nothing is built
    fcntl = None  # type: ignore[assignment]

WAIT_SECONDS = 0.1
"""How often it is tried again whether another arena has built. No call can wait for a lock and hear Ctrl-C."""


class BotInUseError(ArenaError):
    """Another arena plays with what a bot's build made, and here it makes something else."""


def in_use(bot: BotSpec, why: str) -> BotInUseError:
    """Return the error for a bot that cannot be built without taking from another arena what that plays with."""
    return BotInUseError(
        f"{printable(str(bot.path))}: another arena plays with what its build has made there; wait for that "
        f"arena, stop it, or play from a copy of the folder: {why}"
    )


class BotFolders:
    """The folders that one arena plays from, until the end of the `with` statement."""

    def __init__(self) -> None:
        self._locks: dict[Path, int] = {}

    def __enter__(self) -> "BotFolders":
        return self

    def __exit__(self, *_: object) -> None:
        for folder in list(self._locks):
            self._give_up(folder)

    @contextlib.contextmanager
    def building(self, bot: BotSpec, say: Callable[[str], None], run: Run) -> Iterator[bool]:
        """Hold a bot's folder for its build and from then on; whether nobody else does, so that it may be changed.

        While another arena builds there, it is waited for. Where the build fails, the folder is given up.
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
        """Hold the folders of these bots, as far as they have a build, for playing with what is there."""
        for bot in bots:
            if bot.build is None or bot.fault is not None or bot.folder in self._locks:
                continue
            lock = self._opened(bot.folder)
            if lock is not None:
                _hold(lock, (fcntl.LOCK_SH,), bot, say, run)

    def _opened(self, folder: Path) -> int | None:
        """Return a descriptor of a folder that is not held yet; None where it cannot be opened."""
        if fcntl is None:
            return None
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None  # whatever is wrong with it, whoever reads it tells
        hold_lock(lock)
        self._locks[folder] = lock
        return lock

    def _give_up(self, folder: Path) -> None:
        lock = self._locks.pop(folder, None)
        if lock is not None:
            release_lock(lock)


def _hold(lock: int, ways: Sequence[int], bot: BotSpec, say: Callable[[str], None], run: Run) -> int:
    """Hold a folder in the first of these ways that can be, and say which; wait while somebody else has it alone."""
    held = _locked(lock, ways)
    if held is None:
        say(f"{printable(bot.name)}: waiting for another arena, which builds it")
        held = run(_wait_to_hold, lock, ways)
    return held


async def _wait_to_hold(lock: int, ways: Sequence[int]) -> int:
    while True:
        await trio.sleep(WAIT_SECONDS)
        held = _locked(lock, ways)
        if held is not None:
            return held


def _locked(lock: int, ways: Sequence[int]) -> int | None:
    """Lock it in the first of these ways that can be now; where nothing can be locked, each can."""
    for how in ways:
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        except OSError:
            return how
        return how
    return None
