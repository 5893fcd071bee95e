"""A small network that scores moves, in numpy: a bot needs `scores` alone, training the rest.

A move is judged by what stands around its origin and its target, and by how it comes nearer to pieces of each kind,
with the same weights wherever it is. A summary of the whole board says who is likely to win, and helps to judge.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.learn.action_codes import pairs_of
from arena.learn.observation import ENEMY, ENEMY_HIDDEN, FACT_COUNT, HIDDEN, MOVED, OWN, SHOWN

Array = NDArray[Any]
Weights = dict[str, Array]

RANKS = np.array([0, 1, 2, 3, 4, 10, 11])  # barrage: flag, bomb, spy, scout, miner, general, marshal
KINDS = 3 * len(RANKS) + 1  # numbers of a square: own, shown and enemy piece by rank, and whether it has moved
WIDTH = 12  # of the board with a border
AROUND = np.array([0, -WIDTH, WIDTH, -1, 1])  # a square and its neighbours
ROWS, FILES = np.divmod(np.arange(100), 10)
INNER = (ROWS + 1) * WIDTH + FILES + 1
CLOSED = np.ones(WIDTH * WIDTH)  # the border and the lakes
CLOSED[INNER] = np.isin(ROWS, (4, 5)) & np.isin(FILES, (2, 3, 6, 7))
DISTANCE = abs(ROWS[:, None] - ROWS) + abs(FILES[:, None] - FILES)
NEARNESS = np.concatenate([np.exp(-DISTANCE / reach) for reach in (1.0, 4.0)]).astype(np.float32)
MOVE_INPUTS = 2 * len(AROUND) * (KINDS + 1) + 2 * KINDS + 10 + 3
BOARD_INPUTS = 100 * KINDS + FACT_COUNT
SUMMARY, UNITS = 64, 96


class Seen(NamedTuple):
    """The network's inputs: a row for each game, a row for each legal move, and the game of each move."""

    boards: Array
    moves: Array
    owner: Array


class Judged(NamedTuple):
    score: Array  # of each move
    value: Array  # of each game: 1 for a sure win of the seat to move, -1 for a sure loss
    units: Array
    summary: Array


def new_weights(rng: np.random.Generator) -> Weights:
    def layer(inputs: int, outputs: int) -> Array:
        return rng.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32)

    shapes = {"board_bias": SUMMARY, "value": SUMMARY, "move_bias": UNITS, "score": UNITS}
    layers = {
        "board": layer(BOARD_INPUTS, SUMMARY),
        "move": layer(MOVE_INPUTS, UNITS),
        "context": layer(SUMMARY, UNITS),
    }
    return layers | {name: np.zeros(size, np.float32) for name, size in shapes.items()}


def may_be(planes: Array, hidden: Array) -> Array:
    """Share each unknown piece among the ranks that it can have, by how many of them are hidden."""
    ranks = planes.reshape(len(planes), len(RANKS), 100).astype(np.float32)
    weighed = np.where(ranks.sum(1, keepdims=True) > 1, ranks * hidden[:, :, None], ranks)
    return np.asarray(weighed / np.maximum(weighed.sum(1, keepdims=True), 1))


def inputs(planes: Array, facts: Array, codes: Array, counts: Array) -> Seen:
    """Turn N observations and their legal codes (N x L, the first `counts` count) into the network's inputs."""
    games = len(planes)
    own = planes[:, OWN + RANKS].reshape(games, -1, 100)
    shown = may_be(planes[:, SHOWN + RANKS], facts[:, HIDDEN + RANKS])
    enemy = may_be(planes[:, ENEMY + RANKS], facts[:, ENEMY_HIDDEN + RANKS])
    board = np.concatenate([own, shown, enemy, planes[:, MOVED].reshape(games, 1, 100)], 1, dtype=np.float32)
    owner, place = np.nonzero(np.arange(codes.shape[1]) < counts[:, None])
    origin, target = pairs_of(codes[owner, place])
    cells = np.zeros((games, WIDTH * WIDTH, KINDS + 1), np.float32)
    cells[:, INNER, :KINDS] = board.transpose(0, 2, 1)
    cells[:, :, KINDS] = CLOSED
    around = np.concatenate([INNER[origin, None] + AROUND, INNER[target, None] + AROUND], axis=1)
    near = (NEARNESS @ cells[:, INNER, :KINDS]).reshape(games, 2, 100, KINDS)
    way = np.stack([ROWS[target] - ROWS[origin], FILES[target] - FILES[origin], DISTANCE[origin, target]], 1) / 4
    moves = (
        cells[owner[:, None], around].reshape(len(owner), -1),
        (near[owner, :, target] - near[owner, :, origin]).reshape(len(owner), -1),
        np.eye(10, dtype=np.float32)[ROWS[target]],
        way,
    )
    boards = np.concatenate([board.reshape(games, -1), np.minimum(facts, 200) / 10], axis=1, dtype=np.float32)
    return Seen(boards, np.concatenate(moves, axis=1, dtype=np.float32), owner)


def forward(weights: Weights, seen: Seen) -> Judged:
    summary = np.maximum(seen.boards @ weights["board"] + weights["board_bias"], 0)
    context = summary @ weights["context"] + weights["move_bias"]
    units = np.maximum(seen.moves @ weights["move"] + context[seen.owner], 0)
    return Judged(units @ weights["score"], summary @ weights["value"], units, summary)


def backward(weights: Weights, seen: Seen, judged: Judged, d_score: Array, d_value: Array) -> Weights:
    """Return the gradients of the weights from those of scores and values."""
    d_units = d_score[:, None] * weights["score"] * (judged.units > 0)
    d_context = np.add.reduceat(d_units, np.flatnonzero(np.diff(seen.owner, prepend=-1)))
    d_summary = (d_context @ weights["context"].T + d_value[:, None] * weights["value"]) * (judged.summary > 0)
    return {
        "board": seen.boards.T @ d_summary,
        "board_bias": d_summary.sum(0),
        "value": judged.summary.T @ d_value,
        "move": seen.moves.T @ d_units,
        "context": judged.summary.T @ d_context,
        "move_bias": d_context.sum(0),
        "score": judged.units.T @ d_score,
    }


def scores(weights: Weights, planes: Array, facts: Array, codes: Array) -> Array:
    """Score legal codes of one observation: what a bot asks for."""
    return forward(weights, inputs(planes[None], facts[None], codes[None], np.array([len(codes)]))).score
