"""The clocks of one game, as a pure value: times are passed in, in seconds.

A clock starts when the arena begins to write the input for an answer, and stops when the answer came. Lag of the arena
in reading it is forgiven up to `MOST_FORGIVEN`: a bot that slows the arena down must not gain time. Time between a stop
and the next start is not charged.
"""

from typing import NamedTuple

from arena.game.time_control import TimeControl
from protocol.seats import Color

NEVER = float("inf")
MICROSECONDS = 1_000_000

MOST_FORGIVEN = 0.020
"""The longest lag in reading an answer that is not charged, and the most that a bot can gain by keeping the arena busy.
With 64 games on four CPUs 999 of 1,000 answers are read within 17 ms, with 8 games within 2 ms."""


class Suspension(NamedTuple):
    """A time in which the arena did not run: it was stopped, or the machine slept.

    `seconds` is its length, `unsure` the part in which the bots may have been running without the clock.
    """

    seconds: float
    unsure: float


def counted(came: float, read: float) -> float:
    """Return the time at which an answer counts that came at about `came` and was read at `read`."""
    earliest = read - MOST_FORGIVEN
    if came < earliest:
        return earliest
    return came if came < read else read


class GameClock:
    """Both sides' time; `controls` are Red's and Blue's time control, which may differ."""

    __slots__ = ("_bank", "_banks_shown", "_controls", "_fixed", "_limit", "_margin", "_started")

    def __init__(self, controls: tuple[TimeControl, TimeControl]) -> None:
        self._controls = controls
        self._margin = [control.margin_ms / 1000 for control in controls]
        self._bank = [NEVER if control.bank_ms is None else control.bank_ms / 1000 for control in controls]
        self._limit = [NEVER if control.move_ms is None else control.move_ms / 1000 for control in controls]
        self._started = 0.0
        self._banks_shown = any(control.bank_ms is not None and control.move_ms is not None for control in controls)
        self._fixed: list[tuple[int, int, int | None, int | None]] | None = None
        if all(control.bank_ms is None for control in controls):
            red, blue = (control.move_ms or 0 for control in controls)
            self._fixed = [(red, blue, None, None), (blue, red, None, None)]

    def budget(self, color: Color) -> float:
        """Return the seconds that the side may take for its next move, by its bank and the limit per move."""
        return max(0.0, min(self._limit[color], self._bank[color]))

    def allowed(self, color: Color) -> float:
        """Return the seconds after which the side loses on time: its budget and the margin, less the bank's debt."""
        return min(self._limit[color], self._bank[color]) + self._margin[color]

    def budget_ms(self, color: Color) -> int:
        return _milliseconds(self.budget(color))

    def shown(self, color: Color) -> tuple[int, int, int | None, int | None]:
        """Return the times of a side's `turn` line: its own and the other's milliseconds, and both banks or None.

        Banks are shown if a side has both a bank and a limit per move. A side without a bank is shown with the limit of
        its move.
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
        """Return the whole milliseconds left in the side's bank; None if it has no bank."""
        bank = self._bank[color]
        return None if bank == NEVER else _milliseconds(max(0.0, bank))

    def start(self, color: Color, now: float) -> float:
        self._started = now
        return now + self.allowed(color)

    def stop(self, color: Color, now: float) -> float:
        """Stop the side's clock and charge it; return the seconds taken.

        Whole microseconds are charged, as records keep them: so every time shown to a bot follows from a record.
        """
        taken = round((now - self._started) * MICROSECONDS) / MICROSECONDS
        if not self._fixed:
            self.charge(color, taken)
        return taken

    def charge(self, color: Color, taken: float) -> None:
        """Charge the side for a move of this length in seconds."""
        control = self._controls[color]
        if control.bank_ms is not None:
            # A move within the margin is forgiven, and leaves the bank in debt: or a side had a margin for each move.
            self._bank[color] += control.increment_ms / 1000 - taken

    def spend(self, color: Color, taken: float) -> None:
        """Charge the side's bank with seconds of an interrupted turn: without a move, there is no increment."""
        self._bank[color] -= taken


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000 + 1e-6)  # a hair more, so that 0.06 s is 60 ms and not 59
