"""How many plies a second the engine plays: random games, with the list of legal moves made at every ply.

    python benchmarks/engine.py [--ruleset vintage/barrage+rescue] [--all] [--games 100] [--profile]

Prints the rate per ruleset (the tournament games unless told otherwise), the best and the median of several runs (the
machine's noise only ever slows a run down), and with `--profile` where the time goes.
"""

import argparse
import cProfile
import pstats
import random
import statistics
import time

from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from protocol.bot import random_rows

RUNS = 5
TOURNAMENT = ("barrage", "duel", "isf")


def play_games(ruleset: Ruleset, games: int, seed: int) -> int:
    """Play that many random games; returns the number of plies."""
    numbers, army = random.Random(seed), dict(ruleset.army)
    plies = 0
    for _ in range(games):
        game = EngineGame(ruleset, random_rows(army, numbers), random_rows(army, numbers))
        draw = numbers.random
        while game.outcome is None:
            moves = game.legal_moves()
            game.play(moves[int(draw() * len(moves))])
        plies += game.ply
    return plies


def measure(ruleset: Ruleset, games: int) -> str:
    """The rate of a ruleset, in words."""
    rates = []
    for seed in range(RUNS):
        start = time.perf_counter()
        plies = play_games(ruleset, games, seed)
        rates.append(plies / (time.perf_counter() - start))
    return f"{max(rates):9,.0f} plies/s best, {statistics.median(rates):9,.0f} median of {RUNS} runs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--ruleset", metavar="NAME[+SWITCH...]", help=f"only this one (default: {', '.join(TOURNAMENT)})"
    )
    which.add_argument("--all", action="store_true", help="every ruleset that comes with the arena")
    parser.add_argument("--games", type=int, default=60, help="games in a run (default: 60)")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    names = [options.ruleset] if options.ruleset else ruleset_names() if options.all else TOURNAMENT
    try:
        rulesets = [load_ruleset(name) for name in names]
    except RulesetError as error:
        parser.error(str(error))
    width = max(10, *(len(name) for name in names))
    for name, ruleset in zip(names, rulesets, strict=True):
        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(play_games, ruleset, options.games, 1)
            pstats.Stats(profile).sort_stats("tottime").print_stats(14)
        else:
            print(f"{name:{width}} {measure(ruleset, options.games)}", flush=True)


if __name__ == "__main__":
    main()
