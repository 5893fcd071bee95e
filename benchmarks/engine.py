"""How many plies a second the engine plays: random games, with the list of legal moves made at every ply.

    python benchmarks/engine.py [--ruleset isf] [--games 100] [--profile]

Prints the rate per ruleset, the best and the median of several runs (the machine's noise only ever slows a run down),
and with `--profile` where the time goes.
"""

import argparse
import cProfile
import pstats
import random
import statistics
import time

from arena.rules.game import Game
from arena.rules.ruleset import Ruleset, load_ruleset, ruleset_names
from protocol.notation import BOARD_SIZE, EMPTY, SETUP_ROWS

RUNS = 5


def random_rows(ruleset: Ruleset, dice: random.Random) -> list[str]:
    """A set-up by lot."""
    letters = [rank.letter for rank, count in ruleset.army for _ in range(count)]
    letters += EMPTY * (SETUP_ROWS * BOARD_SIZE - len(letters))
    dice.shuffle(letters)
    return ["".join(letters[start : start + BOARD_SIZE]) for start in range(0, len(letters), BOARD_SIZE)]


def play_games(ruleset: Ruleset, games: int, seed: int) -> int:
    """Play that many random games; returns the number of plies."""
    dice = random.Random(seed)
    plies = 0
    for _ in range(games):
        game = Game(ruleset, random_rows(ruleset, dice), random_rows(ruleset, dice))
        roll = dice.random
        while game.outcome is None:
            moves = game.legal_moves()
            game.play(moves[int(roll() * len(moves))])
        plies += game.ply
    return plies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ruleset", choices=ruleset_names(), help="only this one (default: all)")
    parser.add_argument("--games", type=int, default=60, help="games in a run (default: 60)")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    for name in [options.ruleset] if options.ruleset else ruleset_names():
        ruleset = load_ruleset(name)
        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(play_games, ruleset, options.games, 1)
            pstats.Stats(profile).sort_stats("tottime").print_stats(14)
            continue
        rates = []
        for seed in range(RUNS):
            start = time.perf_counter()
            plies = play_games(ruleset, options.games, seed)
            rates.append(plies / (time.perf_counter() - start))
        print(f"{name:10} {max(rates):9,.0f} plies/s best, {statistics.median(rates):9,.0f} median of {RUNS} runs")


if __name__ == "__main__":
    main()
