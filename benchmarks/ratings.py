"""How long the ratings of a league take, beside those of the fit that they replaced.

    python benchmarks/ratings.py [--seed 1] [--largest 1000]

Results of leagues of 20, 100 and 1,000 bots are drawn at random by the model of the ratings, and their tables are made:
places, ratings, intervals, Red's side. Printed are the seconds of processor time, and the peak of the memory that
Python takes for it. Beside them is the former code, taken from the history by git, which is run up to 300 bots, both
in turns; its time for 1,000 is extrapolated from 300 with the cube of the players, and marked so. Then the same league
with ten times the games: neither time nor memory should grow.
"""

import argparse
import importlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from arena.league.ratings import League, Results, Score
from arena.league.ratings.davidson import moments
from arena.report.standings import Crosstable

DECIDED = (Score.FIRST, Score.DRAW, Score.SECOND)
LEAGUES = ((20, 52), (100, 10), (300, 3), (1000, 1))
"""Players, and double rounds."""
MOST_FORMERLY = 300
FORMER = "751091c2fc9ca74f1c168391568b25812e9b424a"
"""The last commit with the former code."""
SPREAD, RED, TIE = 1.2, 0.1, 0.3


def league(players: int, rounds: int, rng: random.Random) -> Results:
    """Each plays each with both colours in each round."""
    strengths = [rng.gauss(0, SPREAD) for _ in range(players)]
    results = Results([f"bot{number}" for number in range(players)])
    for first in range(players):
        for second in range(players):
            if first != second:
                at = moments(strengths[first] - strengths[second] + RED, TIE)
                win = at.score - at.draw / 2
                for score in rng.choices(DECIDED, (win, at.draw, 1 - win - at.draw), k=rounds):
                    results.add(first, second, score)
    return results


def table(results: Results) -> None:
    """All that a table needs."""
    found = League(results.names, results)
    found.standings()
    assert found.advantage
    Crosstable(results.names, results.names, found.rows).row(results.names[0])


def former_way() -> Callable[[Results], None] | None:
    """The table as the former code makes it; None where there is no git or no history."""
    folder = Path(tempfile.mkdtemp(prefix="former-"))
    (folder / "former").mkdir()
    for name in ("__init__", "bounds", "intervals", "pair", "results", "standings", "strengths"):
        line = ["git", "show", f"{FORMER}:arena/league/ratings/{name}.py"]
        done = subprocess.run(line, check=False, capture_output=True, text=True, cwd=Path(__file__).parent)
        if done.returncode:
            return None
        (folder / "former" / f"{name}.py").write_text(done.stdout.replace("arena.league.ratings", "former"))
    sys.path.insert(0, str(folder))
    former = importlib.import_module("former")
    shutil.rmtree(folder)
    scores = list(former.Score)[:3]

    def formerly(results: Results) -> None:
        counted: dict[object, int] = {}
        for key, count in results._counts.items():
            pair, score = divmod(key, 4)
            first, second = divmod(pair, len(results.names))
            counted[former.GameScore(results.names[first], results.names[second], scores[score])] = count
        former.standings(results.names, counted)
        former.crosstable(results.names, counted)

    return formerly


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
    print(f"{'bots':>5} {'games':>9} {'seconds':>8} {'formerly':>9} {'ratio':>6} {'MB':>6}")
    last = (0, 0.0)
    formerly = former_way()
    if formerly is None:
        print("the former code is not there to compare with: no git, or no history")
    for players, rounds in LEAGUES:
        if players > options.largest:
            continue
        for times in (1, 10) if players <= MOST_FORMERLY else (1,):
            results = league(players, rounds * times, rng)
            games = players * (players - 1) * rounds * times
            spent, before, mark = seconds(table, results), 0.0, " "
            if players <= MOST_FORMERLY and formerly:
                before = seconds(formerly, results)
                spent = min(spent, seconds(table, results))
                last = (players, before)
            elif last[0]:
                before, mark = last[1] * (players / last[0]) ** 3, "*"
            memory = peak(results)
            print(
                f"{players:5} {games:9} {spent:8.2f} {before:8.2f}{mark} {before / spent:6.1f} {memory:6.1f}",
                flush=True,
            )
    print("* extrapolated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
