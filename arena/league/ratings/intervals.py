"""95% intervals of ratings by profile likelihood, and the likelihood that one of two players is the stronger (LOS).

The idea: hold a combination of the parameters (a rating, a difference, the advantage) at another value and let all
other parameters follow; the interval ends where the log likelihood has fallen by as much as a 95% test allows (Wilks).
Four refinements make it cheap, and make it hold its promise with few games too (benchmarks/coverage.py):

- The other parameters follow the tangent of their path at the peak, which is exact to second order. The pairs of
  players with a difference that changes much are followed game by game, all others to second order.
- For a lower end half a point is first taken from the player's results, for an upper end it is added: the continuity
  correction. It is a quarter where games are drawn, which give half points.
- The share of games that equals decide sets the scale of Elo, and a few draws say little about it. So the fall that is
  allowed is what it would be with four more decided games.
- Groups of games at nearly equal differences are followed as one, which keeps large leagues quick.

An interval is relative to the mean of the field, or to the anchor, and given on the scale of the ratings, with 0 as the
mean of all. A player outside the field is itself one of the n of that mean: x logits lower relative to the field is
x (1 - 1/n) lower on the scale.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arena.league.ratings.bounds import Bounds
from arena.league.ratings.strengths import MOST_IN_PYTHON, Fit, Vector, dot, log_total, moments, scale_of

CHI_SQUARED_95 = 3.8415  # one degree of freedom
ADDED_GAMES = 4.0  # decided ones, in the estimate of how much draws take from the variance
HALF_POINT, QUARTER_POINT = 0.5, 0.25
SLIGHT = 0.1  # a pair that leans by less than this part of the largest lean is followed to second order only
GROUPS_A_LOGIT, IN_LARGE_LEAGUES = 100, 10
SETTLED = 1e-12  # squared distance in standard deviations at which a search ends
MAX_STEPS = 1000  # some ten are usual
FEW = 20
"""The most players for which likelihoods of superiority follow the curve. With more, the normal distribution is off by
at most half a percentage point.
"""

Interval = tuple[float, float]


def intervals(fit: Fit, bounds: Bounds, *, is_anchored: bool = False) -> list[Interval]:
    """Return the ends of the interval of each log strength, relative to the mean of all or to the anchor.

    An end that the games do not bound is infinite.
    """
    logits = fit.point.logits
    zero = logits[min(bounds.field)] if is_anchored else sum(logits) / len(logits)
    of_field = _mean_row(fit, bounds.field)
    ends = []
    for player, logit in enumerate(logits):
        reference = reference_of(player, logits, bounds)
        if is_anchored and player in reference:
            ends.append((0.0, 0.0))
            continue
        low, high = player in bounds.bounded_below, player in bounds.bounded_above
        below, above = -math.inf, math.inf
        if low or high:
            mean = of_field if reference is bounds.field else _mean_row(fit, reference)
            moves = _difference(fit.covariance[player], mean)
            direction = _direction(moves, moves[player] - sum(moves[other] for other in reference) / len(reference))
            curve = Curve(fit, direction)
            point = curve.largest * _correction(fit)
            # No more than half of the points there are, so that there is a peak.
            below = curve.end(-1, -min(point, curve.to_lose / 2)) if low else below
            above = curve.end(1, min(point, curve.to_win / 2)) if high else above
        scale = 1.0 if player in reference or is_anchored else 1 - 1 / len(logits)
        place = logit - zero
        # the prior may have pulled the rating past an end
        ends.append((min(place + scale * below, place), max(place + scale * above, place)))
    return ends


def reference_of(player: int, logits: Sequence[float], bounds: Bounds) -> frozenset[int]:
    """Return the players with the mean that the player's interval is relative to: the field.

    If no two bound each other, a player with only a lower bound has won against all others, and its reference is the
    best of them; for an upper bound it is the worst.
    """
    below, above = player in bounds.bounded_below, player in bounds.bounded_above
    if below == above or player not in bounds.field:
        return bounds.field
    others = [other for other in range(len(logits)) if other != player]
    return frozenset({(max if below else min)(others, key=logits.__getitem__)})


def advantage_interval(fit: Fit, low: bool, high: bool) -> Interval:
    """Return the interval of the first player's advantage, bounded from below if `low`, from above if `high`."""
    moves = fit.covariance[-2]
    curve = Curve(fit, _direction(moves, moves[-2]), everything=True)
    below = curve.end(-1, -_correction(fit)) if low else -math.inf
    above = curve.end(1, _correction(fit)) if high else math.inf
    return fit.point.advantage + min(below, 0.0), fit.point.advantage + max(above, 0.0)


