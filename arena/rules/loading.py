"""From a name or a file to a ruleset.

The rulesets that come with the arena are TOML files in `arena/rules/data`, in folders where a box held several games
(`vintage/barrage`). `--rules vintage/barrage+silent-defence+rescue` is a ruleset and the switches that are applied to
it; switches are data too, in `switches.toml`. A host's own file (`./mine.toml`) has the same form and may begin with
`extends = "vintage/original"`.

A name or a key that is not known is an error, with the nearest known ones suggested: a misspelt rule that silently fell
back to a default would spoil a league without anyone noticing.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from arena.errors import suggest
from arena.hostfile import FileError, parse_toml, read_toml
from arena.printable import printable, shown
from arena.rules.ruleset import CHOICES, MAY_BE_NONE, NUMBERS, RULE_KEYS, SWITCHES, Ruleset, RulesetError, army_text
from protocol.notation import RANK_BY_LETTER, Rank

DEFAULT_RULESET = "isf"
SUFFIX = ".toml"
SWITCH_FILE = "switches" + SUFFIX
NAME_SHOWN = 60
LARGEST_NUMBER = 1_000_000
"""No rule needs more, and bots need not be ready for more."""
TOP_KEYS = ("extends", "title", "source", "army", "rules", "notes")
SWITCH_KEYS = ("title", "source", "army", "rules", "reading")
IN_RULES = tuple(key for key in RULE_KEYS if key != "army")


def ruleset_names() -> list[str]:
    """The names of the rulesets that come with the arena, sorted."""
    return sorted(_names(_folder(), ""))


def _names(folder: Traversable, prefix: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _names(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX) and entry.name != SWITCH_FILE:
            yield prefix + entry.name.removesuffix(SUFFIX)


def _folder() -> Traversable:
    return resources.files("arena.rules") / "data"


def load_ruleset(text: str = DEFAULT_RULESET) -> Ruleset:
    """The ruleset written as `NAME[+SWITCH...]` or `FILE.toml[+SWITCH...]`. Raises `RulesetError`."""
    name, *switches = text.split("+")
    ruleset = _load_file(Path(name)) if name.endswith(SUFFIX) else _load_shipped(name)
    set_by: dict[str, str] = {}
    for switch in switches:
        ruleset = _apply(ruleset, switch, set_by)
    return ruleset


def _load_shipped(name: str) -> Ruleset:
    names = ruleset_names()
    if name not in names:
        raise RulesetError(f"unknown ruleset {shown(name)}; {suggest(name, names)}")
    text = _folder().joinpath(*(name + SUFFIX).split("/")).read_text(encoding="utf-8")
    return parse_ruleset(name, text, name + SUFFIX)


def _load_file(path: Path) -> Ruleset:
    try:
        values = read_toml(path)
    except FileError as error:
        raise RulesetError(str(error)) from None
    name = path.name.removesuffix(SUFFIX)
    if not name or not all(character.isascii() and (character.isalnum() or character in "-_.") for character in name):
        raise RulesetError(f"{path}: expected a name of letters, digits, '-', '_' and '.', since bots are told it")
    return _ruleset(name, values, str(path))


def parse_ruleset(name: str, text: str, where: str) -> Ruleset:
    """A ruleset from the text of a TOML file; `where` names the file in errors. Raises `RulesetError`."""
    return _ruleset(name, _toml(text, where), where)


def _ruleset(name: str, content: Mapping[str, Any], where: str) -> Ruleset:
    table = _Table(content, where)
    table.only(TOP_KEYS)
    values: dict[str, Any] = {}
    if "extends" in table:
        base = _load_shipped(table.text("extends"))
        values = {field.name: getattr(base, field.name) for field in fields(base)}
    values |= {"name": name, "title": table.text("title"), "source": table.text("source")}
    if "army" in table or not values.get("army"):
        values["army"] = _army(table.table("army"))
    rules = table.table("rules") if "rules" in table else _Table({}, where)
    values |= _rules(rules)
    notes = table.table("notes") if "notes" in table else _Table({}, where)
    notes.only(RULE_KEYS)
    values["notes"] = _merged(values.get("notes", ()), {key: notes.text(key) for key in notes})
    try:
        return Ruleset(**values)
    except RulesetError as error:
        raise RulesetError(f"{where}: {str(error).removeprefix(name + ': ')}") from None


def _toml(text: str, where: str) -> dict[str, Any]:
    try:
        return parse_toml(text.encode(), where)
    except FileError as error:
        raise RulesetError(str(error)) from None


def _merged(old: Iterable[tuple[str, str]], new: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(({**dict(old), **new}).items())


def _army(table: "_Table") -> tuple[tuple[Rank, int], ...]:
    table.only(RANK_BY_LETTER)
    counts = [(rank, table.number(letter, 0)) for letter, rank in RANK_BY_LETTER.items() if letter in table]
    return tuple((rank, count) for rank, count in counts if count)


def _rules(table: "_Table") -> dict[str, Any]:
    """The values of a `[rules]` table: only those that stand in it."""
    table.only(IN_RULES)
    values: dict[str, Any] = {}
    for key in table:
        if key in CHOICES:
            values[key] = table.choice(key, CHOICES[key])
        elif key in SWITCHES:
            values[key] = table.truth(key)
        elif key in MAY_BE_NONE:
            values[key] = table.number_or_none(key, NUMBERS[key])
        else:
            values[key] = table.number(key, NUMBERS[key])
    return values


# --- switches -----------------------------------------------------------------------------------------------------


def switch_names() -> list[str]:
    """The names of the switches that combine with rulesets, in the order of their file."""
    return list(_switches())


def switch_title(name: str) -> str:
    """What a switch does, in words, and where it comes from."""
    table = _switches()[name]
    return f"{table['title']} ({table['source']})"


def _switches() -> dict[str, Any]:
    return _toml((_folder() / SWITCH_FILE).read_text(encoding="utf-8"), SWITCH_FILE)


def _apply(ruleset: Ruleset, name: str, set_by: dict[str, str]) -> Ruleset:
    """The ruleset with a switch thrown. `set_by` remembers which switch set which rule."""
    switches = _switches()
    if name not in switches:
        raise RulesetError(f"unknown switch +{printable(name, NAME_SHOWN)}; {suggest(name, switches)}")
    table = _Table(switches[name], f"{SWITCH_FILE}: [{name}]")
    table.only(SWITCH_KEYS)
    if "army" in table:
        wanted = _load_shipped(table.text("army")).army
        if ruleset.army != wanted:
            raise RulesetError(
                f"+{name} is a rule for the army {army_text(wanted)}; {ruleset.name} has {army_text(ruleset.army)}"
            )
    values = _rules(table.table("rules"))
    for key in values:
        if key in set_by:
            both = f"+{name} twice" if set_by[key] == name else f"+{set_by[key]} and +{name}"
            raise RulesetError(f"{both}: both decide {key.replace('_', ' ')}, and only one can")
        set_by[key] = name
    source = f"+{name}: {table.text('source')}"
    if "reading" in table:
        source += f". Reading: {table.text('reading')}"
    notes = _merged(ruleset.notes, dict.fromkeys(values, source))
    return replace(ruleset, name=f"{ruleset.name}+{name}", notes=notes, **values)


# --- reading TOML -------------------------------------------------------------------------------------------------


class _Table:
    """A TOML table whose values are asked for by type, with errors that name file, key, and what was expected."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = values
        self.where = where

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def only(self, known: Iterable[str]) -> None:
        """Raise for the first key that is not known."""
        known = list(known)
        for key in self._values:
            if key not in known:
                raise RulesetError(f"{self.where}: unknown key {shown(key)}; {suggest(key, known)}")

    def _get(self, key: str, expected: str) -> Any:
        if key not in self._values:
            raise RulesetError(f"{self.where}: the key {key!r} is missing; expected {expected}")
        return self._values[key]

    def _wrong(self, key: str, expected: str) -> RulesetError:
        return RulesetError(f"{self.where}: {key}: expected {expected}, got {shown(self._values[key])}")

    def table(self, key: str) -> "_Table":
        value = self._get(key, "a table")
        if not isinstance(value, dict):
            raise self._wrong(key, "a table")
        return _Table(value, f"{self.where}: [{key}]")

    def text(self, key: str) -> str:
        value = self._get(key, "a text")
        if not isinstance(value, str) or not value:
            raise self._wrong(key, "a text")
        return printable(value, lines=True)

    def choice(self, key: str, known: type[enum.Enum]) -> enum.Enum:
        expected = "one of " + ", ".join(f'"{choice.value}"' for choice in known)
        try:
            return known(self._get(key, expected))
        except ValueError:
            raise self._wrong(key, expected) from None

    def truth(self, key: str) -> bool:
        value = self._get(key, "true or false")
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def number_or_none(self, key: str, least: int) -> int | None:
        expected = f'a whole number from {least} up, or "none"'
        return None if self._get(key, expected) == "none" else self.number(key, least, expected)

    def number(self, key: str, least: int, expected: str = "") -> int:
        expected = expected or f"a whole number from {least} up"
        value = self._get(key, expected)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._wrong(key, expected)
        if value > LARGEST_NUMBER:
            raise self._wrong(key, f"a whole number up to {LARGEST_NUMBER}")
        return int(value)
