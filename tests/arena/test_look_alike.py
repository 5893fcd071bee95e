"""Names that a reader takes for one another are pointed out, with the letters that are not what they look like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.look_alike import alike, alike_lines


def test_names_that_are_the_same_but_for_case_or_form_are_found() -> None:
    wide = "\uff48unter"
    assert alike(["Hunter", "scout", "hunter", wide]) == [("Hunter", "hunter"), ("Hunter", wide)]
    assert alike(["hunter", "hunted"]) == []


@pytest.mark.parametrize(
    "impostor",
    [
        "w\u0430rden",  # Cyrillic a
        "ward\u0435n",
        "ward\u0435\u0578",  # Cyrillic e, Armenian vo
        "\u051d\u0430\u0433d\u0435n",
        "WARD\u0395N",  # Greek epsilon
        "vvarden",
    ],
)
def test_letters_of_other_alphabets_that_are_drawn_alike_are_found(impostor: str) -> None:
    assert alike(["warden", "raider", impostor]) == [("warden", impostor)]


@pytest.mark.parametrize(
    ("one", "other"), [("mine", "m\u0456ne"), ("bot1", "botl"), ("bot1", "botI"), ("B0T", "bot"), ("modern", "modem")]
)
def test_strokes_that_are_one_in_most_fonts_are_found(one: str, other: str) -> None:
    assert alike([one, other]) == [(one, other)]


@pytest.mark.parametrize("names", [["bot1", "bot2"], ["bot1", "bot11"], ["a-b", "a b"], ["\u0436\u0443\u043a", "zhuk"]])
def test_names_that_anybody_can_tell_apart_are_not(names: list[str]) -> None:
    assert alike(names) == []


def test_what_is_said_names_the_letters_and_whose_they_are() -> None:
    assert alike_lines(["w\u0430rden", "warden"]) == [
        "w\u0430rden and warden: two bots, of names that look alike, with U+0430 (cyrillic small letter a) in the first"
    ]
    assert alike_lines(["Warden", "warden"]) == ["Warden and warden: two bots, of names that look alike"]


@given(st.lists(st.text("aA\u0430\u0391 1lI-\u2010rnm", min_size=1, max_size=4)))
def test_each_name_is_said_once_at_most_and_with_one_that_was_before_it(names: list[str]) -> None:
    pairs = alike(names)
    assert len({later for _, later in pairs}) == len(pairs)
    assert all(names.index(first) < names.index(later) for first, later in pairs)
