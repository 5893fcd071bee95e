"""The settings of games read back from a store: what `Settings.described` wrote, as far as ids follow from it."""

from collections.abc import Mapping

import msgspec

from arena.errors import UsageError
from arena.game.time_control import TimeControl, parse_time
from arena.league.games import Settings, other_times_in, rules_in
from arena.league.setting_faults import setting_fault
from arena.league.store import OTHER_TIMES, RULES, RULESET, SEED, TIME, own_times_in


def settings_in(described: Mapping[str, str]) -> Settings:
    """The settings, without openings, which are in files that the store does not have.

    Limits, sandboxes and the like are left out: no id follows from them. Raises `UsageError` for what is not there, and
    for what no arena has written.
    """
    for name in (RULES, TIME, OTHER_TIMES, SEED):
        if name not in described:
            raise UsageError(f"there is no {name}")
        if fault := setting_fault(name, described[name]):
            raise UsageError(fault)
    other_times = other_times_in(described[OTHER_TIMES])
    assert other_times is not None, "it has been looked at"

    def time_of(text: str) -> TimeControl:
        return msgspec.structs.replace(parse_time(text), **other_times._asdict())

    return Settings(
        ruleset=rules_in(described.get(RULESET, ""), described[RULES]),
        time=time_of(described[TIME]),
        seed=int(described[SEED]),
        bot_times=tuple((digest, time_of(text)) for digest, text in own_times_in(described).items()),
    )
