"""Kill all processes of a bot, at every level.

A bot is killed in passes, because its processes may start others meanwhile: a program that forks and exits for ever has
moved on by the next pass. Passes follow one another without a pause for half a millisecond, which leaves such a program
little room; that takes some milliseconds in all.

Killing ends when two passes in a row have found no process of the bot's; in a host program both must find the same
other children, as a list that changes while it is read may be incomplete. One pass is enough if it cannot have missed a
process: the bot's first process was dead before, so that its descendants are children of this process, which has only
bots as children. Nearly all bots end that way.
"""

import signal
import sys
import time
from collections.abc import Generator, Iterator

import trio

from arena.sandbox.procfs import descend, look
from arena.sandbox.reaper import (
    LOST,
    START_SECONDS,
    Owner,
    belongings,
    exit_status,
    forget_strangers,
    is_stranger,
    is_unsure,
    kill,
    left_by,
    other_children,
    owner_of,
    owners,
    owns_every_orphan,
    reap_orphan,
    signal_group,
    try_reap,
)

KILL_NOW_MOST = 64
"""The most processes outside its first process group that `kill_now` kills."""

PATIENCE = 10.0
"""Seconds after which killing is given up; it takes a few milliseconds unless the kernel hangs."""
PASS_SECONDS = 0.0005
"""Seconds of passes before other tasks run."""
PASS_MOST = 32
"""The most processes in one pass; the next pass takes the rest."""
QUICK_PASSES = 3
"""The passes without new processes that follow one another without a pause."""
DYING_SECONDS = 0.001
"""The pause after these: a process needs a CPU to die, and a sandbox some milliseconds."""
ORPHAN_PASSES = 4
"""How often orphans are killed before their trees are examined."""


async def kill_tree(leader: int) -> int:
    """Kill all processes of a bot, and reap all but the first one.

    Returns the microseconds of processor time that the reaped processes had used.
    """
    bot = owners[leader]
    bot.on_reaped = None
    await _Passes(bot).until_nothing_is_left()
    return bot.used_us


async def kill_hidden() -> None:
    """Kill the orphans of unknown owner once no bot is left, in a process that starts only bots."""
    if owns_every_orphan() and not owners:
        await _Passes(LOST).until_nothing_is_left()


async def kill_left_by(token: str) -> None:
    """Kill the processes that a killed worker has left, by its token, and reap those that are children."""
    with trio.move_on_after(PATIENCE):
        found_nothing = 0
        while found_nothing < 2:  # they may start others meanwhile
            left = left_by(token)
            found_nothing = 0 if left else found_nothing + 1
            for pid in left:
                kill(pid)
            await trio.sleep(DYING_SECONDS)
            for pid in left:
                try_reap(pid)


def kill_now(leader: int) -> None:
    """Kill the bot's processes of this moment that are quick to find. `kill_tree` has to follow."""
    signal_group(leader, signal.SIGKILL)
    for process in belongings(leader, KILL_NOW_MOST):
        if not process.is_dead:
            kill(process.pid)


class _Passes:
    """The passes that kill the processes of a bot, or for `LOST` all orphans that are left without an owner."""

    def __init__(self, bot: Owner) -> None:
        self._bot = bot
        self._begun = time.monotonic()
        self._found: dict[int, int] = {}
        """The start times of processes found below the bot. One that is dead when it becomes an orphan has no
        environment to be identified by.
        """
        self._killed: dict[int, int] = {}
        """The processes that the last pass found alive, and killed."""
        self._is_done = False
        """Whether the last pass found no process of the bot."""
        self._is_unsure = False
        """Whether the last pass found a child with an owner that has to be looked up again."""
        self._is_certain = False
        """Whether the last pass cannot have missed a process."""
        self._idle = 0
        """The number of passes in a row that found no new process."""
        self._others: set[int] = set()
        """The children that the last pass found not to be the bot's."""

    async def until_nothing_is_left(self) -> None:
        begun = time.thread_time()
        with trio.move_on_after(PATIENCE):
            for seconds in self._passes():
                if seconds or time.thread_time() - begun > PASS_SECONDS:
                    await trio.sleep(seconds)
                    begun = time.thread_time()

    def _passes(self) -> Iterator[float]:
        others: set[int] | None = None
        while True:
            yield from self._one_pass()
            is_same = others is not None and (owns_every_orphan() or others == self._others)
            if self._is_done and (self._is_certain or is_same):
                return
            others = self._others if self._is_done else None
            yield DYING_SECONDS if self._idle > QUICK_PASSES or self._is_unsure else 0

    def _one_pass(self) -> Iterator[float]:
        leader = self._bot.leader
        # The children of a dead process are this process's own from then on: so this comes before they are listed.
        was_dead = not leader or exit_status(leader) is not None
        has_found_orphans, listed = yield from self._kill_orphans()
        self._is_certain = was_dead and not listed and sys.platform == "linux"
        ours = [pid for pid in listed if pid in self._bot.orphans]
        found = descend(ours if was_dead else [*ours, leader], PASS_MOST)
        self._found |= {process.pid: process.started for process in found}
        if leader:
            signal_group(leader, signal.SIGKILL)
        alive = {process.pid: process.started for process in found if not process.is_dead}
        for process in found:
            if process.is_dead:
                self._reap(process.pid)
            else:
                kill(process.pid)
        is_new = has_found_orphans or not alive.items() <= self._killed.items()
        self._killed = alive
        self._idle = 0 if is_new else self._idle + 1
        self._is_unsure = any(map(is_unsure, listed)) and time.monotonic() - self._begun < START_SECONDS
        self._is_done = not (has_found_orphans or self._is_unsure or ours or alive)
        self._others = set(listed)

    def _kill_orphans(self) -> Generator[float, None, tuple[bool, list[int]]]:
        """Kill orphans as they are found, the newest first, because a program that forks and exits is quick.

        Returns whether there were any that had not been killed before, and all remaining children.
        """
        for count in range(ORPHAN_PASSES):
            listed = other_children()
            forget_strangers(listed)
            found = [pid for pid in reversed(listed) if pid not in self._killed and self._is_ours(pid)]
            if not found:
                return count > 0, listed
            for pid in found:
                kill(pid)
            for number, pid in enumerate(found, 1):
                self._reap(pid)
                if number % PASS_MOST == 0:
                    yield 0
            yield 0
        return True, other_children()

    def _reap(self, pid: int) -> None:
        if pid in self._bot.orphans:
            reap_orphan(self._bot, pid)

    def _is_ours(self, child: int) -> bool:
        if child in self._bot.orphans:
            return True
        if child in self._found and (process := look(child)) and process.started == self._found[child]:
            self._bot.orphans[child] = process.started
            return True
        if self._bot is LOST and owners:  # a bot has been started meanwhile
            return False
        return not is_stranger(child) and owner_of(child) is self._bot
