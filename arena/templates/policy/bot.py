#!/usr/bin/env python3
"""{{name}}: plays by a trained network. Its weights are policy.npz, and network.py says what they mean.

A policy.pt in place of both is a module that torch.jit.save wrote: planes and facts in, a score for each code out.
Without either it plays random legal actions.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: a bot has one CPU, and may have few threads

from collections import Counter
from contextlib import suppress
from math import log
from pathlib import Path

import numpy as np
from network import scores

from arena.learn.action_codes import STRAIGHT_COUNT, action_code
from arena.learn.observation import observe
from arena.learn.placement import setup_rows
from protocol.bot import Bot, View, random_setup, run

FOLDER = Path(__file__).parent
TEMPERATURE = 1.0
"""1: a move is drawn by the chances that the scores stand for; 0: the one with the highest score is played."""


def loaded():
    """Returns a function that scores codes, or None, and the set-ups of the checkpoint."""
    if (file := FOLDER / "policy.npz").exists():
        with np.load(file) as arrays:
            weights = dict(arrays)
        setups = ["/".join(setup_rows(each)) for each in weights.pop("setups", ())]
        return (lambda planes, facts, codes: scores(weights, planes, facts, codes)), setups
    if (file := FOLDER / "policy.pt").exists():
        import torch

        torch.set_num_threads(1)
        module = torch.jit.load(str(file))

        def scored(planes, facts, codes):
            with torch.no_grad():
                return module(torch.from_numpy(planes)[None], torch.from_numpy(facts)[None])[0].numpy()[codes]

        return scored, []
    return None, []


SCORE, SETUPS = loaded()
if (FOLDER / "setups.txt").exists():
    SETUPS = (FOLDER / "setups.txt").read_text().split()


class Mine(Bot):
    """Observes what the environment observes, and plays what the network scores highest."""

    name = "{{name}}"
    author = "{{author}}"

    def setup(self, view: View) -> str:
        """Returns a set-up with this army, of setups.txt or else of the checkpoint; a random one if there is none."""
        army = {rank.letter: count for rank, count in view.army.items()}
        fitting = [each for each in SETUPS if Counter(each.replace("/", "").replace(".", "")) == army]
        return view.random.choice(fitting) if fitting else random_setup(view)

    def move(self, view: View) -> str:
        """Scores the legal moves by what `observe` makes of the view, bit by bit as in training."""
        moves = {}
        for action in view.legal:
            with suppress(ValueError):  # an action of some rulesets that has no code
                moves[action_code(action, view.color)] = action
        if SCORE is None or not moves:
            return view.random.choice(view.legal)
        codes = np.array(list(moves))
        seen = observe(view)
        try:
            score = SCORE(*seen, codes)
        except IndexError:  # trained under other rules, without codes for captains that turn
            codes = codes[codes < STRAIGHT_COUNT]
            score = SCORE(*seen, codes)
        if not np.isfinite(score).all():
            raise ValueError(f"policy.npz or policy.pt: expected finite scores, got {score}")
        drawn = [each - TEMPERATURE * log(-log(1 - view.random.random() or 0.5)) for each in score.tolist()]
        return moves[int(codes[drawn.index(max(drawn))])]


if __name__ == "__main__":
    run(Mine)
