"""Tables of positions that are searched, computed at import: squares as bits, steps by exits, and types."""

from arena.stratego.rules.board import BLUE_BIT, STEPS, StraightMove
from protocol.geometry import NEIGHBOURS
from protocol.notation import SQUARES

UNKNOWN = (BLUE_BIT - 1, 2 * BLUE_BIT - 1)
"""By side: the code of a piece of unknown rank, which blocks and may be attacked, but does not act."""

BIT = tuple(1 << square for square in range(len(SQUARES)))
NEAR = tuple(sum(BIT[neighbour] for neighbour in neighbours) for neighbours in NEIGHBOURS)
"""By square: its neighbours as a set of bits."""


def _choices(steps: tuple[tuple[int, StraightMove], ...]) -> list[tuple[StraightMove, ...]]:
    """Return every subset of a square's steps, indexed by its bits."""
    choices: list[tuple[StraightMove, ...]] = [()]
    for _, move in steps:
        choices += [(*choice, move) for choice in choices]
    return choices + [()] * (16 - len(choices))


STEPS_BY_EXITS: list[tuple[StraightMove, ...]] = [choice for steps in STEPS for choice in _choices(steps)]
"""The steps from a square, by 16 times the square plus a bit for each of its neighbours that can be entered."""

FLIPS = tuple(
    tuple(
        (neighbour, 1 << [target for target, _ in STEPS[neighbour]].index(square)) for neighbour in NEIGHBOURS[square]
    )
    for square in range(len(SQUARES))
)
"""By square: its neighbours, each with the bit of this square among their exits."""

ALL_EXITS = [16 * square + (1 << len(STEPS[square])) - 1 for square in range(len(SQUARES))]

Run = tuple[int, ...]
"""One side's run of moves by one piece: its square, the borders it may not cross next, those of its last moves."""

NO_RUN: Run = (-1, 0)

Slides = tuple[int, int, int, tuple[StraightMove, ...]]
"""A scout's moves with what they depend on: a set of squares, and the pieces of both sides on them."""

NO_SLIDES: Slides = (0, 1, 0, ())

Steps = tuple[list[StraightMove], list[int]]
"""All steps of a side except those of its scouts, and the squares of scouts that can move."""
