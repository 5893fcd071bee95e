"""Whether the settings of games are such as the arena writes: those of a store, and those in a line of an export.

A setting that is none holds no game to anything: a seed that is no number, a limit that nobody can read.
"""

import re

from arena.bots.limits import Limits, read_limits
from arena.errors import UsageError
from arena.game.time_control import UNLIMITED, parse_time
from arena.league.games import HIDDEN, NAMED, NO_OPENINGS, OPENINGS, OPPONENTS, openings_in
from arena.league.options import LARGEST_SEED
from arena.league.store import CALIBRATION, LIMITS_OF, TIME_OF
from arena.play.played_on import read_reference
from arena.printable import shown

CHOICES = ("yes", "no")
CHOSEN = ("pondering", "keep-bots")
"""The settings that are one of two words."""
SEED = "seed"
_SEED = re.compile(r"0|[1-9][0-9]{0,19}")


def is_seed(text: str) -> bool:
    """Whether a league can have this seed."""
    return _SEED.fullmatch(text) is not None and int(text) <= LARGEST_SEED


def setting_fault(name: str, value: str) -> str | None:
    """Why the arena has not written this setting, in words; None if it can have, or does not know it."""
    expected = _expected(name, value)
    called = shown(name) if name.startswith((LIMITS_OF, TIME_OF)) else name  # a bot's name is in it
    return f"{called}: expected {expected}, got {shown(value)}" if expected else None


def _expected(name: str, value: str) -> str | None:
    """What would have to stand there; None if it does."""
    if name == SEED and not is_seed(value):
        return f"a whole number from 0 to {LARGEST_SEED}"
    if name == OPENINGS and value != NO_OPENINGS and not openings_in(value):
        return f"'{NO_OPENINGS}', or how many of which digest"
    if name == OPPONENTS and value not in (HIDDEN, NAMED):
        return f"{HIDDEN} or {NAMED}"
    if name == CALIBRATION and read_reference(value) is None:
        return "a reference such as 'reference 25.2 ms'"
    if name.startswith(LIMITS_OF) and ((limits := read_limits(value)) is None or limits.text != value):
        return f"limits such as {Limits().text!r}"
    if name.startswith(TIME_OF) and not _is_time(value):
        return "a time such as 1000ms or 60+0.6"
    return "yes or no" if name in CHOSEN and value not in CHOICES else None


def _is_time(text: str) -> bool:
    """Whether a time stands there as `TimeControl.text` writes it."""
    if text == UNLIMITED:  # a person's
        return True
    try:
        return parse_time(text).text == text
    except UsageError:
        return False
