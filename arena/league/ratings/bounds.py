"""Which ratings the games of a league bound, and from which side.

A player's rating is bounded from below by those it scored against, by those whom they scored against, and so on; from
above by those who scored against it in the same way. One that won all its games has no upper bound, and two groups that
never met do not bound each other (Ford's condition for the existence of the ratings, 1957).

The *field* are the players who bound each other: the largest such set. Where a bot stands that lost all its games is
not known, so it is no reference for the others; ratings are bounded if they are bounded relative to the field. Where no
two players bound each other everybody is the field.

Source: L. R. Ford, American Mathematical Monthly 64 (1957) 28-33.
"""

from dataclasses import dataclass

from arena.league.ratings.results import Meetings

_Links = list[set[int]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The field, and the players whose rating relative to it has a lower and an upper bound."""

    field: frozenset[int]
    bounded_below: frozenset[int]
    bounded_above: frozenset[int]


def bounds_of(players: int, meetings: Meetings) -> Bounds:
    """What the games bound. `meetings` has each pair once."""
    scored_against: _Links = [set() for _ in range(players)]
    conceded_to: _Links = [set() for _ in range(players)]
    for (low, high), meeting in meetings.items():
        if meeting.wins or meeting.draws:
            scored_against[low].add(high)
            conceded_to[high].add(low)
        if meeting.losses or meeting.draws:
            scored_against[high].add(low)
            conceded_to[low].add(high)
    field = _field(scored_against, conceded_to)
    if len(field) > 1:  # who is linked to one of the field is linked to all of it
        member = min(field)
        return Bounds(field, _linked(member, conceded_to), _linked(member, scored_against))
    everybody = frozenset(range(players))
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
    while waiting:
        new = links[waiting.pop()] - found
        found |= new
        waiting += new
    return frozenset(found)
