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

from arena.league.ratings.score_counts import Row

_Links = list[list[int]]


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
