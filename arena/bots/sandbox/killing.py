"""The one place that kills: all that belongs to a bot, however it runs.

It is done in passes (`kill_tree`), because its processes may start others meanwhile: a program that forks, detaches and
exits for ever is not where the last pass has found it. Passes follow one another without a pause for half a millisecond
at a time, which leaves such a program little room, and reap as they go, so that they stay quick; that nearly always
takes some milliseconds. If it does not, the dead are left as they are: each keeps its place in the user's quota of
processes, until the program has no room to go to (the superuser has no quota; there only the first way is open).

It is over when two passes in a row have found nothing alive and the same dead, and only then are the rest reaped. One
pass is enough where it cannot have missed anything: the bot's first process was dead before, so that all below it has
come to the arena, and the arena has no children but bots. That is how nearly all bots end.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator

import trio

from arena.bots.sandbox import reaper
from arena.bots.sandbox.child import exit_status, kill, signal_group
from arena.bots.sandbox.procfs import descend
from arena.bots.sandbox.reaper import (
    LOST,
    Owner,
    belongings,
    forget,
    forget_strangers,
    is_stranger,
    other_children,
    owner_of,
    owners,
    reap_orphan,
    remember,
)

KILL_NOW_MOST = 64
"""Processes outside its first process group that are killed at once when a bot is to be stopped."""

PATIENCE = 10.0
"""Seconds after which killing a tree is given up; it takes a few milliseconds unless the kernel hangs."""
PASS_SECONDS = 0.0005
"""How long passes go on before other tasks have their turn."""
PASS_MOST = 32
"""Processes that a pass goes through at most; what it leaves is the next one's."""
QUICK_PASSES = 3
"""How many passes that find only what has been killed before follow one another without a pause."""
DYING_SECONDS = 0.001
"""How long the next ones wait for it to die: it needs a CPU for that, and a sandbox some milliseconds."""
ORPHAN_PASSES = 4
"""How often orphans are killed before the trees below them are looked at."""
REAP_SECONDS = 0.25
"""As long as the dead are reaped as they are found, and killing relies on being quick."""

_IS_SUPERUSER = hasattr(os, "geteuid") and os.geteuid() == 0


async def kill_tree(leader: int) -> int:
    """Kill a bot's process and all that comes from it, reap all but the process itself, and forget it.

    Returns the microseconds of processor time that what was reaped had used.
    """
    bot = owners[leader]
    bot.on_reaped = None
    passes = _Passes(bot)
    with trio.move_on_after(PATIENCE):
        await passes.until_nothing_is_left()
    await _in_turns(passes.reap_all())
    forget(leader)
    return bot.used_us


async def kill_lost(worker: int) -> None:
    """Kill what a dead worker has left of its bots, and reap what has come to this process of that."""
    with trio.move_on_after(PATIENCE):
        found_nothing = 0
        while found_nothing < 2:  # it may start others meanwhile
            left = reaper.left_by(worker)
            found_nothing = 0 if left else found_nothing + 1
            for pid in left:
                kill(pid)
            await trio.sleep(DYING_SECONDS if left else 0)
    passes = _Passes(LOST)
    with trio.move_on_after(PATIENCE):
        await passes.until_nothing_is_left()
    await _in_turns(passes.reap_all())


def kill_now(leader: int) -> None:
    """Kill what of a bot is alive at this moment, as far as that is quickly done. `kill_tree` is still to come."""
    signal_group(leader, signal.SIGKILL)
    for process in belongings(leader, KILL_NOW_MOST):
        if not process.is_dead:
            kill(process.pid)


async def _in_turns(steps: Iterator[float], pause: Callable[[], float] = lambda: 0.0) -> None:
    """Take these steps, each of which says for how many seconds to wait behind it, and let other tasks have their turn
    again and again: for so many seconds as `pause` says then."""
    begun = time.thread_time()
    for seconds in steps:
        if seconds or time.thread_time() - begun > PASS_SECONDS:
            await trio.sleep(seconds or pause())
            begun = time.thread_time()


