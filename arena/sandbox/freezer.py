"""Stop a bot that may not think in its opponent's turn, and measure what it uses all the same.

In a control group the kernel freezes the whole tree, without a way out. Elsewhere all known process groups get SIGSTOP.
Processes that are found later are stopped then, and so are those that run again: a helper may have sent SIGCONT just
before it was stopped itself (in the sandbox the filter of system calls prevents that).

The processor time between a freeze and the next thaw is measured by the control group, or by the clocks of all known
processes; one that is found later counts from then. So work of the bot's own turn never counts; outside a control group
some work in the opponent's turn may be missed. A running process stops up to some milliseconds late on a busy machine:
that much is free in each turn.
"""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from arena.sandbox.cgroup import Group
from arena.sandbox.procfs import Process, cpu_us
from arena.sandbox.reaper import signal_group

FREE_US = 10_000
"""Microseconds of processor time that are free in each of the opponent's turns: stopping takes time."""
ALLOWED_US = 100_000
ALLOWED_PART = 0.1
"""The further processor time that a bot may use in a game: this much, and this part of the opponent's time."""


class Freezer:
    """Stops and resumes a bot's processes. `leader` is the first one; `helpers` of them are the sandbox's."""

    def __init__(self, leader: int, group: Group | None, helpers: int) -> None:
        self._leader = leader
        self._helpers = helpers
        self._group = group
        self._groups = {leader}
        self._known = {leader}
        self._before: dict[int, int] = {}
        """The processor time that the known processes had used at the freeze, in microseconds."""
        self._group_before = 0
        self._frozen_at = 0.0
        self.is_frozen = False
        self.used_us = 0
        """Microseconds of processor time used in the opponent's turns."""
        self._seconds = 0.0
        """The total duration of those turns."""
        self._beyond_us = 0
        """The processor time beyond the free part of each turn."""

    @property
    def has_several(self) -> bool:
        """Whether there are processes that could resume each other."""
        return len(self._known) > 1 + self._helpers

    def freeze(self, moment: float) -> None:
        """Stop all processes of the bot until `thaw`. `moment` is the time now in seconds."""
        if self.is_frozen:
            return
        self.is_frozen = True
        self._frozen_at = moment
        if self._group:
            self._group.freeze(True)
            self._group_before = self._group.cpu_us()
            return
        for group in self._groups:
            signal_group(group, signal.SIGSTOP)
        self._before = {pid: used for pid in self._known if (used := cpu_us(pid)) is not None}

    def thaw(self, moment: float) -> None:
        if not self.is_frozen:
            return
        self.is_frozen = False
        used = self._used()
        self.used_us += used
        self._beyond_us += max(0, used - FREE_US)
        self._seconds += moment - self._frozen_at
        if self._group:
            self._group.freeze(False)
        else:
            for group in self._groups:
                signal_group(group, signal.SIGCONT)

    def _used(self) -> int:
        if self._group:
            return max(0, self._group.cpu_us() - self._group_before)
        clocks = ((cpu_us(pid), before) for pid, before in self._before.items())
        return sum(max(0, now - before) for now, before in clocks if now is not None)

    def complaint(self) -> str:
        """Return the error if the bot used too much in the opponent's turns, otherwise an empty string."""
        allowed = ALLOWED_US + ALLOWED_PART * self._seconds * 1_000_000
        if self._beyond_us <= allowed:
            return ""
        return (
            f"used {self.used_us // 1000} ms of processor time in the opponent's turns, which took "
            f"{self._seconds:.1f} s; without pondering {FREE_US // 1000} ms are free in each, and of the rest "
            f"{allowed // 1000:.0f} ms are allowed"
        )

    def found(self, processes: Sequence[Process]) -> bool:
        """Record the processes that are known now, and stop those that must not run; return whether there were any."""
        alive = [process for process in processes if not process.is_dead]
        running = False
        if self.is_frozen:
            for process in alive:
                if process.pid not in self._before:
                    self._before[process.pid] = cpu_us(process.pid) or 0
                if not process.is_stopped:
                    running = True
                    with suppress(OSError):
                        os.kill(process.pid, signal.SIGSTOP)
        self._known = {process.pid for process in alive}
        self._groups = {self._leader, *(process.group for process in alive)}
        return running
