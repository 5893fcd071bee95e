"""Is the first of two players better? The generalized sequential probability ratio test, on pairs of games.

Pairs are counted by the points of the first player, from 0 to 2 in halves (pentanomial). Two hypotheses about its Elo,
H0 and H1, each fix the expected score of a pair, and the likeliest distribution over the five scores is found for each.
The logarithm of the ratio of their likelihoods (LLR) changes pair by pair until it leaves the bounds, which follow from
the shares of wrong verdicts that are allowed (Wald).

The likeliest distribution with mean s has p_i = n_i / (N (1 + x (a_i - s))), with the one x that gives the mean. Its
log likelihood is below the free maximum by the `deficit`, the maximum over x of sum n_i log(1 + x (a_i - s)) (Owen's
empirical likelihood). A score that never occurred weighs 0.001: so a few equal pairs do not decide.

`estimate` is the difference in Elo, knowing that the test decides when it stops. It orders the outcomes of the test
(accepted late is worse than accepted early, rejected early is the worst), and a difference is in the interval unless
the outcome is among the worst or the best 2.5% under it (Siegmund). The Elo is the difference under which half of all
outcomes are worse. The LLR is taken for a Brownian motion from 0 to either bound, with a drift of 0 for the score
midway between H0 and H1. That is crude for a few pairs, so the interval also covers that of the plain likelihood.

Sources: A. Wald, Annals of Mathematical Statistics 16 (1945) 117-186. M. Van den Bergh, "A practical introduction to
the GSPRT", cantate.be/Fishtest; LLRcalc.py and sprt.py in github.com/official-stockfish/fishtest. A. Owen, Biometrika
75 (1988) 237-249. D. Siegmund, Sequential Analysis (1985), chapters III and IV. benchmarks/sequential.py measures
errors and coverage.
"""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.league.ratings.pair import ELO_PER_LOGIT, TAIL, PairDifference

PairCounts = tuple[int, int, int, int, int]
"""The numbers of pairs that brought the first player 0, a half, 1, one and a half and 2 points."""
NO_PAIRS: PairCounts = (0, 0, 0, 0, 0)
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
NEVER_SEEN = 1e-3
MOST_STEPS = 200
PRECISION = 1e-9  # of x, on which the likelihood at its maximum depends by its square
SMALL = 1e-6  # a drift that would move so small a share of the variance is none


