"""How fast the kernel for learning is beside the engine, and whether it plays by the same rules.

    python benchmarks/kernel.py [--games 10000 --skip 0 --jobs 2] [--ruleset NAME ...] [--batch 1024] [--rounds 7]

Speed: random games, each game that ends begun anew. The kernel's rates are for a batch with legal moves and
observations, and with legal moves alone; the engine's for lists of legal moves. All are plies a second of processor
time of one process, in rounds that take turns. Prints the best and the median round, the median as a fraction of the
first, and the memory of a game. Where stratego_env can be imported (PYTHONPATH= a clone of JBLanier/stratego_env), its
functions take turns too: next state, valid moves and partial observation of a ply, one random game after another.

With --games, so many games are then played in both, under all rulesets that the kernel has (or those named) and in
several manners, and compared: legal moves and outcomes at every ply. One game of nine is played to its end, and what
both seats observe is compared at every 100th ply and at the end; the others end at ply 150 at the latest.
"""

import argparse
import importlib
import importlib.util
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Instead of this folder, in which numba would take coverage.py for the package of that name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))
from kernel_games import MANNERS, SUPPORTED, Compared, compare, shortened
from numba import njit

from arena.learn.kernel import Kernel
from arena.learn.placement import random_setups
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.rulesets import load_ruleset
from protocol.bot import random_rows

CHUNK = 50
"""Games that are played and compared at once."""
ENGINE_GAMES = 10


class Run:
    """A batch of games that goes on and on."""

    def __init__(self, ruleset: Ruleset, batch: int, *, observes: bool) -> None:
        self.rng = np.random.default_rng(1)
        self.kernel = Kernel(ruleset, batch, observes=observes)
        self.kernel.reset(random_setups(ruleset, batch, self.rng))
        self.go_on(50)  # compiles, and brings the games out of their openings

    def go_on(self, steps: int) -> float:
        """Play; return the plies a second."""
        kernel, rng = self.kernel, self.rng
        start = time.process_time()
        for _ in range(steps):
            kernel.step(kernel.sample(rng))
            over = np.flatnonzero(kernel.is_over)
            if len(over):
                kernel.reset(random_setups(kernel.ruleset, len(over), rng), over)
        return steps * len(kernel.games) / (time.process_time() - start)


def engine_rate(ruleset: Ruleset, seed: int) -> float:
    rng, plies = random.Random(seed), 0
    start = time.process_time()
    for _ in range(ENGINE_GAMES):
        game = EngineGame(ruleset, random_rows(dict(ruleset.army), rng), random_rows(dict(ruleset.army), rng))
        while game.outcome is None:
            game.play(rng.choice(game.legal_moves()))
        plies += game.ply
    return plies / (time.process_time() - start)


def stratego_env_runs(name: str) -> dict[str, Callable[[int], float]]:
    """Return what measures stratego_env: its functions called from a compiled loop, and from Python."""
    if name not in ("barrage", "isf") or not importlib.util.find_spec("stratego_env"):
        return {}
    their = importlib.import_module("stratego_env.game.stratego_procedural_impl")
    configs = importlib.import_module("stratego_env.game.config")
    config = configs.BARRAGE_STRATEGO_CONFIG if name == "barrage" else configs.STANDARD_STRATEGO_CONFIG
    pieces = [piece.value for piece, count in config["piece_amounts"].items() for _ in range(count)]
    army, lakes = np.array(pieces + [0] * (40 - len(pieces))), np.zeros((10, 10), np.int64)
    lakes[tuple(zip(*config["obstacle_locations"], strict=True))] = 1

    def play(plies, army, lakes, max_turns):  # type: ignore[no-untyped-def]
        over, homes = True, np.zeros((2, 10, 10), np.int64)
        for _ in range(plies):
            if over:
                for home in homes:
                    home[:4] = np.random.permutation(army).reshape(4, 10)
                state, player = their._create_initial_state(lakes, homes[0], homes[1], max_turns), 1
            view = their._get_state_from_player_perspective(state, player)
            mask = their._get_valid_moves_as_1d_mask(view, 1, 2001, 20)
            seen = their._get_partially_observable_observation_extended_channels(view, 1, 10, 10)
            code = np.random.choice(np.flatnonzero(mask))
            code = their._get_action_1d_index_from_player_perspective(code, player, 2001, 10, 10, 20)
            state, player = their._get_next_state(state, player, code, 2001, 20, False), -player
            over = their._get_game_ended(state, 1) != 0
        return 8 * state.size + 8 * mask.size + 4 * seen.size

    def rate(play: Callable[..., int], plies: int) -> float:
        start = time.process_time()
        play(plies, army, lakes, config["max_turns"])
        return plies / (time.process_time() - start)

    compiled = njit(play)
    print(f"{name:12} {compiled(1, army, lakes, config['max_turns']):,} bytes a game of stratego_env")
    return {"stratego_env": lambda _: rate(compiled, 16000), "stratego_env, from Python": lambda _: rate(play, 4000)}


