"""95% intervals of the ratings of a league: how far the games bound each one, up and down.

The idea: hold a player's rating at another value and let the other ratings settle; where the likelihood has fallen by
as much as a 95% test allows, the interval ends (the profile likelihood, Wilks 1938). Three things make it hold what it
says with few games too, and cheap:

- For the lower end half a point is first taken from the player's results, for the upper end it is added (the
  continuity correction; a quarter where games are drawn, because points then come in halves).
- The share of games that equals decide sets the scale of Elo. Where it is small it is known badly: the fall that is
  allowed is what it would be with four more decided games, so that a few draws alone do not make an interval of no
  width.
- The other ratings, the advantage and the draws do not settle anew for each value: they follow the tangent of their
  path at the peak. This is exact to second order, and costs one pass over the player's pairs for each value: pairs of
  others hardly lean with it, and are followed to second order too. In a large league, where a player has so many games
  that its interval is short, four derivatives take the place of the passes.

The interval is that of the rating relative to its reference, the mean of the field (`arena.league.ratings.bounds`) or
the anchor, and an end that the games do not bound is infinite. Without an anchor it is given on the scale of the
ratings, whose 0 is the mean of all: the other players outside the field keep the distance from it that they are rated
at. A player outside the field is itself one of the n of that mean, and where it stands x logits lower, it is lower by
x (1 - 1/n) there. To leave its own rating in the mean would take from the lower end of an unbeaten player what the
prior gives to its rating.

Source: S. S. Wilks, Annals of Mathematical Statistics 9 (1938) 60-62. benchmarks/coverage.py measures how often such an
interval holds the truth.
"""

import math
from collections.abc import Sequence

from arena.league.ratings.bounds import Bounds
from arena.league.ratings.curves import Cumulants, Curve, Line, Series, cumulants
from arena.league.ratings.davidson import scale_of
from arena.league.ratings.directions import Direction, Directions
from arena.league.ratings.strengths import Fit

CHI_SQUARED_95 = 3.8415  # one degree of freedom
ADDED_GAMES = 4.0  # decided ones, in the estimate of how much draws take from the variance
HALF_POINT, QUARTER_POINT = 0.5, 0.25

Interval = tuple[float, float]


def intervals(fit: Fit, bounds: Bounds, directions: Directions, *, is_anchored: bool = False) -> list[Interval]:
    """The lower and upper end of each log strength, infinite where the games do not bound it.

    The ends are relative to the mean of all log strengths, or to the anchor if that is the field.
    """
    logits = fit.point.logits
    allowed = fall_allowed(fit)
    own = cumulants(fit) if fit.factor is None else None
    zero = logits[min(bounds.field)] if is_anchored else sum(logits) / len(logits)
    ends = []
    for player, logit in enumerate(logits):
        reference = reference_of(player, logits, bounds)
        if is_anchored and player in reference:
            ends.append((0.0, 0.0))
            continue
        low, high = player in bounds.bounded_below, player in bounds.bounded_above
        if not low and not high:
            ends.append((-math.inf, math.inf))
            continue
        scale = 1.0 if player in reference or is_anchored else 1 - 1 / len(logits)
        direction = directions.of_player(player, reference)
        below, above = _ends(fit, direction, allowed, (low, high), own[player] if own else None)
        place = logit - zero
        # the prior may have pulled the rating past an end
        ends.append((min(place + scale * below, place), max(place + scale * above, place)))
    return ends


def fall_allowed(fit: Fit) -> float:
    """By how much the log likelihood may fall within an interval."""
    return CHI_SQUARED_95 / 2 * _inflation(fit)


def _inflation(fit: Fit) -> float:
    """How much larger a variance may be than its estimate, because the share of decided games is an estimate."""
    if not fit.point.tie:
        return 1.0
    decided = scale_of(fit.point.tie)
    # as many games between equals as know the share as well
    games = fit.slopes.border.corner[2] / (decided * (1 - decided))
    return (games * decided + ADDED_GAMES) / ((games + ADDED_GAMES) * decided)


def _ends(
    fit: Fit, direction: Direction, allowed: float, bounded: tuple[bool, bool], own: Cumulants | None
) -> Interval:
    point = QUARTER_POINT if fit.point.tie else HALF_POINT
    low, high = bounded
    if own and low and high and math.sqrt(2 * allowed * direction.variance) < Series.REACH / 2:
        curve: Curve = Series(fit, direction, own)
        below, above = curve.end(-1, -point, allowed), curve.end(1, point, allowed)
        if max(-below, above) < Series.REACH:
            return below, above
    line = Line(fit, direction)
    # No more than half of what there is to take, so that there is a peak.
    below = line.end(-1, -min(line.largest * point, line.to_lose / 2), allowed) if low else -math.inf
    above = line.end(1, min(line.largest * point, line.to_win / 2), allowed) if high else math.inf
    return below, above


def reference_of(player: int, logits: Sequence[float], bounds: Bounds) -> frozenset[int]:
    """Those whose mean the player's interval is relative to: the field.

    Where no two bound each other, who is bounded from below has won against all, and its reference is the best of the
    others, whom it would have shared the field with for a lost point; who is bounded from above has that of the worst.
    """
    below, above = player in bounds.bounded_below, player in bounds.bounded_above
    if below == above or player not in bounds.field:
        return bounds.field
    others = [other for other in range(len(logits)) if other != player]
    return frozenset({(max if below else min)(others, key=logits.__getitem__)})
