"""`docs/kit.md` is complete: all that a bot may use of the kit stands there, and nothing else does."""

import re
from pathlib import Path

import pytest

import protocol.bot
import protocol.game_bot
from protocol.actions import Parts
from protocol.bot import Bot, View
from protocol.game_bot import AnyBot, GameBot
from protocol.notation import Color
from protocol.view import Piece

PAGE = (Path(__file__).parents[2] / "docs" / "kit.md").read_text(encoding="ascii")


def public(thing: object) -> set[str]:
    """The names of a class or an object that are no secret."""
    return {name for name in dir(thing) if not name.startswith("_")}


def listed(title: str) -> set[str]:
    """The names at the beginnings of the rows of a section's tables, without brackets."""
    section = PAGE.partition(f"\n{title}\n")[2]
    section = re.split(r"^(?:## |A `|\| attribute of)", section, maxsplit=1, flags=re.MULTILINE)[0]
    cells = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`(\w+)[^`]*`", cell)}


TUPLE = public(())


@pytest.mark.parametrize(
    ("title", "thing"),
    [
        ("## Bot", Bot()),
        ("## View", View(Color.RED, "isf")),
        ("A `Piece` has", Piece(Color.RED, None)),
        ("| attribute of `Parts` | meaning, None where the action does not have it |", Parts()),
    ],
)
def test_every_attribute_has_a_row_and_every_row_is_one(title: str, thing: object) -> None:
    assert listed(title) == public(thing) - (TUPLE if isinstance(thing, tuple) else set())


def test_the_same_holds_for_bots_of_other_games() -> None:
    own = (public(GameBot) | set(GameBot.__annotations__)) - public(AnyBot)
    rows = re.findall(r"^\| (`.*?`) \|", PAGE.partition("| attribute of `GameBot` |")[2], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)", row)} == own


def test_every_name_that_the_kit_gives_is_told_of() -> None:
    names = [*protocol.bot.__all__, *protocol.game_bot.__all__]
    assert [name for name in names if not re.search(rf"\b{name}\b", PAGE)] == []
