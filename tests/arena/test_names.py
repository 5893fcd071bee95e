"""A bot's name shows as what it is, in the width of a table, and cannot be taken for another's."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.bots.names import COLUMNS, made_name, name_fault
from arena.system.terminal_text import cell_len

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    "name",
    [
        "hunter",
        "a-1.4_x (fast)",
        "a" * 40,
        "猎" * 20,
        "ш" * 40,
        "Phố cổ",
        "שָׁלוֹם",
        "🦀",
    ],
)
def test_what_people_call_their_bots_is_a_name(name: str) -> None:
    assert name_fault(unicodedata.normalize("NFC", name)) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "it is empty"),
        (" ", "a space at an end"),
        ("hunter  2", "two together"),
        ("a" * 41, "it is 41 columns wide"),
        ("a" * 100_000, "it has 100000 characters"),
        ("a\x1b[2Jb", "U+001B in it"),
        ("abc\u202edef", "U+202E in it"),
        ("a\u200bb", "U+200B in it"),
        ("hunter\u3164", "U+3164 in it"),
        ("a\U000e0041", "U+E0041 in it"),
        ("\udcff", "U+DCFF in it"),
        ("e\u0301", "not in the form NFC"),
        ("\u0301a", "no letter to stand on"),
        ("x\u0335\u0336\u0337\u0338", "more than 3 marks"),
        ("old/hunter", "the arena makes"),
    ],
)
def test_anything_else_is_refused_with_the_reason(name: str, why: str) -> None:
    assert why in (name_fault(name) or "")


@given(ANY_TEXT)
@example("'" * 40)
@example("x" * 36 + "猎")
def test_any_text_has_a_made_name_that_shows_in_a_tables_width(text: str) -> None:
    made = made_name(text)
    assert made.isprintable()
    assert 1 <= cell_len(made) <= COLUMNS
    assert made == text or made.startswith("'")
    made.encode("utf-8")
