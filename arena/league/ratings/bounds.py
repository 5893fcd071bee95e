"""Which ratings the games of a league bound, and from which side.

A player's rating is bounded from below by those it scored against, by those whom they scored against, and so on; from
above by those who scored against it in the same way. One that won all its games has no upper bound, and two groups that
never met do not bound each other (Ford's condition for the existence of the ratings, 1957).

The *field* are the players who bound each other: the largest such set. Where a bot stands that lost all its games is
not known, so it is no reference for the others; ratings are bounded if they are bounded relative to the field. Where no
two players bound each other everybody is the field. Of ratings relative to an anchor, the anchor is the field.

Source: L. R. Ford, American Mathematical Monthly 64 (1957) 28-33.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.league.ratings.results import Row

_Links = list[list[int]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The field, and the players whose rating relative to it has a lower and an upper bound."""

    field: frozenset[int]
    bounded_below: frozenset[int]
    bounded_above: frozenset[int]


def bounds_of(rows: Sequence[Row], anchor: int | None = None) -> Bounds:
    """What the games of these players bound, relative to the anchor if there is one."""
    scored_against: _Links = [
        [opponent for opponent, points in zip(row.opponents, row.half_points, strict=True) if points] for row in rows
    ]
    conceded_to: _Links = [
        [
            opponent
            for opponent, losses, draws in zip(row.opponents, row.losses, row.draws, strict=True)
            if losses or draws
        ]
        for row in rows
    ]
    field = _field(scored_against, conceded_to) if anchor is None else frozenset({anchor})
    if len(field) > 1 or anchor is not None:  # who is linked to one of the field is linked to all of it
        member = min(field)
        return Bounds(field, _linked(member, conceded_to), _linked(member, scored_against))
    everybody = frozenset(range(len(rows)))
    below, above = (
        frozenset(player for player in everybody if _linked(player, links) == everybody)
        for links in (scored_against, conceded_to)
    )
    return Bounds(everybody, below, above)


def _field(scored_against: _Links, conceded_to: _Links) -> frozenset[int]:
    """The largest set of players each of whom is linked to each other in both directions."""
    left, largest = set(range(len(scored_against))), frozenset[int]()
    while len(left) > len(largest):
        player = min(left)
        group = _linked(player, scored_against) & _linked(player, conceded_to)
        largest = max(largest, group, key=len)
        left -= group
    return largest


def _linked(player: int, links: _Links) -> frozenset[int]:
    """The player and all that it is linked to, directly or by way of others."""
    found, waiting = {player}, [player]
    while waiting and len(found) < len(links):
        new = [other for other in links[waiting.pop()] if other not in found]
        found.update(new)
        waiting += new
    return frozenset(found)
