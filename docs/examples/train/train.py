"""Train a network for barrage in games against itself: python3 train.py --minutes 10

Every seat's move is drawn from what the network scores highest; the moves of a seat that did better than the network
expected become likelier, the others less likely. The set-ups that win more are drawn more often. It begins from random
numbers and random set-ups, and learns only who won.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: one core

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from network import Array, Judged, Seen, Weights, backward, forward, inputs, new_weights

from arena.learn.kernel import Kernel
from arena.learn.league import CheckpointLeague
from arena.learn.placement import random_setups
from arena.stratego.rules.ruleset import Ruleset

GAMES, PLIES, PARTS = 256, 24, 4  # games at once; plies before the weights change, in this many steps
AT_RANDOM = 64  # games in which one seat plays at random, so that strange play is met too
DISCOUNT, TRACE, ENTROPY, RATE = 0.99, 0.9, 0.01, 0.001


@dataclass
class Adam:
    """Steps down gradients, each weight at a pace of its own."""

    weights: Weights
    steps: int = 0
    means: Weights = field(default_factory=dict)
    squares: Weights = field(default_factory=dict)

    def step(self, gradients: Weights) -> None:
        self.steps += 1
        shrink = 1 / max(1, sum(float((each**2).sum()) for each in gradients.values()) ** 0.5)
        pace = RATE * (1 - 0.999**self.steps) ** 0.5 / (1 - 0.9**self.steps)
        for name, gradient in gradients.items():
            mean = self.means.setdefault(name, np.zeros_like(gradient))
            square = self.squares.setdefault(name, np.zeros_like(gradient))
            mean += 0.1 * (gradient * shrink - mean)
            square += 0.001 * ((gradient * shrink) ** 2 - square)
            self.weights[name] -= pace * mean / (np.sqrt(square) + 1e-6)


class Setups:
    """What each rank is worth on each square, fitted to the results of the latest games."""

    def __init__(self, ruleset: Ruleset, rng: np.random.Generator) -> None:
        self.ruleset, self.rng, self.worth = ruleset, rng, np.zeros((14, 40))
        self.setups: list[Array] = []
        self.results: list[float] = []

    def score(self, setups: Array) -> Array:
        return np.asarray(self.worth[setups, np.arange(40)].sum(-1))

    def draw(self, games: int, tries: int = 8) -> Array:
        """Return for both seats of each game the best of some random set-ups."""
        drawn = random_setups(self.ruleset, games * tries, self.rng).reshape(games, tries, 2, 40)
        best = self.score(drawn).argmax(1)
        return np.take_along_axis(drawn, best[:, None, :, None], 1)[:, 0]

    def best(self, count: int = 64) -> Array:
        drawn = random_setups(self.ruleset, 10_000, self.rng)[:, 0]
        return drawn[np.argsort(-self.score(drawn))[:count]]

    def add(self, setups: Array, winners: Array) -> None:
        results = np.where(winners == 2, 0, 1 - 2 * winners)
        self.setups += [*setups[:, 0], *setups[:, 1]]
        self.results += [*results, *-results]

    def fit(self, latest: int = 40_000) -> None:
        self.setups, self.results = self.setups[-latest:], self.results[-latest:]
        if self.setups:
            told = np.eye(14)[self.setups].reshape(len(self.setups), -1) * np.tile(np.arange(14) > 0, 40)
            by_square = np.linalg.solve(told.T @ told + 200 * np.eye(560), told.T @ np.array(self.results))
            self.worth = by_square.reshape(40, 14).T


def chances(score: Array, owner: Array) -> tuple[Array, Array, Array]:
    """Return the chances of the moves of each game, their logarithms, and where each game's moves begin."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    score = score - np.maximum.reduceat(score, starts)[owner]
    logs = score - np.log(np.add.reduceat(np.exp(score), starts))[owner]
    return np.exp(logs), logs, starts


class Ply(NamedTuple):
    """A ply of all games: what the network saw, the places of the moves played among all, and what came of them."""

    seen: Seen
    move: Array
    is_learned: Array  # not played at random
    value: Array
    result: Array  # for the seat that moved: 1, 0 or -1; 0 while the game goes on
    is_over: Array


