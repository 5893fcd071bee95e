"""Is the first of two players better? The generalized sequential probability ratio test, on pairs of games.

The two games of a pair have the same seeds and colours swapped, so they are not independent of each other, and pairs
are what is counted: by the points of the first player, from 0 to 2 in halves (pentanomial). Two hypotheses about its
Elo, H0 and H1, each fix the expected score of a pair. Under each the likeliest distribution over the five scores is
found; the logarithm of the ratio of their likelihoods (LLR) wanders, pair by pair, until it leaves the bounds, which
follow from the shares of wrong verdicts that are allowed (Wald).

The likeliest distribution with mean s has p_i = n_i / (N (1 + x (a_i - s))), with the one x that gives the mean: so the
logarithm of its likelihood lies below that of the free maximum by `deficit`, the maximum over x of sum n_i log(1 + x
(a_i - s)) (Owen's empirical likelihood).

The test is that of fishtest and fastchess, with their weight of 0.001 for a score that has not come. The trap: to say
from few equal pairs that their variance is 0. That weight and the exact likelihood keep the LLR finite and slow there.

Sources: A. Wald, Annals of Mathematical Statistics 16 (1945) 117-186. M. Van den Bergh, "A practical introduction to
the GSPRT" and "Comments on normalized Elo", cantate.be/Fishtest; his LLRcalc.py in github.com/official-
stockfish/fishtest. A. Owen, Biometrika 75 (1988) 237-249.
"""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.league.ratings.pair import ELO_PER_LOGIT

