"""How often the 95% intervals of the ratings hold the truth.

    python benchmarks/coverage.py [--seed 1] [--matches 2000] [--leagues 300] [--largest 1000]

Results of matches and of leagues between players of known strength are drawn at random and rated. Printed is how often
the intervals hold the truth (95% or more is promised), how often it lies below and above them, and how many of their
ends are open, because the games do not bound them. In a match a share of draws is that of the most that a difference
allows: twice the points that the weaker player is to make. In a league it is that of the games of equals.

- Matches: the interval of the difference between two players. Up to 60 games all results are gone through, which is
  exact; for more games they are drawn. A line is the worst of all differences.
- Leagues: the interval of each rating relative to its reference, mostly the mean of the field (see
  arena/league/ratings/intervals.py). In the lines marked `half` each game of the
  schedule has been played with a chance of one half.

`error` is two standard errors of the sampling; a league is one sample, because its ratings hang together. The exit code
is 1 if a line lies below 95% by more than that.
"""

import argparse
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import NamedTuple

from arena.league.ratings.bounds import bounds_of
from arena.league.ratings.intervals import reference_of
from arena.league.ratings.league_table import RatedLeague
from arena.league.ratings.pair import ELO_PER_LOGIT, PairDifference, difference
from arena.league.ratings.score_counts import Results, Score, rated_rows
from arena.league.ratings.strengths import moments

PROMISED = 0.95
DRAWS = (0.0, 0.1, 0.5, 0.9)
GAMES_GONE_THROUGH = (2, 3, 4, 6, 10, 20, 40, 60)
DIFFERENCES_GONE_THROUGH = (0, 20, 50, 100, 150, 200, 300, 400, 550, 700)
GAMES_DRAWN = (200, 1000)
DIFFERENCES_DRAWN = (0, 200, 550)
LEAGUES = ((3, 2), (3, 10), (4, 50), (5, 2), (5, 4), (5, 20), (8, 4), (20, 2), (20, 4))
"""Players, and games of each pair."""
SPREADS = (0, 400, 1200)
"""Elo between the strongest and the weakest of a league."""
DECIDED = (Score.FIRST, Score.DRAW, Score.SECOND)

Counts = tuple[int, int, int]
Chances = tuple[float, float, float]
HEAD = f"{'':42}  {'held':>6} {'error':>6}   {'below':>6} {'above':>6} {'open':>6}"

interval_of = cache(difference)


class Coverage(NamedTuple):
    """Shares of the intervals: those that hold the truth, with the error of that; the truth below, above; open ends."""

    held: float
    error: float
    below: float
    above: float
    open: float

    @property
    def is_short(self) -> bool:
        return self.held + self.error < PROMISED


class Sample(NamedTuple):
    """Intervals that were made together: how many, and how often the truth was below or above, or an end was open."""

    weight: float
    intervals: int
    below: int
    above: int
    open: int


def coverage(samples: list[Sample], is_exact: bool) -> Coverage:
    """What these samples come to. Weights are chances if all results are among them, else numbers."""
    total = sum(sample.weight * sample.intervals for sample in samples)
    below, above, open_ends = (
        sum(sample.weight * number for sample, number in zip(samples, numbers, strict=True)) / total
        for numbers in ([s.below for s in samples], [s.above for s in samples], [s.open / 2 for s in samples])
    )
    missed = below + above
    squares = sum(s.weight * (s.below + s.above - missed * s.intervals) ** 2 for s in samples)
    error = 0.0 if is_exact else max(2 * math.sqrt(squares) / total, 2 / total)
    return Coverage(1 - missed, error, below, above, open_ends)


def chances(elo: float, draws: float) -> Chances:
    """The chances of win, draw and loss at a difference."""
    expected, missed = (moments(x, 0.0).score for x in (elo / ELO_PER_LOGIT, -elo / ELO_PER_LOGIT))
    draw = draws * 2 * min(expected, missed)
    return expected - draw / 2, draw, missed - draw / 2


# --- matches --------------------------------------------------------------------------------------------------------


def all_results(games: int, of_a_game: Chances) -> Iterator[tuple[Counts, float]]:
    """Every result of a match, with its chance."""
    logs = [math.log(chance) if chance > 0 else -math.inf for chance in of_a_game]
    for wins in range(games + 1):
        for draws in range(games - wins + 1):
            counts = (wins, draws, games - wins - draws)
            ways = math.lgamma(games + 1) - sum(math.lgamma(count + 1) for count in counts)
            yield counts, math.exp(ways + sum(n * log for n, log in zip(counts, logs, strict=True) if n))


def drawn_results(games: int, of_a_game: Chances, matches: int, rng: random.Random) -> Iterator[tuple[Counts, float]]:
    """Results of so many matches, with how often each came."""
    found: Counter[Counts] = Counter()
    for _ in range(matches):
        scores = Counter(rng.choices(DECIDED, of_a_game, k=games))
        found[scores[Score.FIRST], scores[Score.DRAW], scores[Score.SECOND]] += 1
    yield from found.items()


def match_sample(interval: PairDifference, truth: float, weight: float) -> Sample:
    rounded = 1e-3  # Elo: what the ends are precise to
    ends = (interval.low, interval.high)
    return Sample(weight, 1, truth < ends[0] - rounded, truth > ends[1] + rounded, sum(map(math.isinf, ends)))


