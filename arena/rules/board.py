"""The board's geometry and the codes that pieces have on it.

Everything that depends on squares alone is worked out once, here, at import: which squares are neighbours, what a scout
sees along each line, and every straight move there can be as one shared value. Generating moves is then a matter of
picking ready-made objects, and parsing one is a look-up.

A board is a list of 100 small integers: 0 is an empty square (or a lake, which no table here ever leads to), a piece is
its rank's value, plus 16 if it is Blue's.
"""

from dataclasses import dataclass
from random import Random

from protocol.notation import BOARD_SIZE, LAKE_SQUARES, SQUARES, Color, Rank

EMPTY = 0
BLUE_BIT = 16
CODES = 32
"""Piece codes run from 0 to CODES - 1."""

HORIZONTAL, VERTICAL = 0, 1


def code_of(color: Color, rank: Rank) -> int:
    """The number that stands for a piece on the board."""
    return rank + BLUE_BIT * color


RANKS: dict[int, Rank] = {code_of(color, rank): rank for color in Color for rank in Rank}
"""The rank of each piece code."""


@dataclass(frozen=True, slots=True)
class Move:
    """A straight move, from one square to another on the same file or rank. One object a move, shared by all games.

    `axis` says whether it runs along a rank or a file; `low` and `high` are its ends along that line, so that the
    borders between squares that it crosses are those numbered `low` to `high - 1`. `between` are the squares passed
    over, in order.
    """

    origin: int
    target: int
    axis: int
    low: int
    high: int
    between: tuple[int, ...]
    text: str

    @property
    def distance(self) -> int:
        return self.high - self.low


def _straight(origin: int, target: int) -> Move:
    (rank, file), (to_rank, to_file) = divmod(origin, BOARD_SIZE), divmod(target, BOARD_SIZE)
    axis = HORIZONTAL if rank == to_rank else VERTICAL
    ends = (file, to_file) if axis == HORIZONTAL else (rank, to_rank)
    stride = (1 if axis == HORIZONTAL else BOARD_SIZE) * (1 if target > origin else -1)
    between = tuple(range(origin + stride, target, stride))
    return Move(origin, target, axis, min(ends), max(ends), between, f"{SQUARES[origin]}-{SQUARES[target]}")


def _line(origin: int, stride: int) -> list[int]:
    """All squares from `origin` outwards to the edge of the board, lakes or not."""
    squares: list[int] = []
    square = origin
    while True:
        before, square = square, square + stride
        same_rank = before // BOARD_SIZE == square // BOARD_SIZE
        if not 0 <= square < len(SQUARES) or (abs(stride) == 1 and not same_rank):
            return squares
        squares.append(square)


DIRECTIONS = (BOARD_SIZE, -BOARD_SIZE, 1, -1)

MOVES: dict[str, Move] = {
    move.text: move
    for origin in range(len(SQUARES))
    for stride in DIRECTIONS
    for move in (_straight(origin, target) for target in _line(origin, stride))
}
"""Every straight move by its text, those onto and over lakes included (so that refusing one can say why)."""

Ray = tuple[tuple[int, Move], ...]


def _rays(origin: int) -> tuple[Ray, ...]:
    rays = []
    for stride in DIRECTIONS:
        ray = []
        for target in _line(origin, stride):
            if target in LAKE_SQUARES:
                break
            ray.append((target, MOVES[f"{SQUARES[origin]}-{SQUARES[target]}"]))
        if ray and origin not in LAKE_SQUARES:
            rays.append(tuple(ray))
    return tuple(rays)


RAYS: tuple[tuple[Ray, ...], ...] = tuple(_rays(square) for square in range(len(SQUARES)))
"""Per square, what lies along each line until a lake or the edge: pairs of the square and the move to it."""

STEPS: tuple[Ray, ...] = tuple(tuple(ray[0] for ray in rays) for rays in RAYS)
"""Per square, the moves by one square."""

NEIGHBOURS: tuple[tuple[int, ...], ...] = tuple(tuple(target for target, _ in steps) for steps in STEPS)

_key_dice = Random(1958)
SQUARE_KEYS: tuple[tuple[int, ...], ...] = tuple(
    tuple(_key_dice.getrandbits(60) if code in RANKS else 0 for _ in SQUARES) for code in range(CODES)
)
"""Zobrist's numbers (Zobrist 1970): the xor of one per piece and square identifies a position."""
