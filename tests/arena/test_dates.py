"""The dates of games are exact: as text and back they are the same number, and no other text is read as one."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.dates import date_text, seconds_of
from arena.game.record import RecordError


@given(st.floats(0, 2.5e11))
@settings(deadline=None, max_examples=100)
def test_no_two_dates_are_written_alike(seconds: float) -> None:
    text = date_text(seconds)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", text)
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "2026-01-31", "2026-01-31T12:00:00", "2026-13-31T12:00:00Z", "2026-01-31T12:00:00.Z", "\x1b[2J"]
)
def test_what_is_no_date_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(RecordError, match=r"started: expected a date such as 2026-01-31T12:00:00\.5Z, got "):
        seconds_of(text)


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -1e20, 1e20])
def test_what_is_no_time_has_no_date(seconds: float) -> None:
    with pytest.raises(RecordError, match="expected the time at which a game was started"):
        date_text(seconds)
