"""The clocks of one game, as a pure value: the time of day is passed in, in seconds, and nothing here reads one.

A clock starts when the arena begins to write what a bot needs for its answer, and stops when that answer came. The
arena may have been late to read it; that is forgiven, but only up to `MOST_FORGIVEN`: an arena that can be made slow by
a bot must not give it time. What happens between a stop and the next start is charged to nobody.
"""

from typing import NamedTuple

from arena.game.time_control import TimeControl
from protocol.notation import Color

NEVER = float("inf")
MICROSECONDS = 1_000_000

MOST_FORGIVEN = 0.020
"""The most seconds that an answer may count from before it was read. With 64 games on four CPUs 999 of 1,000 answers
are read within 17 ms after they came, with 8 games within 2 ms; what is more is left to the margin. It is also the most
that a bot can gain with a move, should it find a way to keep the arena busy."""


class Suspension(NamedTuple):
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
    """Both sides' time; `controls` are Red's and Blue's time control, which need not be the same."""

    __slots__ = ("_bank", "_banks_shown", "_controls", "_fixed", "_limit", "_margin", "_started")

    def __init__(self, controls: tuple[TimeControl, TimeControl]) -> None:
        self._controls = controls
        self._margin = [control.margin_ms / 1000 for control in controls]
        self._bank = [NEVER if control.bank_ms is None else control.bank_ms / 1000 for control in controls]
        self._limit = [NEVER if control.move_ms is None else control.move_ms / 1000 for control in controls]
        self._started = 0.0
        self._banks_shown = any(control.bank_ms is not None and control.move_ms is not None for control in controls)
        self._fixed: list[tuple[int, int, int | None, int | None]] | None = None
        """What is shown to each side for the whole game, if no side has a bank."""
        if all(control.bank_ms is None for control in controls):
            red, blue = (control.move_ms or 0 for control in controls)
            self._fixed = [(red, blue, None, None), (blue, red, None, None)]

    def budget(self, color: Color) -> float:
        """Seconds that the side may take for its next move: what its bank and the limit per move allow."""
        return min(self._limit[color], self._bank[color])

    def budget_ms(self, color: Color) -> int:
        """The same in whole milliseconds, rounded down."""
        return _milliseconds(self.budget(color))

    def shown(self, color: Color) -> tuple[int, int, int | None, int | None]:
        """What a `turn` line shows to a side: its own and the other's milliseconds, and perhaps both banks.

        Banks are shown if a side has both a bank and a limit per move. A side without a bank is shown with what it has
        for its move.
        """
        if self._fixed:
            return self._fixed[color]
        other = color.opponent
        times = (self.budget_ms(color), self.budget_ms(other))
        if not self._banks_shown:
            return (*times, None, None)
        return (*times, self._bank_ms(color), self._bank_ms(other))

    def _bank_ms(self, color: Color) -> int:
        bank = self.bank_ms(color)
        return self.budget_ms(color) if bank is None else bank

    def bank_ms(self, color: Color) -> int | None:
        """Whole milliseconds that the side's bank has left; None if it has no bank."""
        bank = self._bank[color]
        return None if bank == NEVER else _milliseconds(bank)

    def start(self, color: Color, now: float) -> float:
        """Start the side's clock; returns when the side loses on time, its margin included."""
        self._started = now
        limit, bank = self._limit[color], self._bank[color]
        return now + (limit if limit < bank else bank) + self._margin[color]

    def stop(self, color: Color, now: float) -> float:
        """Suspension the side's clock and charge it; returns the seconds taken.

        Whole microseconds are charged, as records keep them: so every time that a bot was shown follows from a record.
        """
        taken = round((now - self._started) * MICROSECONDS) / MICROSECONDS
        if not self._fixed:
            self.charge(color, taken)
        return taken

    def charge(self, color: Color, taken: float) -> None:
        """Charge the side for a move that took so many seconds."""
        control = self._controls[color]
        if control.bank_ms is not None:
            # A move within the margin is forgiven: it leaves the bank empty, not in debt.
            self._bank[color] = max(0.0, self._bank[color] - taken) + control.increment_ms / 1000

    def spend(self, color: Color, taken: float) -> None:
        """Charge the side's bank with seconds of a turn that was interrupted: there was no move, so no increment."""
        self._bank[color] = max(0.0, self._bank[color] - taken)


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000 + 1e-6)  # a hair more, so that 0.06 s is 60 ms and not 59
