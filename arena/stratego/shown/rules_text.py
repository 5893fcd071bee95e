"""The rules in force in plain English, one sentence a rule, complete enough to play by.

A sentence (`arena.stratego.shown.sentences`) that describes a key of `Ruleset` has the key, whether its value differs
from the common one, and source and reading from the ruleset's notes. Sentences without a key are common to all
booklets.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from arena.game import Variant
from arena.stratego.rules.ruleset import DEFAULTS, RULE_KEYS, Ruleset, RulesetError, ruleset_from_lines
from arena.stratego.rules.rulesets import DEFAULT_RULESET, load_ruleset, ruleset_names, switch_names, switch_title
from arena.stratego.shown.piece_names import DEFAULT_NAMES, STRONGEST_FIRST, Names, Numbering, names_of
from arena.stratego.shown.sentences import RulesPart, capitalised, sentences

WIDTH = 80
COMMON_SOURCE = "common to the booklets"
NO_SOURCE = "no source given"

NOT_ALL_COMBINE = (
    "Not all go together. Of two that set the same rule only one can be given; some contradict each other, and some "
    "are for one army or need a piece in it. What does not go together is refused, with the reason."
)
_READING = re.compile(r"\s*\bReadings?: ")


class RuleLine(msgspec.Struct, frozen=True):
    """One rule in a sentence or a few.

    `rule` is its name in records, None for a rule that no ruleset changes; it `differs` from the common rules;
    `reading` is how the arena reads a silent or unclear source.
    """

    part: RulesPart
    rule: str | None
    text: str
    differs: bool = False
    source: str = COMMON_SOURCE
    reading: str = ""


class ArmyEntry(msgspec.Struct, frozen=True):
    """The number of pieces of a rank; `letter` is used everywhere, `number` is shown on the piece."""

    letter: str
    name: str
    number: str
    count: int


def differing_keys(ruleset: Ruleset) -> tuple[str, ...]:
    """Return the rules that differ from what the booklets have in common: the defaults, and the usual army."""
    common = DEFAULTS | {"army": load_ruleset(DEFAULT_RULESET).army}
    return tuple(key for key in RULE_KEYS if getattr(ruleset, key) != common[key])


def army_entries(ruleset: Ruleset, names: Names = DEFAULT_NAMES) -> tuple[ArmyEntry, ...]:
    counts = dict(ruleset.army)
    return tuple(
        ArmyEntry(rank.letter, names.name(rank), names.number(rank), counts[rank])
        for rank in STRONGEST_FIRST
        if rank in counts
    )


def rule_lines(ruleset: Ruleset, names: Names = DEFAULT_NAMES) -> tuple[RuleLine, ...]:
    """Return the rules in force as sentences, in the order of an explanation."""
    notes = dict(ruleset.notes)
    differing = differing_keys(ruleset)
    explained: set[str] = set()
    lines = []
    for part, key, sentence in sentences(ruleset, names):
        text, reading = split_note(sentence)
        differs = key in differing
        source = NO_SOURCE if differs else COMMON_SOURCE
        if key in notes:
            noted_source, noted_reading = split_note(notes[key])
            source = noted_source or ruleset.source or NO_SOURCE
            if key not in explained:
                reading = " ".join(filter(None, (noted_reading, reading)))
        line = RuleLine(part, key and key.replace("_", "-"), text, differs, source, reading)
        if key:
            explained.add(key)
        lines.append(line)
    return tuple(lines)


def split_note(note: str) -> tuple[str, str]:
    """Split a note into source and reading; either may be empty."""
    before, *readings = _READING.split(note, maxsplit=1)
    return before, capitalised(readings[0]).rstrip(".") + "." if readings else ""


def rules_values(ruleset: Ruleset, names: Names = DEFAULT_NAMES) -> dict[str, Any]:
    """Return the rules as values for JSON."""
    return {
        "name": ruleset.name,
        "title": ruleset.title,
        "source": ruleset.source,
        "army": army_entries(ruleset, names),
        "army_size": ruleset.army_size,
        "rules": rule_lines(ruleset, names),
        "values": dict(ruleset.lines()),
        "notes": {key.replace("_", "-"): text for key, text in ruleset.notes},
    }


def page_values(variant: Variant, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the page of the rules, with title and sources if they equal an included ruleset."""
    ruleset, names = ruleset_from_lines(variant.name, variant.rules), names_of(options)
    if variant.name.partition("+")[0] in ruleset_names():  # no path: a record may be anybody's
        with suppress(RulesetError):
            known = load_ruleset(variant.name)
            ruleset = known if known.lines() == ruleset.lines() else ruleset
    lines = rule_lines(ruleset, names)
    parts = [(part.value, [line for line in lines if line.part is part]) for part in RulesPart]
    source = f"; source: {ruleset.source.rstrip('.')}" if ruleset.source else ""
    return {
        "template": "ruleset.html",
        "title": f"Rules: {ruleset.title}",
        "source": f"Ruleset {ruleset.name}{source}.",
        "parts": [(part, found) for part, found in parts if found],
        "army": army_entries(ruleset, names),
    }