def superiority_in(fit: Fit, one: int, other: int) -> float:
    """Return the likelihood that the first of two players of a league is stronger than the other."""
    ahead = fit.point.logits[one] - fit.point.logits[other]
    moves = _difference(fit.covariance[one], fit.covariance[other])
    variance = moves[one] - moves[other]
    if len(fit.rows) > FEW:
        return _share(ahead, ahead * ahead / variance / 2)
    return _share(ahead, -Curve(fit, _direction(moves, variance), with_prior=True).fall(-ahead))


def _share(ahead: float, fall: float) -> float:
    """Return the likelihood of being stronger, for a player that is ahead, after a fall to equality."""
    return math.erfc(-math.copysign(math.sqrt(max(0.0, fall)), ahead)) / 2


def _correction(fit: Fit) -> float:
    return QUARTER_POINT if fit.point.tie else HALF_POINT


def _fall_allowed(fit: Fit) -> float:
    if not fit.point.tie:
        return CHI_SQUARED_95 / 2
    decided = scale_of(fit.point.tie)
    # as many games between equals as would give the same information on the share of draws
    games = fit.draw_information / (decided * (1 - decided))
    return CHI_SQUARED_95 / 2 * (games * decided + ADDED_GAMES) / ((games + ADDED_GAMES) * decided)


def _mean_row(fit: Fit, players: frozenset[int]) -> Vector:
    rows = [fit.covariance[player] for player in sorted(players)]
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _difference(left: Vector, right: Vector) -> Vector:
    return [one - other for one, other in zip(left, right, strict=True)]


class Direction(NamedTuple):
    """The movement of all parameters as a combination of them grows by 1, and the variance of the combination."""

    moves: Vector
    advantage: float
    tie: float
    variance: float


def _direction(covariances: Vector, variance: float) -> Direction:
    *moves, advantage, tie = (covariance / variance for covariance in covariances)
    return Direction(moves, advantage, tie, variance)


class _Group(NamedTuple):
    """Games at one difference `x`, which changes by `lean` with the combination; the moments and `log_total` there."""

    lean: float
    x: float
    games: int
    score: float
    draw: float
    log_total: float


