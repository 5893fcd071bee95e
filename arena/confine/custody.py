"""Whose a process is, and the one place that kills.

What a bot starts belongs to it. As long as a process stands below its bot in the tree of processes, that is plain. One
that has lost its parent (a daemon) becomes a child of the arena, because on Linux the arena has made itself the reaper
of orphans; it is then known by its session, or by a token in its environment. One that hides both is nobody's, and is
killed as soon as it is seen: bots are the only children that `arena league` and `arena match` ever have (see
`claim_all_orphans`).

To kill all that belongs to a bot is a hunt: while it goes on, its processes may start others. A program that forks,
detaches and exits for ever is not where the last look has found it. The hunt strikes in bursts that leave such a
program little time, and reaps as it goes, so that the looks stay quick; that nearly always takes some milliseconds.
If it does not, the dead are left as they are: each keeps its place in the user's quota of processes, until the program
has no room to hop to (the superuser has no quota; there only the first way is open). The hunt is over when two looks in
a row have found nothing alive and the same dead, and only then are the rest reaped. No call ever waits for just any
child: that would take away the exit status of one that somebody else is waiting for.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections import Counter
from typing import Any

import trio

from arena.confine.tree import Process, children, descend, keep_spare_descriptor, look, variable

TOKEN_VARIABLE = "STRATEGO_ARENA_PROCESS"
"""The variable of a bot's environment that says whose its processes are."""

SET_DUMPABLE, SET_CHILD_SUBREAPER = 4, 36
"""Numbers of <linux/prctl.h>."""

SWEEP_SECONDS = 0.025
"""The arena does not look through its orphans more often than this."""
PATIENCE = 10.0
"""Seconds after which a hunt is given up; it takes a few milliseconds unless the kernel hangs."""
BURST = 16
"""Looks in a row that a hunt takes before other tasks have their turn."""
BLOWS = 4
"""How often orphans are struck before anything is looked at more closely."""
BRISK_SECONDS = 0.25
"""As long as a hunt relies on being quick."""

_IS_SUPERUSER = hasattr(os, "geteuid") and os.geteuid() == 0

_leaders: set[int] = set()
"""The bots' processes that the arena has started and not yet ended."""
_tokens: dict[str, int] = {}
"""Their tokens, and whose each is."""
_sessions: dict[int, int] = {}
"""The sessions that bots' processes have been seen in, and whose they are."""
_adopted: dict[int, int] = {}
"""Orphans, by their process ids, and the bot that each comes from."""
_used_us: Counter[int] = Counter()
"""Per bot, the processor time of what has been reaped of it, in microseconds."""
_bystanders: set[int] = set()
"""Children of this process that are no bot's, as far as it may have such."""
_strangers: dict[int, float] = {}
"""Children of this process that seem to be no bot's, and since when."""
_sole_parent = False
_swept = 0.0


def adopt_orphans() -> None:
    """Make this process the parent of what its bots orphan (Linux; elsewhere nothing happens)."""
    keep_spare_descriptor()
    _prctl(SET_CHILD_SUBREAPER, 1)


def close_to_bots() -> None:
    """Keep programs of the same user out of this process: its memory, environment and descriptors (Linux).

    It writes no core file then either. Programs of root are not kept out by anything. `open_to_others` ends it.
    """
    _prctl(SET_DUMPABLE, 0)


