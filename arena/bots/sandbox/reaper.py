"""Who owns a process: what is a bot's, and what is nobody's affair.

What stands below a bot in the tree of processes is the bot's. What has lost its parent becomes a child of the arena,
which on Linux has made itself the reaper of orphans, and with it come the orphans of whatever else runs below the
arena. **What cannot be told to be a bot's is neither killed nor reaped.** An orphan is a bot's

- by its mark (`arena.bots.sandbox.marks`), which it cannot take off;
- because a look has seen it below the bot before (by its number and the time when it was started, as numbers are used
  again), or because it is in the session of the bot's first process;
- by a token in its environment;
- and if there can be nobody else's: a command that had no child when it began, and is not process 1, gets orphans of
  bots only.

Each worker process (`arena.league.executor`) adopts the orphans of its own bots. What a killed one leaves is known by
the mark that it was given (`register_worker`), and by the first part of the token. It comes to a command, which adopts
orphans; a host program, which has children of its own, finds it by its mark among all processes. A mark that is merely
lower than its own proves something to a command alone, which starts nothing but bots.

No call ever waits for just any child, whose exit status somebody else may be waiting for.
"""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from arena.bots.sandbox import marks, tokens
from arena.bots.sandbox.child import kill, try_reap
from arena.bots.sandbox.prctl import SET_CHILD_SUBREAPER, adopts_orphans, prctl
from arena.bots.sandbox.procfs import (
    EVERYTHING,
    Process,
    children,
    cpu_us,
    descend,
    every_process,
    keep_spare_descriptor,
    look,
    variable,
)
from arena.bots.spec import TOKEN_VARIABLE

BY_MARK = 0

SWEEP_SECONDS = 0.025
"""The arena does not look through its orphans more often than this."""
SWEEP_SHARE = 50
"""And not before this many times as long as the last time took, in processor time, has passed."""
SWEEP_MOST = 128
"""Orphans that it asks whose they are at a time."""
REAP_MOST = 32
"""Orphans of each bot that it reaps at a time."""
KNOWN_MOST = 4096
"""Processes of a bot that are remembered, the last ones seen."""
OnReaped = Callable[[Process, int, int], None]
"""What is told of an orphan that is about to be reaped: the processor time of its own, and that with its children's."""


@dataclass(eq=False)
class Owner:
    """What is known of one bot's processes."""

    leader: int = 0
    """Its process that the arena has started; not reaped before the end, so that nobody else can get its number."""
    known: dict[int, int] = field(default_factory=dict)
    """By number, when those were started that a look has found below it."""
    orphans: dict[int, int] = field(default_factory=dict)
    """The same of what is a child of the arena now, and has not been reaped; `BY_MARK` if it has the bot's mark."""
    used_us: int = 0
    """The processor time of what has been reaped of it."""
    on_reaped: OnReaped | None = None


owners: dict[int, Owner] = {}
"""The bots that have been started and not yet ended, by their leaders."""
_marks: dict[int, Owner] = {}
_tokens: dict[str, Owner] = {}
LOST = Owner()
"""Stands for whichever bot it was, if all that can be told of an orphan is that it is some bot's."""
_workers: set[int] = set()
"""The worker processes that this process has started and not yet reaped: no bots, whatever their mark is."""
_bystanders: dict[int, int] = {}
"""The children that this process had when it began to adopt orphans: when they were started, by number."""
_worker_marks: dict[int, int] = {}
"""By worker, the mark that it has been given: those of its bots are below."""
_strangers: dict[int, int] = {}
"""Children that cannot be told to be a bot's, and how often they have been asked."""
ASKED_ENOUGH = 2
"""How often a child is asked whose it is: a program that is just being started has no environment yet."""

_mark_of_strangers: int | None = None
"""The mark that this process had when it said that it starts nothing but bots; it has a lower one since."""
_sole_parent = False
_is_command = False
_adopted_before: bool | None = None
"""Whether this process adopted orphans before any bot was started; None while there is none."""
_sweep_after = 0.0


def adopt_orphans() -> None:
    """Make this process the parent of what its bots orphan, while it has bots (Linux; elsewhere nothing happens)."""
    global _adopted_before  # noqa: PLW0603  (a property of the process as a whole, not of any object in it)
    keep_spare_descriptor()
    if _adopted_before is None:
        _adopted_before = adopts_orphans()
        _bystanders.clear()
        _bystanders.update((each.pid, each.started) for pid in children(os.getpid()) if (each := look(pid)))
        prctl(SET_CHILD_SUBREAPER, 1)


