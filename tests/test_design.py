"""The names that the documentation gives to parts of the source are those that they have there."""

import ast
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
SHORT_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
CODE = re.compile(r"`([^`\n]+)`")


def sources() -> dict[str, str]:
    """The text of all modules by their names."""
    paths = [path for package in ("arena", "protocol") for path in (ROOT / package).rglob("*.py")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return {name: path.read_text() for name, path in zip(names, paths, strict=True)}


SOURCES = sources()
WORDS = frozenset(re.findall(r"\w+", " ".join(SOURCES.values())))
CLASSES = [
    (node.name, module)
    for module, text in SOURCES.items()
    for node in ast.parse(text).body
    if isinstance(node, ast.ClassDef)
]


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
            return has(importlib.import_module(module), parts[count:])
    return False


def has(where: object, parts: list[str]) -> bool:
    if not parts:
        return True
    name, *others = parts
    if not isinstance(where, ModuleType) and name in getattr(where, "__annotations__", {}):
        return not others
    return hasattr(where, name) and has(getattr(where, name), others)


def candidates(name: str) -> list[str]:
    """What a dotted name on the page about the design can stand for: it may begin with the last part of a module's
    name, or with a class."""
    first = name.partition(".")[0]
    modules = [f"{module.rpartition('.')[0]}.{name}" for module in SOURCES if module.endswith(f".{first}")]
    return [*modules, *(f"{module}.{name}" for class_name, module in CLASSES if class_name == first)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_whatever_a_page_names_in_full_is_in_the_source(page: Path) -> None:
    assert [name for name in names_in(page.read_text()) if not exists(name)] == []


def test_whatever_the_source_names_in_full_in_its_own_docstrings_and_comments_is_there() -> None:
    quoted = {module: " ".join(CODE.findall(text)) for module, text in SOURCES.items()}
    named = {(module, name) for module, text in quoted.items() for name in names_in(text)}
    assert len(named) > 100
    assert sorted((module, name) for module, name in named if not exists(name)) == []


def test_the_pages_do_name_parts_of_the_source_in_full() -> None:
    assert len(names_in(DESIGN.read_text())) > 30
    assert not exists("arena.nothing")
    assert not exists("arena.game.referee.Referee.nothing")


def test_every_short_name_of_the_design_is_in_the_source() -> None:
    """A dotted one is that of something in a module or class; any other is at least a word there."""
    missing = []
    for code in CODE.findall(DESIGN.read_text()):
        name = code.removesuffix("()").partition("(")[0]
        if not SHORT_NAME.fullmatch(name) or FULL_NAME.fullmatch(name) or name.rpartition(".")[2] in ENDINGS:
            continue
        known = candidates(name)
        if known and "." in name:
            is_there = any(exists(each) for each in known)
        else:
            is_there = all(part in WORDS for part in name.split("."))
        if not is_there:
            missing.append(name)
    assert missing == []
