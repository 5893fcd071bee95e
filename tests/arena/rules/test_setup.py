"""Set-ups: exactly the ruleset's army on the side's own four rows, and a sentence that says what is wrong otherwise."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import random_rows

from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.rules.setup import IllegalSetupError, check_setup

FULL = ["FB22222222", "BB33333444", "BB45555666", "BS6777889M"]
seeds = st.integers(0, 2**32 - 1)


def _refusal(name: str, rows: list[str]) -> str:
    with pytest.raises(IllegalSetupError) as caught:
        check_setup(load_ruleset(name), rows)
    return str(caught.value)


# --- illegal --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "came"),
    [
        ([], "0 rows"),
        (FULL[:3], "3 rows"),
        ([*FULL, ".........."], "5 rows"),
        ([*FULL[:3], FULL[3][:9]], "9 in row 4"),
        ([*FULL[:3], FULL[3] + "."], "11 in row 4"),
        (["".join(FULL)], "1 row"),
        ([FULL[0] + FULL[1], "", FULL[2], FULL[3]], "20 in row 1"),
    ],
    ids=["none", "three rows", "five rows", "nine squares", "eleven squares", "one long row", "the same in other rows"],
)
def test_another_shape_than_four_rows_of_ten_is_refused_and_the_shape_named(rows: list[str], came: str) -> None:
    assert _refusal("isf", rows) == f"expected 4 rows of 10 squares, got {came}"


@pytest.mark.parametrize("letter", ["I", "m", "0", "1", "x", " ", "?", "é"])
def test_a_letter_that_is_no_piece_of_the_army_is_refused_and_named(letter: str) -> None:
    assert _refusal("isf", [*FULL[:3], FULL[3][:9] + letter]) == f"the army of isf has no piece {letter!r}"


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("isf", [*FULL[:3], FULL[3].replace("M", "9")], "1 x 9 (got 2), 1 x M (got 0)"),
        ("isf", [FULL[0][:9] + ".", *FULL[1:]], "8 x 2 (got 7)"),
        ("barrage", ["FB.....M..", "..........", "....S....3", "2...9M...2"], "1 x M (got 2)"),
    ],
    ids=["one for another", "a hole", "one too many"],
)
def test_another_army_is_refused_with_the_counts(name: str, rows: list[str], words: str) -> None:
    assert _refusal(name, rows) == f"expected the army of {name}: {words}"


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(["isf", "barrage", "duel"]),
    seed=seeds,
    place=st.integers(0, 39),
    letter=st.sampled_from("FBS23456789MI."),
)
def test_changing_any_one_square_makes_a_set_up_illegal(name: str, seed: int, place: int, letter: str) -> None:
    ruleset = load_ruleset(name)
    squares = list("".join(random_rows(ruleset, Random(seed))))
    same = squares[place] == letter
    squares[place] = letter
    text = "".join(squares)
    rows = [text[first : first + 10] for first in range(0, 40, 10)]
    if same:
        check_setup(ruleset, rows)
    else:
        with pytest.raises(IllegalSetupError, match=f"army of {name}"):
            check_setup(ruleset, rows)


@pytest.mark.parametrize("wrong", [0, 1], ids=["red", "blue"])
def test_a_game_does_not_begin_from_an_illegal_set_up_of_either_side(wrong: int) -> None:
    setups = [FULL, FULL]
    setups[wrong] = FULL[:3]
    with pytest.raises(
        IllegalSetupError, match=f"^{('red', 'blue')[wrong]}: expected 4 rows of 10 squares, got 3 rows"
    ):
        EngineGame(load_ruleset("isf"), *setups)