def open_to_others() -> None:
    """Let programs of the same user look into this process again."""
    _prctl(SET_DUMPABLE, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def claim_all_orphans() -> None:
    """Say that bots are the only children this process ever has: an orphan that hides whose it is may be killed."""
    global _sole_parent  # noqa: PLW0603  (a property of the process as a whole, not of any object in it)
    _sole_parent = True


def take_in(leader: int, token: str) -> None:
    """A bot's process has been started; `token` is in its environment."""
    _leaders.add(leader)
    _tokens[token] = leader
    _sessions[leader] = leader
    if not _sole_parent:
        here = children(os.getpid())
        _bystanders.intersection_update(here)
        for pid in [pid for pid in _strangers if pid not in here]:
            del _strangers[pid]
        if len(_leaders) == 1:  # beside other bots, what is dead may be theirs
            _bystanders.update(pid for pid in _orphans() if _owner(pid) is None)


def belongings(leader: int) -> list[Process]:
    """A bot's process and all that comes from it, the dead included."""
    found = descend([leader, *(pid for pid, owner in _adopted.items() if owner == leader)])
    for process in found:
        _sessions.setdefault(process.session, leader)
    return found


def sweep() -> None:
    """Look through the arena's orphans: note whose they are, kill those that hide it, reap the dead."""
    global _swept  # noqa: PLW0603  (as above)
    now = time.monotonic()
    if now - _swept < SWEEP_SECONDS:
        return
    _swept = now
    for pid in _orphans():
        if _is_bystander(pid):
            continue
        process = look(pid)
        if process is None or process.is_dead:
            _reap(pid)
        elif _owner(pid) is None:
            _kill(pid)


async def hunt(leader: int) -> int:
    """Kill a bot's process and all that comes from it, reap all but the process itself, and forget it.

    Returns the microseconds of processor time that what was reaped had used.
    """
    prey = _Prey(leader)
    quiet: set[int] | None = None
    begun = trio.current_time()
    with trio.move_on_after(PATIENCE):
        while True:
            # Bursts leave what is being hunted little time; between them the other games go on.
            alive = all(prey.strike() for _ in range(BURST))
            if not alive and prey.looked_at == quiet:
                break
            quiet = None if alive else prey.looked_at
            prey.is_brisk = trio.current_time() - begun < BRISK_SECONDS
            if prey.is_brisk or _IS_SUPERUSER:
                await trio.lowlevel.checkpoint()
            else:
                await trio.sleep(0.001)
    for pid in prey.dead - {leader}:
        _reap(pid)
    _leaders.remove(leader)
    _forget(leader, _tokens)
    _forget(leader, _sessions)
    _forget(leader, _adopted)
    return _used_us.pop(leader, 0)


def _forget(leader: int, known: dict[Any, int]) -> None:
    """Take out of a table all that is a bot's."""
    for key in [key for key, owner in known.items() if owner == leader]:
        del known[key]


def strike(leader: int) -> None:
    """Kill at once what of a bot is alive at this moment. The hunt is still to come."""
    _Prey(leader).strike()


class _Prey:
    """What is to be killed with a bot."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self.dead: set[int] = set()
        """Those that are dead and have not been reaped."""
        self.is_brisk = True
        """Whether the dead are reaped as they are found."""
        self.looked_at: set[int] = set()
        """All that the last look found: the dead, and every orphan, whosever it is."""

    def strike(self) -> bool:
        """Kill what is alive now; returns whether anything was."""
        self._strike_orphans()
        struck = False
        found = descend(self._roots())
        signal_group(self._leader, signal.SIGKILL)
        for process in found:
            if process.is_dead:
                self.dead.add(process.pid)
            else:
                _kill(process.pid)
                struck = True
        self.looked_at |= self.dead
        return struck

    def _strike_orphans(self) -> None:
        """Kill orphans as they are found, the newest first: what hops from process to process is soon another."""
        for _ in range(BLOWS):
            unknown = [pid for pid in _orphans() if pid not in self.dead and self._is_ours(pid)]
            for pid in reversed(unknown):
                _kill(pid)
            if not unknown:
                break
            if self.is_brisk or _IS_SUPERUSER:
                for pid in unknown:
                    _reap(pid)

    def _roots(self) -> list[int]:
        """The bot's process, and the orphans that come from it or are nobody's."""
        orphans = _orphans()
        self.looked_at = set(orphans)
        roots = [pid for pid in orphans if pid not in self.dead and self._is_ours(pid)]
        return roots if self._leader in self.dead else [*roots, self._leader]

    def _is_ours(self, orphan: int) -> bool:
        owner = _owner(orphan)
        return owner == self._leader if owner is not None else not _is_bystander(orphan)


def _owner(orphan: int) -> int | None:
    """The bot that an orphan comes from, by its session or its token; None if that cannot be told."""
    owner = _adopted.get(orphan)
    if owner is None:
        process = look(orphan)
        owner = _sessions.get(process.session) if process else None  # which is known of the dead, too
        if owner is None:
            owner = _tokens.get(variable(orphan, TOKEN_VARIABLE) or "")
        if owner is not None:
            _adopted[orphan] = owner
    return owner


def _is_bystander(orphan: int) -> bool:
    """Whether an orphan has nothing to do with bots. What is dead, or is dying, can no longer be asked."""
    if orphan in _bystanders:
        return True
    if _sole_parent or variable(orphan, TOKEN_VARIABLE) != "":
        return False
    now = time.monotonic()
    if now - _strangers.setdefault(orphan, now) > SWEEP_SECONDS:
        _bystanders.add(orphan)  # it has said so twice: a program that is just being started has no environment yet
    return True


def _orphans() -> list[int]:
    """The arena's children that it has not started itself as bots."""
    return [pid for pid in children(os.getpid()) if pid not in _leaders]


def reap(pid: int) -> tuple[int, int]:
    """Reap a dead child. Returns its wait status, and the processor time that it and its own have used, in us."""
    try:
        _, status, usage = os.wait4(pid, os.WNOHANG)
    except OSError:
        return 0, 0
    return status, round((usage.ru_utime + usage.ru_stime) * 1_000_000)


def _reap(orphan: int) -> None:
    """Reap an orphan if it is dead, and put its processor time down to the bot that it comes from."""
    owner = _owner(orphan)
    _, used = reap(orphan)
    _adopted.pop(orphan, None)
    if owner is not None:
        _used_us[owner] += used


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if it is still there."""
    with contextlib.suppress(OSError):
        os.killpg(group, number)
