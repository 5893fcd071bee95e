"""Observations as numbers: planes of a seat's board and a row of facts, and both made from the view of a bot.

`observe` makes them from what the seat has been told, slowly; the compiled kernel keeps them up to date by itself.
Tests hold the two to each other, so that a network plays in the arena from the numbers that it was trained with.
"""

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.learn.action_codes import seat_square
from protocol.geometry import action_squares
from protocol.messages import Battle, Enemy, Moved
from protocol.notation import BOARD_SIZE, Color, Rank, Survivor
from protocol.view import Piece, View

RECENT = 8
"""The number of latest plies with a plane each."""
RANK_COUNT = len(Rank)
"""Planes and facts by rank have this order: flag, bomb, spy, scout, ... marshal, infiltrator."""
OWN, SHOWN, ENEMY = (group * RANK_COUNT for group in range(3))
"""The first plane of own pieces by rank; of what their opponent may think they are; and of enemy pieces."""
MOVED = 3 * RANK_COUNT
LATEST = MOVED + 1
PLANE_COUNT = LATEST + RECENT
PLY, QUIET, LOST, ENEMY_LOST, ENEMY_HIDDEN, HIDDEN = 0, 1, *(2 + group * RANK_COUNT for group in range(4))
FACT_COUNT = HIDDEN + RANK_COUNT

LEFT, ENTERED = -1, 1


class Described(NamedTuple):
    """A plane or a fact: a name, its meaning, and where the number comes from."""

    name: str
    meaning: str
    source: str


def _by_rank(name: str, meaning: str, source: str) -> list[Described]:
    return [Described(f"{name}-{rank.name.lower()}", meaning.format(rank.name.lower()), source) for rank in Rank]


PLANES: tuple[Described, ...] = (
    *_by_rank("own", "1: an own {}", "the own set-up, moves and fights"),
    *_by_rank("shown", "1: an own piece that may be a {} for all that the opponent was told", "public events"),
    *_by_rank("enemy", "1: an enemy piece that may be a {} by what it did itself", "events told to the seat"),
    Described("moved", "1: a piece of either side that has moved", "public moves"),
    *(
        Described(f"latest-{age}", "-1: the square that a piece left, 1: that it entered or attacked", "public moves")
        for age in range(1, RECENT + 1)
    ),
)
"""The planes in their order. Row 0 is the seat's own back row, file 0 is file a. An enemy piece with a known rank is on
one plane of its group, and one that never moved on those of all ranks in the army. `latest-1` is the last ply."""

FACTS: tuple[Described, ...] = (
    Described("ply", "plies played", "public moves"),
    Described("quiet", "plies since the last attack", "public moves"),
    *_by_rank("lost", "own pieces lost: {}", "public fights"),
    *_by_rank("enemy-lost", "enemy pieces lost: {}", "public fights"),
    *_by_rank("enemy-hidden", "enemy pieces on the board that the seat does not know: {}", "the army, and the planes"),
    *_by_rank("hidden", "own pieces on the board that the opponent does not know: {}", "the army, and the planes"),
)
"""The numbers of the row of facts in their order."""


class Observation(NamedTuple):
    """Numbers for a network: `planes` of the shape (48, 10, 10), see `PLANES`, and a row of 54 `facts`."""

    planes: NDArray[np.int8]
    facts: NDArray[np.int32]


def observe(view: View) -> Observation:
    """Return what a seat observes, from nothing but what it was told."""
    planes = np.zeros((PLANE_COUNT, BOARD_SIZE, BOARD_SIZE), np.int8)
    facts = np.zeros(FACT_COUNT, np.int32)
    shadow = _view_of_opponent(view)
    unknown = {view.color: Counter(view.army), view.enemy: Counter(view.army)}
    for square, piece in enumerate(view.board):
        if piece is None:
            continue
        row, file = divmod(seat_square(square, view.color), BOARD_SIZE)
        planes[MOVED, row, file] = piece.moved
        if piece.color is view.color and piece.rank:
            planes[OWN + piece.rank - 1, row, file] = 1
        watcher, first = (view, ENEMY) if piece.color is view.enemy else (shadow, SHOWN)
        ranks = _may_be(watcher, watcher.board[square])
        for rank in ranks:
            planes[first + rank - 1, row, file] = 1
        if len(ranks) == 1:
            unknown[piece.color].subtract(ranks)
    _add_latest(planes, view)
    facts[PLY], facts[QUIET] = len(view.actions), _quiet(view)
    for side, lost, hidden in ((view.color, LOST, HIDDEN), (view.enemy, ENEMY_LOST, ENEMY_HIDDEN)):
        gone = Counter(view.captured[side])
        for rank in view.army:
            facts[lost + rank - 1] = gone[rank]
            facts[hidden + rank - 1] = unknown[side][rank] - gone[rank]
    return Observation(planes, facts)


def _may_be(watcher: View, piece: Piece | None) -> set[Rank]:
    """Return the ranks that an enemy piece of the watcher can have by what it did itself."""
    assert piece is not None
    if piece.rank is not None:
        return {piece.rank}
    ranks = set(watcher.army) if piece.could_be is None else set(watcher.army) & piece.could_be
    return ranks - {Rank.FLAG, Rank.BOMB} if piece.moved else ranks


def _view_of_opponent(view: View) -> View:
    """Return what the opponent knows of the seat's pieces: a view of the other seat, told what it was told."""
    shadow = View(view.enemy, view.variant)
    shadow.rules, shadow.army = view.rules, view.army
    for color, squares in _first_squares(view).items():
        for square in squares:
            shadow.board[square] = Piece(color, None)
    silent = view.rules.get("defence") == "silent"
    for message in view.told:
        if isinstance(message, Enemy):
            continue
        hidden = silent and isinstance(message, Battle) and message.survivor is Survivor.DEFENDER
        if hidden and isinstance(message, Battle) and message.attacker is not Rank.SCOUT:
            shadow.apply(message._replace(defender=None))
        else:
            shadow.apply(message)
    shadow.close_action()
    return shadow


def _first_squares(view: View) -> dict[Color, list[int]]:
    start = View(view.color, view.variant)
    start.place_own(view.setup)
    for message in view.told:
        if isinstance(message, Enemy):
            start.apply(message)
    return {color: [square for square, _ in start.pieces(color)] for color in Color}


def _add_latest(planes: NDArray[np.int8], view: View) -> None:
    moves = [squares for _, text in view.actions if (squares := action_squares(text))]
    for age, (origin, target) in enumerate(reversed(moves[-RECENT:])):
        for square, value in ((origin, LEFT), (target, ENTERED)):
            planes[LATEST + age].flat[seat_square(square, view.color)] = value


def _quiet(view: View) -> int:
    """Return the number of plies since the last attack: each `battle` belongs to the `moved` before it."""
    told = [type(message) for message in view.told if isinstance(message, Moved | Battle)]
    fights = [place for place, (_, kind) in enumerate(pairwise(told), 1) if kind is Battle]
    return told[fights[-1] + 1 :].count(Moved) if fights else told.count(Moved)
