"""The board's geometry and the codes of pieces.

Tables that depend on squares alone are computed at import: the lines of sight of a scout, and every straight move as
one shared value. Generating moves picks ready-made objects, and parsing one is a look-up.

A board is a list of 100 small integers: 0 is an empty square (or a lake, which no table here leads to), a piece is its
rank's value, plus 16 if it is Blue's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from protocol.geometry import DIRECTIONS, line_from
from protocol.notation import BOARD_SIZE, HOME_SQUARES, LAKE_SQUARES, SQUARES, Color, Rank

EMPTY = 0
BLUE_BIT = 16
CODES = 32


def code_of(color: Color, rank: Rank) -> int:
    return rank + BLUE_BIT * color


RANKS: dict[int, Rank] = {code_of(color, rank): rank for color in Color for rank in Rank}

ENEMIES = (
    tuple(code > BLUE_BIT for code in range(CODES)),
    tuple(EMPTY < code < BLUE_BIT for code in range(CODES)),
)
"""By side and code: whether the code is a piece of the other side."""


@dataclass(frozen=True, slots=True)
class StraightMove:
    """A move from one square to another in a straight line, one object for all games.

    `between` are the squares passed over, in order. `borders` is the set of borders between neighbouring squares that
    the move crosses, one bit each: two moves cross a common border if the `&` of theirs is not 0. A diagonal step
    crosses none.
    """

    origin: int
    target: int
    between: tuple[int, ...]
    borders: int
    text: str

    @property
    def sideways(self) -> bool:
        return self.origin // BOARD_SIZE == self.target // BOARD_SIZE


def border(square: int, neighbour: int) -> int:
    low, high = (square, neighbour) if square < neighbour else (neighbour, square)
    return 1 << (2 * low + (high - low != 1))


def _straight(origin: int, line: range) -> Iterator[StraightMove]:
    """Yield the moves from a square along a line, the shortest first."""
    here, borders = origin, 0
    between: tuple[int, ...] = ()
    for target in line:
        borders |= border(here, target)
        yield StraightMove(origin, target, between, borders, f"{SQUARES[origin]}-{SQUARES[target]}")
        here, between = target, (*between, target)


MOVES: dict[str, StraightMove] = {
    move.text: move
    for origin in range(len(SQUARES))
    for direction in DIRECTIONS
    for move in _straight(origin, line_from(origin, direction))
}
"""Every straight move by its text, those onto and over lakes included (so that refusing one can say why)."""

Ray = tuple[tuple[int, StraightMove], ...]


def _rays(origin: int) -> tuple[Ray, ...]:
    rays = []
    for direction in DIRECTIONS:
        ray = []
        for target in line_from(origin, direction):
            if target in LAKE_SQUARES:
                break
            ray.append((target, MOVES[f"{SQUARES[origin]}-{SQUARES[target]}"]))
        if ray and origin not in LAKE_SQUARES:
            rays.append(tuple(ray))
    return tuple(rays)


RAYS: tuple[tuple[Ray, ...], ...] = tuple(_rays(square) for square in range(len(SQUARES)))
"""By square: the lines until a lake or the edge, as pairs of a square and the move to it."""

STEPS: tuple[Ray, ...] = tuple(tuple(ray[0] for ray in rays) for rays in RAYS)
"""By square: the moves by one square."""


def _diagonals(origin: int) -> tuple[tuple[int, StraightMove], ...]:
    rank, file = divmod(origin, BOARD_SIZE)
    corners = [(rank + up, file + aside) for up in (1, -1) for aside in (1, -1)]
    targets = [r * BOARD_SIZE + f for r, f in corners if 0 <= r < BOARD_SIZE and 0 <= f < BOARD_SIZE]
    return tuple(
        (target, StraightMove(origin, target, (), 0, f"{SQUARES[origin]}-{SQUARES[target]}"))
        for target in targets
        if target not in LAKE_SQUARES and origin not in LAKE_SQUARES
    )


DIAGONALS: tuple[tuple[tuple[int, StraightMove], ...], ...] = tuple(
    _diagonals(square) for square in range(len(SQUARES))
)
"""By square: the steps to the squares that touch it at a corner."""

DIAGONAL_MOVES: dict[str, StraightMove] = {move.text: move for steps in DIAGONALS for _, move in steps}

BACK_ROWS: tuple[frozenset[int], frozenset[int]] = (
    frozenset(HOME_SQUARES[Color.RED][:BOARD_SIZE]),
    frozenset(HOME_SQUARES[Color.BLUE][:BOARD_SIZE]),
)
"""By colour: the squares of its own back row."""

HOMES: tuple[frozenset[int], frozenset[int]] = (
    frozenset(HOME_SQUARES[Color.RED]),
    frozenset(HOME_SQUARES[Color.BLUE]),
)
"""By colour: the squares of its own four rows."""

HIDDEN = CODES
"""The label of a piece that the viewer cannot identify is `HIDDEN` plus its present square."""

_LABELS = HIDDEN + len(SQUARES)
_numbers = memoryview(Random(1958).randbytes(8 * _LABELS * len(SQUARES))).cast("Q").tolist()  # 64 bits each
SQUARE_KEYS: tuple[tuple[int, ...], ...] = tuple(
    tuple(_numbers[label * len(SQUARES) : (label + 1) * len(SQUARES)])
    if label in RANKS or label >= HIDDEN
    else (0,) * len(SQUARES)
    for label in range(_LABELS)
)
"""Zobrist's numbers (Zobrist 1970) by label: a piece's code or that of a hidden piece, and square.

The xor of several identifies what they have in common or differ by. Those of an empty square are 0.
"""