def list_values() -> dict[str, Any]:
    """Return all rulesets and switches as values for JSON."""
    rulesets = [
        {"name": one.name, "title": one.title, "source": one.source, "army_size": one.army_size} for one in _rulesets()
    ]
    switches = [{"name": name, "title": switch_title(name)} for name in switch_names()]
    return {"default": DEFAULT_RULESET, "rulesets": rulesets, "switches": switches}


def _rulesets() -> list[Ruleset]:
    return [load_ruleset(name) for name in ruleset_names()]


def list_page(columns: int = WIDTH) -> str:
    rulesets = _rulesets()
    width = max(len(entry.name) for entry in rulesets)
    lines = [*_wrap("Rulesets, with the pieces a side has (arena rules NAME prints one):", columns), ""]
    for entry in rulesets:
        default = " (default)" if entry.name == DEFAULT_RULESET else ""
        lead = f"  {entry.name:<{width}}  {entry.army_size:>2}  "
        lines += _wrap(entry.title + default, columns, lead, " " * len(lead))
    lines += ["", *_wrap("Switches, each of which changes a rule of a ruleset (NAME+SWITCH+SWITCH):", columns), ""]
    for name in switch_names():
        lines += [f"  {name}", *_wrap(switch_title(name), columns, " " * 6)]
    lines += ["", *_wrap(NOT_ALL_COMBINE, columns)]
    lines += ["", *_wrap("A ruleset of your own is a TOML file: arena rules ./mine.toml", columns), ""]
    return "\n".join(lines)


def rules_page(ruleset: Ruleset, names: Names = DEFAULT_NAMES, columns: int = WIDTH) -> str:
    lines = [*_wrap(ruleset.title, columns), *_wrap(f"ruleset {ruleset.name}; source: {ruleset.source}", columns), ""]
    lines += _wrap("* differs from what the booklets have in common; the source is below the rule.", columns)
    lines += _wrap("Reading: how this arena understands a source that is silent or unclear.", columns)
    rules = rule_lines(ruleset, names)
    for part in RulesPart:
        lines += ["", part.value]
        for line in rules:
            if line.part is part:
                lines += _rule_text(line, columns)
                if line.rule == "army":
                    lines += ["", *_army_text(ruleset, names, columns), ""]
    return "\n".join(lines) + "\n"


def _rule_text(line: RuleLine, columns: int) -> Iterable[str]:
    yield from _wrap(line.text, columns, "  * " if line.differs else "  - ", " " * 4)
    if line.source and line.source != COMMON_SOURCE:
        yield from _wrap(f"[{line.source}]", columns, " " * 6, " " * 7)
    if line.reading:
        yield from _wrap(f"[Reading: {line.reading}]", columns, " " * 6, " " * 7)


def _army_text(ruleset: Ruleset, names: Names, columns: int) -> Iterable[str]:
    entries = army_entries(ruleset, names)
    width = max(len(entry.name) for entry in entries)
    yield f"      {'piece':<{width}}  number  letter  pieces"
    for entry in entries:
        number = entry.number if entry.number.isdigit() else "-"
        yield f"      {entry.name:<{width}}  {number:>6}  {entry.letter:>6}  {entry.count:>6}"
    lower = names.numbering is Numbering.AMERICAN
    text = f"The strongest comes first; the {'lower' if lower else 'higher'} number is the stronger rank."
    yield from _wrap(text, columns, " " * 6)


def _wrap(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
