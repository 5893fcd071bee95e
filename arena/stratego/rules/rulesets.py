"""Load rulesets by name or from a file.

The rulesets of the arena are TOML files in `arena/stratego/rules/data`, in folders where a box held several games
(`vintage/barrage`). `--rules vintage/barrage+silent-defence+rescue` is a ruleset with switches applied to it; switches
are in `switches.toml`. A host's own file (`./mine.toml`) has the same form and may begin with `extends =
"vintage/original"`.

An unknown name or key is an error, with suggestions: a misspelt rule must not silently have its default.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from arena.errors import UsageError, suggest
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.ruleset_file import RulesetFile, Switch, read_ruleset_file, read_switches
from arena.system.printable import printable, shown
from arena.system.user_files import FileError, parse_toml, read_toml
from protocol.notation import army_text

DEFAULT_RULESET = "isf"
SUFFIX = ".toml"
SWITCH_FILE = "switches" + SUFFIX
NAME_SHOWN = 60
_NAME = re.compile(r"[\w./+-]+", re.ASCII)


def ruleset_names() -> list[str]:
    return list(_shipped_names())


@cache
def _shipped_names() -> tuple[str, ...]:
    return tuple(sorted(_names(_folder(), "")))


def _names(folder: Traversable, prefix: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _names(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX) and entry.name != SWITCH_FILE:
            yield prefix + entry.name.removesuffix(SUFFIX)


def _folder() -> Traversable:
    return resources.files("arena.stratego.rules") / "data"


@contextmanager
def _ruleset_errors() -> Iterator[None]:
    try:
        yield
    except FileError as error:
        raise RulesetError(str(error)) from None


def as_ruleset(value: object) -> Ruleset:
    """Return a ruleset, or the one of a name. Raises `UsageError` and `RulesetError`."""
    if isinstance(value, str):
        return load_ruleset(value)
    if not isinstance(value, Ruleset):
        raise UsageError(f"rules: expected a Ruleset or the name of one, such as {DEFAULT_RULESET!r}, got {value!r}")
    if not _NAME.fullmatch(value.name):
        raise UsageError(f"rules: expected a name of letters, digits and '-_./+', got {value.name!r}")
    return value


@_ruleset_errors()
def load_ruleset(text: str = DEFAULT_RULESET) -> Ruleset:
    """Load the ruleset written as `NAME[+SWITCH...]` or `FILE.toml[+SWITCH...]`. Raises `RulesetError`.

    A path may contain a plus: the file is the longest beginning of the text that ends with `.toml`; no switch does.
    """
    path, suffix, rest = text.rpartition(SUFFIX)
    if suffix and rest[:1] in ("", "+"):
        name, switches = path + suffix, rest.split("+")[1:]
    else:
        name, *switches = text.split("+")
    ruleset = _load_file(Path(name)) if name.endswith(SUFFIX) else _load_shipped(name)
    set_by: dict[str, str] = {}
    for switch in switches:
        ruleset = _apply(ruleset, switch, set_by)
    return ruleset


@cache
def _load_shipped(name: str) -> Ruleset:
    names = _shipped_names()
    if name not in names:
        inside = [each for each in names if each.startswith(f"{name}/")]
        meant = f"did you mean {' or '.join(inside)}?" if inside else suggest(name, names)
        raise RulesetError(f"unknown ruleset {shown(name)}; {meant}")
    text = _folder().joinpath(*(name + SUFFIX).split("/")).read_text(encoding="utf-8")
    return parse_ruleset(name, text, name + SUFFIX)


def _load_file(path: Path) -> Ruleset:
    where = printable(str(path))
    table = read_toml(path)
    name = path.name.removesuffix(SUFFIX)
    if not name or not all(character.isascii() and (character.isalnum() or character in "-_.") for character in name):
        raise RulesetError(f"{where}: expected a name of letters, digits, '-', '_' and '.', since bots receive it")
    return _ruleset(name, read_ruleset_file(table, where), where)


@_ruleset_errors()
def parse_ruleset(name: str, text: str, where: str) -> Ruleset:
    return _ruleset(name, read_ruleset_file(parse_toml(text.encode(), where), where), where)


def _ruleset(name: str, file: RulesetFile, where: str) -> Ruleset:
    try:
        base = None if file.extends is None else _load_shipped(file.extends)
    except RulesetError as error:
        raise RulesetError(f"{where}: extends: {error}") from None
    values: dict[str, Any] = {}
    if base:
        values = {field.name: getattr(base, field.name) for field in fields(base)}
        values["title"] = f"{base.title}, as {name}{SUFFIX} changes it"
    values |= {"name": name, **file.words, **file.rules}
    # A note of the base explains the value of a rule there; it is dropped where the file changes that value.
    kept = {key: note for key, note in base.notes if getattr(base, key) == values[key]} if base else {}
    values["notes"] = tuple({**kept, **file.notes}.items())
    try:
        return Ruleset(**values)
    except RulesetError as error:
        raise RulesetError(f"{where}: {str(error).removeprefix(name + ': ')}") from None


# --- switches -----------------------------------------------------------------------------------------------------


def switch_names() -> list[str]:
    """Return the names of the switches that combine with rulesets, in the order of their file."""
    return list(_switches())


def switch_title(name: str) -> str:
    switch = _switches()[name]
    return f"{switch.title} ({switch.source})"


@cache
def _switches() -> Mapping[str, Switch]:
    text = (_folder() / SWITCH_FILE).read_text(encoding="utf-8")
    return read_switches(parse_toml(text.encode(), SWITCH_FILE), SWITCH_FILE)


def _apply(ruleset: Ruleset, name: str, set_by: dict[str, str]) -> Ruleset:
    switches = _switches()
    if name not in switches:
        raise RulesetError(f"unknown switch +{printable(name, NAME_SHOWN)}; {suggest(name, switches)}")
    switch = switches[name]
    if switch.army:
        wanted = _load_shipped(switch.army).army
        if ruleset.army != wanted:
            raise RulesetError(
                f"+{name} is a rule for the army {army_text(wanted)}; {ruleset.name} has {army_text(ruleset.army)}"
            )
    for key in switch.rules:
        if key in set_by:
            both = f"+{name} twice" if set_by[key] == name else f"+{set_by[key]} and +{name}"
            raise RulesetError(f"{both}: both decide {key.replace('_', ' ')}, and only one can")
        set_by[key] = name
    source = f"+{name}: {switch.source}"
    if switch.reading:
        source += f". Reading: {switch.reading}"
    notes = {**dict(ruleset.notes), **dict.fromkeys(switch.rules, source)}
    return replace(ruleset, name=f"{ruleset.name}+{name}", notes=tuple(notes.items()), **switch.rules)
