"""Who comes before whom, by stated rules and in exact fractions, so that equals are equal.

Points decide, then what equals scored among themselves, then the Sonneborn-Berger score, then wins. All of them are
taken per game, so that a table is fair while games are missing; where all have met equally often that is the order of
the plain sums. Each rule is applied to those whom the rules before it left equal.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from operator import mul
from typing import NamedTuple

from arena.league.ratings.results import Row


class Merits(NamedTuple):
    """What a player's place goes by. `points`, `head_to_head`, `sonneborn_berger` and `wins` are per game.

    `head_to_head` is None where the points alone decide; without a game among the equals it is one half.
    `neustadtl` is the Sonneborn-Berger score as it is usually given: for each opponent the points taken from it times
    the points that it has in all.
    """

    points: float
    head_to_head: float | None
    sonneborn_berger: float
    wins: float
    neustadtl: float


class Places(NamedTuple):
    """The players in groups of equals, best first, and what each one's place goes by."""

    groups: list[list[int]]
    merits: list[Merits]


def places_of(rows: Sequence[Row]) -> Places:
    """The places of all players; those without a game come last."""
    games = [sum(row.games) for row in rows]
    halves = [row.half_points for row in rows]
    half_points = list(map(sum, halves))
    points = [_share(taken, 2 * played) for taken, played in zip(half_points, games, strict=True)]
    # On one denominator, so that the sums are of whole numbers.
    common = _common(played for played in games if played)
    rates = [taken * (common // played) if played else 0 for taken, played in zip(half_points, games, strict=True)]
    sonneborn_berger = [
        Fraction(sum(map(mul, taken, map(rates.__getitem__, row.opponents))), 4 * common * (played or 1))
        for row, taken, played in zip(rows, halves, games, strict=True)
    ]
    wins = [_share(sum(row.wins), played) for row, played in zip(rows, games, strict=True)]
    head_to_head: dict[int, Fraction] = {}

    def among_equals(player: int, equals: Sequence[int]) -> Fraction:
        row, others = rows[player], set(equals)
        places = [place for place, opponent in enumerate(row.opponents) if opponent in others]
        met = sum(row.wins[at] + row.draws[at] + row.losses[at] + row.double_forfeits[at] for at in places)
        # who did not meet is neither ahead nor behind
        head_to_head[player] = _share(sum(halves[player][at] for at in places), 2 * met) if met else Fraction(1, 2)
        return head_to_head[player]

    rules: tuple[Callable[[int, Sequence[int]], Fraction | int], ...] = (
        lambda player, _: bool(games[player]),
        lambda player, _: points[player],
        among_equals,
        lambda player, _: sonneborn_berger[player],
        lambda player, _: wins[player],
    )
    groups = [list(range(len(rows)))] if rows else []
    for rule in rules:
        groups = [part for group in groups for part in (_separated(group, rule) if len(group) > 1 else [group])]
    merits = [
        Merits(
            float(points[player]),
            float(head_to_head[player]) if player in head_to_head and games[player] else None,
            float(sonneborn_berger[player]),
            float(wins[player]),
            sum(map(mul, halves[player], map(half_points.__getitem__, rows[player].opponents))) / 4,
        )
        for player in range(len(rows))
    ]
    return Places(groups, merits)


def _separated(group: Sequence[int], rule: Callable[[int, Sequence[int]], Fraction | int]) -> list[list[int]]:
    """The groups of equals that a rule leaves of one, best first."""
    values = {player: rule(player, group) for player in group}
    ordered = sorted(group, key=values.__getitem__, reverse=True)
    return [list(equals) for _, equals in groupby(ordered, key=values.__getitem__)]


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def _common(numbers: Iterable[int]) -> int:
    """The least common multiple."""
    return math.lcm(*set(numbers))
