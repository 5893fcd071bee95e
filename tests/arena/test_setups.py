"""Help with setting up: presets that are legal everywhere, random set-ups by seed, and what is still missing."""

import pytest

from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.setup import check_setup
from arena.stratego.setups import check_rows, presets, random_rows, spread

NOTHING = ("..........",) * 4


@pytest.mark.parametrize("name", ruleset_names())
def test_every_ruleset_has_presets_and_all_of_them_are_legal(name: str) -> None:
    ruleset = load_ruleset(name)
    found = presets(ruleset)
    assert found
    assert len({preset.name for preset in found}) == len(found)
    for preset in found:
        check_setup(ruleset, preset.rows)


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
