"""The sequential test: its LLR against published values and against a search over all distributions, its errors."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arena.league.ratings.sequential_test import (
    NEVER_SEEN,
    SCORES,
    Decision,
    Hypotheses,
    PairCounts,
    exit_time,
    expected_score,
    log_likelihood_ratio,
)

MANY: PairCounts = (223, 9863, 21279, 10037, 246)

pairs = st.tuples(*[st.integers(0, 40)] * 5).filter(any)


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "llr"),
    [(MANY, 0.5, 2.5, -3.07), ((871, 26175, 55983, 26678, 821), 0, 2, -4.98)],
)
def test_the_llr_is_that_of_fastchess(counts: PairCounts, elo0: float, elo1: float, llr: float) -> None:
    """The cases "logistic pentanomial" of github.com/Disservin/fastchess, app/tests/sprt_test.cpp."""
    assert log_likelihood_ratio(Hypotheses(elo0, elo1), counts) == pytest.approx(llr, abs=0.005)


def likeliest(counts: Sequence[float], mean: float) -> float:
    """The largest log-likelihood of any distribution with this mean, by a search that knows nothing of its form."""
    weights, scores = np.array([count or NEVER_SEEN for count in counts]), np.array(SCORES)

    def logs(free: Any) -> Any:
        return free - free.max() - np.log(np.exp(free - free.max()).sum())

    total = weights.sum()
    found = pytest.importorskip("scipy.optimize").minimize(
        lambda free: -(weights * logs(free)).sum() / total,
        np.log(weights / total),
        constraints=[{"type": "eq", "fun": lambda free: (np.exp(logs(free)) * scores).sum() - mean}],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert abs((np.exp(logs(found.x)) * scores).sum() - mean) < 1e-7
    return float(-found.fun * total)


@pytest.mark.parametrize("counts", [(3, 5, 20, 9, 4), (1, 2, 8, 5, 1), (40, 0, 22, 1, 60), (5, 0, 3, 0, 9), MANY])
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 10), (-20, 60), (100, 200)])
def test_the_llr_is_that_of_the_likeliest_distributions(counts: PairCounts, elo0: float, elo1: float) -> None:
    direct = likeliest(counts, expected_score(elo1)) - likeliest(counts, expected_score(elo0))
    assert log_likelihood_ratio(Hypotheses(elo0, elo1), counts) == pytest.approx(direct, rel=1e-4, abs=2e-4)


@settings(max_examples=60)
@given(pairs)
def test_who_changes_sides_changes_the_sign(counts: PairCounts) -> None:
    there = log_likelihood_ratio(Hypotheses(-30, 10), counts)
    back = log_likelihood_ratio(Hypotheses(-10, 30), (counts[4], counts[3], counts[2], counts[1], counts[0]))
    assert there == pytest.approx(-back, abs=1e-9)


@settings(max_examples=60)
@given(pairs)
def test_all_pairs_a_step_better_raise_the_llr(counts: PairCounts) -> None:
    """They vary as much as before. (One alone need not: it may be so far from all others that less is certain.)"""
    first, second, third, fourth, _ = counts
    better, worse = (0, first, second, third, fourth), (first, second, third, fourth, 0)
    tested = Hypotheses(0, 20)
    assume(sum(better) > 0)
    assert log_likelihood_ratio(tested, better) > log_likelihood_ratio(tested, worse)


def test_pairs_that_are_all_won_do_not_decide_at_once() -> None:
    """The variance of such pairs is 0; an LLR that divides by it would be as large as one likes."""
    tested = Hypotheses()
    decided = next(n for n in range(1, 200) if log_likelihood_ratio(tested, (0, 0, 0, 0, n)) >= tested.upper)
    assert decided == math.ceil(tested.upper / math.log(expected_score(10) / 0.5)) == 104


def test_the_bounds_are_those_of_wald() -> None:
    tested = Hypotheses(alpha=0.05, beta=0.1)
    assert tested.upper == pytest.approx(math.log(18))
    assert tested.lower == pytest.approx(math.log(0.1 / 0.95))
    decided = [tested.decision(llr) for llr in (tested.lower, tested.lower + 1e-9, tested.upper - 1e-9, tested.upper)]
    assert decided == [Decision.NOT_BETTER, Decision.UNDECIDED, Decision.UNDECIDED, Decision.BETTER]


def test_the_time_to_leave_an_interval_is_that_of_a_walk() -> None:
    """The gambler's ruin: steps of one, from 3 above the one end and 5 below the other."""
    assert exit_time(3, 5, 0.0, 1.0) == pytest.approx(15)
    assert exit_time(3, 5, 1e-9, 1.0) == pytest.approx(15)
    assert exit_time(3, 5, 50.0, 1.0) == pytest.approx(5 / 50)
    assert exit_time(3, 5, -50.0, 1.0) == pytest.approx(3 / 50)
    assert exit_time(0, 5, 1.0, 1.0) == 0.0
    half = exit_time(3, 5, 0.2, 1.0)
    up = (1 - math.exp(-0.4 * 3)) / (1 - math.exp(-0.4 * 8))
    assert half == pytest.approx((up * 5 - (1 - up) * 3) / 0.2)


@pytest.mark.parametrize(("elo", "wrong"), [(0, Decision.BETTER), (60, Decision.NOT_BETTER)])
def test_wrong_verdicts_are_as_rare_as_promised(elo: float, wrong: Decision) -> None:
    """300 tests, drawn at random from one seed; benchmarks/sequential.py draws more, and other bots."""
    rng, tested = random.Random(7), Hypotheses(0, 60, alpha=0.1, beta=0.1)
    win = expected_score(elo) - 0.1
    chances = np.convolve((1 - win - 0.2, 0.2, win), (1 - win - 0.2, 0.2, win)).tolist()
    errors, games = 0, 0
    for _ in range(300):
        counts, decision = [0] * 5, Decision.UNDECIDED
        while decision is Decision.UNDECIDED:
            counts[rng.choices(range(5), chances)[0]] += 1
            llr = log_likelihood_ratio(tested, (counts[0], counts[1], counts[2], counts[3], counts[4]))
            decision = tested.decision(llr)
        errors += decision is wrong
        games += sum(counts)
    assert errors / 300 <= 0.1 + 2 * math.sqrt(0.09 / 300)
    assert errors > 0, "a test that is never wrong plays too long"
    fixed = 2 * (2 * 1.2816) ** 2 * 0.1 / (expected_score(60) - 0.5) ** 2 / 2
    assert games / 300 < 0.75 * fixed, "as many pairs as a test of fixed size with the same errors, or nearly"