def prepare_for_worker() -> None:
    """A worker is about to be started: make sure that what it leaves if it is killed can be found.

    A host program that can tell that by the mark adopts nothing: what its own children leave would come to it too, and
    nobody would ever reap that.
    """
    keep_spare_descriptor()
    if _needs_orphans_of_workers():
        adopt_orphans()


def _needs_orphans_of_workers() -> bool:
    return _is_command or not marks.are_far_apart()


def left_by(worker: int) -> list[int]:
    """What is alive of the bots of a dead worker, wherever it is now; nothing where it comes to this process anyway."""
    above = _worker_marks.get(worker)
    if above is None or _needs_orphans_of_workers():
        return []
    found = [pid for pid in every_process() if (mark := marks.mark_of(pid)) and marks.is_below(mark, above)]
    return [pid for pid in found if (process := look(pid)) and not process.is_dead]


def _leave_orphans_alone() -> None:
    """The last bot has ended: orphans of a host program's own children are no affair of the arena's any more.

    A command goes on to adopt: what was missed when a tree was killed is found by the next bot's sweep.
    """
    global _adopted_before  # noqa: PLW0603  (as above)
    if _is_command or (_workers and _needs_orphans_of_workers()):
        return
    if _adopted_before is not None:
        prctl(SET_CHILD_SUBREAPER, int(_adopted_before))
        _adopted_before = None


def claim_all_orphans() -> None:
    """Say that this process starts no children but bots from here on: all that has a lower mark than it has now is some
    bot's.

    If it has no children now either, and orphans of strangers cannot come to it, then so is every orphan. A shell that
    ran `exec arena` may have left it some; process 1 of a container adopts those of everybody.
    """
    global _is_command, _sole_parent, _mark_of_strangers  # noqa: PLW0603  (as above)
    _is_command = True
    _sole_parent = os.getpid() != 1 and not children(os.getpid())
    _mark_of_strangers = marks.lower_own_mark()


def register_worker(pid: int, prefix: str) -> None:
    """A worker process has just been started, whose bots have tokens that begin with this. It is given a mark.

    Call `prepare_for_worker` before it is started.
    """
    _workers.add(pid)
    mark = marks.put_mark(pid)
    if mark is not None:
        _worker_marks[pid] = mark
    tokens.worker_prefixes.add(prefix)


def forget_worker(pid: int) -> None:
    """A worker process has been reaped. What is left of its bots is still known by its prefix."""
    _workers.discard(pid)
    if not _needs_orphans_of_workers():
        _worker_marks.pop(pid, None)  # others' processes may get marks below it some day
    if not owners:
        _leave_orphans_alone()


def register(leader: int, token: str, on_reaped: OnReaped | None = None) -> int | None:
    """A bot's process has just been started; `token` is in its environment.

    Returns the mark that it has been given, to be put on what it has started before that, too; None if it has none.
    """
    bot = owners[leader] = _tokens[token] = Owner(leader, on_reaped=on_reaped)
    mark = marks.put_mark(leader)
    if mark is not None:
        _marks[mark] = bot
    return mark


def roots(leader: int) -> list[int]:
    """Where a bot's processes are to be found: below its first one, and below its orphans, as far as they are known."""
    return [leader, *owners[leader].orphans]


def has_orphans(leader: int) -> bool:
    """Whether something of a bot's is known that has lost its parent and has not been reaped."""
    return bool(owners[leader].orphans)


def remember(leader: int, found: Iterable[Process]) -> None:
    """These processes have been found below a bot's roots: they stay its own when they have lost their parents."""
    known = owners[leader].known
    for process in found:
        known.pop(process.pid, None)  # so that it is the last one
        known[process.pid] = process.started
    while len(known) > KNOWN_MOST:
        del known[next(iter(known))]


def belongings(leader: int, most: int = EVERYTHING) -> list[Process]:
    """A bot's process and all that comes from it, the dead included; not many more than `most`."""
    found = descend(roots(leader), most)
    remember(leader, found)
    return found


def sweep() -> None:
    """Look through the arena's orphans: note whose they are, kill those that hide it, reap the dead.

    However many there are, it takes a bounded time, and a bounded part of all time.
    """
    global _sweep_after  # noqa: PLW0603  (as above)
    if time.monotonic() < _sweep_after:
        return
    begun = time.thread_time()
    here = children(os.getpid(), _sweep_reach())
    _ask(here)
    for bot in (*owners.values(), LOST):
        for pid, started in list(bot.orphans.items())[:REAP_MOST]:
            reap_orphan(bot, pid, started)
    _sweep_after = time.monotonic() + max(SWEEP_SECONDS, SWEEP_SHARE * (time.thread_time() - begun))


