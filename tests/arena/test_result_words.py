"""Results in words say no more than is known."""

import pytest

from arena.report.result_words import advantage_text, interval_text
from arena.report.standings import Advantage


@pytest.mark.parametrize(
    ("advantage", "text"),
    [
        (Advantage(12.3, -4.0, 30.0), "Red's advantage: +12 Elo (95%: -4..+30)"),
        (Advantage(12.3, 4.0, None), "Red's advantage: at least +4 Elo (95%)"),
        (Advantage(-12.3, None, -3.0), "Red's advantage: at most -3 Elo (95%)"),
        (Advantage(0.0, None, None), "Red's advantage: not enough games to estimate"),
    ],
)
def test_what_red_is_worth_is_said_as_far_as_it_is_known(advantage: Advantage, text: str) -> None:
    assert advantage_text(advantage) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-8.4, 120.6, "-8..+121"),
        (12.0, None, "+12.."),
        (None, -3.0, "..-3"),
        (None, None, "open"),
        (-0.3, 0.2, "+0..+0"),
    ],
)
def test_intervals_show_both_ends_and_leave_out_what_is_open(low: float | None, high: float | None, text: str) -> None:
    assert interval_text(low, high) == text
