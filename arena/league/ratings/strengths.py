"""The strengths of all players, the advantage of the first player and the share of draws, fitted to all games together.

docs/ratings.md has the model (Davidson's), its scale, the priors and the sources. Let x be the difference in log
strength between a player and its opponent, plus the advantage for the player that has the first move, or minus it: the
chances of a win, a draw and a loss are in the ratio exp(x/2) : v : exp(-x/2). Without any draw there is no v. The log
posterior is concave, and Newton's method finds its peak in some ten steps.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.ratings.score_counts import Row
from arena.system.single_threaded import single_threaded_numpy

Vector = list[float]
Matrix = list[Vector]

MOST_IN_PYTHON = 60
"""The most players for which equations are solved without numpy, which takes longer to import."""
SETTLED = 1e-12  # squared distance from the peak in standard deviations at which the search ends
SAFE_REACH = 1.5  # a full step that changes no game's exponents by more leads uphill
FARTHEST_START = 10.0  # logits
MAX_STEPS = 1000  # only a mistake takes so many


class Moments(NamedTuple):
    score: float
    draw: float
    variance: float
    covariance: float
    draw_variance: float


def moments(x: float, v: float) -> Moments:
    size = math.exp(-abs(x) / 2)  # chances as 1, v size, size^2, which cannot overflow
    up, down = (1.0, size * size) if x >= 0 else (size * size, 1.0)
    even = v * size
    total = up + even + down
    square = total * total
    return Moments(
        (up + even / 2) / total,
        even / total,
        (up * down + even * (up + down) / 4) / square,
        even * (down - up) / 2 / square,
        even * (up + down) / square,
    )


def log_total(x: float, v: float) -> float:
    """Return the logarithm of exp(x/2) + v + exp(-x/2), the divisor of all chances."""
    size = math.exp(-abs(x) / 2)
    return abs(x) / 2 + math.log1p(size * (v + size))


def scale_of(v: float) -> float:
    """Return the share of decided games between equals; a difference of 1 is this times 400 / ln(10) Elo."""
    return 2 / (2 + v)


class Priors(NamedTuple):
    strength: float = (ELO_PER_LOGIT / 1000) ** 2
    advantage: float = (ELO_PER_LOGIT / 100) ** 2
    decided: float = 1.0


USUAL_PRIORS = Priors()


class Point(NamedTuple):
    """Values of all parameters; `tie` is v, which is 0 in a league without draws."""

    logits: Vector
    advantage: float
    tie: float


class Fit(NamedTuple):
    """The peak, and the covariance matrix there: the players in order, the advantage, the logarithm of v.

    `draw_information` is the information on the logarithm of v, were all else known.
    """

    point: Point
    rows: Sequence[Row]
    covariance: Matrix
    draw_information: float
    priors: Priors


def fit(rows: Sequence[Row], won_first: float, priors: Priors = USUAL_PRIORS) -> Fit:
    """Fit the games of players that all have a rated game; `won_first` are the points of all first players together."""
    draws = sum(sum(row.draws) for row in rows) // 2
    games = sum(sum(row.as_first) for row in rows)
    tie = 2 * draws / (games - draws + priors.decided)
    point = Point(_start(rows, tie), 0.0, tie)
    for _ in range(MAX_STEPS):
        slope, information = _derivatives(rows, point, won_first, draws, priors)
        (step,) = solved(information, [slope])
        if dot(slope, step) < SETTLED:
            identity = [[float(row == column) for column in range(len(slope))] for row in range(len(slope))]
            return Fit(point, rows, solved(information, identity), information[-1][-1], priors)
        # A full step can overshoot. No game's exponents spread by more than `reach`, so the information grows at most
        # e^(t * reach)-fold over the fraction t of the step. It leads uphill up to log(1 + reach) / reach, and to its
        # end where (e^reach - 1 - reach) / reach^2 < 1 (F. Bach, Electronic Journal of Statistics 4 (2010) 384-414).
        *moves, by_first, by_tie = step
        reach = max(moves) - min(moves) + abs(by_first) + abs(by_tie)
        fraction = math.log1p(reach) / reach if reach > SAFE_REACH else 1.0
        point = Point(
            [value + fraction * move for value, move in zip(point.logits, moves, strict=True)],
            point.advantage + fraction * by_first,
            point.tie * math.exp(fraction * by_tie),
        )
    raise ArithmeticError(f"the ratings did not settle in {MAX_STEPS} steps")


def _start(rows: Sequence[Row], tie: float) -> Vector:
    """Return log strengths near the peak: by the score alone, then spread, as opponents differ and games are drawn."""
    scores = [(sum(row.half_points) / 2 + 0.5) / (sum(row.rated) + 1) for row in rows]
    logits = [math.log(score / (1 - score)) for score in scores]
    mean = sum(logits) / len(logits)
    logits = [value - mean for value in logits]
    wider = (1 + tie / 2) * math.sqrt(1 + math.pi / 8 * dot(logits, logits) / len(logits))
    return [max(-FARTHEST_START, min(value * wider, FARTHEST_START)) for value in logits]


def _derivatives(
    rows: Sequence[Row], point: Point, won_first: float, draws: int, priors: Priors
) -> tuple[Vector, Matrix]:
    """Return the slope of the log posterior, and the lower triangle of the information: the negated second derivatives.

    The formulas are those of `moments`, inlined because this loop takes all the time of a large league.
    """
    logits, advantage, v = point
    players = len(rows)
    ups = [math.exp(value / 2) for value in logits]
    ahead, half, quarter, even = math.exp(advantage / 2), v / 2, v / 4, v / (2 + v)
    matrix = [[0.0] * (players + 2) for _ in range(players + 2)]
    by_first, by_draw = matrix[-2], matrix[-1]
    slope = [sum(row.half_points) / 2 - priors.strength * value for row, value in zip(rows, logits, strict=True)]
    slope += [won_first - priors.advantage * advantage, draws - priors.decided * even]
    diagonal = [priors.strength] * players + [priors.advantage, priors.decided * even * (1 - even)]
    for player, row in enumerate(rows):
        entries = matrix[player]
        before = bisect_left(row.opponents, player)  # each pair is seen once, by the later player
        opponents = row.opponents[:before]
        as_first = row.as_first[:before]
        as_second = [games - firsts for games, firsts in zip(row.rated, as_first, strict=False)]
        for sign, counts, up in ((1, as_first, ups[player] * ahead), (-1, as_second, ups[player] / ahead)):
            scores = weights = with_draws = shares = decisions = 0.0
            for opponent, count in zip(opponents, counts, strict=True):
                win = up / ups[opponent]
                loss = 1 / win
                decided = win + loss
                total = decided + v
                share = count / total
                spread = share / total
                score = share * (win + half)
                weight = spread * (1 + quarter * decided)
                with_draw = spread * half * (loss - win)
                slope[opponent] -= count - score
                diagonal[opponent] += weight
                entries[opponent] -= weight
                by_first[opponent] -= sign * weight
                by_draw[opponent] -= with_draw
                scores += score
                weights += weight
                with_draws += with_draw
                shares += share
                decisions += spread * decided
            slope[player] -= scores
            slope[-2] -= scores if sign > 0 else sum(counts) - scores
            slope[-1] -= v * shares
            diagonal[player] += weights
            diagonal[-2] += weights
            diagonal[-1] += v * decisions
            by_first[player] += sign * weights
            by_draw[player] += with_draws
            by_draw[-2] += sign * with_draws
    for place, number in enumerate(diagonal):
        matrix[place][place] = number
    if not draws:
        matrix[-1][-1] = 1.0  # its step is 0
    return slope, matrix


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    total: float = sum(map(mul, left, right))
    return total


def solved(lower: Matrix, columns: Matrix) -> Matrix:
    """Solve for each column a positive definite matrix, of which only the lower triangle is read."""
    if len(lower) > MOST_IN_PYTHON + 2:
        numpy = single_threaded_numpy()
        triangle = numpy.tril(lower)
        found = numpy.linalg.solve(triangle + numpy.tril(triangle, -1).T, numpy.transpose(columns))
        columns_found: Matrix = found.T.tolist()
        return columns_found
    factor = _cholesky(lower)
    return [_solved_by(factor, column) for column in columns]


def _cholesky(lower: Matrix) -> Matrix:
    """Return the lower triangle L with L L' = matrix: row i has i + 1 numbers."""
    factor: Matrix = []
    for row, entries in enumerate(lower):
        current: Vector = []
        for column in range(row):
            above = factor[column]
            current.append((entries[column] - sum(map(mul, current, above))) / above[column])  # map ends with current
        current.append(math.sqrt(entries[row] - sum(map(mul, current, current))))
        factor.append(current)
    return factor


def _solved_by(factor: Matrix, right: Sequence[float]) -> Vector:
    remaining: Vector = []
    for entries, value in zip(factor, right, strict=True):
        remaining.append((value - sum(map(mul, entries, remaining))) / entries[-1])
    for row in reversed(range(len(factor))):
        entries = factor[row]
        value = remaining[row] = remaining[row] / entries[row]
        remaining[:row] = [rest - entry * value for rest, entry in zip(remaining, entries, strict=False)][:row]
    return remaining
