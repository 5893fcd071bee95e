"""How likely it is, for two players of a league, that the one is the stronger ("LOS").

It is the normal distribution at the signed root of the likelihood ratio: of how much less likely the games are if the
two are equals, with all else following the tangent of its path. Unlike the difference over its standard error this is
right for lopsided results too: after 50:0 the likelihood of equality is known well, the difference is not. The priors
count here, so that it is defined for any two; two who are tied by no games come out near one half.

Where the two are near each other, the likelihood is taken by its cube instead of game by game. Where they are so far
apart that there is no doubt, that is shown by a bound: most pairs of a large league are such.

Source: O. Barndorff-Nielsen & D. Cox, Inference and Asymptotics (1994), on the signed root.
"""

import math

from arena.league.ratings.curves import Line, Series, cumulants
from arena.league.ratings.directions import Directions
from arena.league.ratings.strengths import Fit

BEYOND_DOUBT = 18.0
"""A fall of the log likelihood, after which the other one is the stronger with a chance below one in a billion."""
LEAN = 2.0
"""By no more than this the difference of any two changes as that of the pair changes by 1: all others move in between
(1.02 was measured), and where colours tell little apart from strength the side of Red moves against it."""


class Superiorities:
    """The likelihoods of a fit."""

    def __init__(self, fit: Fit, directions: Directions) -> None:
        self._fit = fit
        self._directions = directions
        self._cumulants = cumulants(fit)

    def of(self, one: int, other: int) -> float:
        """How likely it is that the one is stronger than the other."""
        ahead = self._fit.point.logits[one] - self._fit.point.logits[other]
        first, second, across = self._directions.covariances(one, other)
        variance = first + second - 2 * across
        moves = (first - across) / variance, (across - second) / variance
        if abs(ahead) * max(map(abs, moves)) > Series.REACH:
            least = _least_fall(abs(ahead), variance)
            return _share(ahead, least) if least > BEYOND_DOUBT else self._by_line(one, other, ahead)
        third = sum(move**3 * self._cumulants[player].third for move, player in zip(moves, (one, other), strict=True))
        # up to the cube the fall at equality is that of a parabola and a correction, which must not take it all
        fall = ahead * ahead / variance
        return _share(ahead, max(fall - third * ahead**3 / 3, fall / 4) / 2)

    def _by_line(self, one: int, other: int, ahead: float) -> float:
        direction = self._directions.of_player(one, frozenset({other}))
        return _share(ahead, max(0.0, -Line(self._fit, direction, with_prior=True).fall(-ahead)))


def _least_fall(distance: float, variance: float) -> float:
    """By how much the log likelihood falls at least over so many logits from the peak.

    The information of a game falls by the factor e^(-LEAN t) over t logits at most, as in F. Bach, Electronic Journal
    of Statistics 4 (2010) 384-414.
    """
    reach = LEAN * distance
    return (math.expm1(-reach) + reach) / (LEAN * LEAN * variance)


def _share(ahead: float, fall: float) -> float:
    """How likely it is that the one who is ahead by so many logits is the stronger, after this fall to equality."""
    return _normal(math.copysign(math.sqrt(2 * fall), ahead))


def _normal(deviations: float) -> float:
    """The share of the normal distribution below so many standard deviations."""
    return math.erfc(-deviations / math.sqrt(2)) / 2
