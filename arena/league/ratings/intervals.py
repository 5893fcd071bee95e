"""95% intervals of the ratings of a league: how far the games bound each one, up and down.

The idea: hold a player's rating at another value and let the other ratings settle; where the likelihood has fallen by
as much as a 95% test allows, the interval ends (the profile likelihood, Wilks 1938). Three things make it hold what it
says with few games too, and cheap:

- For the lower end half a point is first taken from the player's results, for the upper end it is added (the
  continuity correction; a quarter where games are drawn, because points then come in halves).
- Draws vary less than wins and losses. The fall that is allowed is scaled by the share of the variance that is left,
  estimated with four more decided games, so that a few draws alone do not make an interval of no width.
- The other ratings do not settle anew for each value: they follow the tangent of their path at the peak. This is exact
  to second order, and costs one pass over the player's pairs for each value: pairs of others hardly lean with it, and
  are followed to second order too.

The interval is that of the rating relative to its reference, the mean of the field (`arena.league.ratings.bounds`), and
an end that the games do not bound is infinite. It is given on the scale of the ratings, whose 0 is the mean of all: the
other players outside the field keep the distance from it that they are rated at. A player outside the field is itself
one of the n of that mean, and where it stands x logits lower, it is lower by x (1 - 1/n) there. To leave its own rating
in the mean would take from the lower end of an unbeaten player what the prior gives to its rating.

Source: S. S. Wilks, Annals of Mathematical Statistics 9 (1938) 60-62. benchmarks/coverage.py measures how often such an
interval holds the truth.
"""

import math
from collections.abc import Iterator, Sequence, Set
from operator import mul
from typing import NamedTuple

from arena.league.ratings.bounds import Bounds, bounds_of
from arena.league.ratings.results import Meeting, Meetings
from arena.league.ratings.strengths import PRIOR_PRECISION, Triangle, Vector, expected_score, solve, solve_transposed

CHI_SQUARED_95 = 3.8415  # one degree of freedom
ADDED_GAMES = 4.0  # decided ones, in the estimate of how much draws take from the variance
SLIGHT = 0.1  # a pair that leans by less than this part of the largest lean is followed to second order only
SETTLED = 1e-12  # squared distance in standard deviations, at which a search ends
MAX_STEPS = 1000  # some ten are usual; the bound only keeps a mistake from running for ever

Interval = tuple[float, float]


def intervals(logits: Vector, factor: Triangle, meetings: Meetings) -> list[Interval]:
    """The lower and upper end of each log strength, infinite where the games do not bound it.

    `logits` and `factor` are those of the peak; `meetings` has each pair once.
    """
    bounds = bounds_of(len(logits), meetings)
    opponents: list[dict[int, Meeting]] = [{} for _ in logits]
    for (low, high), meeting in meetings.items():
        opponents[low][high] = opponents[high][low] = meeting
    ends = []
    for player, logit in enumerate(logits):
        reference = reference_of(player, logits, bounds)
        line = _Line(logits, opponents, _direction(player, reference, factor))
        scale = 1.0 if player in reference else 1 - 1 / len(logits)
        lower = logit + scale * line.end(-1) if player in bounds.bounded_below else -math.inf
        upper = logit + scale * line.end(1) if player in bounds.bounded_above else math.inf
        ends.append((min(lower, logit), max(upper, logit)))  # the prior may have pulled the rating past an end
    return ends


def reference_of(player: int, logits: Sequence[float], bounds: Bounds) -> Set[int]:
    """Those whose mean the player's interval is relative to: the field.

    Where no two bound each other, who is bounded from below has won against all, and its reference is the best of the
    others, whom it would have shared the field with for a lost point; who is bounded from above has that of the worst.
    """
    below, above = player in bounds.bounded_below, player in bounds.bounded_above
    if below == above or player not in bounds.field:
        return bounds.field
    others = [other for other in range(len(logits)) if other != player]
    return {(max if below else min)(others, key=logits.__getitem__)}


class _Direction(NamedTuple):
    """How all log strengths move, to first order, as one of them is held 1 higher; the curvature on the way."""

    moves: Vector
    curvature: float


def _direction(player: int, field: Set[int], factor: Triangle) -> _Direction:
    """The direction in which the player's rating relative to the field's mean rises by 1.

    For the combination c of the ratings it is inverse(I) c, scaled so that c changes by 1.
    """
    combination = [0.0] * len(factor)
    for member in field:
        combination[member] = -1 / len(field)
    combination[player] += 1
    moved = solve_transposed(factor, solve(factor, combination))
    variance = sum(map(mul, combination, moved))
    moves = [value / variance for value in moved]
    return _Direction(moves, 1 / variance - PRIOR_PRECISION * sum(map(mul, moves, moves)))


class _Pair(NamedTuple):
    """A pair that met. `lean` is by how much the difference between the two changes with the rating that is moved."""

    lean: float
    logit: float
    points: float
    games: int


