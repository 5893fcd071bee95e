"""What a test that has stopped says of the difference: chances of its outcomes, and intervals that hold the truth."""

import math
import random

import pytest

from arena.league.ratings.sequential import SCORES, Hypotheses, PairCounts, expected_score, log_likelihood_ratio
from arena.league.ratings.stopped import Motion, estimate

MOTION = Motion(-2.0, 3.0, 0.02, 0.04)


def walked(motion: Motion, steps: int) -> dict[float, float]:
    """Where a walk in small steps is at the end, with the chance of each place: walks stay where they reach a bound."""
    unit = math.sqrt(motion.variance)
    size = 0.1  # of a unit of time's deviation; the time of a step follows
    step, time = size * unit, size**2
    up = 0.5 + motion.drift * time / (2 * step)
    low, high = round(motion.lower / step), round(motion.upper / step)
    chances = {0: 1.0}
    for _ in range(round(steps / time)):
        following: dict[int, float] = {}
        for place, chance in chances.items():
            if low < place < high:
                following[place + 1] = following.get(place + 1, 0.0) + chance * up
                following[place - 1] = following.get(place - 1, 0.0) + chance * (1 - up)
            else:
                following[place] = following.get(place, 0.0) + chance
        chances = following
    ends = {low: motion.lower, high: motion.upper}
    return {ends.get(place, place * step): chance for place, chance in chances.items()}


@pytest.mark.parametrize("drift", [0.02, 0.0, -0.05])
@pytest.mark.parametrize("time", [20, 90])
def test_chances_are_those_of_a_walk(drift: float, time: int) -> None:
    motion = MOTION._replace(drift=drift)
    ends = walked(motion, time)
    for at in (motion.lower, -0.51, 0.72, motion.upper):
        reached_lower = sum(chance for place, chance in ends.items() if place == motion.lower)
        below = sum(chance for place, chance in ends.items() if place < at)
        expected = reached_lower if at == motion.lower else below
        assert motion.chance_of_worse(time, at) == pytest.approx(expected, abs=0.02)


DRIFTS = pytest.mark.parametrize("drift", [0.02, 0.0, -0.05])


@DRIFTS
def test_in_the_end_each_bound_has_been_reached_with_the_chance_of_the_gamblers_ruin(drift: float) -> None:
    """1 - exp(-2 d a / v) over 1 - exp(-2 d (a + b) / v), with a below and b above; a / (a + b) without a drift."""
    motion = MOTION._replace(drift=drift)
    rate, below, width = 2 * drift / motion.variance, -motion.lower, motion.upper - motion.lower
    upper = math.expm1(-rate * below) / math.expm1(-rate * width) if drift else below / width
    assert motion.chance_of_worse(100_000, motion.upper) == pytest.approx(1 - upper, abs=1e-9)
    assert motion.chance_of_worse(100_000, motion.lower) == pytest.approx(1 - upper, abs=1e-9)


@DRIFTS
@pytest.mark.parametrize("time", [5, 60, 900])
def test_chances_do_not_jump_at_the_bounds(drift: float, time: int) -> None:
    """What is reached by then, at either bound, and what is not are one together."""
    motion = MOTION._replace(drift=drift)
    for bound, near in ((motion.upper, motion.upper - 1e-9), (motion.lower, motion.lower + 1e-9)):
        assert motion.chance_of_worse(time, near) == pytest.approx(motion.chance_of_worse(time, bound), abs=1e-7)


def test_who_is_sure_to_reach_the_upper_bound_does_no_worse() -> None:
    sure = Motion(-2.0, 2.0, 1.0, 1e-9)
    assert sure.chance_of_worse(10, 2.0) == pytest.approx(0, abs=1e-9)
    assert sure.chance_of_worse(1.9, 2.0) == pytest.approx(1, abs=1e-9)
    assert sure.chance_of_worse(1.0, 0.5) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 1), (0, 0, 0, 0, 104), (0, 0, 0, 0, 3)])
def test_who_won_every_game_has_no_upper_end(counts: PairCounts) -> None:
    found = estimate(Hypotheses(), counts)
    assert found.elo == found.high == math.inf
    assert found.low < math.inf
    mirrored = estimate(Hypotheses(-10, 0), (counts[4], 0, 0, 0, 0))
    assert mirrored.elo == mirrored.low == -math.inf
    assert mirrored.high == pytest.approx(-found.low, abs=0.01)


def test_before_it_is_decided_the_elo_is_about_that_of_the_score() -> None:
    found = estimate(Hypotheses(0, 10), (200, 100, 300, 100, 220))
    score = (25 + 150 + 75 + 220) / 920
    assert found.elo == pytest.approx(400 * math.log10(score / (1 - score)), abs=0.5)
    assert found.low < 0 < found.elo < found.high
    assert 0.5 < found.stronger < 0.95


def test_the_interval_holds_the_truth_although_the_test_decides_when_it_stops() -> None:
    """200 tests of bots that are 40 Elo apart, from one seed; the interval of the plain score holds it in some 180."""
    rng, tested, held, above = random.Random(3), Hypotheses(0, 80), 0, 0
    win = expected_score(40)
    chances = ((1 - win) ** 2, 0.0, 2 * win * (1 - win), 0.0, win**2)
    for _ in range(200):
        counts = (0, 0, 0, 0, 0)
        llr = 0.0
        while tested.lower < llr < tested.upper:
            drawn = rng.choices(range(5), chances)[0]
            counts = tuple(count + (place == drawn) for place, count in enumerate(counts))  # type: ignore[assignment]
            llr = log_likelihood_ratio(tested, counts)
        found = estimate(tested, counts)
        held += found.low <= 40 <= found.high
        above += found.elo > 40
    assert held >= 190 - 2 * math.sqrt(200 * 0.05 * 0.95)
    assert abs(above - 100) <= 2.5 * math.sqrt(50), "the Elo is too high as often as too low"


@pytest.mark.parametrize(("counts", "elo"), [((1, 60, 500, 1200, 600), 188.3595), ((1, 20, 300, 900, 779), 245.4729)])
def test_the_elo_is_about_that_of_fishtest(counts: PairCounts, elo: float) -> None:
    """The cases of github.com/official-stockfish/fishtest, server/tests/test_stats_sprt.py: H1 is 2 normalized Elo."""
    mean = sum(count * at for count, at in zip(counts, SCORES, strict=True)) / sum(counts)
    variance = sum(count * (at - mean) ** 2 for count, at in zip(counts, SCORES, strict=True)) / sum(counts)
    score = 0.5 + 2 / (800 / math.log(10)) * math.sqrt(2 * variance)
    found = estimate(Hypotheses(0, 400 * math.log10(score / (1 - score))), counts)
    assert found.elo == pytest.approx(elo, abs=0.5)


def test_a_few_won_pairs_far_from_both_hypotheses_bound_the_difference() -> None:
    """There the LLR hardly tells differences apart, and the score does."""
    found = estimate(Hypotheses(0, 10), (0, 0, 2, 0, 28))
    assert found.elo == pytest.approx(584.6, abs=0.5)
    assert 200 < found.low < found.elo < found.high < 1000
