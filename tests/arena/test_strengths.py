"""The model and its fit: against the data of the paper, formulas written anew, and a second way to find the peak."""

import itertools
import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.league.ratings import strengths
from arena.league.ratings.intervals import Curve, Direction, superiority_in
from arena.league.ratings.league_table import RatedLeague
from arena.league.ratings.pair import ELO_PER_LOGIT
from arena.league.ratings.score_counts import Results, Score
from arena.league.ratings.strengths import Fit, Priors, fit, log_total, moments, scale_of

ALMOST_NONE = Priors(strength=1e-9, advantage=1e12, decided=0.0)
"""Priors that leave the strengths to the games, and no advantage."""

PUDDINGS = """
    1 2 19 22 16   1 3 16 19 12   2 3 19 19 10   1 4 18 23 13   2 4 23 19  9
    3 4 19 20 15   1 5 13 19 18   2 5 16 20 12   3 5 16 15 17   4 5 17 14 16
    1 6 18 21 12   2 6 22 20 12   3 6 13 18 10   4 6 14 19 18   5 6 11 21 12
"""
"""Chocolate puddings of six brands, compared in pairs: i, j, i preferred, j preferred, ties. R. R. Davidson (1970),
Example 2, as in the data set `pudding` of the R package PlackettLuce."""


def games(pairs: Sequence[tuple[int, int, int, int, int]], players: int) -> Results:
    results = Results([str(number) for number in range(players)])
    for one, other, wins, losses, draws in pairs:
        for score, count in ((Score.FIRST, wins), (Score.SECOND, losses), (Score.DRAW, draws)):
            results.add(one, other, score, count)
    return results


def drawn_games(
    players: int, rounds: int, rng: random.Random, *, tie: float = 0.5, red: float = 0.1, played: float = 1.0
) -> Counter[tuple[int, int, Score]]:
    """Each plays each with both colours, as far as chance has it played."""
    strengths = [rng.gauss(0, 1.0) for _ in range(players)]
    games: Counter[tuple[int, int, Score]] = Counter()
    for first, second in itertools.permutations(range(players), 2):
        at = moments(strengths[first] - strengths[second] + red, tie)
        win = at.score - at.draw / 2
        for score in rng.choices((Score.FIRST, Score.DRAW, Score.SECOND), (win, at.draw, 1 - win - at.draw), k=rounds):
            if rng.random() < played:
                games[first, second, score] += 1
    return games


def results_of(players: int, games: Counter[tuple[int, int, Score]]) -> Results:
    results = Results([f"b{number}" for number in range(players)])
    for (first, second, score), count in games.items():
        results.add(first, second, score, count)
    return results


def drawn(players: int, rounds: int, rng: random.Random, **chances: float) -> Results:
    return results_of(players, drawn_games(players, rounds, rng, **chances))


def fitted(results: Results, priors: Priors | None = None) -> Fit:
    return fit(results.rows(), results.won_first, priors or Priors())


