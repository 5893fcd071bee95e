"""The format of the TOML files of rulesets and of the switches.

The types of the rules follow from `Ruleset`: a choice is one of its words, a number has its bounds, "none" is no limit.
Rules belong in `[rules]`; short files may have them at the top level. Both spellings of a name are read, `max-plies`
and `max_plies`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from arena.errors import suggest
from arena.stratego.rules.ruleset import CHOICES, MAY_BE_NONE, NUMBERS, RULE_KEYS, SWITCHES
from arena.system.printable import printable, shown
from arena.system.schema import Text, structured
from arena.system.user_files import FileError
from protocol.notation import ARMY_RULE, Rank

LARGEST_NUMBER = 1_000_000
"""The largest value of a rule, so that bots know what to be ready for."""
NO_LIMIT = "none"
IN_RULES = tuple(key for key in RULE_KEYS if key != ARMY_RULE)


def _rule_type(key: str) -> Any:
    if key in CHOICES:
        return CHOICES[key]
    if key in SWITCHES:
        return bool
    number = Annotated[int, Meta(ge=NUMBERS[key], le=LARGEST_NUMBER)]
    return number | Literal["none"] if key in MAY_BE_NONE else number


def _table(name: str, fields: Mapping[str, Any], rename: Mapping[str, str] | None = None) -> type[msgspec.Struct]:
    optional = [(field, kind | None, None) for field, kind in fields.items()]
    return msgspec.defstruct(name, optional, rename=rename, forbid_unknown_fields=True)


_Rules = _table("_Rules", {key: _rule_type(key) for key in IN_RULES})
_Count = Annotated[int, Meta(ge=0, le=LARGEST_NUMBER)]
_Army = _table("_Army", {rank.name: _Count for rank in Rank}, {rank.name: rank.letter for rank in Rank})
_Notes = _table("_Notes", dict.fromkeys(RULE_KEYS, Text))


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """A ruleset's file without the rules at its top; the types above are for its tables."""

    extends: Text | None = None
    title: Text | None = None
    source: Text | None = None
    army: dict[str, Any] | None = None
    rules: dict[str, Any] = {}
    notes: dict[str, Any] = {}


class Switch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A switch and the rules that it sets; `army` is the ruleset with the army it is for, if any."""

    title: Text
    source: Text
    rules: dict[str, Any]
    army: Text | None = None
    reading: Text = ""


TOP_KEYS = tuple(_File.__struct_fields__)
"""The keys at the top of a ruleset's file, except rules."""
NEEDED = ("title", "source")
"""Keys that a file without `extends` must have, apart from the army."""


@dataclass(frozen=True)
class RulesetFile:
    """The validated content of a ruleset's file: only the keys that it has.

    `words` are `title` and `source`, `rules` the values of `Ruleset` by key, `notes` those of some rules.
    """

    extends: str | None
    words: Mapping[str, str]
    rules: Mapping[str, Any]
    notes: Mapping[str, str]


def read_ruleset_file(table: Mapping[str, Any], where: str) -> RulesetFile:
    """Parse the file of a ruleset. Raises `FileError` with the file, the key, the expected and the actual value."""
    table = _spelled(table, IN_RULES, where)
    at_top = {key: value for key, value in table.items() if key in IN_RULES}
    rest = {key: value for key, value in table.items() if key not in IN_RULES}
    for key in rest:
        if key not in TOP_KEYS:
            raise FileError(f"{where}: unknown key {shown(key)}; {suggest(key, TOP_KEYS, IN_RULES)}")
    file = structured(rest, _File, where)
    rules = _rules(file.rules, f"{where}: [rules]")
    for key in at_top:
        if key in rules:
            raise FileError(f"{where}: {key} is in [rules] and at the top; expected one of them")
    rules |= _rules(at_top, where)
    if file.army is not None:
        rules[ARMY_RULE] = _army(file.army, f"{where}: [army]")
    words = {key: value for key, value in (("title", file.title), ("source", file.source)) if value is not None}
    if file.extends is None:
        _refuse_missing([key for key in (*NEEDED, ARMY_RULE) if key not in words and key not in rules], where)
    notes = _given(_spelled(file.notes, RULE_KEYS, f"{where}: [notes]"), _Notes, f"{where}: [notes]")
    return RulesetFile(file.extends, _printable(words), rules, _printable(notes))


def _refuse_missing(keys: list[str], where: str) -> None:
    if keys:
        which = f"the key {keys[0]!r} is" if len(keys) == 1 else f"the keys {', '.join(map(repr, keys))} are"
        raise FileError(f'{where}: {which} missing; only a file that extends a ruleset (extends = "isf") needs none')


def _printable(strings: Mapping[str, str]) -> dict[str, str]:
    return {key: printable(text, lines=True) for key, text in strings.items()}


def read_switches(table: Mapping[str, Any], where: str) -> dict[str, Switch]:
    return {
        name: msgspec.structs.replace(switch, rules=_rules(switch.rules, f"{where}: [{name}]: [rules]"))
        for name, switch in structured(table, dict[str, Switch], where).items()
    }


def _spelled(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> dict[str, Any]:
    """Return the table with these keys as `Ruleset` spells them. Raises `FileError` for a key in both spellings."""
    spelled: dict[str, Any] = {}
    for key, value in table.items():
        other = key.replace("-", "_")
        name = other if other in keys else key
        if name in spelled:
            raise FileError(f"{where}: {name} and {name.replace('_', '-')} are the same rule; expected one of them")
        spelled[name] = value
    return spelled


def _rules(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    given = _given(_spelled(table, IN_RULES, where), _Rules, where)
    return {key: None if value == NO_LIMIT else value for key, value in given.items()}


def _given(table: Mapping[str, Any], kind: type[msgspec.Struct], where: str) -> dict[str, Any]:
    values = msgspec.structs.asdict(structured(table, kind, where))
    return {key: value for key, value in values.items() if value is not None}


def _army(table: Mapping[str, Any], where: str) -> tuple[tuple[Rank, int], ...]:
    counts = _given(table, _Army, where)
    return tuple((rank, counts[rank.name]) for rank in Rank if counts.get(rank.name))
