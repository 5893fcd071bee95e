"""Kill all processes of a bot, at every level.

A bot is killed in passes, because its processes may start others meanwhile: a program that forks and exits for ever has
moved on by the next pass. Passes follow one another without a pause for half a millisecond, which leaves such a program
little room; that takes some milliseconds in all.

Killing ends when two passes in a row have found no process of the bot's; in a host program both must find the same
other children, as a list that changes while it is read may be incomplete. One pass is enough if the bot's first process
was dead before and this process has no other child: then its descendants, as orphans, would be children, too.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import trio

from arena.sandbox.procfs import look, walk
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


async def kill_tree(leader: int) -> int:
    """Kill all processes of a bot, and reap all but the first one.

    Returns the microseconds of processor time that the reaped processes had used.
    """
    bot = owners[leader]
    await _until_nothing_is_left(bot)
    return bot.used_us


async def kill_hidden() -> None:
    """Kill the orphans of unknown owner once no bot is left, in a process that starts only bots."""
    if owns_every_orphan() and not owners:
        await _until_nothing_is_left(LOST)


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


@contextmanager
def killed_with_us(leader: int) -> Iterator[None]:
    """Let a bot's first process group be killed when this process is: a shell waits for the end of its input."""
    command = ("/bin/sh", "-c", 'read _; kill -s KILL -- "-$0" 2>/dev/null', str(leader))
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as shell:
        try:
            yield
        finally:
            shell.kill()


async def _until_nothing_is_left(bot: Owner) -> None:
    """Kill and reap the processes of a bot, or for `LOST` all orphans that are left without an owner."""
    begun, checked = time.monotonic(), time.thread_time()
    quiet = idle = 0
    killed: dict[int, int] = {}
    below: dict[int, int] = {}
    """The start times of processes found below the bot: a dead one that becomes an orphan cannot be identified."""
    others: list[int] = []
    with trio.move_on_after(PATIENCE):
        while quiet < 2:
            # The children of a dead process are this process's own from then on: so this comes before they are listed.
            was_dead = not bot.leader or exit_status(bot.leader) is not None
            before, others = others, other_children()
            forget_strangers(others)
            # The newest first, as a program that forks and exits is quick.
            ours = [pid for pid in reversed(others) if _is_of(bot, pid, below)]
            if was_dead and not others and sys.platform == "linux":
                return
            for pid in ours:
                kill(pid)
            if bot.leader:
                signal_group(bot.leader, signal.SIGKILL)
            found = list(walk(ours if was_dead else [*ours, bot.leader], PASS_MOST))
            below |= {process.pid: process.started for process in found}
            alive = {process.pid: process.started for process in found if not process.is_dead}
            for pid in alive:
                kill(pid)
            for pid in ours:
                reap_orphan(bot, pid)
            unsure = any(map(is_unsure, others)) and time.monotonic() - begun < START_SECONDS
            is_same = owns_every_orphan() or others == before
            quiet = 0 if ours or alive or unsure else quiet + 1 if is_same else 1
            idle = idle + 1 if alive.items() <= killed.items() else 0
            killed = alive
            pause = DYING_SECONDS if idle > QUICK_PASSES or unsure else 0
            if pause or time.thread_time() - checked > PASS_SECONDS:
                await trio.sleep(pause)
                checked = time.thread_time()


def _is_of(bot: Owner, child: int, below: dict[int, int]) -> bool:
    if child in bot.orphans:
        return True
    if child in below and (process := look(child)) and process.started == below[child]:
        bot.orphans[child] = process.started
        return True
    if bot is LOST and owners:  # a bot has been started meanwhile
        return False
    return not is_stranger(child) and owner_of(child) is bot