@pytest.fixture
def with_numpy(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Sets whether equations are solved by numpy, as those of large leagues."""
    return lambda is_large: monkeypatch.setattr(strengths, "MOST_IN_PYTHON", 0 if is_large else 10_000)


def test_the_paper_s_example_has_its_estimates() -> None:
    """Davidson (1970) gives the worths 0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024 and v = 0.7468, where his
    iteration had not quite settled; the vignette of PlackettLuce has the digits."""
    numbers = list(map(int, PUDDINGS.split()))
    rows = [numbers[at : at + 5] for at in range(0, len(numbers), 5)]
    found = fitted(games([(i - 1, j - 1, won, lost, ties) for i, j, won, lost, ties in rows], 6), ALMOST_NONE)
    worths = [math.exp(logit) for logit in found.point.logits]
    shares = [worth / sum(worths) for worth in worths]
    assert shares == pytest.approx([0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855], abs=3e-5)
    assert found.point.tie == pytest.approx(0.7468147, abs=2e-5)


@given(st.floats(-8, 8), st.floats(0, 5))
def test_a_game_comes_to_what_its_chances_say(x: float, v: float) -> None:
    parts = (math.exp(x / 2), v, math.exp(-x / 2))
    win, draw, loss = (part / sum(parts) for part in parts)
    at, mean = moments(x, v), win + draw / 2
    assert at.score == pytest.approx(mean)
    assert at.draw == pytest.approx(draw)
    assert at.variance == pytest.approx(win * (1 - mean) ** 2 + draw * (0.5 - mean) ** 2 + loss * mean**2)
    assert at.covariance == pytest.approx(draw * (0.5 - mean), abs=1e-12)
    assert at.draw_variance == pytest.approx(draw * (1 - draw), abs=1e-12)
    assert log_total(x, v) == pytest.approx(math.log(sum(parts)))
    assert win / (win + loss) == pytest.approx(1 / (1 + math.exp(-x))), "x is the log of the odds of decided games"


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6))
def test_the_peak_is_where_a_search_that_knows_no_slopes_finds_it(seed: int) -> None:
    """A second way: the log posterior of the formulas of the paper, improved one parameter at a time."""
    rng = random.Random(seed)
    games = drawn_games(4, 3, rng)
    results = results_of(4, games)
    scores = (Score.FIRST, Score.DRAW, Score.SECOND)
    counts = [(first, second, scores.index(score), count) for (first, second, score), count in games.items()]
    point = fitted(results).point
    rows = results.rows()
    draws = sum(map(sum, (row.draws for row in rows))) // 2

    def posterior(values: Sequence[float]) -> float:
        *strengths, red, tie = values
        v = math.exp(tie) if draws else 0.0
        total = math.log(2 / (2 + v)) - red * red / 2 * (ELO_PER_LOGIT / 100) ** 2
        total -= sum(value * value for value in strengths) / 2 * (ELO_PER_LOGIT / 1000) ** 2
        for first, second, score, count in counts:
            worths = math.exp(strengths[first] + red), math.exp(strengths[second])
            even = v * math.sqrt(worths[0] * worths[1])
            part = (worths[0], even, worths[1])[score]
            total += count * math.log(part / (sum(worths) + even))
        return total

    values = [0.0] * 4 + [0.0, -0.5]
    step = 0.5
    while step > 1e-6:
        moved = False
        for at in range(6 if draws else 5):
            for change in (step, -step):
                other = [*values[:at], values[at] + change, *values[at + 1 :]]
                if posterior(other) > posterior(values):
                    values, moved = other, True
        step *= 1 if moved else 0.5
    assert list(point.logits) == pytest.approx(values[:4], abs=2e-3)
    assert point.advantage == pytest.approx(values[4], abs=2e-3)
    if draws:
        assert point.tie == pytest.approx(math.exp(values[5]), abs=2e-3)


# --- large leagues --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "played"), [(40, 0.06)])
def test_large_leagues_have_the_same_ratings_and_nearly_the_same_ends(
    players: int, played: float, with_numpy: Callable[[bool], None]
) -> None:
    """Ratings to a millionth of an Elo, ends to a hundredth of the width of the interval."""
    results = drawn(players, 1, random.Random(4), played=played)
    tables = []
    for is_large in (False, True):
        with_numpy(is_large)
        tables.append(RatedLeague(results))
    small, large = (table.ratings() for table in tables)
    for name, one in small.items():
        other = large[name]
        assert (one is None) == (other is None)
        if one and other:
            width = one.high - one.low if math.isfinite(one.high - one.low) else 100
            assert other.elo == pytest.approx(one.elo, abs=1e-6)
            assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=width / 100)
    assert tables[1].draw_share == pytest.approx(tables[0].draw_share, abs=1e-9)


def test_a_small_league_needs_no_numpy() -> None:
    """Its import takes longer than the table."""
    code = (
        "import sys\n"
        "from arena.league.ratings.league_table import RatedLeague\n"
        "from arena.league.ratings.score_counts import Results, Score\n"
        "results = Results([str(number) for number in range(60)])\n"
        "for number in range(59): results.add(number, number + 1, Score.DRAW)\n"
        "RatedLeague(results).standings(); assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- the side of Red ------------------------------------------------------------------------------------------------


def test_the_advantage_is_the_odds_of_the_colours_where_the_bots_are_equals() -> None:
    results = games([(0, 1, 600, 200, 0), (1, 0, 600, 200, 0), (0, 2, 600, 200, 0), (2, 0, 600, 200, 0)], 3)
    found = RatedLeague(results).advantage
    assert found
    assert found.elo == pytest.approx(400 * math.log10(3), abs=1)
    reach = 400 / math.log(10) * 1.96 / math.sqrt(3200 * 3 / 16)
    assert (found.low, found.high) == pytest.approx((found.elo - reach, found.elo + reach), abs=1)


def test_an_advantage_does_not_move_the_ratings_of_a_league_with_balanced_colours() -> None:
    results = drawn(6, 200, random.Random(6), red=0.8)
    league = RatedLeague(results)
    assert league.advantage
    assert league.advantage.low < 0.8 * ELO_PER_LOGIT * scale_of(0.5) < league.advantage.high
    plain = fitted(results, Priors(advantage=1e12)).point
    unit = ELO_PER_LOGIT * scale_of(plain.tie)
    order = sorted(range(6), key=plain.logits.__getitem__)
    elos = [rating.elo for rating in league.ratings().values() if rating]
    assert sorted(range(6), key=elos.__getitem__) == order
    assert max(abs(unit * logit - elo) for logit, elo in zip(plain.logits, elos, strict=True)) < 60


@pytest.mark.parametrize(
    ("results", "low", "high"),
    [
        ("a>b b>a", True, False),  # Red won both
        ("a<b b<a", False, True),
        ("a>b b<a", False, False),  # a won both: whatever the colours are worth
        ("a>b b>a a<b b<a", True, True),
        ("a=b b=a", True, True),
        ("a>b b>c c>a", False, False),
        ("a>b a<b", False, False),  # strength and colour cannot be told apart
    ],
)
def test_games_of_two_that_have_both_scored_with_a_colour_bound_the_advantage(
    results: str, low: bool, high: bool
) -> None:
    """`a>b` means that a won with Red."""
    names = sorted(set(results) & set("abc"))
    scores = {">": Score.FIRST, "<": Score.SECOND, "=": Score.DRAW}
    played = Results(names)
    for text in results.split():
        played.add(names.index(text[0]), names.index(text[2]), scores[text[1]])
    found = RatedLeague(played).advantage
    assert found
    assert (math.isfinite(found.low), math.isfinite(found.high)) == (low, high)


# --- superiority ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tie", [0.0, 0.3, 2.0])
def test_superiority_is_close_to_the_whole_likelihood(tie: float) -> None:
    """Closer than the normal distribution of the difference is."""
    found = fitted(drawn(6, 4, random.Random(int(10 * tie)), tie=tie))
    off, off_by_normal = [0.0], [0.0]
    for one, other in itertools.permutations(range(6), 2):
        ahead = found.point.logits[one] - found.point.logits[other]
        own = [a - b for a, b in zip(found.covariance[one], found.covariance[other], strict=True)]
        variance = own[one] - own[other]
        *moves, advantage, v = (value / variance for value in own)
        curve = Curve(found, Direction(moves, advantage, v, variance), with_prior=True, everything=True)
        exact = math.erfc(-math.copysign(math.sqrt(max(0.0, -curve.fall(-ahead))), ahead)) / 2
        assert superiority_in(found, one, other) + superiority_in(found, other, one) == pytest.approx(1)
        off.append(abs(superiority_in(found, one, other) - exact))
        off_by_normal.append(abs(math.erfc(-ahead / math.sqrt(2 * variance)) / 2 - exact))
    assert sum(off) < 0.9 * sum(off_by_normal)
    assert max(off) < 0.01
