"""The settings of games read back from a store: what `Settings.described` wrote, as far as ids follow from it."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from arena.errors import UsageError
from arena.game.spec import Opening
from arena.game.time_control import TimeControl, parse_time
from arena.league.games import Settings
from arena.league.setting_faults import OTHER_TIMES, RULES, RULESET, SEED, TIME, setting_fault
from arena.league.store import own_times_in
from arena.league.store.settings import SEPARATOR
from arena.rules.rule_lines import ruleset_from_lines

_TIMES = re.compile(r"start (\d+)ms, set-up (\d+)ms, margin (\d+)ms", re.ASCII)


def settings_in(described: Mapping[str, str], openings: Sequence[Opening] = ()) -> Settings:
    """The settings, with the openings that the store itself does not have.

    Limits, sandboxes and the like are left out: no id follows from them. Raises `UsageError` for what is not there, and
    for what no arena has written.
    """
    for name in (RULES, TIME, OTHER_TIMES, SEED):
        if name not in described:
            raise UsageError(f"there is no {name}")
        if fault := setting_fault(name, described[name]):
            raise UsageError(fault)
    rules = (tuple(line.partition(" ")[::2]) for line in described[RULES].split(SEPARATOR))
    times = _TIMES.fullmatch(described[OTHER_TIMES])
    assert times is not None, "it has been looked at"
    start, setup, margin = map(int, times.groups())

    def time_of(text: str) -> TimeControl:
        return msgspec.structs.replace(parse_time(text), start_ms=start, setup_ms=setup, margin_ms=margin)

    return Settings(
        ruleset=ruleset_from_lines(described.get(RULESET, ""), rules),  # type: ignore[arg-type]  # pairs
        time=time_of(described[TIME]),
        seed=int(described[SEED]),
        bot_times=tuple((digest, time_of(text)) for digest, text in own_times_in(described).items()),
        openings=tuple(openings),
    )