def match_coverage(games: int, elo: float, draws: float, matches: int, rng: random.Random) -> Coverage:
    is_exact = games in GAMES_GONE_THROUGH
    of_a_game = chances(elo, draws)
    results = all_results(games, of_a_game) if is_exact else drawn_results(games, of_a_game, matches, rng)
    return coverage([match_sample(interval_of(*counts), elo, weight) for counts, weight in results], is_exact)


# --- leagues --------------------------------------------------------------------------------------------------------


RED = 30.0
"""Elo that the side of Red is worth in the leagues."""


def league_sample(
    truth: dict[str, float], games_of_a_pair: int, draws: float, half: bool, rng: random.Random
) -> Sample:
    """A league by the model of the ratings, `draws` being the share of games that equals draw."""
    names = list(truth)
    tie = 2 * draws / (1 - draws)
    results = Results(names)
    for one, other in combinations(range(len(names)), 2):
        for number in range(games_of_a_pair):
            first, second = (other, one) if number % 2 else (one, other)
            at = moments((truth[names[first]] - truth[names[second]] + RED) / ELO_PER_LOGIT / (1 - draws), tie)
            win = at.score - at.draw / 2
            if not half or rng.random() < 0.5:
                (score,) = rng.choices(DECIDED, (win, at.draw, 1 - win - at.draw))
                results.add(first, second, score)
    found = RatedLeague(results)
    rated = {name: rating for name, rating in found.ratings().items() if rating}
    if not rated or found.advantage is None:
        return Sample(1, 0, 0, 0, 0)
    players = list(rated)  # those with a game: they alone are numbered
    _, rows = rated_rows(found.rows)
    bounds, elos = bounds_of(rows), [rated[name].elo for name in players]
    below = above = open_ends = 0
    for number, (name, rating) in enumerate(rated.items()):
        reference = reference_of(number, elos, bounds)
        scale = 1 if number in reference else 1 - 1 / len(players)
        ahead = sum(rating.elo - elos[other] for other in reference) / len(reference)
        ahead_in_truth = sum(truth[name] - truth[players[other]] for other in reference) / len(reference)
        elo = rating.elo + scale * (ahead_in_truth - ahead)
        below += elo < rating.low
        above += elo > rating.high
        open_ends += math.isinf(rating.low) + math.isinf(rating.high)
    red = found.advantage
    ADVANTAGES.append(Sample(1, 1, red.low > RED, red.high < RED, math.isinf(red.low) + math.isinf(red.high)))
    return Sample(1, len(rated), below, above, open_ends)


ADVANTAGES: list[Sample] = []
"""The intervals of Red's side, of all leagues."""


def league_coverage(
    players: int, games: int, spread: float, *, draws: float, half: bool, leagues: int, rng: random.Random
) -> Coverage:
    truth = {f"p{number}": spread * (number / (players - 1) - 0.5) for number in range(players)}
    samples = [league_sample(truth, games, draws, half, rng) for _ in range(leagues)]
    return coverage(samples, is_exact=False)


# --- the report -----------------------------------------------------------------------------------------------------


def line(title: str, found: Coverage) -> str:
    shares = f"{found.held:7.2%} {found.error:6.2%}   {found.below:6.2%} {found.above:6.2%} {found.open:6.1%}"
    return f"{title:42}  {shares}{'  BELOW 95%' if found.is_short else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--matches", type=int, default=2000)
    parser.add_argument("--leagues", type=int, default=300)
    parser.add_argument(
        "--largest", type=int, default=max(GAMES_DRAWN), metavar="GAMES", help="only up to so many games of each pair"
    )
    options = parser.parse_args()
    rng = random.Random(options.seed)
    begun = time.monotonic()
    short = 0
    print(f"matches, the worst of some differences\n{HEAD}")
    for games in [games for games in (*GAMES_GONE_THROUGH, *GAMES_DRAWN) if games <= options.largest]:
        differences = DIFFERENCES_GONE_THROUGH if games in GAMES_GONE_THROUGH else DIFFERENCES_DRAWN
        for draws in DRAWS:
            found = [(match_coverage(games, elo, draws, options.matches, rng), elo) for elo in differences]
            worst, elo = min(found)
            short += worst.is_short
            print(line(f"{games:4} games, {draws:3.0%} draws (at {elo} Elo)", worst), flush=True)
    print(f"\nleagues\n{HEAD}")
    for players, games in [league for league in LEAGUES if league[1] <= options.largest]:
        for spread in SPREADS:
            for draws, half in ((0.0, False), (0.5, False), (0.2, True)):
                leagues = min(options.leagues, max(20, options.leagues * 5 // players))
                covered = league_coverage(players, games, spread, draws=draws, half=half, leagues=leagues, rng=rng)
                short += covered.is_short
                title = f"{players:2} x {games:2} games, {spread:4} Elo, {draws:3.0%} draws{', half' if half else ''}"
                print(line(title, covered), flush=True)
    red = coverage(ADVANTAGES, is_exact=False)
    short += red.is_short
    print(line(f"the side of Red, {RED:.0f} Elo, in all leagues", red))
    print(f"\n{short or 'no'} lines below 95% by more than the error; {time.monotonic() - begun:.0f} s")
    return bool(short)


if __name__ == "__main__":
    sys.exit(main())
