"""Time controls of bots, and their notation."""

import re

import msgspec

from arena.errors import UsageError
from arena.system.printable import shown


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