def measure(ruleset: Ruleset, batch: int, steps: int, rounds: int) -> None:
    observing, listing = (Run(ruleset, batch, observes=observes) for observes in (True, False))
    runs: dict[str, Callable[[int], float]] = {
        "kernel, moves and observations": lambda _: observing.go_on(steps),
        "kernel, moves": lambda _: listing.go_on(steps),
        "engine, moves": lambda seed: engine_rate(ruleset, seed),
        **stratego_env_runs(ruleset.name),
    }
    rates = list(zip(*[[run(seed) for run in runs.values()] for seed in range(rounds)], strict=True))
    for name, row in zip(runs, rates, strict=True):
        middle, part = statistics.median(row), statistics.median(row) / statistics.median(rates[0])
        print(f"{ruleset.name:12} {name:31} {max(row):11,.0f} plies/s best, {middle:11,.0f} median = {part:.3f}")
    arrays = ("games", "_history", "mask", "codes", "planes", "facts")
    memory = {name: getattr(observing.kernel, name).nbytes // batch for name in arrays}
    parts = ", ".join(f"{name} {size:,}" for name, size in memory.items())
    print(f"{ruleset.name:12} {sum(memory.values()):,} bytes a game: {parts}", flush=True)


@dataclass(frozen=True)
class Chunk:
    """Games of a ruleset to play and to compare."""

    ruleset: str
    seed: int
    games: int
    whole: bool


def compare_chunk(chunk: Chunk) -> Compared:
    ruleset, manner = load_ruleset(chunk.ruleset), MANNERS[chunk.seed % len(MANNERS)]
    if chunk.whole:
        return compare(ruleset, chunk.games, chunk.seed, manner, every=100)
    return compare(shortened(ruleset, 150), chunk.games, chunk.seed, manner, every=0)


def compare_all(names: list[str], skip: int, games: int, jobs: int) -> None:
    """Compare games of the rulesets in turn, the manners in turn for each; print the totals by ruleset."""
    chunks = [
        Chunk(names[index % len(names)], index // len(names), min(CHUNK, games - start), index // len(names) % 9 == 0)
        for index, start in enumerate(range(0, games, CHUNK))
        if start >= skip
    ]
    totals: dict[str, Counter[str]] = {name: Counter() for name in names}
    with ProcessPoolExecutor(jobs) as pool:
        for number, (chunk, done) in enumerate(zip(chunks, pool.map(compare_chunk, chunks), strict=True), start=1):
            if number % 1000 == 0:
                print(f"equal up to game {skip + number * CHUNK:,}", flush=True)
            totals[chunk.ruleset].update(
                games=done.games, plies=done.plies, observations=done.observations, forbidden=done.forbidden
            )
    for name, total in {**totals, "all": sum(totals.values(), Counter())}.items():
        print(
            f"{name:32} equal: {total['games']:,} games, {total['plies']:,} plies, "
            f"{total['observations']:,} observations, {total['forbidden']:,} moves forbidden by repetition",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=0, help="games to compare with the engine (default: 0)")
    parser.add_argument("--skip", type=int, default=0, help="games of these that were compared before (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compare (default: 1)")
    parser.add_argument(
        "--ruleset", nargs="+", metavar="NAME", help="rulesets (default: barrage and isf; all compared)"
    )
    parser.add_argument("--batch", type=int, default=1024, help="games in lockstep (default: 1024)")
    parser.add_argument("--steps", type=int, default=400, help="plies of each game in a round (default: 400)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds (default: 7; 0 measures nothing)")
    options = parser.parse_args()
    try:
        rulesets = [load_ruleset(name) for name in options.ruleset or ("barrage", "isf")]
    except RulesetError as error:
        parser.error(str(error))
    for ruleset in rulesets if options.rounds else ():
        measure(ruleset, options.batch, options.steps, options.rounds)
    if options.games:
        compare_all(options.ruleset or SUPPORTED, options.skip, options.games, options.jobs)


if __name__ == "__main__":
    main()