class _Line:
    """The log likelihood along a direction; `shift` is how far one rating has moved on it from the peak, in logits."""

    def __init__(self, logits: Vector, opponents: list[dict[int, Meeting]], direction: _Direction) -> None:
        self._followed: list[_Pair] = []
        # At the peak the games balance the prior. The pairs that are followed are taken off below.
        self._slope: float = PRIOR_PRECISION * sum(map(mul, direction.moves, logits))
        self._curvature = direction.curvature
        self._largest = variance = variance_of_draws = to_lose = to_win = 0.0
        for lean, upper, lower, meeting in _leaning(direction.moves, opponents):
            games, logit = meeting.rated, logits[upper] - logits[lower]
            # A meeting is seen by the one with the lower number.
            points = meeting.points if upper < lower else games - meeting.points
            expected, missed = expected_score(logit), expected_score(-logit)
            self._followed.append(_Pair(lean, logit, points, games))
            self._slope -= lean * (points - games * expected)
            spread = lean * lean * games * expected * missed
            self._curvature -= spread
            variance += spread
            # Of n games at an expected score of s no more than 2 n min(s, 1 - s) can be draws.
            variance_of_draws += lean * lean * min(meeting.draws / 4, games * min(expected, missed) / 2)
            to_lose += lean * points
            to_win += lean * (games - points)
            self._largest = max(self._largest, lean)
        self._curvature = max(0.0, self._curvature)  # below 0 by rounding only
        added = self._largest**2 * ADDED_GAMES / 4
        self._allowed = CHI_SQUARED_95 / 2 * (1 - variance_of_draws / (variance + added))
        # No more than half of what there is to take, so that there is a peak.
        correction = self._largest * (0.25 if variance_of_draws else 0.5)
        self._corrections: dict[int, float] = {-1: -min(correction, to_lose / 2), 1: min(correction, to_win / 2)}

    def end(self, side: int) -> float:
        """Where the interval ends: on the lower side (-1) or the upper (1), which must be bounded."""
        corrected = self._corrections[side]
        peak = self._peak(corrected)
        floor = self._log_likelihood(peak, corrected) - self._allowed
        _, curvature = self._derivatives(peak, corrected)
        shift = peak + side * math.sqrt(2 * self._allowed / curvature)
        for _ in range(MAX_STEPS):  # Newton's method; the fall from the peak is convex, so it comes from outside
            slope, _ = self._derivatives(shift, corrected)
            step = (floor - self._log_likelihood(shift, corrected)) / slope
            shift += step
            if step * step * curvature < SETTLED:
                return shift
        raise ArithmeticError(f"the end of an interval did not settle in {MAX_STEPS} steps")

    def _peak(self, corrected: float) -> float:
        shift = 0.0
        for _ in range(MAX_STEPS):
            slope, curvature = self._derivatives(shift, corrected)
            step = slope / curvature
            if slope * step < SETTLED:
                return shift
            reach = abs(step) * self._largest
            shift += (
                step * math.log1p(reach) / reach
            )  # a full step can overshoot: see `arena.league.ratings.strengths.fit`
        raise ArithmeticError(f"the peak of a rating did not settle in {MAX_STEPS} steps")

    def _log_likelihood(self, shift: float, corrected: float) -> float:
        total = (corrected + self._slope - self._curvature * shift / 2) * shift
        for lean, logit, points, games in self._followed:
            moved = logit + lean * shift
            # points * log(s) + (games - points) * log(1 - s), as it keeps its digits
            total += points * moved - games * (max(moved, 0.0) + math.log1p(math.exp(-abs(moved))))
        return total

    def _derivatives(self, shift: float, corrected: float) -> tuple[float, float]:
        """The slope, and the curvature with its sign turned."""
        slope, curvature = corrected + self._slope - self._curvature * shift, self._curvature
        for lean, logit, points, games in self._followed:
            moved = logit + lean * shift
            expected = expected_score(moved)
            slope += lean * (points - games * expected)
            curvature += lean * lean * games * expected * expected_score(-moved)
        return slope, curvature


def _leaning(moves: Vector, opponents: list[dict[int, Meeting]]) -> Iterator[tuple[float, int, int, Meeting]]:
    """The pairs that met and lean by more than slightly: the lean, who moves up more, who less, their meeting."""
    order = sorted(range(len(moves)), key=moves.__getitem__)
    largest = max(
        abs(moves[player] - moves[opponent]) for player in (order[0], order[-1]) for opponent in opponents[player]
    )
    for lower in order:
        for upper in reversed(order):
            lean = moves[upper] - moves[lower]
            if lean < SLIGHT * largest or lean <= 0:
                break
            meeting = opponents[lower].get(upper)
            if meeting is not None:
                yield lean, upper, lower, meeting
