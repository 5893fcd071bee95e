"""Ownership of processes: which bot an orphan belongs to.

The processes below a bot in the tree belong to it. A process that loses its parent becomes a child of this process,
which on Linux adopts orphans while it has bots. An orphan belongs to the bot that began its session, or that has its
token (an environment variable).

A worker process starts only bots (`own_every_orphan`): an orphan that hides from both belongs to some bot, and is
killed when no bot is left in the worker (`arena.sandbox.killing`). Any other process leaves such an orphan alone:
it may be the user's.

A bot's token begins with that of the process that starts it. So the bots of a killed worker are found among all
processes by the worker's token (`left_by`). No call waits for any child at all: another part of the program may need
its exit status.
"""

import contextlib
import ctypes
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from arena.bots.spec import TOKEN_VARIABLE
from arena.sandbox.procfs import (
    EVERYTHING,
    Process,
    children,
    every_process,
    look,
    variable,
    walk,
)

SET_CHILD_SUBREAPER, GET_CHILD_SUBREAPER = 36, 37


def exit_status(pid: int) -> tuple[int, int] | None:
    """Return how a child died, as waitid's code and status, without reaping it; None while it lives."""
    try:
        result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return (os.CLD_EXITED, 0)
    return None if result is None else (result.si_code, result.si_status)


def killed_words(number: int) -> str:
    """Return "was killed by signal ..." for a signal number; the words follow the name of the process."""
    try:
        name = signal.Signals(number).name
    except ValueError:  # the real-time signals have no names
        name = "unknown"
    return f"was killed by signal {number} ({name})"


def reap(pid: int) -> tuple[int, int]:
    """Reap a dead child. Returns its wait status, and the processor time of it and its children, in us."""
    return try_reap(pid) or (0, 0)


def try_reap(pid: int) -> tuple[int, int] | None:
    """Reap a child as `reap` does; None if it is not dead, or no child."""
    try:
        reaped, status, usage = os.wait4(pid, os.WNOHANG)
    except OSError:
        return None
    return (status, round((usage.ru_utime + usage.ru_stime) * 1_000_000)) if reaped else None


def kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, number)


