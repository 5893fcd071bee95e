"""The time controls of single bots, among the settings of a store.

Every bot plays under the store's `time` but those that have a setting of their own, `time of NAME@DIGEST`. The digest
says whose it is, the name is for people: a bot that is renamed keeps its clock. A bot that has played, or took part
when the store was last used, and has no such setting is known to have the store's.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from arena.game.spec import Player
from arena.printable import printable

TIME = "time"
TIME_OF = "time of "
DIGITS_SHOWN = 6


def time_key(player: Player) -> str:
    """The name of the setting for a player that has a time control of its own."""
    return f"{TIME_OF}{player.name}@{player.digest}"


def own_times_in(settings: Mapping[str, str]) -> dict[str, str]:
    """The time controls of bots that have their own, in words, by digest."""
    return {_digest(name): printable(text) for name, text in settings.items() if name.startswith(TIME_OF)}


def without_known(asked: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    """The settings that are asked for but for the times of bots for which the store has one, be it by another name."""
    known = own_times_in(present)
    return {name: text for name, text in asked.items() if not name.startswith(TIME_OF) or _digest(name) not in known}


def time_differences(
    present: Mapping[str, str],
    asked: Mapping[str, str],
    players: Sequence[Player],
    played: Callable[[], Collection[str]],
) -> list[str]:
    """A line for each of these players, and of those with a time of their own in what is asked for, who is to have
    another clock than the store has for it.

    `played` gives the digests of those who are known to have the store's own time if nothing else is said of them; it
    is asked only where some bot has a time of its own. Where the time of all differs, that is not said of each.
    """
    had, wanted = own_times_in(present), own_times_in(asked)
    if TIME not in present or not (had or wanted):
        return []
    usual, asked_usual = present[TIME], asked.get(TIME, present[TIME])
    known = dict.fromkeys(played(), usual) | had
    names = {_digest(name): _name(name) for name in asked if name.startswith(TIME_OF)}
    names |= {player.digest: player.name for player in players}
    lines = []
    for digest, name in names.items():
        before, now = known.get(digest), wanted.get(digest, asked_usual)
        if before is None or before == now or (digest not in had and digest not in wanted):
            continue
        lines.append(f"    {TIME_OF}{name}@{digest[:DIGITS_SHOWN]}: {before} (in the store), {now} (asked for)")
    return lines


def _digest(setting: str) -> str:
    return setting.rpartition("@")[2]


def _name(setting: str) -> str:
    return printable(setting.removeprefix(TIME_OF).rpartition("@")[0])
