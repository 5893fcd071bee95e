"""A ruleset read back from its lines, as `Ruleset.lines` wrote them for bots, records and stores."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from arena.stratego.rules.ruleset import CHOICES, MAY_BE_NONE, RULE_KEYS, SWITCHES, Ruleset, RulesetError, value_text
from protocol.notation import ARMY_RULE, read_army


def ruleset_from_lines(name: str, lines: Iterable[tuple[str, str]]) -> Ruleset:
    """Parse the lines of a ruleset in a record, as `Ruleset.lines` writes them. Raises `RulesetError`.

    A rule without a line has its default: the lines are older than the rule. Title, source and notes are not in the
    lines.
    """
    return _ruleset(name, tuple(lines))


@lru_cache(maxsize=32)
def _ruleset(name: str, lines: tuple[tuple[str, str], ...]) -> Ruleset:
    """Cached, as all games of a league have the same lines, and parsing takes a third of checking a short game."""
    values: dict[str, Any] = {}
    unknown = []
    for line, text in lines:
        key = line.replace("-", "_")
        if key not in RULE_KEYS or "_" in line:
            unknown.append(line)
        elif key in values:
            raise RulesetError(f"the rules of {name!r} cannot be read: there are two lines for {line}")
        else:
            values[key] = _read(name, line, text)
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise RulesetError(
            f"the rules of {name!r} cannot be read: this version of arena does not know {names}; they were written by "
            "a newer version"
        )
    if ARMY_RULE not in values:
        raise RulesetError(f"the rules of {name!r} cannot be read: there is no line for {ARMY_RULE}")
    return Ruleset(name=name, title=name, source="", **values)


def _read(name: str, line: str, text: str) -> Any:
    try:
        value = _value(line.replace("-", "_"), text)
        is_known = value_text(value) == text  # '007', ' 7' and '\u0667' are numbers to Python, and to no rule
    except (KeyError, ValueError):
        is_known = False
    if not is_known:
        raise RulesetError(
            f"the rules of {name!r} cannot be read: this version of arena does not know {line} {text!r}; they are "
            "damaged, or were written by a newer version"
        )
    return value


def _value(key: str, text: str) -> Any:
    if key in CHOICES:
        return CHOICES[key](text)
    if key == ARMY_RULE:
        return read_army(text)
    if key in SWITCHES:
        return {"yes": True, "no": False}[text]
    return None if text == "none" and key in MAY_BE_NONE else int(text)
