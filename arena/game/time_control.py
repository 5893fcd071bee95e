"""Time controls of bots, their notation, and the clocks of one game.

Clocks are pure values: times are passed in, in seconds. A clock starts when the arena begins to write the input for an
answer, and stops when the answer came. Lag of the arena in reading it is forgiven up to `MOST_FORGIVEN`: a bot that
slows the arena down must not gain time. Time between a stop and the next start is not charged.
"""

import re
from typing import NamedTuple

import msgspec

from arena.errors import UsageError
from arena.system.printable import shown
from protocol.seats import Color


def _seconds(milliseconds: int) -> str:
    whole, rest = divmod(milliseconds, 1000)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


class TimeControl(msgspec.Struct, frozen=True):
    """The time limits of a bot, in milliseconds.

    `move_ms` bounds every move, `bank_ms` the whole game (it grows by `increment_ms` after each move); at least one of
    the two is set. `start_ms` is for `ready`, `setup_ms` for the set-up. `margin_ms` is forgiven on top of every limit,
    for the jitter of the machine; it never adds to a bank.
    """

    move_ms: int | None = 100
    bank_ms: int | None = None
    increment_ms: int = 0
    start_ms: int = 10_000
    setup_ms: int = 5_000
    margin_ms: int = 50

    def scaled(self, percent: int | None) -> "TimeControl":
        """Scale the limits to a percentage of the time, to the nearest millisecond; None leaves them unchanged.

        A limit is at least 1 ms and at most `LONGEST_MS`. The margin stays: it is for waiting, not for work.
        """
        if percent is None:
            return self

        def of(limit: int) -> int:
            return min(LONGEST_MS, max(1, (limit * percent + 50) // 100)) if limit else 0

        return msgspec.structs.replace(
            self,
            move_ms=None if self.move_ms is None else of(self.move_ms),
            bank_ms=None if self.bank_ms is None else of(self.bank_ms),
            increment_ms=of(self.increment_ms),
            start_ms=of(self.start_ms),
            setup_ms=of(self.setup_ms),
        )

    @property
    def is_unlimited(self) -> bool:
        """Whether moves are unlimited, which only a person can have."""
        return self.move_ms == UNLIMITED_MS and self.bank_ms is None

    @property
    def text(self) -> str:
        if self.is_unlimited:
            return UNLIMITED
        parts = []
        if self.bank_ms is not None:
            parts.append(f"{_seconds(self.bank_ms)}+{_seconds(self.increment_ms)}")
        if self.move_ms is not None:
            parts.append(f"{self.move_ms}ms")
        return ",".join(parts)


_BANK = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\+(\d{1,9}(?:\.\d{1,9})?)")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m)")
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000}
LONGEST_MS = 7 * 24 * 3_600_000
"""A week: enough for any game, and bots may keep milliseconds in 32 bits."""
UNLIMITED_MS = LONGEST_MS + 1
"""No limit, in records and on the `turn` lines of the opponent, which need a number. No option gives it to a bot."""
UNLIMITED = "unlimited"
LEAST_PERCENT, MOST_PERCENT = 25, 400
"""The limits of scaling: beyond them a machine is too different from the others."""


def parse_duration(text: str) -> int:
    """Parse a time such as `100ms`, `1.5s` or `2m` into milliseconds. Raises `UsageError`."""
    match = _DURATION.fullmatch(text)
    milliseconds = round(float(match[1]) * _UNIT_MS[match[2]]) if match else 0
    if milliseconds < 1:
        raise UsageError(f"expected a time such as 100ms, 1.5s or 2m, got {shown(text)}")
    return _not_too_long(milliseconds, text)


def _not_too_long(milliseconds: int, text: str) -> int:
    if milliseconds > LONGEST_MS:
        raise UsageError(f"expected a time of at most {LONGEST_MS // 60_000}m, got {shown(text)}")
    return milliseconds


def parse_time(text: str) -> TimeControl:
    """Parse a time control of the command line. Raises `UsageError`.

    `100ms` or `1s/move` is a limit per move; `60+0.6` is a bank of 60 seconds and an increment of 0.6 seconds a move;
    `60+0.6,1s/move` is both.
    """
    move_ms: int | None = None
    bank_ms: int | None = None
    increment_ms = 0
    for part in text.split(","):
        bank = _BANK.fullmatch(part)
        if bank and bank_ms is None and round(float(bank[1]) * 1000) > 0:
            bank_ms, increment_ms = (_not_too_long(round(float(part) * 1000), text) for part in bank.groups())
        elif _DURATION.fullmatch(part.removesuffix("/move")) and move_ms is None:
            move_ms = parse_duration(part.removesuffix("/move"))
        else:
            raise UsageError(
                "expected a time such as 100ms or 1s/move (for each move), 60+0.6 (a bank of 60 s and 0.6 s more for "
                f"each move), or both as 60+0.6,1s/move; got {shown(text)}"
            )
    return TimeControl(move_ms=move_ms, bank_ms=bank_ms, increment_ms=increment_ms)


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
