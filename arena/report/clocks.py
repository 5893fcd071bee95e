"""Which bots play under a clock of their own, in words."""

from collections.abc import Iterable, Mapping

from arena.league.store import TIME, own_times_in
from arena.printable import printable
from arena.report.standings import Line

NAMED = 6
"""Bots that are named with their clocks; of more, only how many there are."""


def own_times_of(lines: Iterable[Line], settings: Mapping[str, str]) -> dict[str, str]:
    """The time controls of those bots of a table that have their own, in words, by the names in the table."""
    own = own_times_in(settings)
    return {line.name: own[line.digest] for line in lines if line.digest in own}


def handicap_text(usual: str, own: Mapping[str, str], names: Iterable[str]) -> str:
    """The clocks of these bots in words: those of bots that have their own, and that of the others. Empty if all have
    the usual one."""
    others = [name for name in names if name not in own]
    if not own:
        return ""
    clocks = [f"{name} {text}" for name, text in list(own.items())[:NAMED]]
    if len(own) > NAMED:
        clocks.append(f"{len(own) - NAMED} more with their own")
    if others:
        clocks.append(f"{others[0] if len(others) == 1 else 'all others'} {usual}")
    return f"handicap: {', '.join(clocks)}"


def table_note(lines: Iterable[Line], settings: Mapping[str, str]) -> str:
    """What is to be said of the clocks below a table; empty if all have the same."""
    lines = list(lines)
    usual = printable(settings.get(TIME, ""))
    return handicap_text(usual, own_times_of(lines, settings), [line.name for line in lines])