class Curve:
    """The log likelihood along a direction, as a function of the distance from the peak in logits; concave.

    `with_prior` adds the prior of the strengths, `everything` follows all pairs. `largest` is the fastest change of a
    difference; `to_lose` and `to_win` are the points taken and missed in the games that are followed.
    """

    def __init__(self, fit: Fit, direction: Direction, *, with_prior: bool = False, everything: bool = False) -> None:
        point, prior = fit.point, fit.priors.strength
        self._allowed = _fall_allowed(fit)
        self._v, self._lean_of_tie = point.tie, direction.tie
        self._slope = self.to_lose = self.to_win = self.largest = 0.0
        curvature = 1 / direction.variance
        if not with_prior:  # at the peak the games balance the prior
            self._slope = prior * dot(direction.moves, point.logits)
            curvature -= prior * dot(direction.moves, direction.moves)
        fineness = GROUPS_A_LOGIT if len(fit.rows) <= MOST_IN_PYTHON else IN_LARGE_LEAGUES
        grouped: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        for upper, lower, place, lean in _leaning(fit, direction.moves, SLIGHT if not everything else 0.0):
            row = fit.rows[upper]
            wins, draws, losses = row.wins[place], row.draws[place], row.losses[place]
            as_first, x = row.as_first[place], point.logits[upper] - point.logits[lower]
            for count, side in ((as_first, 1), (wins + draws + losses - as_first, -1)):
                if count:
                    slant, at = lean + side * direction.advantage, x + side * point.advantage
                    group = grouped[round(slant * fineness), round(at * fineness)]
                    group[0] += count
                    group[1] += count * slant
                    group[2] += count * at
                    self.largest = max(self.largest, abs(slant))
            self.to_lose += lean * (wins + draws / 2)
            self.to_win += lean * (losses + draws / 2)
        self.largest += abs(direction.tie)
        self._groups: list[_Group] = []
        for games, slants, xs in grouped.values():
            slant, x = slants / games, xs / games
            score, draw, *_ = moments(x, point.tie)
            self._groups.append(_Group(slant, x, int(games), score, draw, log_total(x, point.tie)))
            curvature -= games * self._spread(slant, x, point.tie)[1]
        self._curvature = max(0.0, curvature)  # below 0 by rounding only

    def _spread(self, lean: float, x: float, v: float) -> tuple[float, float]:
        """Return the mean and the variance of what a game adds as the combination moves by 1."""
        at, tie = moments(x, v), self._lean_of_tie
        variance = lean * lean * at.variance + 2 * lean * tie * at.covariance + tie * tie * at.draw_variance
        return lean * at.score + tie * at.draw, variance

    def fall(self, shift: float) -> float:
        total = (self._slope - self._curvature * shift / 2) * shift
        tie, v = self._lean_of_tie * shift, self._v * math.exp(self._lean_of_tie * shift)
        for lean, x, games, score, draw, before in self._groups:
            total += games * (lean * shift * (score - 0.5) + tie * draw - log_total(x + lean * shift, v) + before)
        return total

    def derivatives(self, shift: float) -> tuple[float, float]:
        slope, curvature = self._slope - self._curvature * shift, self._curvature
        v = self._v * math.exp(self._lean_of_tie * shift)
        for lean, x, games, score, draw, _ in self._groups:
            expected, variance = self._spread(lean, x + lean * shift, v)
            slope += games * (lean * score + self._lean_of_tie * draw - expected)
            curvature += games * variance
        return slope, curvature

    def end(self, side: int, correction: float) -> float:
        """Return the end below (-1) or above (1), which must be bounded; `correction` is added to the slope."""
        peak = self._peak(correction)
        floor = self.fall(peak) + correction * peak - self._allowed
        _, curvature = self.derivatives(peak)
        shift = peak + side * math.sqrt(2 * self._allowed / curvature)
        for _ in range(MAX_STEPS):  # Newton's method; the fall from the peak is convex, so it comes from outside
            slope, _ = self.derivatives(shift)
            step = (floor - self.fall(shift) - correction * shift) / (slope + correction)
            shift += step
            if step * step * curvature < SETTLED:
                return shift
        raise ArithmeticError(f"the end of an interval did not settle in {MAX_STEPS} steps")

    def _peak(self, correction: float) -> float:
        shift = 0.0
        for _ in range(MAX_STEPS):
            slope, curvature = self.derivatives(shift)
            slope += correction
            step = slope / curvature
            if slope * step < SETTLED:
                return shift
            reach = abs(step) * self.largest
            shift += step * math.log1p(reach) / reach  # a full step can overshoot: see `strengths.fit`
        raise ArithmeticError(f"the peak of a rating did not settle in {MAX_STEPS} steps")


def _leaning(fit: Fit, moves: Vector, slight: float) -> Iterator[tuple[int, int, int, float]]:
    """Yield the pairs that lean by more than slightly: the rising player, the other, its place, and the lean."""
    lowest, highest = min(moves), max(moves)
    ends = (moves.index(lowest), moves.index(highest))
    leans = (abs(moves[end] - moves[opponent]) for end in ends for opponent in fit.rows[end].opponents)
    least = slight * max(leans, default=0.0)
    for upper, own in enumerate(moves):
        if own - lowest >= least:
            for place, opponent in enumerate(fit.rows[upper].opponents):
                lean = own - moves[opponent]
                if lean >= least and (lean > 0 or (lean == 0 and upper < opponent)):
                    yield upper, opponent, place, lean
