"""What the games of two players say of their difference: checked against exact tests that are written anew here."""

import itertools
import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.league.ratings.pair import PairDifference, difference, superiority

Counts = tuple[int, int, int]

results = st.tuples(st.integers(0, 60), st.integers(0, 60) | st.integers(0, 3000), st.integers(0, 60)).filter(any)
said = cache(difference)


def all_results(games: int) -> list[Counts]:
    return [(wins, draws, games - wins - draws) for wins in range(games + 1) for draws in range(games - wins + 1)]


def elo(score: float) -> float:
    return 400 * math.log10(score / (1 - score))


def score(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


def chance(counts: Counts, of_a_game: tuple[float, float, float]) -> float:
    wins, draws, losses = counts
    ways = math.comb(wins + draws + losses, wins) * math.comb(draws + losses, draws)
    return ways * math.prod(p**n for p, n in zip(of_a_game, counts, strict=True))


def test_the_difference_is_that_of_the_elo_formula() -> None:
    assert difference(15, 0, 5).elo == pytest.approx(190.85, abs=0.01)
    assert difference(60, 20, 20).elo == pytest.approx(elo(0.7))
    assert difference(0, 7, 0).elo == 0


@pytest.mark.parametrize(("wins", "losses"), [(15, 5), (50, 0), (49, 1), (1, 0), (3, 40), (1, 1), (700, 300), (0, 9)])
def test_without_draws_the_interval_is_that_of_clopper_and_pearson(wins: int, losses: int) -> None:
    """At each end of the interval, a score as extreme as the observed one has a probability of 2.5%."""
    games, found = wins + losses, difference(wins, 0, losses)

    def chance_of_wins(numbers: range, expected: float) -> float:
        return sum(chance((won, 0, games - won), (expected, 0.0, 1 - expected)) for won in numbers)

    if wins:
        assert chance_of_wins(range(wins, games + 1), score(found.low)) == pytest.approx(0.025, rel=0.001)
    else:
        assert found.low == -math.inf
    if losses:
        assert chance_of_wins(range(wins + 1), score(found.high)) == pytest.approx(0.025, rel=0.001)
    else:
        assert found.high == math.inf


@pytest.mark.parametrize("counts", [(3, 4, 5), (0, 9, 0), (1, 9, 0), (6, 1, 0), (2, 2, 2), (0, 3, 1), (9, 1, 2)])
def test_at_the_lower_end_so_high_a_score_has_a_chance_of_one_in_forty(counts: Counts) -> None:
    """With the share of draws that makes the games likeliest, which is looked for on a grid."""
    games, points = sum(counts), 2 * counts[0] + counts[1]
    expected = score(difference(*counts).low)
    halves = [min(expected, 1 - expected) * step / 20_000 for step in range(20_001)]
    half = max(halves, key=lambda half: chance(counts, (expected - half, 2 * half, 1 - expected - half)))
    as_high = [other for other in all_results(games) if 2 * other[0] + other[1] >= points]
    tail = sum(chance(other, (expected - half, 2 * half, 1 - expected - half)) for other in as_high)
    assert tail == pytest.approx(0.025, rel=0.001)


@pytest.mark.parametrize("games", [2, 5, 9, 20])
@pytest.mark.parametrize("draws", [0.0, 0.1, 0.5, 0.95])
@pytest.mark.parametrize("truth", [0, 40, 130, 290, 600])
def test_95_percent_of_the_intervals_and_more_hold_the_truth(games: int, draws: float, truth: float) -> None:
    """Over all results that there are, so this is exact."""
    expected = score(truth)
    half = draws * (1 - expected)
    of_a_game = (expected - half, 2 * half, 1 - expected - half)
    held = sum(
        chance(counts, of_a_game)
        for counts in all_results(games)
        if said(*counts).low - 0.001 <= truth <= said(*counts).high + 0.001
    )
    assert held >= 0.95


@pytest.mark.parametrize("games", [1, 2, 3, 7, 16])
def test_a_cleaner_result_moves_both_ends_up(games: int) -> None:
    def is_higher(one: PairDifference, other: PairDifference) -> bool:
        return (one.low > other.low or one.low == other.low == -math.inf) and (
            one.high > other.high or one.high == other.high == math.inf
        )

    for wins, draws, losses in all_results(games):
        here = said(wins, draws, losses)
        for cleaner in ((wins + 1, draws - 1, losses), (wins + 1, draws, losses - 1), (wins, draws + 1, losses - 1)):
            if min(cleaner) >= 0:
                assert is_higher(said(*cleaner), here)
        assert is_higher(here, said(wins, draws, losses + 1))
        assert is_higher(said(wins + 1, draws, losses), here)


@given(results)
def test_the_opponent_sees_the_same_from_the_other_side(counts: Counts) -> None:
    here, there = difference(*counts), difference(*reversed(counts))
    assert (there.elo, there.low, there.high) == pytest.approx((-here.elo, -here.high, -here.low))
    assert there.stronger == pytest.approx(1 - here.stronger)
    assert here.low < here.high
    assert here.low <= here.elo <= here.high


@pytest.mark.parametrize(("wins", "losses"), list(itertools.product((0, 1, 5, 15, 50, 600), repeat=2)))
def test_the_stronger_one_is_known_as_well_as_the_beta_distribution_says(wins: int, losses: int) -> None:
    """The distribution exceeds one half with the probability of at most `wins` heads in `wins + losses + 1` tosses."""
    tosses = wins + losses + 1
    above = Fraction(sum(math.comb(tosses, heads) for heads in range(wins + 1)), 2**tosses)
    assert superiority(wins, losses) == pytest.approx(float(above), abs=1e-9)
