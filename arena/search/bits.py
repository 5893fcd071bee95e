"""Tables that positions are searched with: squares as bits, steps by exits; and the types of what a position keeps.

Worked out once, at import, for all positions.
"""

from arena.rules.board import BLUE_BIT, STEPS, Move
from protocol.geometry import NEIGHBOURS
from protocol.notation import SQUARES

UNKNOWN = (BLUE_BIT - 1, 2 * BLUE_BIT - 1)
"""Per side, the code of a piece whose rank is not known: it stands in the way and may be attacked, and does nothing."""

BIT = tuple(1 << square for square in range(len(SQUARES)))
NEAR = tuple(sum(BIT[neighbour] for neighbour in neighbours) for neighbours in NEIGHBOURS)
"""Per square, its neighbours as a set of bits."""


def _choices(steps: tuple[tuple[int, Move], ...]) -> list[tuple[Move, ...]]:
    """Every choice of a square's steps, at the number that has a bit for each of those chosen."""
    choices: list[tuple[Move, ...]] = [()]
    for _, move in steps:
        choices += [(*choice, move) for choice in choices]
    return choices + [()] * (16 - len(choices))


STEPS_BY_EXITS: list[tuple[Move, ...]] = [choice for steps in STEPS for choice in _choices(steps)]
"""The steps from a square, by 16 times the square plus a bit for each of its neighbours that can be entered."""

FLIPS = tuple(
    tuple(
        (neighbour, 1 << [target for target, _ in STEPS[neighbour]].index(square)) for neighbour in NEIGHBOURS[square]
    )
    for square in range(len(SQUARES))
)
"""Per square, its neighbours, each with the bit that this square has among their exits."""

ALL_EXITS = [16 * square + (1 << len(STEPS[square])) - 1 for square in range(len(SQUARES))]

Run = tuple[int, ...]
"""One side's run of moves by one piece: its square, the borders it may not cross next, those of its last moves."""

NO_RUN: Run = (-1, 0)

Slides = tuple[int, int, int, tuple[Move, ...]]
"""A scout's moves with what they depend on: a set of squares, and which pieces of both sides stand on them."""

NO_SLIDES: Slides = (0, 1, 0, ())

Steps = tuple[list[Move], list[int]]
"""All steps of a side but those of its scouts, and where its scouts stand that can move."""
