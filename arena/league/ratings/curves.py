"""The log likelihood along a direction, from the peak on: where it is highest, and where it has fallen so far.

A `Line` follows the pairs of players whose difference changes much, game by game, and all others to second order. A
`Series` does with four derivatives what a line does, for players with so many games that the interval is short.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

from arena.league.ratings.davidson import log_total, moments
from arena.league.ratings.directions import Direction
from arena.league.ratings.linear import dot
from arena.league.ratings.strengths import Fit

SLIGHT = 0.1  # a pair that leans by less than this part of the largest lean is followed to second order only
SETTLED = 1e-12  # squared distance in standard deviations, at which a search ends
STEPS_A_LOGIT = 100
MAX_STEPS = 1000  # some ten are usual; the bound only keeps a mistake from running for ever


class Curve(ABC):
    """The log likelihood by how far the combination has moved from the peak, in logits; concave."""

    largest: float
    """How fast the difference of a pair changes at most."""

    @abstractmethod
    def fall(self, shift: float) -> float:
        """By how much it changes up to there; 0 at 0."""

    @abstractmethod
    def derivatives(self, shift: float) -> tuple[float, float]:
        """The slope, and the curvature with its sign turned."""

    def end(self, side: int, corrected: float, allowed: float) -> float:
        """Where it has fallen by so much from its peak: below (-1) or above (1), which must be bounded.

        `corrected` is added to the slope everywhere.
        """
        peak = self._peak(corrected)
        floor = self.fall(peak) + corrected * peak - allowed
        _, curvature = self.derivatives(peak)
        shift = peak + side * math.sqrt(2 * allowed / curvature)
        for _ in range(MAX_STEPS):  # Newton's method; the fall from the peak is convex, so it comes from outside
            slope, _ = self.derivatives(shift)
            step = (floor - self.fall(shift) - corrected * shift) / (slope + corrected)
            shift += step
            if step * step * curvature < SETTLED:
                return shift
        raise ArithmeticError(f"the end of an interval did not settle in {MAX_STEPS} steps")

    def _peak(self, corrected: float) -> float:
        shift = 0.0
        for _ in range(MAX_STEPS):
            slope, curvature = self.derivatives(shift)
            slope += corrected
            step = slope / curvature
            if slope * step < SETTLED:
                return shift
            reach = abs(step) * self.largest
            shift += step * math.log1p(reach) / reach  # a full step can overshoot: see `arena.league.ratings.strengths`
        raise ArithmeticError(f"the peak of a rating did not settle in {MAX_STEPS} steps")


class _Group(NamedTuple):
    """Games of a pair with the same colours; `lean` is by how much their difference changes with the combination."""

    lean: float
    x: float
    games: int
    score: float
    draw: float


class Line(Curve):
    """The likelihood, with the priors of the log strengths or without them."""

    def __init__(self, fit: Fit, direction: Direction, *, with_prior: bool = False, everything: bool = False) -> None:
        """`everything`: all pairs are followed."""
        point, prior = fit.point, fit.priors.strength
        self._v, self._lean_of_tie = point.tie, direction.tie
        self._followed: list[_Group] = []
        self._slope = self.to_lose = self.to_win = self.largest = 0.0
        curvature = 1 / direction.variance
        if not with_prior:  # at the peak the games balance the prior
            self._slope = prior * dot(direction.moves, point.logits)
            curvature -= prior * dot(direction.moves, direction.moves)
        for upper, lower, place, lean in _leaning(fit, direction, SLIGHT if not everything else 0.0):
            met = fit.players[upper]
            x = point.logits[upper] - point.logits[lower]
            games = met.as_first[place] + met.as_second[place]
            for count, side in ((met.as_first[place], 1), (met.as_second[place], -1)):
                if count:
                    at = moments(x + side * point.advantage, point.tie)
                    slant = lean + side * direction.advantage
                    group = _Group(slant, x + side * point.advantage, count, at.score, at.draw)
                    self._followed.append(group)
                    curvature -= count * self._spread(slant, group.x, self._v)[1]
                    self.largest = max(self.largest, abs(slant))
            self.to_lose += lean * met.points[place]
            self.to_win += lean * (games - met.points[place])
        self.largest += abs(direction.tie)
        self._curvature = max(0.0, curvature)  # below 0 by rounding only

    def _spread(self, lean: float, x: float, v: float) -> tuple[float, float]:
        """The expected change, and the variance, of what a game adds as the combination moves by 1."""
        at, tie = moments(x, v), self._lean_of_tie
        variance = lean * lean * at.variance + 2 * lean * tie * at.covariance + tie * tie * at.draw_variance
        return lean * at.score + tie * at.draw, variance

    def fall(self, shift: float) -> float:
        total = (self._slope - self._curvature * shift / 2) * shift
        v = self._v * math.exp(self._lean_of_tie * shift)
        for lean, x, games, score, draw in self._followed:
            linear = (lean * (score - 0.5) + self._lean_of_tie * draw) * shift
            total += games * (linear - log_total(x + lean * shift, v) + log_total(x, self._v))
        return total

    def derivatives(self, shift: float) -> tuple[float, float]:
        slope, curvature = self._slope - self._curvature * shift, self._curvature
        v = self._v * math.exp(self._lean_of_tie * shift)
        for lean, x, games, score, draw in self._followed:
            expected, variance = self._spread(lean, x + lean * shift, v)
            slope += games * (lean * score + self._lean_of_tie * draw - expected)
            curvature += games * variance
        return slope, curvature


def _leaning(fit: Fit, direction: Direction, slight: float) -> Iterator[tuple[int, int, int, float]]:
    """The pairs that met and lean by more than slightly, once each: who moves up more, who less, the place of the one
    among the other's opponents, the lean."""
    moves = direction.moves
    order = sorted(range(len(moves)), key=moves.__getitem__)
    lowest = moves[order[0]]
    least = slight * max(
        (
            abs(moves[player] - moves[opponent])
            for player in (order[0], order[-1])
            for opponent in fit.players[player].opponents
        ),
        default=0.0,
    )
    for upper in reversed(order):
        own = moves[upper]
        if own - lowest < least:
            break
        for place, opponent in enumerate(fit.players[upper].opponents):
            lean = own - moves[opponent]
            if lean >= least and (lean > 0 or (lean == 0 and upper < opponent)):
                yield upper, opponent, place, lean


