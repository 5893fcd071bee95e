"""The difference between two players, estimated from the games between them.

Its 95% interval inverts two exact tests: the lower end is the difference at which a score as high as this one, or
higher, has a chance of 2.5%; the upper end is the same seen by the opponent. For each difference that is tried, how
often games are drawn is what fits these games best under it. Without draws this is the interval of Clopper and Pearson.
"""

import math
from dataclasses import dataclass

ELO_PER_LOGIT = 400 / math.log(10)
TAIL = 0.025  # beyond either end of a 95% interval
FARTHEST_LOGIT = 40.0  # 7,000 Elo: beyond the ends of any interval, of a million games too
LOGIT_PRECISION = 1e-6
LARGE = 1e250  # sums are scaled down from here, long before a float overflows


@dataclass(frozen=True, slots=True)
class PairDifference:
    """The Elo difference of the first of two players over the second, with the ends of the 95% interval.

    What the games do not bound is infinite. `stronger` is the likelihood that the first is stronger.
    """

    elo: float
    low: float
    high: float
    stronger: float


def difference(wins: int, draws: int, losses: int) -> PairDifference:
    """Return the difference of two players by at least one game between them."""
    score, missed = 2 * wins + draws, 2 * losses + draws
    elo = ELO_PER_LOGIT * math.log(score / missed) if score and missed else math.copysign(math.inf, score - missed)
    low = ELO_PER_LOGIT * _lower_end(wins, draws, losses)
    high = -ELO_PER_LOGIT * _lower_end(losses, draws, wins)
    return PairDifference(elo, low, high, superiority(wins, losses))


def superiority(wins: int, losses: int) -> float:
    """Return the likelihood ("LOS") that the first of two players is stronger: that it wins more than it loses.

    Before the games every chance p to win a decided game is equally likely; after them this is the part of the
    distribution of p above one half. It equals the chance of at most `wins` successes in wins + losses + 1 trials, each
    with a chance of one half.
    """
    if wins < losses:
        return 1 - superiority(losses, wins)
    trials = wins + losses + 1
    # The other tail, more than `wins` successes, by its ratios: from the largest term on they only fall.
    successes = wins + 1
    log_term = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(losses + 1) - trials * math.log(2)
    term = tail = math.exp(log_term)
    while successes < trials and term > tail * 1e-17:
        term *= (trials - successes) / (successes + 1)
        successes += 1
        tail += term
    return 1 - tail


def _lower_end(wins: int, draws: int, losses: int) -> float:
    """Return the lower end in logits. The chance of such a score rises with the strength, so bisection finds it."""
    games, score, missing = wins + draws + losses, 2 * wins + draws, 2 * losses + draws
    if not score:
        return -math.inf
    low, high = -FARTHEST_LOGIT, math.log(score / missing) if missing else FARTHEST_LOGIT
    while high - low > LOGIT_PRECISION:
        middle = (low + high) / 2
        expected, missed = 1 / (1 + math.exp(-middle)), 1 / (1 + math.exp(middle))
        if _chance_to_reach(score, games, *_likeliest(wins, draws, losses, expected, missed)) > TAIL:
            high = middle
        else:
            low = middle
    return low


def _likeliest(wins: int, draws: int, losses: int, expected: float, missed: float) -> tuple[float, float, float]:
    """Return the likeliest chances of win, draw and loss for this expected score.

    `missed` is 1 - expected, passed separately because it keeps its digits near 0.
    """
    if not draws:
        return expected, 0.0, missed
    # With half the chance of a draw x: win = expected - x, loss = missed - x, and the likelihood's slope in x is 0
    # where games x^2 - b x + draws expected missed = 0. The smaller root leaves no chance negative.
    b = draws + wins * missed + losses * expected
    product = draws * expected * missed
    root = math.sqrt(max(0.0, b * b - 4 * (wins + draws + losses) * product))
    half = min(2 * product / (b + root), expected, missed)
    return expected - half, 2 * half, missed - half


def _chance_to_reach(half_points: int, games: int, win: float, draw: float, loss: float) -> float:
    """Return the chance of at least so many half points in so many games.

    The chances of 0, 1, 2, ... half points are the coefficients of (loss + draw x + win x^2)^games, and each follows
    from the two before it. Up to the middle all terms are positive: the half that contains the score is added up.
    """
    if half_points <= games:
        return 1 - _chance_of_at_most(half_points - 1, games, loss, draw, win)
    return _chance_of_at_most(2 * games - half_points, games, win, draw, loss)


def _chance_of_at_most(most: int, games: int, none: float, half: float, whole: float) -> float:
    """Return the chance of at most so many half points, if a game brings none, one or two with these chances.

    `most` is at most `games`, and `none` is not 0.
    """
    if most < 0:
        return 0.0
    by_half, by_whole = half / none, whole / none
    before, term, total, log_scale = 0.0, 1.0, 1.0, games * math.log(none)
    for number in range(1, most + 1):
        before, term = (
            term,
            ((games - number + 1) * by_half * term + (2 * games - number + 2) * by_whole * before) / number,
        )
        total += term
        if total > LARGE:
            before, term, total = before / LARGE, term / LARGE, total / LARGE
            log_scale += math.log(LARGE)
    return min(1.0, math.exp(log_scale + math.log(total)))