class _Passes:
    """The passes over a bot's processes in which they are killed. `LOST`, which has no leader, is whatever is lost."""

    def __init__(self, bot: Owner) -> None:
        self._bot = bot
        self._dead: dict[int, int] = {}
        """Those that have been found dead and are to be reaped at the end (the first one is not), and when they were
        started."""
        self._killed: dict[int, int] = {}
        """Those that the last pass found alive, and killed, and when they were started."""
        self._reaps_at_once = True
        """Whether the dead are reaped as they are found."""
        self._is_done = False
        """Whether the last pass found nothing that had not been found dead before."""
        self._is_certain = False
        """Whether it cannot have missed anything either."""
        self._idle = 0
        """How many passes in a row have found nothing alive but what had been killed before."""
        self._seen: set[int] = set()
        """All that the last pass found: the dead, and every child of the arena that is no bot's first process."""

    async def until_nothing_is_left(self) -> None:
        """Go on until a pass that is certain, or two passes in a row, have found nothing alive and the same dead."""
        begun = trio.current_time()

        def pause() -> float:
            is_quick = trio.current_time() - begun < REAP_SECONDS
            self._reaps_at_once = is_quick or _IS_SUPERUSER
            return 0.0 if self._reaps_at_once else 2 * PASS_SECONDS

        await _in_turns(self._passes(), pause)

    def _passes(self) -> Iterator[float]:
        found_nothing: set[int] | None = None
        while True:
            yield from self._one_pass()
            if self._is_done and (self._is_certain or self._seen == found_nothing):
                return
            found_nothing = self._seen if self._is_done else None
            yield DYING_SECONDS if self._idle > QUICK_PASSES else 0

    def _one_pass(self) -> Iterator[float]:
        """Kill what is alive now, in some steps."""
        leader = self._bot.leader
        self._note_dead_leader()
        was_dead = not leader or leader in self._dead
        has_found_orphans, listed = yield from self._kill_orphans()
        self._is_certain = was_dead and not listed and sys.platform == "linux"
        ours = [pid for pid in listed if pid not in self._dead and self._is_ours(pid)]
        found = descend(ours if was_dead else [*ours, leader], PASS_MOST)
        if leader:
            remember(leader, found)  # who has no mark cannot be told to be the bot's once it is dead
            signal_group(leader, signal.SIGKILL)
        alive = {process.pid: process.started for process in found if not process.is_dead}
        for process in found:
            if not process.is_dead:
                kill(process.pid)
            elif not (self._reaps_at_once and self._reap(process.pid)):
                self._dead[process.pid] = process.started
        is_new = has_found_orphans or not alive.items() <= self._killed.items()
        self._killed = alive
        self._idle = 0 if is_new else self._idle + 1
        self._is_done = not has_found_orphans and all(pid == leader and pid not in alive for pid, *_ in found)
        self._seen = {*listed, *self._dead}

    def _note_dead_leader(self) -> None:
        """What a dead process had below it is the arena's child from that moment on: so this comes before its children
        are listed."""
        leader = self._bot.leader
        if leader and leader not in self._dead and exit_status(leader) is not None:
            self._dead[leader] = 0

    def _kill_orphans(self) -> Generator[float, None, tuple[bool, list[int]]]:
        """Kill orphans as they are found, the newest first: what goes from process to process is soon another.

        Returns whether there were any that had not been killed before, and all children that there were at the end.
        """
        for count in range(ORPHAN_PASSES):
            listed = other_children()
            forget_strangers(listed)
            found = []
            for pid in reversed(listed):
                if pid not in self._dead and pid not in self._killed and self._is_ours(pid):
                    kill(pid)
                    found.append(pid)
            if not found:
                return count > 0, listed
            for number, pid in enumerate(found if self._reaps_at_once else (), 1):
                self._reap(pid)
                if number % PASS_MOST == 0:
                    yield 0
            yield 0
        return True, other_children()

    def _reap(self, pid: int) -> bool:
        """Reap an orphan if it is dead; returns whether it is one."""
        for bot in (self._bot, LOST):
            if pid in bot.orphans:
                reap_orphan(bot, pid, bot.orphans[pid])
                return True
        return False

    def _is_ours(self, orphan: int) -> bool:
        """Whether it is to be killed with the bot."""
        if orphan in self._bot.orphans or orphan in LOST.orphans:
            return True
        return not is_stranger(orphan) and owner_of(orphan) in (self._bot, LOST)

    def reap_all(self) -> Iterator[float]:
        """Reap all that is dead, but for the bot's first process."""
        for pid, started in self._dead.items():
            if pid != self._bot.leader:
                reap_orphan(LOST if pid in LOST.orphans else self._bot, pid, started)
                yield 0
