"""The clocks of one game, as a pure value: the time of day is passed in, in seconds, and nothing here reads one.

A clock starts when the arena begins to write what a bot needs for its answer, and stops when that answer came. The
arena may have been late to read it; that is forgiven, but only up to `MOST_FORGIVEN`: an arena that can be made slow by
a bot must not give it time. What happens between a stop and the next start is charged to nobody.
"""

from typing import NamedTuple

from arena.game.time_control import TimeControl
from protocol.notation import Color

NEVER = float("inf")

MOST_FORGIVEN = 0.020
"""The most seconds that an answer may count from before it was read. With 64 games on four CPUs 999 of 1,000 answers
are read within 17 ms after they came, with 8 games within 2 ms; what is more is left to the margin. It is also the most
that a bot can gain with a move, should it find a way to keep the arena busy."""


class Stop(NamedTuple):
    """A time in which the arena did not run: it was stopped, or the machine slept.

    `seconds` is how long, `unsure` how much of it the bots may have been running, and the clock left out.
    """

    seconds: float
    unsure: float


def counted(came: float, read: float) -> float:
    """When an answer counts as given that came at `came`, as far as that is known, and was read at `read`."""
    earliest = read - MOST_FORGIVEN
    if came < earliest:
        return earliest
    return came if came < read else read


class Clock:
    """Both sides' time under one time control.

    `deadline(color)` is when the side that is thinking loses on time, margin included.
    """

    __slots__ = ("_bank", "_control", "_fixed", "_limit", "_margin", "_started")

    def __init__(self, control: TimeControl) -> None:
        self._control = control
        self._margin = control.margin_ms / 1000
        bank = NEVER if control.bank_ms is None else control.bank_ms / 1000
        self._bank = [bank, bank]
        self._limit = NEVER if control.move_ms is None else control.move_ms / 1000
        self._started = 0.0
        self._fixed = (control.move_ms or 0, control.move_ms or 0, None, None)

    def budget(self, color: Color) -> float:
        """Seconds that the side may take for its next move: what its bank and the limit per move allow."""
        return min(self._limit, self._bank[color])

    def budget_ms(self, color: Color) -> int:
        """The same in whole milliseconds, rounded down."""
        return _milliseconds(self.budget(color))

    def shown(self, color: Color) -> tuple[int, int, int | None, int | None]:
        """What a `turn` line shows to a side: its own and the other's milliseconds, and perhaps both banks."""
        if self._control.bank_ms is None:
            return self._fixed
        other = color.opponent
        times = (self.budget_ms(color), self.budget_ms(other))
        if self._control.move_ms is None:
            return (*times, None, None)
        return (*times, _milliseconds(self._bank[color]), _milliseconds(self._bank[other]))

    def start(self, color: Color, now: float) -> float:
        """Start the side's clock; returns its deadline."""
        self._started = now
        return now + min(self._limit, self._bank[color]) + self._margin

    def stop(self, color: Color, now: float) -> float:
        """Stop the side's clock and charge it; returns the seconds taken."""
        taken = now - self._started
        self.charge(color, taken)
        return taken

    def charge(self, color: Color, taken: float) -> None:
        """Charge the side for a move that took so many seconds."""
        if self._control.bank_ms is not None:
            # A move within the margin is forgiven: it leaves the bank empty, not in debt.
            self._bank[color] = max(0.0, self._bank[color] - taken) + self._control.increment_ms / 1000

    def spend(self, color: Color, taken: float) -> None:
        """Charge the side's bank with seconds of a turn that was interrupted: there was no move, so no increment."""
        self._bank[color] = max(0.0, self._bank[color] - taken)


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000 + 1e-6)  # a hair more, so that 0.06 s is 60 ms and not 59
