"""How often the sequential test is wrong, how many games it takes, and how often its intervals hold the truth.

    python benchmarks/sequential.py [--seed 1] [--tests 1000] [--elo0 0] [--elo1 40] [--alpha 0.05] [--beta 0.05]

Pairs of games, colours swapped, are drawn at random between two bots of a known difference, and each test goes on to
its verdict; nothing is played. A share of draws is that of the most that a difference allows; `colour` is how many Elo
the side with Red is better off. With `same seeds` half of all pairs are decided by the seeds: whoever has Red wins both
ways round, so that each wins one.

The difference is that of the score of a pair, as the test has it: the strength is chosen so that both colours together
give it. `better` is the share of tests that accept H1, with two standard errors; `games` is the mean, `fixed` the games
of a test of fixed size with the same errors at `elo0` and `elo1`, and `held` the share of the 95% intervals that hold
the truth. The exit code is 1 if an error is more frequent than alpha or beta, or an interval holds less often than
promised, by more than three standard errors.
"""

import argparse
import math
import random
import sys
import time
from collections.abc import Sequence
from statistics import NormalDist

from arena.league.ratings.sequential_test import (
    SCORES,
    Decision,
    Hypotheses,
    PairCounts,
    estimate,
    expected_score,
    log_likelihood_ratio,
)

FIELDS = (
    ("no draws", 0.0, 0.0, 0.0),
    ("half drawn", 0.5, 0.0, 0.0),
    ("9 of 10 drawn", 0.9, 0.0, 0.0),
    ("colour 150", 0.2, 150.0, 0.0),
    ("same seeds", 0.2, 0.0, 0.5),
)
"""What the games are like: the share of draws, the Elo of a colour, the share of pairs that the seeds decide."""
PROMISED = 0.95
STEPS = 60

Chances = tuple[float, float, float, float, float]


def chances_of_pairs(elo: float, draws: float, colour: float, by_seeds: float) -> Chances:
    """The chances of a pair with 0, a half, 1, one and a half and 2 points, whose mean is that of this difference."""
    wanted = (expected_score(elo) - by_seeds / 2) / (1 - by_seeds)
    low, high = -3000.0, 3000.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if (expected_score(middle + colour) + expected_score(middle - colour)) / 2 < wanted:
            low = middle
        else:
            high = middle
    games = []
    for score in (expected_score(low + colour), expected_score(low - colour)):
        drawn = draws * 2 * min(score, 1 - score)
        games.append((1 - score - drawn / 2, drawn, score - drawn / 2))
    pairs = [0.0, 0.0, by_seeds, 0.0, 0.0]
    for one, first in enumerate(games[0]):
        for other, second in enumerate(games[1]):
            pairs[one + other] += (1 - by_seeds) * first * second
    return pairs[0], pairs[1], pairs[2], pairs[3], pairs[4]


def run_test(tested: Hypotheses, chances: Chances, rng: random.Random) -> tuple[Decision, PairCounts]:
    """One test to its verdict."""
    counts = [0] * 5
    while True:
        for place in rng.choices(range(5), chances, k=64):
            counts[place] += 1
            five = (counts[0], counts[1], counts[2], counts[3], counts[4])
            decision = tested.decision(log_likelihood_ratio(tested, five))
            if decision is not Decision.UNDECIDED:
                return decision, five


def fixed_games(tested: Hypotheses, variances: Sequence[float]) -> float:
    """The games of a test of fixed size with the same errors; the variances are those of a pair at elo0 and elo1."""
    normal = NormalDist()
    z0, z1 = normal.inv_cdf(1 - tested.alpha), normal.inv_cdf(1 - tested.beta)
    distance = expected_score(tested.elo1) - expected_score(tested.elo0)
    return 2 * ((z0 * math.sqrt(variances[0]) + z1 * math.sqrt(variances[1])) / distance) ** 2


def variance_of(chances: Chances) -> float:
    mean = sum(chance * score for chance, score in zip(chances, SCORES, strict=True))
    return sum(chance * (score - mean) ** 2 for chance, score in zip(chances, SCORES, strict=True))


def is_too_many(share: float, allowed: float, tests: int) -> bool:
    return share > allowed + 3 * math.sqrt(allowed * (1 - allowed) / tests)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--elo0", type=float, default=0.0)
    parser.add_argument("--elo1", type=float, default=40.0)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--beta", type=float, default=0.05)
    options = parser.parse_args()
    tested = Hypotheses(options.elo0, options.elo1, options.alpha, options.beta)
    rng, begun, bad = random.Random(options.seed), time.monotonic(), 0
    print(
        f"{options.tests} tests of each; H0 {tested.elo0:g} Elo, H1 {tested.elo1:g}, alpha {tested.alpha:g}, ", end=""
    )
    print(
        f"beta {tested.beta:g}\n{'':15} {'Elo':>6}  {'better':>7} {'error':>6}  {'games':>8} {'fixed':>8}  {'held':>6}"
    )
    truths = (tested.elo0, (tested.elo0 + tested.elo1) / 2, tested.elo1, 2 * tested.elo1 - tested.elo0)
    for name, draws, colour, by_seeds in FIELDS:
        variances = [variance_of(chances_of_pairs(elo, draws, colour, by_seeds)) for elo in (tested.elo0, tested.elo1)]
        fixed = fixed_games(tested, variances)
        for elo in truths:
            chances = chances_of_pairs(elo, draws, colour, by_seeds)
            ends = [run_test(tested, chances, rng) for _ in range(options.tests)]
            better = sum(decision is Decision.BETTER for decision, _ in ends) / options.tests
            games = sum(2 * sum(counts) for _, counts in ends) / options.tests
            intervals = [estimate(tested, counts) for _, counts in ends]
            held = sum(found.low <= elo <= found.high for found in intervals) / options.tests
            is_bad = is_too_many(1 - held, 1 - PROMISED, options.tests)
            is_bad |= elo <= tested.elo0 and is_too_many(better, tested.alpha, options.tests)
            is_bad |= elo >= tested.elo1 and is_too_many(1 - better, tested.beta, options.tests)
            bad += is_bad
            error = 2 * math.sqrt(better * (1 - better) / options.tests)
            shares = f"{better:7.2%} {error:6.2%}  {games:8.0f} {fixed:8.0f}  {held:6.1%}"
            print(f"{name:15} {elo:+6g}  {shares}{'  BAD' if is_bad else ''}", flush=True)
    print(f"{bad} bad lines; {time.monotonic() - begun:.0f} s")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
