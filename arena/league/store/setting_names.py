"""What the settings of games are called in a store and in the lines of an export, and those values that are words.

Every bot plays under the store's `time` but those that have a setting of their own, `time of NAME@DIGEST`. The digest
says whose it is, the name is for people: a bot that is renamed keeps its clock. A bot that has played, or took part
when the store was last used, and has no such setting is known to have the store's.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from arena.game.spec import Player
from arena.system.printable import printable

RULESET = "ruleset"
RULES = "rules"
TIME = "time"
OTHER_TIMES = "other times"
SEED = "seed"
PONDERING = "pondering"
KEEP_BOTS = "keep-bots"
OPENINGS = "openings"
NO_OPENINGS = "none"
"""The value of `OPENINGS` if the bots choose their set-ups."""
OPPONENTS = "opponents"
HIDDEN, NAMED = "hidden", "named"
"""The values of `OPPONENTS`: whether bots are told whom they play."""
CALIBRATION = "calibration"
"""How clocks are scaled to each machine; only in a store whose games were played so (`--calibrate`)."""
LIMITS_OF = "limits of "
"""The start of the names of settings for what one bot may use; the bot's name follows."""
TIME_OF = "time of "
"""The start of the names of settings for the time control of one bot; NAME@DIGEST follows."""
SEPARATOR = "; "
"""Between the rules in their setting."""

SETTINGS_OF_GAMES = (RULESET, RULES, TIME, OTHER_TIMES)
"""Settings in every store that holds games. Without them, games under any other rules could be added."""
NOT_CALIBRATED = {CALIBRATION: "no"}
"""The setting of games whose clocks are not scaled; it is not stored."""
DIGITS_SHOWN = 6


def time_key(player: Player) -> str:
    """Return the name of the setting for a player that has a time control of its own."""
    return f"{TIME_OF}{player.name}@{player.digest}"


def own_times_in(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the time controls of bots that have their own, in words, by digest."""
    return {_digest(name): printable(text) for name, text in settings.items() if name.startswith(TIME_OF)}


def without_known_times(asked: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    """Drop the own times of bots for which the store has one, under whatever name."""
    known = own_times_in(present)
    return {name: text for name, text in asked.items() if not name.startswith(TIME_OF) or _digest(name) not in known}


def time_differences(
    present: Mapping[str, str],
    asked: Mapping[str, str],
    players: Sequence[Player],
    played: Callable[[], Collection[str]],
) -> list[str]:
    """Return a line for each player that is to have another clock than the store has for it.

    Looked at are these `players` and those with a time of their own in `asked`. `played` gives the digests of players
    known to have the store's own time if nothing else is said of them; it is called only where some bot has a time of
    its own. Where the time of all differs, that is not said of each.
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
