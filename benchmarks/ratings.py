"""How long the tables of leagues take.

    python benchmarks/ratings.py [--seed 1] [--largest 1000]

Results of leagues of 20 to 1,000 bots are drawn at random by the model of the ratings, and their tables are made:
places, ratings, intervals, Red's side. Printed are the seconds of processor time, and in leagues of up to 300 bots the
peak of the memory that Python takes for it. Then the same league with ten times the games: neither time nor memory
should grow. In the last league a tenth of the pairs have met.
"""

import argparse
import math
import random
import sys
import time
import tracemalloc
from collections.abc import Callable

from arena.league.ratings.league_table import RatedLeague
from arena.league.ratings.score_counts import Results, Score
from arena.league.ratings.strengths import moments
from arena.report.standings import Crosstable

DECIDED = (Score.FIRST, Score.DRAW, Score.SECOND)
LEAGUES = ((20, 52, 1.0), (60, 20, 1.0), (61, 20, 1.0), (100, 10, 1.0), (300, 3, 1.0), (1000, 1, 1.0), (1000, 1, 0.1))
"""Players, double rounds, and the share of the pairs that have met."""
MOST_WITH_MORE_GAMES = 300
SPREAD, RED, TIE = 1.2, 0.1, 0.3


def league(players: int, rounds: int, played: float, rng: random.Random) -> Results:
    """Each plays each with both colours in each round."""
    strengths = [rng.gauss(0, SPREAD) for _ in range(players)]
    results = Results([f"bot{number}" for number in range(players)])
    for first in range(players):
        for second in range(players):
            if first != second and rng.random() < played:
                at = moments(strengths[first] - strengths[second] + RED, TIE)
                win = at.score - at.draw / 2
                for score in rng.choices(DECIDED, (win, at.draw, 1 - win - at.draw), k=rounds):
                    results.add(first, second, score)
    return results


def table(results: Results) -> None:
    """All that a table needs."""
    found = RatedLeague(results)
    found.standings()
    assert found.advantage
    Crosstable(results.names, results.names, found.rows).row(results.names[0])


def seconds(work: Callable[[Results], None], results: Results) -> float:
    begun = time.process_time()
    work(results)
    return time.process_time() - begun


def peak(results: Results) -> float:
    """Megabytes that making the table takes beside the results."""
    tracemalloc.start()
    table(results)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=1000, help="leave out leagues of more bots")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"{'bots':>5} {'games':>9} {'seconds':>8} {'MB':>6}")
    for players, rounds, played in LEAGUES:
        if players <= options.largest:
            for times in (1, 10) if players <= MOST_WITH_MORE_GAMES else (1,):
                results = league(players, rounds * times, played, rng)
                games = sum(sum(row.games) for row in results.rows()) // 2
                spent = seconds(table, results)
                memory = peak(results) if players <= MOST_WITH_MORE_GAMES else math.nan
                print(f"{players:5} {games:9} {spent:8.2f} {memory:6.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
