"""What the pairs of a sequential test say of the difference, knowing that the test decides when it stops.

A test that stops at a bound has been stopped by what went well, or badly: the plain score is biased, and its usual 95%
interval holds the truth in some 90 of 100 tests. So the outcomes of the test are put in order (accepted late is worse
than accepted early, rejected early is the worst), and a difference is in the interval unless what has come is among the
worst or the best 2.5% under it (Siegmund's stage-wise ordering, as in fishtest). The Elo is the difference under which
half of all outcomes are worse, so that it is too high as often as too low.

The LLR is taken for a Brownian motion that starts at 0 and ends at either bound, and moves with the score: it stands
still where that is midway between H0 and H1, and a point is worth so much of it that it comes to what it is. For a few
pairs that is a poor picture; so the interval reaches as far as that of the likelihood does, too (the signed root of
twice the deficit taken as a normal variable), which knows nothing of stopping.

Sources: D. Siegmund, Sequential Analysis (1985), chapters III and IV. github.com/official-stockfish/fishtest, sprt.py.
The coverage is measured by benchmarks/sequential.py.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from arena.league.ratings.pair import ELO_PER_LOGIT, TAIL, Difference
from arena.league.ratings.sequential import SCORES, Hypotheses, PairCounts, Steps, expected_score

FARTHEST_LOGIT = 20.0  # 3,500 Elo: an interval that reaches so far is open
FIRST_WIDTH = 0.02
LOGIT_PRECISION = 1e-6
LEAST_LLR = 0.5  # from here on the LLR says how much of it a point is worth
LEAST_PART = 1e-12  # reflections that add less are left out
MOST_PARTS = 500
LARGEST_LOG = 1.0  # no part of a chance is larger: only rounding makes it so
FAR_TAIL = -30.0  # of the normal distribution: from here on its logarithm is a series


def estimate(hypotheses: Hypotheses, counts: PairCounts) -> Difference:
    """How much stronger the first player is, by the pairs up to now, or to where the test stopped: at least one.

    An end of the 95% interval is infinite where the pairs do not bound it. `stronger` is the chance of a worse outcome
    if the two were of equal strength.
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
    return Difference(elo, low, high, worse(0.0))


def _where(worse: Callable[[float], float], chance: float, near: float) -> float:
    """The logit nearest to one at which the chance of a worse outcome is this; infinite where there is none.

    The chance falls, except far from what the pairs suggest, where the likeliest distribution has hardly any variance:
    so the search goes outwards.
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
    """A Brownian motion from 0 that ends at either of two bounds; drift and variance are those of a unit of time.

    Its chances are computed by reflections of the start at both bounds.
    """

    lower: float
    upper: float
    drift: float
    variance: float

    def chance_of_worse(self, time: float, at: float) -> float:
        """The chance to do worse than to be at this place at this time, or to end there if it is a bound.

        Worse is to have ended at the lower bound before, or to be below the place without having ended.
        """
        if at >= self.upper:
            return 1 - self._chance_to_reach_upper(time)
        reached = Motion(-self.upper, -self.lower, -self.drift, self.variance)._chance_to_reach_upper(time)
        return reached if at <= self.lower else min(1.0, reached + self._chance_below(time, at))

    def _chance_to_reach_upper(self, time: float) -> float:
        """The chance to have ended at the upper bound by this time."""
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
        """The chance to get so far above the start by this time, were there no bounds, times a factor."""
        deviation, drifted = math.sqrt(self.variance * time), self.drift * time
        return _times_normal(log_factor, (drifted - distance) / deviation) + _times_normal(
            log_factor + 2 * self.drift / self.variance * distance, (-drifted - distance) / deviation
        )

    def _chance_below(self, time: float, at: float) -> float:
        """The chance to be below a place at this time, without having ended."""
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
    """The chance of a normal variable below a value, times a factor that alone may be too large for a float."""
    if value > FAR_TAIL:
        log_tail = math.log(math.erfc(-value / math.sqrt(2)) / 2)
    else:
        log_tail = -value * value / 2 - math.log(-value * math.sqrt(2 * math.pi)) + math.log1p(-1 / value**2)
    return math.exp(min(log_factor + log_tail, LARGEST_LOG))
