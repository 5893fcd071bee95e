"""`docs/searching.md` is complete: all that a bot may use of the library stands there, and nothing else does."""

import re
from pathlib import Path

import pytest
from viewed_games import random_table

import arena.search
from arena.search import Knowledge
from arena.stratego.rules.rulesets import load_ruleset

PAGE = (Path(__file__).parents[3] / "docs" / "searching.md").read_text(encoding="ascii")


def listed(name: str) -> set[str]:
    """The names at the beginnings of the rows of a class's table, without brackets."""
    section = PAGE.partition(f"\n| attribute of `{name}` |")[2].partition("\n\n")[0]
    cells = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `")]
    return {found for cell in cells for found in re.findall(r"`(\w+)[^`]*`", cell)}


@pytest.mark.parametrize("name", ["Knowledge", "EnemyPiece", "Armies", "Position"])
def test_every_attribute_has_a_row_and_every_row_is_one(name: str) -> None:
    knowledge = Knowledge(random_table(load_ruleset("duel"), 1).view)
    armies = knowledge.armies
    things = {
        "Knowledge": knowledge,
        "EnemyPiece": knowledge.hidden[0],
        "Armies": armies,
        "Position": knowledge.position(armies.sample(knowledge.view.random)),
    }
    assert listed(name) == {attribute for attribute in dir(things[name]) if not attribute.startswith("_")}


def test_every_name_that_the_library_gives_is_told_of() -> None:
    assert [name for name in arena.search.__all__ if not re.search(rf"\b{name}\b", PAGE)] == []
