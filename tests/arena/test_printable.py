"""Whatever text comes in, what comes out does nothing to a terminal and can be told from what was there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.system.printable import INVISIBLE, printable

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


@given(ANY_TEXT)
def test_nothing_is_left_that_a_terminal_would_act_on(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown


def is_ordinary(character: str) -> bool:
    return not INVISIBLE.match(character)


@given(st.text(st.characters(exclude_categories=["C", "Z", "Mn", "Me"]).filter(is_ordinary)))
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize("text", ["\u2764\ufe0f", "e\u0301", "\u05d1\u05bc\u05b0\u0591", "o\u0302\u0323\u0301"])
def test_pictures_and_letters_with_a_few_marks_are_left_as_they_are(text: str) -> None:
    assert printable(text) == text


@given(ANY_TEXT)
def test_what_is_printable_is_left_as_it_is_the_next_time(text: str) -> None:
    """Text is made printable where it comes in and where it is read, and both must come to the same."""
    assert printable(printable(text)) == printable(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("abc\u202edef", r"abc\u202edef"),
        ("\udcff", r"\udcff"),
        ("one\r\ntwo\rthree", r"one\r\ntwo\rthree"),
        ("won \u3164\u2800\u115f\U000e0100", r"won \u3164\u2800\u115f\U000e0100"),
        ("a" + "\u0301" * 5, "a" + "\u0301" * 3 + r"\u0301\u0301"),
    ],
)
def test_what_is_not_printable_becomes_its_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY_TEXT, st.integers(0, 20))
def test_a_limit_is_kept_and_what_is_missing_is_said(text: str, limit: int) -> None:
    shown = printable(text, limit)
    if len(text) > limit:
        assert shown.endswith(f"... ({len(text) - limit} more characters)")
        assert len(shown) <= limit + 40
    else:
        assert shown == printable(text)
