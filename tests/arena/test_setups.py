"""Help with setting up: presets that are legal everywhere, and random set-ups by seed."""

import pytest

from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.setup import check_setup
from arena.stratego.setups import presets, random_rows


@pytest.mark.parametrize("name", ruleset_names())
def test_every_ruleset_has_presets_and_all_of_them_are_legal(name: str) -> None:
    ruleset = load_ruleset(name)
    found = presets(ruleset)
    assert found
    assert len({preset.name for preset in found}) == len(found)
    for preset in found:
        check_setup(ruleset, preset.rows)


@pytest.mark.parametrize("name", ruleset_names())
def test_a_random_set_up_is_legal_and_follows_from_the_seed(name: str) -> None:
    ruleset = load_ruleset(name)
    for seed in range(5):
        rows = random_rows(ruleset, seed)
        check_setup(ruleset, rows)
        assert rows == random_rows(ruleset, seed)
    assert random_rows(ruleset, 1) != random_rows(ruleset, 2)