class Training:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.weights = new_weights(self.rng)
        self.adam = Adam(self.weights)
        self.kernel = Kernel("barrage", GAMES)
        self.setups = Setups(self.kernel.ruleset, self.rng)
        self.random_seat = np.full(GAMES, -1)
        self.random_seat[:AT_RANDOM] = np.arange(AT_RANDOM) % 2
        self.placed = self.setups.draw(GAMES)
        self.kernel.reset(self.placed)
        self.lengths: list[int] = []

    def judged(self) -> tuple[Seen, Judged]:
        seen = inputs(self.kernel.planes, self.kernel.facts, self.kernel.codes, self.kernel.counts)
        return seen, forward(self.weights, seen)

    def ply(self) -> Ply:
        """Play a move in each game."""
        kernel, (seen, judged) = self.kernel, self.judged()
        at_random = self.random_seat == kernel.to_move
        _, logs, starts = chances(np.where(at_random[seen.owner], 0, judged.score), seen.owner)
        drawn = logs + self.rng.gumbel(size=len(logs))  # the largest is a draw by the chances
        move = np.flatnonzero(drawn == np.maximum.reduceat(drawn, starts)[seen.owner])
        mover = kernel.to_move.copy()
        kernel.step(kernel.codes[np.arange(GAMES), move - starts])
        over, winner = kernel.is_over.copy(), kernel.winner.copy()
        result = over * np.where(winner == 2, 0, np.where(winner == mover, 1, -1))
        done = np.flatnonzero(over)
        if len(done):
            self.lengths += kernel.ply[done].tolist()
            self.setups.add(self.placed[done], winner[done])
            self.placed[done] = self.setups.draw(len(done))
            kernel.reset(self.placed[done], done)
        return Ply(seen, move, ~at_random, judged.value, result, over)

    def advantages(self, plies: list[Ply]) -> list[Array]:
        """How much better than expected each ply did: the next ply is the opponent's, so its value counts against."""
        after, found, carried = self.judged()[1].value, [], np.zeros(GAMES)
        for ply in reversed(plies):
            surprise = ply.result - DISCOUNT * after * ~ply.is_over - ply.value
            carried = surprise - DISCOUNT * TRACE * carried * ~ply.is_over
            found.append(carried)
            after = ply.value
        return found[::-1]

    def gradients(self, ply: Ply, advantage: Array, spread: float) -> Weights:
        judged, owner = forward(self.weights, ply.seen), ply.seen.owner
        chance, logs, starts = chances(judged.score, owner)
        weight = ply.is_learned * advantage / spread
        d_score = chance * weight[owner]
        d_score[ply.move] -= weight
        entropy = -np.add.reduceat(chance * logs, starts)
        d_score += ENTROPY * chance * (logs + entropy[owner]) * ply.is_learned[owner]
        d_value = judged.value - (ply.value + advantage)
        return backward(self.weights, ply.seen, judged, d_score.astype(np.float32), d_value.astype(np.float32))

    def update(self) -> None:
        plies = [self.ply() for _ in range(PLIES)]
        advantages = self.advantages(plies)
        spread = float(np.std(advantages)) + 0.001
        for part in np.array_split(self.rng.permutation(PLIES), PARTS):
            found = [self.gradients(plies[number], advantages[number], spread) for number in part]
            count = GAMES * len(part)
            self.adam.step({name: np.sum([each[name] for each in found], axis=0) / count for name in self.weights})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10, help="of processor time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--bot", type=Path, help="a bot made by: arena new NAME --language policy; it is rated as it learns"
    )
    options = parser.parse_args()
    training, begun = Training(options.seed), time.process_time()
    league = CheckpointLeague("training.sqlite", options.bot, rules="barrage", time="1s") if options.bot else None
    updates, spent, saved = 0, 0.0, 0.0
    while spent < options.minutes:
        training.update()
        updates += 1
        if updates % 20 == 0:
            training.setups.fit()
        spent = (time.process_time() - begun) / 60
        if spent >= min(saved + 1, options.minutes):
            saved = spent
            file = Path(f"policy-{round(spent):02}.npz")
            np.savez(file, allow_pickle=False, setups=training.setups.best(), **training.weights)
            games, plies = len(training.lengths), np.mean(training.lengths)
            training.lengths.clear()
            print(
                f"{file}: {updates * PLIES * GAMES:,} plies; the last {games} games had {plies:.0f} on average",
                flush=True,
            )
            if league:
                print(league.play(file), flush=True)


if __name__ == "__main__":
    main()
