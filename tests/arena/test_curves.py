"""The likelihood along a direction: its derivatives, and the cumulants that stand for many games."""

import itertools
import math
import random
from collections.abc import Iterator

import pytest

from arena.league.ratings import Results, Score
from arena.league.ratings.curves import Cumulants, Curve, Line, Series, cumulants
from arena.league.ratings.directions import Directions
from arena.league.ratings.strengths import Fit, fit

TIES = pytest.mark.parametrize("tie", [0.0, 0.3, 2.0])
STEP = 1e-4


def chances(x: float, tie: float) -> dict[float, float]:
    """By its points, how likely a game's result is: as exp(x/2), tie and exp(-x/2)."""
    weights = {1.0: math.exp(x / 2), 0.5: tie, 0.0: math.exp(-x / 2)}
    return {points: weight / sum(weights.values()) for points, weight in weights.items()}


def league(tie: float, rounds: int) -> Fit:
    """Six players who have all met, some of them much stronger than others, fitted as a large league is."""
    rng = random.Random(int(10 * tie))
    results = Results([f"b{number}" for number in range(6)])
    for first, second in itertools.permutations(range(6), 2):
        found = chances(0.5 * (first - second) + 0.3, tie)
        scores = rng.choices([Score.FIRST, Score.DRAW, Score.SECOND], list(found.values()), k=rounds)
        for score in scores:
            results.add(first, second, score)
    return fit(results.rows(), results.won_first, most_by_cholesky=0)


def games_of(found: Fit, player: int) -> Iterator[tuple[float, int]]:
    """A player's games: at which difference, the advantage included, and how many."""
    logits, advantage, _ = found.point
    met = found.players[player]
    for opponent, as_first, as_second in zip(met.opponents, met.as_first, met.as_second, strict=True):
        yield logits[player] - logits[opponent] + advantage, as_first
        yield logits[player] - logits[opponent] - advantage, as_second


def of_one_game(x: float, tie: float) -> Cumulants:
    """The cumulants of a game's points, by their definition."""
    results = chances(x, tie)
    mean = sum(points * chance for points, chance in results.items())
    second, third, fourth = (
        sum(chance * (points - mean) ** power for points, chance in results.items()) for power in (2, 3, 4)
    )
    return Cumulants(third, fourth - 3 * second * second)


@TIES
def test_cumulants_of_all_points_are_the_sums_of_those_of_the_games(tie: float) -> None:
    found = league(tie, rounds=5)
    assert bool(found.point.tie) is bool(tie)
    for player, own in enumerate(cumulants(found)):
        third = sum(count * of_one_game(x, found.point.tie).third for x, count in games_of(found, player))
        fourth = sum(count * of_one_game(x, found.point.tie).fourth for x, count in games_of(found, player))
        games = sum(count for _, count in games_of(found, player))
        # differences are rounded to a hundredth, and the cumulants of a game change by an eighth for a whole one
        assert own == pytest.approx((third, fourth), abs=games * 0.005 / 8)


def curves(found: Fit, player: int) -> Iterator[Curve]:
    direction = Directions(found).of_player(player, frozenset(range(6)))
    yield Series(found, direction, cumulants(found)[player])
    yield Line(found, direction)
    yield Line(found, direction, with_prior=True, everything=True)


@TIES
@pytest.mark.parametrize("player", [0, 3, 5])
def test_slope_and_curvature_are_those_of_the_fall(tie: float, player: int) -> None:
    found = league(tie, rounds=40)
    for curve in curves(found, player):
        assert curve.fall(0.0) == 0
        for shift in (-0.4, -0.1, 0.0, 0.2, 0.5):
            slope, curvature = curve.derivatives(shift)
            rise = curve.fall(shift + STEP) - curve.fall(shift - STEP)
            turn = curve.derivatives(shift + STEP)[0] - curve.derivatives(shift - STEP)[0]
            assert slope == pytest.approx(rise / (2 * STEP), rel=1e-5, abs=1e-5)
            assert curvature == pytest.approx(-turn / (2 * STEP), rel=1e-5)


@TIES
def test_the_peak_with_the_prior_is_where_the_fit_is(tie: float) -> None:
    for player in range(6):
        *_, with_prior = curves(league(tie, rounds=40), player)
        slope, curvature = with_prior.derivatives(0.0)
        assert abs(slope) < 1e-3 * math.sqrt(curvature)


@TIES
@pytest.mark.parametrize("side", [-1, 1])
def test_an_end_lies_where_the_likelihood_has_fallen_by_what_is_allowed(tie: float, side: int) -> None:
    for curve in curves(league(tie, rounds=40), 2):
        peak = max((curve.fall(at / 1000) + 0.25 * side * at / 1000, at / 1000) for at in range(-300, 300))[0]
        end = curve.end(side, 0.25 * side, 1.92)
        assert curve.fall(end) + 0.25 * side * end == pytest.approx(peak - 1.92, abs=1e-4)
        assert math.copysign(1, end) == side