class Cumulants(NamedTuple):
    """Of one player's points: the third and the fourth."""

    third: float
    fourth: float


def cumulants(fit: Fit) -> list[Cumulants]:
    """Of all players' points at the peak, from those of one game at each difference, in steps of a hundredth."""
    logits, advantage, v = fit.point
    widest = max(logits) - min(logits) + abs(advantage)
    middle = int(widest * STEPS_A_LOGIT) + 1
    table = [_of_game(step / STEPS_A_LOGIT, v) for step in range(-middle, middle + 1)]
    thirds, fourths = [cell.third for cell in table], [cell.fourth for cell in table]
    steps = [value * STEPS_A_LOGIT for value in logits]
    found = []
    for player, (opponents, as_first, as_second, _, _) in enumerate(fit.players):
        third = fourth = 0.0
        for games, side in ((as_first, 1), (as_second, -1)):
            start = steps[player] + side * advantage * STEPS_A_LOGIT + middle + 0.5
            places = [int(start - steps[opponent]) for opponent in opponents]
            third += dot(games, [thirds[place] for place in places])
            fourth += dot(games, [fourths[place] for place in places])
        found.append(Cumulants(third, fourth))
    return found


def _of_game(x: float, v: float) -> Cumulants:
    score, draw, variance, _, _ = moments(x, v)
    win, loss = score - draw / 2, 1 - score - draw / 2
    up, even = 1 - score, 0.5 - score
    third = win * up**3 + draw * even**3 - loss * score**3
    return Cumulants(third, win * up**4 + draw * even**4 + loss * score**4 - 3 * variance * variance)


class Series(Curve):
    """The likelihood of one player's rating by four derivatives at the peak."""

    REACH = 0.6
    """Logits, up to which it is taken at its word: there the next term is a thousandth of the fall or less."""

    def __init__(self, fit: Fit, direction: Direction, own: Cumulants) -> None:
        prior = fit.priors.strength
        self._slope = prior * dot(direction.moves, fit.point.logits)
        self._curvature = 1 / direction.variance - prior * dot(direction.moves, direction.moves)
        self._own = own
        self.largest = 1.0

    def fall(self, shift: float) -> float:
        third, fourth = self._own
        high = third / 6 + fourth * shift / 24
        return ((-high * shift - self._curvature / 2) * shift + self._slope) * shift

    def derivatives(self, shift: float) -> tuple[float, float]:
        third, fourth = self._own
        curvature = self._curvature + third * shift + fourth * shift * shift / 2
        slope = self._slope - (self._curvature + (third / 2 + fourth * shift / 6) * shift) * shift
        return slope, max(curvature, self._curvature / 10)
