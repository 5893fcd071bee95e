"""The parts of an action, in all of its forms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.actions import Parts, is_action, parts, squares
from protocol.notation import RANK_LETTERS, SQUARE_INDEX, SQUARES, Rank

A4, A5, B5, C2 = (SQUARE_INDEX[name] for name in ("a4", "a5", "b5", "c2"))


@pytest.mark.parametrize(
    ("action", "expected", "is_move"),
    [
        ("a4-a5", Parts(A4, A5), True),
        ("a4-a5-b5", Parts(A4, B5, over=A5), True),
        ("a4-a5+8c2", Parts(A4, A5, rescued=Rank.COLONEL, rescue_square=C2), True),
        ("a4-a5-b5+Mc2", Parts(A4, B5, over=A5, rescued=Rank.MARSHAL, rescue_square=C2), True),
        ("a4?a5B", Parts(A4, A5, guessed=Rank.BOMB), False),
        ("resign", Parts(), False),
    ],
)
def test_an_action_has_the_parts_that_its_form_has(action: str, expected: Parts, is_move: bool) -> None:
    assert parts(action) == expected
    assert parts(action).is_move is is_move


square, letter = st.sampled_from(SQUARES), st.sampled_from(RANK_LETTERS)
written = st.one_of(
    st.just("resign"),
    st.builds("{}-{}".format, square, square),
    st.builds("{}-{}-{}+{}{}".format, square, square, square, letter, square),
    st.builds("{}?{}{}".format, square, square, letter),
)


@settings(max_examples=60)
@given(written)
def test_its_two_squares_are_the_first_and_the_last_of_its_way(action: str) -> None:
    found = parts(action)
    assert squares(action) == (None if found.start is None else (found.start, found.end))


@settings(max_examples=200)
@given(st.one_of(written, st.text("abj1 05-+?FMresign", max_size=12)))
def test_what_the_arena_takes_for_an_action_is_what_has_parts(text: str) -> None:
    if is_action(text):
        parts(text)
        return
    with pytest.raises(ValueError, match="expected an action such as a4-a5, got"):
        parts(text)
