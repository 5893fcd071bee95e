"""Fits one strength per player, the advantage of the first player and the share of draws to all the games together.

The model is Davidson's (`arena.league.ratings.davidson`), fitted by maximum likelihood with weak priors:

- Each log strength has a normal prior around 0 with a standard deviation of 1000 Elo, which weighs as much as an eighth
  of a game between equals. The games alone would send a player that won all of them to infinity, and could not compare
  groups that never met.
- The advantage has one around 0 with 100 Elo, so that in a short league that one bot won with both colours, or that
  Red won throughout, strength and colour share what cannot be told from each other.
- One game between equals that was decided is added, or draws alone would send the readiness to draw to infinity. Where
  no game was drawn there is no such parameter, and the model is that of Bradley and Terry.

With them the log posterior has one peak, and Newton's method finds it in some ten steps. Its equations are solved by
Cholesky's method, and in large leagues by conjugate gradients, whose cost grows with the pairs that have met.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from operator import add, sub
from typing import NamedTuple

from arena.league.ratings.linear import Sparse, Triangle, Vector, cholesky, combined, dot, iterated, solve_by
from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.ratings.results import Row

MOST_BY_CHOLESKY = 60
"""Players, up to which equations are solved exactly: its time grows with their cube. With 100 players a table took
0.5 s so, and 0.1 s by conjugate gradients."""
SETTLED = 1e-12  # squared distance from the peak in standard deviations, at which the search ends
NEARLY_SETTLED = 1e-4  # the same by conjugate gradients; the step that is taken then leaves about its square
STEP_PRECISION = 1e-7  # of a step by conjugate gradients
SAFE_REACH = 1.5  # a full step that changes no game's exponents by more leads uphill
FARTHEST_START = 10.0  # logits
MAX_STEPS = 1000  # ten to twenty are usual; the bound only keeps a mistake from running for ever


class Priors(NamedTuple):
    """How much weight there is beside the games: per square logit, where a game between equals brings 0.25."""

    strength: float = (ELO_PER_LOGIT / 1000) ** 2
    advantage: float = (ELO_PER_LOGIT / 100) ** 2
    decided: float = 1.0
    """Games between equals that were decided."""


USUAL_PRIORS = Priors()


class Opposition(NamedTuple):
    """The rated games of one player, in columns: who it met, how often as the first and as the second player."""

    opponents: list[int]
    as_first: list[int]
    as_second: list[int]
    points: Vector
    draws: list[int]


class Border(NamedTuple):
    """The rows of the information matrix that belong to the advantage and the draws: with the players, and both."""

    first: Vector
    drawn: Vector
    corner: tuple[float, float, float]
    """Advantage with itself, with the draws, draws with themselves."""


class Point(NamedTuple):
    """Values of all parameters; `tie` is how readily games are drawn, 0 in a league without draws."""

    logits: Vector
    advantage: float
    tie: float


class Slopes(NamedTuple):
    """The first derivatives of the log posterior, and the second ones with the sign turned."""

    logits: Vector
    advantage: float
    tie: float
    matrix: Sparse
    border: Border
    taken: list[Vector]


class Fit(NamedTuple):
    """The peak, the games it was fitted to and the information there, priors included.

    `factor` is that of the whole matrix, or None in a league so large that it is not made.
    """

    point: Point
    players: list[Opposition]
    slopes: Slopes
    factor: Triangle | None
    priors: Priors


def oppositions(rows: Sequence[Row]) -> list[Opposition]:
    """The rated games of these players; their opponents are all among them."""
    found = []
    for row in rows:
        columns = zip(row.opponents, row.wins, row.draws, row.losses, row.as_first, strict=True)
        met = [
            (opponent, first, wins + draws + losses - first, wins + draws / 2, draws)
            for opponent, wins, draws, losses, first in columns
            if wins or draws or losses
        ]
        found.append(Opposition(*map(list, zip(*met, strict=True))) if met else Opposition([], [], [], [], []))
    return found


def fit(
    rows: Sequence[Row], won_first: float, priors: Priors = USUAL_PRIORS, most_by_cholesky: int = MOST_BY_CHOLESKY
) -> Fit:
    """The strengths, the advantage and the draws at the peak. Each of the players has a rated game.

    `won_first` are the points of the first players in all games together.
    """
    players = oppositions(rows)
    games = sum(sum(met.as_first) for met in players)
    draws = sum(sum(met.draws) for met in players) // 2
    tie = 2 * draws / (games - draws + priors.decided)
    point = Point(_start(players, tie), 0.0, tie)
    is_exact = len(players) <= most_by_cholesky
    for _ in range(MAX_STEPS):
        slopes = _slopes(players, point, won_first, draws, priors)
        factor = cholesky(_whole(players, slopes, bool(draws))) if is_exact else None
        step = _newton_step(slopes, factor, bool(draws))
        gain = dot(slopes.logits, step) + slopes.advantage * step[-2] + slopes.tie * step[-1]
        if gain < SETTLED and is_exact:
            return Fit(point, players, slopes, factor, priors)
        # A full step can overshoot. No game's exponents spread by more than `reach`, so the information grows at most
        # e^(t * reach)-fold over the fraction t of the step. It leads uphill up to log(1 + reach) / reach, and to its
        # end where (e^reach - 1 - reach) / reach^2 < 1 (F. Bach, Electronic Journal of Statistics 4 (2010) 384-414).
        *moves, by_first, by_tie = step
        reach = max(moves) - min(moves) + abs(by_first) + abs(by_tie)
        fraction = math.log1p(reach) / reach if reach > SAFE_REACH else 1.0
        point = Point(
            combined(point.logits, fraction, moves),
            point.advantage + fraction * by_first,
            point.tie * math.exp(fraction * by_tie),
        )
        if gain < NEARLY_SETTLED and not is_exact:
            return Fit(point, players, slopes, None, priors)
    raise ArithmeticError(f"the ratings did not settle in {MAX_STEPS} steps")


def _start(players: Sequence[Opposition], tie: float) -> Vector:
    """Log strengths near the peak: by the score alone, and farther apart as opponents differ and games are drawn."""
    scores = [(sum(met.points) + 0.5) / (sum(met.as_first) + sum(met.as_second) + 1) for met in players]
    logits = [math.log(score / (1 - score)) for score in scores]
    mean = sum(logits) / len(logits)
    logits = [value - mean for value in logits]
    wider = (1 + tie / 2) * math.sqrt(1 + math.pi / 8 * dot(logits, logits) / len(logits))
    return [max(-FARTHEST_START, min(value * wider, FARTHEST_START)) for value in logits]


def _slopes(players: Sequence[Opposition], point: Point, won_first: float, draws: int, priors: Priors) -> Slopes:
    logits, advantage, v = point
    ups = [math.exp(value / 2) for value in logits]
    downs = [1 / up for up in ups]
    ahead = math.exp(advantage / 2)
    diagonal = [priors.strength] * len(players)
    expected = [-sum(met.points) for met in players]
    first, drawn = [0.0] * len(players), [0.0] * len(players)
    taken: list[Vector] = [[] for _ in players]
    expected_first = expected_draws = firsts = both = ties = 0.0
    # Each pair is seen once, by the one with the lower number. Opponents come in the order of their numbers, so that
    # what is appended for them stays in theirs.
    for player, met in enumerate(players):
        start = bisect_right(met.opponents, player)
        opponents, reds, blues = met.opponents[start:], met.as_first[start:], met.as_second[start:]
        against = [downs[opponent] for opponent in opponents]
        red = _of_one_colour(ups[player] * ahead, against, reds, v)
        blue = _of_one_colour(ups[player] / ahead, against, blues, v)
        scores = list(map(add, red.scores, blue.scores))
        weights = list(map(add, red.weights, blue.weights))
        by_first = list(map(sub, red.weights, blue.weights))
        by_draw = list(map(add, red.with_draws, blue.with_draws))
        for opponent, games, score, weight, one, other in zip(
            opponents, map(add, reds, blues), scores, weights, by_first, by_draw, strict=True
        ):
            expected[opponent] += games - score
            diagonal[opponent] += weight
            taken[opponent].append(weight)
            first[opponent] -= one
            drawn[opponent] -= other
        expected[player] += sum(scores)
        diagonal[player] += sum(weights)
        taken[player] += weights
        first[player] += sum(by_first)
        drawn[player] += sum(by_draw)
        expected_first += sum(red.scores) + sum(blues) - sum(blue.scores)
        expected_draws += red.draws + blue.draws
        firsts += sum(weights)
        both += sum(red.with_draws) - sum(blue.with_draws)
        ties += red.draw_variance + blue.draw_variance
    even = v / (2 + v)
    return Slopes(
        [-surplus - priors.strength * value for surplus, value in zip(expected, logits, strict=True)],
        won_first - expected_first - priors.advantage * advantage,
        draws - expected_draws - priors.decided * even,
        Sparse(diagonal, [met.opponents for met in players], taken),
        Border(first, drawn, (firsts + priors.advantage, both, ties + priors.decided * even * (1 - even))),
        taken,
    )


class _OneColour(NamedTuple):
    """What a player's games with one colour come to: by opponent its expected points, their variances, and how these
    go together with draws; the draws of all together."""

    scores: Vector
    weights: Vector
    with_draws: Vector
    draws: float
    draw_variance: float


def _of_one_colour(up: float, downs: Vector, games: Sequence[int], v: float) -> _OneColour:
    """The formulas of `arena.league.ratings.davidson.moments`, in the loop whose time counts."""
    half, quarter = v / 2, v / 4
    scores: Vector = []
    weights: Vector = []
    with_draws: Vector = []
    draws = draw_variance = 0.0
    for down, count in zip(downs, games, strict=True):
        win = up * down
        loss = 1 / win
        decided = win + loss
        total = decided + v
        share = count / total
        spread = share / total
        scores.append(share * (win + half))
        weights.append(spread * (1 + quarter * decided))
        with_draws.append(spread * half * (loss - win))
        draws += share
        draw_variance += spread * decided
    return _OneColour(scores, weights, with_draws, v * draws, v * draw_variance)


def _whole(players: Sequence[Opposition], slopes: Slopes, has_draws: bool) -> Triangle:
    """The matrix with its border, as a triangle."""
    matrix: Triangle = []
    for player, met in enumerate(players):
        row = [0.0] * (player + 1)
        for opponent, weight in zip(met.opponents, slopes.taken[player], strict=True):
            if opponent < player:
                row[opponent] = -weight
        row[player] = slopes.matrix.diagonal[player]
        matrix.append(row)
    first, drawn, (firsts, both, ties) = slopes.border
    matrix.append([*first, firsts])
    if has_draws:
        matrix.append([*drawn, both, ties])
    return matrix


def _newton_step(slopes: Slopes, factor: Triangle | None, has_draws: bool) -> Vector:
    right = [*slopes.logits, slopes.advantage, slopes.tie]
    if not has_draws:
        right.pop()
    step = solve_by(factor, right) if factor else _bordered(slopes, right, has_draws)
    return step if has_draws else [*step, 0.0]


def _bordered(slopes: Slopes, right: Vector, has_draws: bool) -> Vector:
    """Solves the equations of the matrix with its border by conjugate gradients."""
    inner, (first, drawn, (firsts, both, ties)) = slopes.matrix, slopes.border
    players = len(first)

    def matrix(vector: Vector) -> Vector:
        values = vector[:players]
        by_first, by_tie = vector[players], vector[players + 1] if has_draws else 0.0
        image = combined(inner(values), by_first, first)
        ends = [dot(first, values) + firsts * by_first + both * by_tie]
        if has_draws:
            image = combined(image, by_tie, drawn)
            ends.append(dot(drawn, values) + both * by_first + ties * by_tie)
        return image + ends

    diagonal = [*inner.diagonal, firsts, ties]
    return iterated(matrix, diagonal if has_draws else diagonal[:-1], right, STEP_PRECISION)
