"""Moves as numbers: 1,800 flat codes, 18 for each square of the board.

A square, as a seat counts it, is `10 * row + file`: row 0 is the seat's own back row, file 0 is file a for both seats
(as in the rows of a set-up). So Red counts as the board does, and for Blue the rows are turned round. A code is
`18 * origin + way`: ways 0 to 8 are the other squares of the origin's file by row, ways 9 to 17 those of its row by
file. Codes onto lakes exist and are never legal.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocol.geometry import action_squares
from protocol.notation import BOARD_SIZE, SQUARES, Color

SQUARE_COUNT = len(SQUARES)
WAYS = 2 * (BOARD_SIZE - 1)
CODE_COUNT = SQUARE_COUNT * WAYS

Integers = NDArray[Any]


def seat_square(square: int, seat: Color) -> int:
    """Return a square of the board as a seat counts it; and back, as turning the rows twice changes nothing."""
    row, file = divmod(square, BOARD_SIZE)
    return square if seat is Color.RED else (BOARD_SIZE - 1 - row) * BOARD_SIZE + file


def _targets(origin: int) -> list[int]:
    file, row = origin % BOARD_SIZE, origin - origin % BOARD_SIZE
    squares = [*range(file, SQUARE_COUNT, BOARD_SIZE), *range(row, row + BOARD_SIZE)]
    return [square for square in squares if square != origin]


TARGETS: NDArray[np.uint8] = np.array([_targets(origin) for origin in range(SQUARE_COUNT)], np.uint8).ravel()
"""By code: the target, as the seat counts squares."""

_CODES: NDArray[np.int16] = np.full((SQUARE_COUNT, SQUARE_COUNT), -1, np.int16)
_CODES[np.arange(CODE_COUNT) // WAYS, TARGETS] = np.arange(CODE_COUNT)


def pairs_of(codes: Integers) -> tuple[Integers, Integers]:
    """Return the origins and the targets of flat codes, as the seat counts squares."""
    return codes // WAYS, TARGETS[codes]


def codes_of(origins: Integers, targets: Integers) -> Integers:
    """Return the flat codes of pairs of squares, -1 for two squares that no line joins."""
    return _CODES[origins, targets]


def pair_mask(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of flat codes (N x 1,800) as one of origins and targets (N x 100 x 100)."""
    pairs = np.zeros((*mask.shape[:-1], SQUARE_COUNT, SQUARE_COUNT), np.bool_)
    pairs[..., np.arange(CODE_COUNT) // WAYS, TARGETS] = mask
    return pairs


@cache
def action_text(code: int, seat: Color) -> str:
    """Return the action of a seat's code in the protocol's words: `a4-a5`."""
    origin, target = code // WAYS, int(TARGETS[code])
    return f"{SQUARES[seat_square(origin, seat)]}-{SQUARES[seat_square(target, seat)]}"


@cache
def action_code(text: str, seat: Color) -> int:
    """Return a seat's code of a straight move in the protocol's words. Raises `ValueError` for any other action."""
    squares = action_squares(text)
    code = -1
    if squares and text.count("-") == 1 and "+" not in text:
        code = int(_CODES[seat_square(squares[0], seat), seat_square(squares[1], seat)])
    if code < 0:
        raise ValueError(f"{text}: expected a straight move such as a4-a5, which alone has a code")
    return code