PairCounts = tuple[int, int, int, int, int]
"""How many pairs brought the first player 0, a half, 1, one and a half and 2 points."""
NO_PAIRS: PairCounts = (0, 0, 0, 0, 0)
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The points per game of a pair with each of these results."""
NEVER_SEEN = 1e-3
"""What a result that has not come about weighs, in pairs."""
MOST_STEPS = 200
PRECISION = 1e-9  # of x, on which the likelihood at its maximum depends by its square
SMALL = 1e-6  # a drift that would move so small a share of the variance is none


class Decision(enum.Enum):
    """What a test has come to."""

    BETTER = "better"
    """H1 is accepted."""
    NOT_BETTER = "not better"
    """H0 is accepted."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """What is tested: that the first player is `elo0` above the second (H0), or `elo1`, which is more (H1).

    If H0 is true, the test accepts H1 with a chance of `alpha`; if H1 is true, it accepts H0 with a chance of `beta`.
    Between the two it may accept either. Raises `ValueError` for what makes no sense.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise ValueError(f"expected elo0 below elo1, got {self.elo0:g} and {self.elo1:g}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(
                f"expected alpha and beta above 0 with a sum below 1, got {self.alpha:g} and {self.beta:g}"
            )

    @property
    def lower(self) -> float:
        """The LLR at which, or below which, H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR at which, or above which, H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def decision(self, llr: float) -> Decision:
        """What the LLR after a pair decides, if none before it did."""
        if llr >= self.upper:
            return Decision.BETTER
        return Decision.NOT_BETTER if llr <= self.lower else Decision.UNDECIDED


def expected_score(elo: float) -> float:
    """The points per game that are expected of a player who is so much stronger."""
    return 1 / (1 + math.exp(-elo / ELO_PER_LOGIT))


def log_likelihood_ratio(hypotheses: Hypotheses, counts: PairCounts) -> float:
    """How much likelier these pairs are under H1 than under H0, as a natural logarithm (LLR)."""
    if not any(counts):
        return 0.0
    weights = _weights(counts)
    return (
        _fit(weights, expected_score(hypotheses.elo0)).deficit - _fit(weights, expected_score(hypotheses.elo1)).deficit
    )


def expected_pairs_left(hypotheses: Hypotheses, counts: PairCounts) -> float | None:
    """How many more pairs the test is expected to take, if the LLR goes on as it went; None before there are any.

    The LLR is taken for a Brownian motion with the mean and variance that its steps have under the pairs so far.
    """
    if not any(counts):
        return None
    steps = Steps(hypotheses, counts)
    drift, variance = steps.moments()
    return exit_time(steps.llr - hypotheses.lower, hypotheses.upper - steps.llr, drift, variance)


def exit_time(below: float, above: float, drift: float, variance: float) -> float:
    """The mean time that a Brownian motion takes to leave an interval whose ends are so far below and above it.

    `drift` and `variance` are those of a unit of time.
    """
    if below <= 0 or above <= 0:
        return 0.0
    if abs(drift) * (below + above) < SMALL * variance:
        return below * above / variance
    if drift < 0:
        below, above, drift = above, below, -drift
    rate = 2 * drift / variance
    at_upper_end = math.expm1(-rate * below) / math.expm1(-rate * (below + above))
    return (at_upper_end * (below + above) - below) / drift


class Steps:
    """What a pair with each of the scores adds to the LLR, by the distributions that were likeliest at the end."""

    def __init__(self, hypotheses: Hypotheses, counts: PairCounts) -> None:
        self._weights = _weights(counts)
        fits = [_fit(self._weights, expected_score(elo)) for elo in (hypotheses.elo0, hypotheses.elo1)]
        self._steps = [math.log(fits[0].ratio(score) / fits[1].ratio(score)) for score in SCORES]
        self.llr = fits[0].deficit - fits[1].deficit
        total = math.fsum(self._weights)
        self.mean = math.fsum(weight * at for weight, at in zip(self._weights, SCORES, strict=True)) / total
        """The points per game, with what weighs in for scores that have not come: neither 0 nor 1."""

    def deficit(self, score: float) -> float:
        """How far the logarithm of the largest likelihood with such a mean lies below that with any."""
        return _fit(self._weights, score).deficit

    def moments(self) -> tuple[float, float]:
        """The mean and the variance of a step, as the pairs were."""
        total = math.fsum(self._weights)
        drift = math.fsum(weight * step for weight, step in zip(self._weights, self._steps, strict=True)) / total
        squares = math.fsum(
            weight * (step - drift) ** 2 for weight, step in zip(self._weights, self._steps, strict=True)
        )
        return drift, squares / total

    @property
    def slope(self) -> float:
        """How much longer a step is for each point more that a game brings: from a lost pair to one that is won."""
        return self._steps[-1] - self._steps[0]

    def variance_of_score(self, mean: float) -> float:
        """The variance of the score of a pair under the likeliest distribution with such a mean."""
        fit, total = _fit(self._weights, mean), math.fsum(self._weights)
        return math.fsum(
            weight / total / fit.ratio(at) * (at - mean) ** 2 for weight, at in zip(self._weights, SCORES, strict=True)
        )


class _Fit(NamedTuple):
    """The likeliest distribution with one mean: the free one, each share of it divided by `ratio` of its score."""

    mean: float
    x: float
    deficit: float
    """How far the logarithm of its likelihood lies below that of the free one."""

    def ratio(self, score: float) -> float:
        return 1 + self.x * (score - self.mean)


def _weights(counts: PairCounts) -> tuple[float, ...]:
    return tuple(count or NEVER_SEEN for count in counts)


def _fit(weights: Sequence[float], mean: float) -> _Fit:
    """The likeliest distribution over `SCORES` with this mean, which is neither 0 nor 1; all weights are above 0.

    sum w d / (1 + x d), with d = score - mean, falls in x from infinity to minus infinity; it is 0 where the mean is
    right. Newton's steps find that place, and halving where they would leave what is known to hold it.
    """
    distances = [score - mean for score in SCORES]
    low, high = -1 / distances[-1], -1 / distances[0]
    terms = list(zip(weights, distances, strict=True))
    x = 0.0
    for _ in range(MOST_STEPS):
        slope = value = 0.0
        for weight, distance in terms:
            share = distance / (1 + x * distance)
            value += weight * share
            slope += weight * share * share
        if value > 0:
            low = x
        else:
            high = x
        following = x + value / slope
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) <= PRECISION * (1 + abs(x)):
            break
        x = following
    deficit = math.fsum(weight * math.log1p(x * distance) for weight, distance in terms)
    return _Fit(mean, x, max(0.0, deficit))  # x = 0 would give 0
