"""The words that all is written in: what is written of squares and armies is read back as the same."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.notation import SQUARE_PATTERN, SQUARES, Rank, army_text, read_army


def test_the_pattern_of_a_square_fits_the_names_of_squares_and_nothing_else() -> None:
    words = [f"{file}{rank}" for file in "abcdefghijkA`" for rank in ("", *range(-1, 100), "01", "1 ")]
    assert sorted(word for word in words if re.fullmatch(SQUARE_PATTERN, word)) == sorted(SQUARES)


@given(st.dictionaries(st.sampled_from(Rank), st.integers(1, 40)).map(lambda army: tuple(army.items())))
def test_an_army_is_read_as_it_is_written(army: tuple[tuple[Rank, int], ...]) -> None:
    assert read_army(army_text(army)) == army


@pytest.mark.parametrize("text", ["F", "F:", "F:one", "X:1", "F:1:1", "F1"])
def test_what_is_no_army_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        read_army(text)
