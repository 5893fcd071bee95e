"""Fits one strength per player to all the games together.

The model is that of Bradley & Terry (1952) on the scale of points: a player whose log strength is x above another's is
expected to score 1 / (1 + e^-x) points a game against it, and a draw is half a point. The strengths are those under
which every player is expected to have as many points as it has. So the order of the games does not matter, the
strength of the opposition counts, and where all have met equally often the order is that of the points. For two
players the difference is the classic one, 400 log10(s / (1 - s)) Elo for a score of s.

The games alone would send a player that won all of them to infinity, and could not compare groups that never met. So
each log strength has a normal prior around 0 with a standard deviation of 1000 Elo, which weighs as much as an eighth
of a game between equals. With it the log posterior has one peak, and Newton's method finds it in some ten steps.

Source: R. A. Bradley & M. E. Terry, Biometrika 39 (1952) 324-345.
"""

import math
from operator import mul

from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.ratings.results import Meetings

PRIOR_PRECISION = (ELO_PER_LOGIT / 1000) ** 2  # per square logit; a game between equals brings 0.25
SETTLED = 1e-12  # squared distance from the peak in standard deviations, at which the search ends
MAX_STEPS = 1000  # ten to twenty are usual; the bound only keeps a mistake from running for ever

Vector = list[float]
Triangle = list[Vector]
"""The lower half of a square matrix: row i has i + 1 numbers."""


def fit(players: int, meetings: Meetings) -> tuple[Vector, Triangle]:
    """The log strengths at the peak, and the Cholesky factor of the information there, prior included.

    `meetings` has each pair once.
    """
    logits = [0.0] * players
    for _ in range(MAX_STEPS):
        slope, information = _slope_and_information(logits, meetings)
        factor = _cholesky(information)
        step = solve_transposed(factor, solve(factor, slope))
        if sum(map(mul, slope, step)) < SETTLED:
            return logits, factor
        # A full step can overshoot. No pair's difference changes by more than `reach`, so the information grows at most
        # e^(t * reach)-fold over the fraction t of the step, and up to this fraction it leads uphill.
        reach = max(step) - min(step)
        fraction = math.log1p(reach) / reach if reach else 1.0
        logits = [value + fraction * change for value, change in zip(logits, step, strict=True)]
    raise ArithmeticError(f"the ratings did not settle in {MAX_STEPS} steps")


def expected_score(logit: float) -> float:
    """The expected score of a game at this difference in log strength."""
    if logit < 0:  # the side on which exp cannot overflow
        odds = math.exp(logit)
        return odds / (1 + odds)
    return 1 / (1 + math.exp(-logit))


def _slope_and_information(logits: Vector, meetings: Meetings) -> tuple[Vector, Triangle]:
    """The first derivatives of the log posterior, and the second derivatives with the sign turned."""
    slope = [-PRIOR_PRECISION * value for value in logits]
    information = [[0.0] * number + [PRIOR_PRECISION] for number in range(len(logits))]
    for (low, high), meeting in meetings.items():
        logit = logits[low] - logits[high]
        expected = expected_score(logit)
        surplus = meeting.points - meeting.rated * expected
        slope[low] += surplus
        slope[high] -= surplus
        weight = meeting.rated * expected * expected_score(-logit)
        information[low][low] += weight
        information[high][high] += weight
        information[high][low] -= weight
    return slope, information


def _cholesky(matrix: Triangle) -> Triangle:
    """The lower triangle L with L L' = matrix, which the prior makes positive definite."""
    factor: Triangle = []
    for row, entries in enumerate(matrix):
        current: Vector = []
        for column in range(row):
            above = factor[column]
            current.append((entries[column] - sum(map(mul, current, above))) / above[column])  # map ends with current
        current.append(math.sqrt(entries[row] - sum(map(mul, current, current))))
        factor.append(current)
    return factor


def solve(factor: Triangle, right: Vector) -> Vector:
    """The x with L x = right."""
    solution: Vector = []
    for entries, value in zip(factor, right, strict=True):
        solution.append((value - sum(map(mul, entries, solution))) / entries[-1])
    return solution


def solve_transposed(factor: Triangle, right: Vector) -> Vector:
    """The x with L' x = right."""
    remaining = list(right)
    for row in reversed(range(len(factor))):
        entries = factor[row]
        value = remaining[row] = remaining[row] / entries[row]
        remaining[:row] = [rest - entry * value for rest, entry in zip(remaining, entries, strict=False)][:row]
    return remaining
