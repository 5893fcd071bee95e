"""The names that the documentation gives to parts of the source are those that they have there."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DESIGN = ROOT / "docs" / "design.md"
ENDINGS = {"md", "py", "toml", "sqlite", "json", "svg", "txt"}
"""What comes after the dot of a file's name, and of no name in the source."""

FULL_NAME = re.compile(r"(?<![\w./-])(?:arena|protocol)(?:\.[A-Za-z_]\w*)+")
CODE = re.compile(r"`([^`\n]+)`")


def sources() -> dict[str, str]:
    """The text of all modules by their names."""
    paths = [path for package in ("arena", "protocol") for path in (ROOT / package).rglob("*.py")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return {name: path.read_text() for name, path in zip(names, paths, strict=True)}


SOURCES = sources()


def names_in(text: str) -> list[str]:
    """The full names of modules and of what is in them, as a text has them."""
    found = FULL_NAME.findall(text)
    return sorted({name for name in found if name.rpartition(".")[2] not in ENDINGS})


def exists(name: str) -> bool:
    """Whether there is a module of this full name, or something of this name in one: an attribute, or a field."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        if module in SOURCES:
            return count == len(parts) or has(importlib.import_module(module), parts[count:])
    return False


def has(where: object, parts: list[str]) -> bool:
    if not parts:
        return True
    name, *others = parts
    if not isinstance(where, ModuleType) and name in getattr(where, "__annotations__", {}):
        return not others
    return hasattr(where, name) and has(getattr(where, name), others)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_whatever_a_page_names_in_full_is_in_the_source(page: Path) -> None:
    assert [name for name in names_in(page.read_text()) if not exists(name)] == []


def test_whatever_the_source_names_in_full_in_its_own_docstrings_and_comments_is_there() -> None:
    quoted = {module: " ".join(CODE.findall(text)) for module, text in SOURCES.items()}
    named = {(module, name) for module, text in quoted.items() for name in names_in(text)}
    assert len(named) > 80
    assert sorted((module, name) for module, name in named if not exists(name)) == []


def test_the_check_of_names_finds_names_and_can_fail() -> None:
    assert "arena.game.referee" in names_in(DESIGN.read_text())
    assert not exists("arena.nothing")
    assert not exists("arena.game.referee.Referee.nothing")


def rooms() -> list[str]:
    """The folders of the source that hold modules."""
    packages = [path.parent for package in ("arena", "protocol") for path in (ROOT / package).rglob("__init__.py")]
    found = [".".join(path.relative_to(ROOT).parts) for path in packages]
    return sorted(name for name in found if name != "arena" and not name.startswith("arena.templates"))


@pytest.mark.parametrize("room", rooms())
def test_the_drawing_of_the_design_has_each_room(room: str) -> None:
    drawing = DESIGN.read_text().partition("```text\n")[2].partition("\n```")[0]
    assert room in re.findall(r"[\w.]+", drawing)


# --- decisions --------------------------------------------------------------------------------------------------------

DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


def test_decisions_are_numbered_without_gaps_and_listed_on_the_page_of_the_design() -> None:
    assert [path.name[:4] for path in DECISIONS] == [f"{number:04}" for number in range(1, len(DECISIONS) + 1)]
    assert re.findall(r"\(decisions/([\w-]+\.md)\)\n", DESIGN.read_text()) == [path.name for path in DECISIONS]


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_a_date_and_says_why_what_and_what_follows(path: Path) -> None:
    title, _, date, _, *text = path.read_text().splitlines()
    assert title.startswith(f"# {int(path.name[:4])}. ")
    assert re.match(r"\d{4}-\d{2}-\d{2}\b", date)
    starts = re.findall(r"^\*\*(\w+)\.\*\*", "\n".join(text), re.MULTILINE)
    assert starts == ["Context", "Decision", "Consequence"]
