"""The ratings that the games of a league bound, and on which side (Ford).

A player's rating has a lower bound from each player it scored against, from each player that those scored against, and
so on; it has an upper bound from those that scored against it in the same way. The *field* is the largest set of
players who bound each other: a rating is bounded if it is bounded relative to the field. If no two players bound each
other, all of them are the field. If there is an anchor, the anchor alone is the field.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from operator import add
from typing import NamedTuple

from arena.league.ratings.score_counts import Results, Row, Score

_Links = list[list[int]]
_Pairs = set[tuple[int, int]]


class Bounds(NamedTuple):
    """The field, and the players with a lower and an upper bound of their rating relative to it."""

    field: frozenset[int]
    bounded_below: frozenset[int]
    bounded_above: frozenset[int]


def bounds_of(rows: Sequence[Row], anchor: int | None = None) -> Bounds:
    """Return the bounds from the games of these players, relative to the anchor if there is one."""

    def links(of_row: Callable[[Row], Iterable[int]]) -> _Links:
        return [list(compress(row.opponents, of_row(row))) for row in rows]

    scored_against = links(lambda row: row.half_points)
    conceded_to = links(lambda row: map(add, row.losses, row.draws))
    field = _field(scored_against, conceded_to) if anchor is None else frozenset({anchor})
    if len(field) > 1 or anchor is not None:  # a link to one of the field is a link to all of it
        member = min(field)
        return Bounds(field, _linked(member, conceded_to), _linked(member, scored_against))
    everybody = frozenset(range(len(rows)))
    below, above = (
        frozenset(player for player in everybody if _linked(player, links) == everybody)
        for links in (scored_against, conceded_to)
    )
    return Bounds(everybody, below, above)


def _field(scored_against: _Links, conceded_to: _Links) -> frozenset[int]:
    left, largest = set(range(len(scored_against))), frozenset[int]()
    while len(left) > len(largest):
        player = min(left)
        group = _linked(player, scored_against) & _linked(player, conceded_to)
        largest = max(largest, group, key=len)
        left -= group
    return largest


def _linked(player: int, links: _Links) -> frozenset[int]:
    found, waiting = {player}, [player]
    while waiting and len(found) < len(links):
        new = [other for other in links[waiting.pop()] if other not in found]
        found.update(new)
        waiting += new
    return frozenset(found)


def advantage_bounds(results: Results) -> tuple[bool, bool]:
    """Return whether the games bound the advantage of the first player from below and from above.

    It has an upper bound unless strengths could explain all games for every advantage. Such strengths u, which move by
    1 with a unit of advantage, have u(first) - u(second) <= -1 where the second player scored, and >= -1 where the
    first one did. They exist unless such differences form a cycle with a sum below 0, which the algorithm of Bellman
    and Ford finds. In all but tiny leagues a pair in which both conceded as the first player is such a cycle.
    """
    low, high = results.both_ways(Score.FIRST), results.both_ways(Score.SECOND)
    if low and high:
        return True, True
    first, second = results.scored()
    turned_first, turned_second = ({(other, one) for one, other in pairs} for pairs in (first, second))
    players = len(results.names)
    return low or _has_circle(players, turned_first, turned_second), high or _has_circle(players, second, first)


def _has_circle(players: int, conceded: _Pairs, scored: _Pairs) -> bool:
    # u(a) <= u(b) + weight
    limits = [(first, second, -1) for first, second in conceded] + [(second, first, 1) for first, second in scored]
    heights = [0] * players
    for _ in range(players + 1):
        changed = False
        for above, below, weight in limits:
            if heights[below] + weight < heights[above]:
                heights[above], changed = heights[below] + weight, True
        if not changed:
            return False
    return True