class Decision(enum.Enum):
    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """The hypotheses that the first player is `elo0` above the second (H0), or `elo1`, which is more (H1).

    If H0 is true, the test accepts H1 with a chance of `alpha`; if H1 is true, it accepts H0 with a chance of `beta`.
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def lower(self) -> float:
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        return math.log((1 - self.beta) / self.alpha)

    def decision(self, llr: float) -> Decision:
        if llr >= self.upper:
            return Decision.BETTER
        return Decision.NOT_BETTER if llr <= self.lower else Decision.UNDECIDED


def expected_score(elo: float) -> float:
    return 1 / (1 + math.exp(-elo / ELO_PER_LOGIT))


def log_likelihood_ratio(hypotheses: Hypotheses, counts: PairCounts) -> float:
    return Steps(hypotheses, counts).llr if any(counts) else 0.0


def expected_pairs_left(hypotheses: Hypotheses, counts: PairCounts) -> float | None:
    """Return how many more pairs the test is expected to take, if the LLR moves as before; None before any."""
    if not any(counts):
        return None
    steps = Steps(hypotheses, counts)
    drift, variance = steps.moments()
    return exit_time(steps.llr - hypotheses.lower, hypotheses.upper - steps.llr, drift, variance)


def exit_time(below: float, above: float, drift: float, variance: float) -> float:
    """Return the mean time for a Brownian motion to leave an interval with ends so far below and above it."""
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
    """The LLR of some pairs, and its step for a pair with each score, by the likeliest distribution of each hypothesis.

    `mean` is the points per game, with the weight of the scores that never occurred: neither 0 nor 1.
    """

    def __init__(self, hypotheses: Hypotheses, counts: PairCounts) -> None:
        self._weights = [count or NEVER_SEEN for count in counts]
        self._total = math.fsum(self._weights)
        h0, h1 = (_fit(self._weights, expected_score(elo)) for elo in (hypotheses.elo0, hypotheses.elo1))
        self.llr = h0.deficit - h1.deficit
        self._steps = [math.log(h0.ratio(score) / h1.ratio(score)) for score in SCORES]
        self.slope = self._steps[-1] - self._steps[0]  # for each point more that a game brings
        self.mean = self._average(SCORES)

    def _average(self, values: Sequence[float]) -> float:
        return math.fsum(weight * value for weight, value in zip(self._weights, values, strict=True)) / self._total

    def moments(self) -> tuple[float, float]:
        drift = self._average(self._steps)
        return drift, self._average([(step - drift) ** 2 for step in self._steps])

    def deficit(self, mean: float) -> float:
        """Return how far the largest log likelihood with this mean is below that with any mean."""
        return _fit(self._weights, mean).deficit

    def variance_of_score(self, mean: float) -> float:
        fit = _fit(self._weights, mean)
        return self._average([(score - mean) ** 2 / fit.ratio(score) for score in SCORES])


class _Fit(NamedTuple):
    """The likeliest distribution with a mean: the free one, with each share divided by the `ratio` of its score."""

    mean: float
    x: float
    deficit: float

    def ratio(self, score: float) -> float:
        return 1 + self.x * (score - self.mean)


def _fit(weights: Sequence[float], mean: float) -> _Fit:
    """Return the likeliest distribution over `SCORES` with this mean, which is neither 0 nor 1.

    sum w d / (1 + x d), with d = score - mean, falls in x from infinity to minus infinity; it is 0 where the mean is
    right. Newton's steps find that place, and bisection where they would leave the known bracket.
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


FARTHEST_LOGIT = 20.0  # 3,500 Elo: an interval that reaches so far is open
FIRST_WIDTH = 0.02
LOGIT_PRECISION = 1e-6
LEAST_LLR = 0.5  # from here on the LLR says how much of it a point is worth
LEAST_PART = 1e-12  # reflections that add less are left out
MOST_PARTS = 500
LARGEST_LOG = 1.0  # no part of a chance is larger: only rounding makes it so
FAR_TAIL = -30.0  # of the normal distribution: from here on its logarithm is a series


def estimate(hypotheses: Hypotheses, counts: PairCounts) -> PairDifference:
    """Return the estimated difference, by the pairs up to now, or to where the test stopped: at least one.

    `stronger` is the chance of a worse outcome if the two were of equal strength.
    """
    steps, pairs = Steps(hypotheses, counts), sum(counts)
    still = (expected_score(hypotheses.elo0) + expected_score(hypotheses.elo1)) / 2
    walked = pairs * (steps.mean - still)
    scale = steps.llr / walked if abs(steps.llr) > LEAST_LLR else 0.0
    if scale <= 0:
        scale = steps.slope
    reached = scale * walked
    at = min(max(reached, hypotheses.lower), hypotheses.upper)
    time = pairs * at / reached if at != reached else float(pairs)  # when it reached the bound that it is beyond

    def worse(logit: float) -> float:
        score = 1 / (1 + math.exp(-logit))
        motion = Motion(
            hypotheses.lower, hypotheses.upper, scale * (score - still), scale**2 * steps.variance_of_score(score)
        )
        return motion.chance_of_worse(time, at)

    score = sum(count * at for count, at in zip(counts, SCORES, strict=True)) / pairs
    middle = math.log(steps.mean / (1 - steps.mean))
    elo = ELO_PER_LOGIT * _where(worse, 0.5, middle) if 0 < score < 1 else math.copysign(math.inf, score - 0.5)

    def below(logit: float) -> float:
        root = math.copysign(math.sqrt(steps.deficit(1 / (1 + math.exp(-logit)))), middle - logit)
        return math.erfc(-root) / 2

    low = ELO_PER_LOGIT * min(_where(chance, 1 - TAIL, middle) for chance in (worse, below))
    high = ELO_PER_LOGIT * max(_where(chance, TAIL, middle) for chance in (worse, below))
    return PairDifference(elo, low, high, worse(0.0))


