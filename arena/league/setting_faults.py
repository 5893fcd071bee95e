"""Whether the settings of games are such as the arena writes: those of a store, and those in a line of an export.

A setting that is none holds no game to anything: a seed that is no number, a limit that nobody can read. Nor does one
that is not there: with the seed taken out of a store, its games would be those of any league.
"""

import re
from collections.abc import Iterator, Mapping

from arena.bots.limits import Limits, read_limits
from arena.bots.sandbox.levels import Level
from arena.errors import UsageError
from arena.game.time_control import UNLIMITED, parse_time
from arena.league.games import openings_in, other_times_in, rules_in
from arena.league.kept_format import WORDS as FORMAT_WORDS
from arena.league.kept_format import format_in
from arena.league.options import LARGEST_SEED
from arena.league.store import (
    CALIBRATION,
    HIDDEN,
    KEEP_BOTS,
    LIMITS_OF,
    NAMED,
    NO_OPENINGS,
    OPENINGS,
    OPPONENTS,
    OTHER_TIMES,
    PONDERING,
    RULES,
    SEED,
    SETTINGS_OF_GAMES,
    TIME,
    TIME_OF,
    Kept,
)
from arena.play.machine import read_reference
from arena.rules.ruleset import RulesetError
from arena.system.printable import shown

CHOICES = ("yes", "no")
CHOSEN = (PONDERING, KEEP_BOTS)
"""The settings that are one of two words."""
_SEED = re.compile(r"0|[1-9][0-9]{0,19}")
KNOWN = frozenset({*SETTINGS_OF_GAMES, SEED, *CHOSEN, OPENINGS, OPPONENTS, CALIBRATION})
"""The names of all settings but those that go on with the name of a bot."""
OF_BOTS = (LIMITS_OF, TIME_OF)
NEEDED = (*SETTINGS_OF_GAMES, SEED)
"""What every store says that holds games."""


def is_seed(text: str) -> bool:
    """Whether a league can have this seed."""
    return _SEED.fullmatch(text) is not None and int(text) <= LARGEST_SEED


def store_faults(settings: Mapping[str, str], kept: Kept, *, has_games: bool) -> Iterator[str]:
    """All for which these cannot be the settings of a store of this version, in words."""
    missing = [name for name in NEEDED if name not in settings] if has_games else []
    if missing:
        there = "there are no settings" if not settings else f"there is no {', no '.join(missing)}"
        yield f"{there}, and every arena that stores games says under which {', '.join(NEEDED)} they were played"
    for name in sorted(settings):
        if name not in KNOWN and not name.startswith(OF_BOTS):
            yield f"{shown(name)} is none that this version knows"
        elif name != OPENINGS:  # what of openings is none is said of each game: a salvaged store may not know them
            fault = setting_fault(name, settings[name])
            if fault:
                yield fault
    yield from kept_faults(kept)


def setting_fault(name: str, value: str) -> str | None:
    """Why the arena has not written this setting, in words; None if it can have, or does not know it."""
    expected = _expected(name, value)
    called = shown(name) if name.startswith(OF_BOTS) else name  # a bot's name is in it
    return f"{called}: expected {expected}, got {shown(value)}" if expected else None


def _expected(name: str, value: str) -> str | None:
    """What would have to stand there; None if it does."""
    if name == SEED and not is_seed(value):
        return f"a whole number from 0 to {LARGEST_SEED}"
    if name == RULES and not _are_rules(value):
        return "the lines of a ruleset, separated by '; '"
    if name == OTHER_TIMES and other_times_in(value) is None:
        return "'start 10000ms, set-up 5000ms, margin 50ms' or the like"
    if name == OPENINGS and value != NO_OPENINGS and not openings_in(value):
        return f"'{NO_OPENINGS}', or how many of which digest"
    if name == OPPONENTS and value not in (HIDDEN, NAMED):
        return f"{HIDDEN} or {NAMED}"
    if name == CALIBRATION and read_reference(value) is None:
        return "a reference such as 'reference 25.2 ms'"
    if name.startswith(LIMITS_OF) and ((limits := read_limits(value)) is None or limits.text != value):
        return f"limits such as {Limits().text!r}"
    if (name == TIME or name.startswith(TIME_OF)) and not _is_time(value):
        return "a time such as 1000ms or 60+0.6"
    return "yes or no" if name in CHOSEN and value not in CHOICES else None


def kept_faults(kept: Kept) -> Iterator[str]:
    """Give what of the settings that a league keeps next to its games the arena has not written, in words."""
    if kept.format and not _is_format(kept.format):
        yield f"format: expected {FORMAT_WORDS}, got {shown(kept.format)}"
    levels = [level.value for level in Level]
    if kept.sandbox is not None and kept.sandbox not in levels:
        yield f"sandbox: expected {' or '.join(levels)}, got {shown(kept.sandbox)}"


def _is_format(text: str) -> bool:
    try:
        format_in(text)
    except UsageError:
        return False
    return True


def _is_time(text: str) -> bool:
    """Whether a time stands there as `TimeControl.text` writes it."""
    if text == UNLIMITED:  # a person's
        return True
    try:
        return parse_time(text).text == text
    except UsageError:
        return False


def _are_rules(text: str) -> bool:
    """Whether the lines of a ruleset stand there, as `Settings.described` writes them."""
    try:
        rules_in("rules", text)
    except RulesetError:
        return False
    return True