def _sweep_reach() -> int:
    """How far down the list of children a sweep looks: past all that are known, and some more."""
    orphans = sum(len(bot.orphans) for bot in owners.values())
    return SWEEP_MOST + len(owners) + len(_workers) + len(_bystanders) + len(_strangers) + orphans


def _ask(here: list[int]) -> None:
    """Note whose those of these children are that are not known yet."""
    forget_strangers(here)
    known = {pid for bot in (*owners.values(), LOST) for pid in (bot.leader, *bot.orphans)} | _workers
    unknown = [pid for pid in here if pid not in known and _strangers.get(pid, 0) < ASKED_ENOUGH]
    for pid in unknown[:SWEEP_MOST]:
        bot = owner_of(pid)
        if bot is None:
            _strangers[pid] = _strangers.get(pid, 0) + 1
        elif bot is LOST:
            kill(pid)


def owner_of(orphan: int) -> Owner | None:
    """The bot that a child of this process comes from, which is noted; `LOST` if it is some bot's; None if it may be
    anybody's."""
    mark = marks.mark_of(orphan)
    bot = _marks.get(mark) if mark is not None else None
    if bot:
        bot.orphans[orphan] = BY_MARK
        return bot
    process = look(orphan)
    if process is None or _bystanders.get(orphan) == process.started:
        return None
    token = variable(orphan, TOKEN_VARIABLE) or ""
    bot = _owner_by_history(process) or _tokens.get(token)
    if bot is None:
        if not (_sole_parent or _is_below_ours(mark) or tokens.is_of_worker(token)):
            return None
        bot = LOST
    bot.orphans[orphan] = process.started
    return bot


def _is_below_ours(mark: int | None) -> bool:
    """Whether a mark proves that a process comes from some bot, or some worker, of this process."""
    if mark is None:
        return False
    if _mark_of_strangers is not None:
        return mark < _mark_of_strangers
    return any(marks.is_below(mark, above) for above in (*_marks, *_worker_marks.values()))


def _is_still(bot: Owner, orphan: int, started: int) -> bool:
    """Whether this is still the process that was found to be the bot's, and nobody else has reaped that."""
    if started == BY_MARK:
        mark = marks.mark_of(orphan)
        return mark is not None and _marks.get(mark) is bot
    process = look(orphan)
    return process is not None and process.started == started


def _owner_by_history(process: Process) -> Owner | None:
    for bot in list(owners.values()):
        if process.session == bot.leader or bot.known.get(process.pid) == process.started:
            return bot
    return None


def reap_orphan(bot: Owner, orphan: int, started: int) -> None:
    """Reap one of a bot's orphans if it is dead, and put its processor time down to the bot."""
    bot.orphans.pop(orphan, None)
    if not _is_still(bot, orphan, started):
        return
    process, own = (look(orphan), cpu_us(orphan) or 0) if bot.on_reaped else (None, 0)
    outcome = try_reap(orphan)
    if outcome is None:
        bot.orphans[orphan] = started  # as the last one: next time it is others' turn
        return
    _, used = outcome
    bot.used_us += used
    if bot.on_reaped and process:
        bot.on_reaped(process, own, used)


def forget(leader: int) -> None:
    """A bot has been ended; what it has left dead has been reaped."""
    bot = owners.pop(leader)
    for mark in [mark for mark, owner in _marks.items() if owner is bot]:
        del _marks[mark]
    for token in [token for token, owner in _tokens.items() if owner is bot]:
        del _tokens[token]
    if not owners:
        _leave_orphans_alone()


def other_children() -> list[int]:
    """The arena's children that it has not started itself, as bots or as workers."""
    return [pid for pid in children(os.getpid()) if pid not in owners and pid not in _workers]


def is_stranger(child: int) -> bool:
    """Whether a child of this process has been asked often enough whose it is, and is no bot's."""
    return _strangers.get(child, 0) >= ASKED_ENOUGH


def forget_strangers(here: Iterable[int]) -> None:
    """These are all children that there are: what is not among them is not known any more."""
    for pid in _strangers.keys() - set(here):
        del _strangers[pid]
