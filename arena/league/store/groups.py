"""Games counted together: those of the same two players with the same colours, result and reason.

Tables are made from counts. However many games there are, so many groups there are at most as the players can have:
a table of a million games takes no more memory than one of a thousand.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.store.game_row import Columns, PlayerTime, player_from
from protocol.notation import Reason

_LAST = 9
"""Where the counts of a group have the number of its last game."""


class Group(NamedTuple):
    """So many games, to be counted as a `GameRow` is. Pairs are red, then blue, times those of all these games."""

    players: tuple[Player, Player]
    result: GameResult
    reason: Reason
    times: tuple[PlayerTime, PlayerTime]
    games: int


def grouped(rows: Iterable[Columns]) -> list[Group]:
    """The groups of these rows, in the order of their last games."""
    found: dict[tuple[int, int, int, bool, bool], list[Any]] = {}
    # Players and endings are known by numbers here: with 1,000 bots there are as many groups as pairs, half a million.
    players: dict[tuple[str, str], int] = {}
    endings: dict[tuple[str, str], int] = {}
    for row in rows:
        moves, us, slowest_us, blue_moves, blue_us, blue_slowest_us = row[10:16]
        cpu_us, blue_cpu_us = row[17:19]
        red, blue, ending = row[2:4], row[4:6], row[6:8]
        key = (
            players[red] if red in players else players.setdefault(red, len(players)),
            players[blue] if blue in players else players.setdefault(blue, len(players)),
            endings[ending] if ending in endings else endings.setdefault(ending, len(endings)),
            cpu_us is None,
            blue_cpu_us is None,
        )
        counts = found.get(key)
        if counts is None:
            found[key] = [1, *row[10:16], cpu_us or 0, blue_cpu_us or 0, row[0]]
            continue
        counts[0] += 1
        counts[1] += moves
        counts[2] += us
        counts[3] = max(counts[3], slowest_us)
        counts[4] += blue_moves
        counts[5] += blue_us
        counts[6] = max(counts[6], blue_slowest_us)
        if cpu_us:
            counts[7] += cpu_us
        if blue_cpu_us:
            counts[8] += blue_cpu_us
        counts[_LAST] = row[0]
    everybody = [player_from(*columns) for columns in players]
    reasons = [(GameResult(result), Reason(reason)) for result, reason in endings]
    groups = []
    for key in sorted(found, key=lambda key: int(found[key][_LAST])):
        counts = found.pop(key)
        first, second, last, red_unmeasured, blue_unmeasured = key
        times = (
            PlayerTime(counts[1], counts[2], counts[3], None if red_unmeasured else counts[7]),
            PlayerTime(counts[4], counts[5], counts[6], None if blue_unmeasured else counts[8]),
        )
        groups.append(Group((everybody[first], everybody[second]), *reasons[last], times, counts[0]))
    return groups
