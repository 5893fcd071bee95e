"""What it is worth to be the first player, which has Red, and how far the games bound it.

It has an upper bound unless strengths could explain all games however large it were. With strengths u that move by 1 a
unit of advantage, that is: u(first) - u(second) <= -1 wherever the second player scored, and >= -1 wherever the first
one did. Such differences exist unless they run round a circle with a sum below 0, which the algorithm of Bellman and
Ford finds. The lower bound is the same with the colours changed. A pair each of whom conceded with Red is such a
circle (`Results.both_ways`), so that a league that is not tiny needs no search.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from arena.league.ratings.curves import Line
from arena.league.ratings.davidson import scale_of
from arena.league.ratings.directions import Directions
from arena.league.ratings.intervals import HALF_POINT, QUARTER_POINT, fall_allowed
from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.ratings.strengths import Fit

MOST_FOLLOWED = 2000
"""Pairs, up to which each is followed; beyond, the likelihood is a parabola as far as the interval goes."""
Scored = set[tuple[int, int]]
"""Who has scored with the one colour against whom."""


class Advantage(NamedTuple):
    """How many Elo the first player's side is worth, with the ends of the 95% interval; open ends are infinite."""

    elo: float
    low: float
    high: float


def advantage_of(fit: Fit, directions: Directions, low: bool, high: bool) -> Advantage:
    """The advantage of the first player; `low` and `high` are whether the games bound it from below and above."""
    direction = directions.of_advantage()
    allowed = fall_allowed(fit)
    unit = ELO_PER_LOGIT * scale_of(fit.point.tie)
    at = fit.point.advantage
    if sum(len(met.opponents) for met in fit.players) > 2 * MOST_FOLLOWED:
        reach = math.sqrt(2 * allowed * direction.variance)
        below, above = (-reach if low else -math.inf), (reach if high else math.inf)
    else:
        line = Line(fit, direction, everything=True)
        point = QUARTER_POINT if fit.point.tie else HALF_POINT
        below = line.end(-1, -point, allowed) if low else -math.inf
        above = line.end(1, point, allowed) if high else math.inf
    return Advantage(unit * at, unit * (at + min(below, 0.0)), unit * (at + max(above, 0.0)))


def is_bounded(players: int, conceded: Sequence[tuple[int, int]], scored: Scored) -> bool:
    """Whether there is a circle: `conceded` has the pairs of which the second scored, `scored` those of which the first
    did."""
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
