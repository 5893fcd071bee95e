"""How many positions of stored games become arrays a second.

    python benchmarks/learn_records.py [--ruleset isf barrage] [--games 2000] [--rounds 3] [--store FILE]

Makes a store of random games under each ruleset, or takes the one given, and reads it whole as chunks in one process,
several times: reading and decoding records, playing them, and filling the arrays. Prints positions a second of
processor time, best and median. The first chunk, in which compiled code is loaded, is left out by a run before.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

# Instead of this folder, in which numba would take coverage.py for the package of that name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))
from kernel_records import random_records

from arena.game.game_spec import Player
from arena.league.store import Store
from arena.learn.records import positions
from arena.stratego.rules.rulesets import load_ruleset

PLAYERS = (Player("ann", f"{1:064x}"), Player("bob", f"{2:064x}"))


def make_store(path: Path, name: str, games: int) -> None:
    with Store(path, create=True) as store:
        store.agree({"ruleset": name}, PLAYERS)
        store.add_all(list(random_records(load_ruleset(name), games, PLAYERS, seed=1)))


def measure(name: str, store: Path, rounds: int) -> None:
    for _ in positions(store):
        break
    rates, count = [], 0
    for _ in range(rounds):
        start = time.process_time()
        count = sum(len(chunk) for chunk in positions(store))
        rates.append(count / (time.process_time() - start))
    print(
        f"{name:10} {count:,} positions, {max(rates):,.0f}/s best, {statistics.median(rates):,.0f} median", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ruleset", nargs="+", default=["isf", "barrage"])
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", type=Path, help="a store to read, instead of random games")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.store:
            measure(options.store.stem, options.store, options.rounds)
            return
        for name in options.ruleset:
            store = Path(folder) / f"{name}.sqlite"
            make_store(store, name, options.games)
            measure(name, store, options.rounds)


if __name__ == "__main__":
    main()