def _where(worse: Callable[[float], float], chance: float, near: float) -> float:
    """Return the nearest logit at which the chance of a worse outcome is this; infinite if there is none.

    The chance falls, except far from what the pairs suggest: so the search goes outwards.
    """
    sign = 1 if worse(near) > chance else -1
    inner, outer, width = near, near, FIRST_WIDTH
    while (worse(outer) - chance) * sign > 0:
        if abs(outer) >= FARTHEST_LOGIT:
            return math.copysign(math.inf, sign)
        inner, outer = outer, max(-FARTHEST_LOGIT, min(FARTHEST_LOGIT, outer + sign * width))
        width *= 2
    while abs(outer - inner) > LOGIT_PRECISION:
        middle = (inner + outer) / 2
        if (worse(middle) - chance) * sign > 0:
            inner = middle
        else:
            outer = middle
    return outer


class Motion(NamedTuple):
    """A Brownian motion from 0 that ends at either of two bounds; chances are computed by reflections there."""

    lower: float
    upper: float
    drift: float
    variance: float

    def chance_of_worse(self, time: float, at: float) -> float:
        """Return the chance to do worse than to be at this place at this time, or to end there if it is a bound.

        Worse is to have ended at the lower bound before, or to be below the place without having ended.
        """
        if at >= self.upper:
            return 1 - self._chance_to_reach_upper(time)
        reached = Motion(-self.upper, -self.lower, -self.drift, self.variance)._chance_to_reach_upper(time)
        return reached if at <= self.lower else min(1.0, reached + self._chance_below(time, at))

    def _chance_to_reach_upper(self, time: float) -> float:
        width, rate = self.upper - self.lower, self.drift / self.variance
        total = 0.0
        for number in range(MOST_PARTS):
            near, far = self.upper + 2 * number * width, 2 * (number + 1) * width - self.upper
            part = self._first_passage(time, near, -2 * number * width * rate)
            part -= self._first_passage(time, far, 2 * (self.upper - (number + 1) * width) * rate)
            total += part
            if abs(part) < LEAST_PART:
                break
        return min(1.0, max(0.0, total))

    def _first_passage(self, time: float, distance: float, log_factor: float) -> float:
        """Return the chance to get this far above the start by this time, without bounds, times a factor."""
        deviation, drifted = math.sqrt(self.variance * time), self.drift * time
        return _times_normal(log_factor, (drifted - distance) / deviation) + _times_normal(
            log_factor + 2 * self.drift / self.variance * distance, (-drifted - distance) / deviation
        )

    def _chance_below(self, time: float, at: float) -> float:
        rate, deviation = self.drift / self.variance, math.sqrt(self.variance * time)

        def part(image: float) -> float:
            low, high = ((end - image - self.drift * time) / deviation for end in (self.lower, at))
            if low > 0:  # the tail that is small, or both are factor times 1
                low, high = -high, -low
            return _times_normal(rate * image, high) - _times_normal(rate * image, low)

        total = part(0.0) - part(2 * self.upper)
        for number in range(1, MOST_PARTS):
            image = 2 * number * (self.upper - self.lower)
            more = math.fsum(part(sign) - part(2 * self.upper + sign) for sign in (image, -image))
            total += more
            if abs(more) < LEAST_PART:
                break
        return min(1.0, max(0.0, total))


def _times_normal(log_factor: float, value: float) -> float:
    """Return the chance of a normal variable below a value, times a factor that alone may be too large for a float."""
    if value > FAR_TAIL:
        log_tail = math.log(math.erfc(-value / math.sqrt(2)) / 2)
    else:
        log_tail = -value * value / 2 - math.log(-value * math.sqrt(2 * math.pi)) + math.log1p(-1 / value**2)
    return math.exp(min(log_factor + log_tail, LARGEST_LOG))