def adopts_orphans() -> bool:
    answer = ctypes.c_int()
    if sys.platform == "linux":
        _libc().prctl(GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def prctl(option: int, value: int) -> int:
    return int(_libc().prctl(option, value, 0, 0, 0)) if sys.platform == "linux" else 0


@lru_cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


SWEEP_SECONDS = 0.025
"""The shortest time between two sweeps."""
SWEEP_SHARE = 50
"""The shortest time between two sweeps, as a multiple of the processor time of the last one."""
SWEEP_MOST = 128
"""The most orphans that a sweep looks up the owners of."""
REAP_MOST = 32
"""The most orphans of each bot that a sweep reaps."""
START_SECONDS = 0.02
"""How long the owner of a child is looked up again: a program that is being started has no environment yet."""


@dataclass(eq=False)
class Owner:
    leader: int = 0
    """The process that the arena has started; reaped last, so that no other process can get its number."""
    token: str = ""
    orphans: dict[int, int] = field(default_factory=dict)
    """Processes of the bot that are children of this process now, with their start times."""
    used_us: int = 0
    """Microseconds of processor time of its reaped processes."""


owners: dict[int, Owner] = {}
"""The bots that have been started and not yet ended, by their leaders."""
LOST = Owner()
"""The owner of orphans that hide their owner, in a process that starts only bots."""
_bystanders: frozenset[int] | None = None
"""The children of this process when it called `own_every_orphan`; None if it has not."""
_asked: dict[int, float] = {}
"""Children without a known owner, and when it was first looked up."""
_adopted_before: bool | None = None
"""Whether this process adopted orphans before any bot was started; None while there is none."""
_sweep_after = 0.0


def own_every_orphan() -> None:
    """Declare that this process starts only bots from here on, so that each orphan it adopts is a bot's."""
    global _bystanders  # noqa: PLW0603  (a property of the process as a whole, not of any object in it)
    _bystanders = frozenset(children(os.getpid()))


def owns_every_orphan() -> bool:
    return _bystanders is not None


def adopt_orphans() -> None:
    """Become the parent of orphans (Linux only), until the last bot has ended."""
    global _adopted_before  # noqa: PLW0603  (as above)
    if _adopted_before is None:
        _adopted_before = adopts_orphans()
        prctl(SET_CHILD_SUBREAPER, 1)


def _stop_adopting() -> None:
    global _adopted_before  # noqa: PLW0603  (as above)
    if _adopted_before is not None and not owns_every_orphan():
        prctl(SET_CHILD_SUBREAPER, int(_adopted_before))
        _adopted_before = None


def new_token() -> str:
    """Make a token for a program that is about to be started. It begins with the token of this process, if any."""
    return ".".join([*filter(None, [os.environ.get(TOKEN_VARIABLE)]), secrets.token_hex(8)])


def _is_below(token: str, above: str) -> bool:
    return token == above or token.startswith(f"{above}.")


def left_by(token: str) -> list[int]:
    found = [pid for pid in every_process() if _is_below(variable(pid, TOKEN_VARIABLE) or "", token)]
    return [pid for pid in found if (process := look(pid)) and not process.is_dead]


def register(leader: int, token: str) -> None:
    """Register a bot's first process, which has just been started with `token` in its environment."""
    owners[leader] = Owner(leader, token)


def forget(leader: int) -> None:
    del owners[leader]
    if not owners:
        _stop_adopting()


def roots(leader: int) -> list[int]:
    """Return a bot's first process and its orphans: all its other processes are below these."""
    return [leader, *owners[leader].orphans]


def has_orphans(leader: int) -> bool:
    return bool(owners[leader].orphans)


def belongings(leader: int, most: int = EVERYTHING) -> list[Process]:
    """Return a bot's processes, the dead included; not many more than `most`."""
    return list(walk(roots(leader), most))


def sweep() -> None:
    """Find the owners of orphans, and reap the dead.

    A sweep takes a bounded time, and all sweeps a bounded part of all time.
    """
    global _sweep_after  # noqa: PLW0603  (as above)
    if time.monotonic() < _sweep_after:
        return
    begun = time.thread_time()
    bots = (*owners.values(), LOST)
    known = {pid for bot in bots for pid in (bot.leader, *bot.orphans)} | (_bystanders or frozenset())
    here = children(os.getpid(), SWEEP_MOST + len(known) + len(_asked))
    forget_strangers(here)
    for pid in [pid for pid in here if pid not in known and not is_stranger(pid)][:SWEEP_MOST]:
        owner_of(pid)
    for bot in bots:
        for pid in list(bot.orphans)[:REAP_MOST]:
            reap_orphan(bot, pid)
    _sweep_after = time.monotonic() + max(SWEEP_SECONDS, SWEEP_SHARE * (time.thread_time() - begun))


def owner_of(child: int) -> Owner | None:
    """Return the owner of a child of this process, and record the child as its orphan; None if no owner is known.

    The owner of an orphan that is certainly a bot's, and hides its owner, is `LOST`.
    """
    process = look(child)
    if process is None:
        return None
    bot = owners.get(process.session)
    if bot is None:
        token = variable(child, TOKEN_VARIABLE) or ""
        bot = next((bot for bot in owners.values() if _is_below(token, bot.token)), None)
    if bot is None:
        _asked.setdefault(child, time.monotonic())
        if not owns_every_orphan() or (owners and is_unsure(child)):
            return None
        bot = LOST
    _asked.pop(child, None)
    bot.orphans[child] = process.started
    return bot


def reap_orphan(bot: Owner, orphan: int) -> None:
    """Reap one of a bot's orphans if it is dead, and add its processor time to the bot's."""
    started = bot.orphans.pop(orphan)
    process = look(orphan)
    if process is None or process.started != started:
        return
    outcome = try_reap(orphan)
    if outcome is None:
        bot.orphans[orphan] = started  # as the last one: the next sweep begins with others
        return
    bot.used_us += outcome[1]


def other_children() -> list[int]:
    return [pid for pid in children(os.getpid()) if pid not in owners and pid not in (_bystanders or ())]


def is_unsure(child: int) -> bool:
    return child in _asked and time.monotonic() - _asked[child] < START_SECONDS


def is_stranger(child: int) -> bool:
    """Return whether to leave a child process alone, because it may not belong to a bot."""
    return child in _asked and not is_unsure(child) and not owns_every_orphan()


def forget_strangers(here: Iterable[int]) -> None:
    for pid in _asked.keys() - set(here):
        del _asked[pid]
