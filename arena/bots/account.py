"""What a bot has used of the machine in the game under way: a process that is kept for a second game is asked twice.

The system counts from the start of a process to its end. So what it had counted when a game was over is remembered, and
is not put down to the next one.
"""

from arena.bots.sandbox.freezer import Freezer
from arena.bots.sandbox.launch import Group
from arena.bots.sandbox.procfs import cpu_us, waited_us
from arena.bots.sandbox.reaper import owners
from arena.bots.sandbox.watch import Watch


class Account:
    """One bot's account. Processor time and memory of a game are known once one of the `sum_up` methods was called."""

    def __init__(self, leader: int, group: Group | None, watch: Watch, freezer: Freezer) -> None:
        self._leader = leader
        self._group = group
        self._watch = watch
        self._freezer = freezer
        self.used_us = 0
        """Microseconds of processor time, all processes together."""
        self._group_peak: int | None = None
        self._used_before = self._pondered_before = 0
        self._peak_before, self._memory_before = -1, 0
        """Of a control group, in bytes: the most memory until the game began, and what was in use then."""

    @property
    def peak_memory(self) -> int:
        """The most memory that was seen in use, in bytes, all processes together."""
        return self._group_peak or self._watch.peak_memory

    @property
    def pondered_us(self) -> int:
        """Microseconds of processor time that were used while the bot was frozen."""
        return self._freezer.used_us - self._pondered_before

    def sum_up_alive(self) -> None:
        """A game is over, and the bot lives on; its processes are those that the watch has just found."""
        if self._group:
            self.sum_up_dead(0)
            return
        alive = [process.pid for process in self._watch.processes]
        used = owners[self._leader].used_us + sum((cpu_us(pid) or 0) + waited_us(pid) for pid in alive)
        self.used_us = max(0, used - self._used_before)

    def sum_up_dead(self, used_us: int) -> None:
        """The bot has been ended, and has used so much since its start, unless its control group knows better."""
        if self._group:
            used_us = self._group.cpu_us()
            peak = self._group.memory_peak()
            if peak is not None and peak <= self._peak_before:  # that was in the game before
                peak = max(self._memory_before, self._group.memory_now())
            self._group_peak = peak
        self.used_us = max(0, used_us - self._used_before)

    def begin_anew(self) -> None:
        """Another game begins, after `sum_up_alive`."""
        self._used_before += self.used_us
        self._pondered_before = self._freezer.used_us
        self._watch.begin_anew()
        if self._group:
            self._peak_before, self._memory_before = self._group.memory_peak() or -1, self._group.memory_now()
        self.used_us, self._group_peak = 0, None
