"""Help with setting up: presets that are legal everywhere, random set-ups by seed, and what is still missing."""

import pytest

from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.setup import check_setup
from arena.stratego.setups import check_rows, presets, random_rows, spread
from protocol.notation import EMPTY

NOTHING = ("..........",) * 4


@pytest.mark.parametrize("name", ruleset_names())
def test_every_ruleset_has_presets_and_all_of_them_are_legal(name: str) -> None:
    ruleset = load_ruleset(name)
    found = presets(ruleset)
    assert found
    assert len({preset.name for preset in found}) == len(found)
    for preset in found:
        check_setup(ruleset, preset.rows)


def test_the_original_army_has_several_presets_that_differ() -> None:
    found = presets(load_ruleset("isf"))
    assert len({preset.rows for preset in found}) >= 4


def test_an_army_with_one_other_piece_gets_the_presets_of_the_original() -> None:
    ruleset = load_ruleset("jumbo-81320/infiltrator")
    assert [preset.name for preset in presets(ruleset)] == [preset.name for preset in presets(load_ruleset("isf"))]
    assert all("I" in "".join(preset.rows) for preset in presets(ruleset))


@pytest.mark.parametrize("name", ruleset_names())
def test_an_army_without_presets_of_its_own_is_spread_legally(name: str) -> None:
    ruleset = load_ruleset(name)
    check_setup(ruleset, spread(ruleset))


@pytest.mark.parametrize("name", ruleset_names())
def test_a_random_set_up_is_legal_and_follows_from_the_seed(name: str) -> None:
    ruleset = load_ruleset(name)
    for seed in range(5):
        rows = random_rows(ruleset, seed)
        check_setup(ruleset, rows)
        assert rows == random_rows(ruleset, seed)
    assert random_rows(ruleset, 1) != random_rows(ruleset, 2)


def test_a_set_up_under_way_is_told_what_it_lacks() -> None:
    check = check_rows(load_ruleset("duel"), ("FBB.......", *NOTHING[1:]))
    assert not check.is_legal
    assert check.missing == (("S", 1), ("2", 2), ("3", 2), ("9", 1), ("M", 1))
    assert check.problems == ()


def test_a_set_up_with_too_much_is_told_so_in_words() -> None:
    check = check_rows(load_ruleset("duel"), ("FFB4......", *NOTHING[1:]))
    assert not check.is_legal
    assert check.problems == (
        "2 flags, and the army of duel has 1",
        "the army of duel has no piece '4'",
    )


def test_rows_of_another_shape_are_a_problem_and_no_error() -> None:
    shapes = {(): "0 rows", ("FB",) * 4: "2 in row 1", ("..........",) * 5: "5 rows"}
    for rows, came in shapes.items():
        check = check_rows(load_ruleset("duel"), rows)
        assert not check.is_legal
        assert check.problems == (f"expected 4 rows of 10 squares, got {came}",)


def test_a_whole_set_up_lacks_nothing() -> None:
    ruleset = load_ruleset("duel")
    check = check_rows(ruleset, random_rows(ruleset, 7))
    assert (check.is_legal, check.missing, check.problems) == (True, (), ())
    assert EMPTY in "".join(random_rows(ruleset, 7))
