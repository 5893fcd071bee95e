"""The date of a game as a record's line has it: exact, so that a line that is read is written again as it was."""

import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from arena.game.record import RecordError
from arena.system.printable import shown


def date_text(seconds: float) -> str:
    """Seconds since the epoch in ISO 8601, UTC, with as many digits as tell this number from all others."""
    try:
        whole, rest = divmod(Decimal(repr(seconds)), 1)
        date = datetime.fromtimestamp(int(whole), UTC)
    except (InvalidOperation, ValueError, OverflowError, OSError):
        raise RecordError(f"expected the time at which a game was started, got {seconds!r}") from None
    digits = f"{rest:f}".partition(".")[2].rstrip("0")
    return f"{date:%Y-%m-%dT%H:%M:%S}{f'.{digits}' if digits else ''}Z"


_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,400})?Z", re.ASCII)


def seconds_of(text: str) -> float:
    """Seconds since the epoch, of a date as `date_text` writes it. Raises `RecordError`."""
    match = _DATE.fullmatch(text)
    try:
        date = datetime.fromisoformat(f"{match[1]}+00:00") if match else None
    except ValueError:
        date = None
    if match is None or date is None:
        raise RecordError(f"started: expected a date such as 2026-01-31T12:00:00.5Z, got {shown(text)}")
    whole = round((date - datetime.fromtimestamp(0, UTC)).total_seconds())
    return float(Decimal(whole) + Decimal(match[2] or 0))
