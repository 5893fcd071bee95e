"""The board's geometry: neighbouring squares, rows as each side counts them, and the squares of an action.

Squares are numbers as in `protocol.notation`.
"""

from functools import cache

from protocol.notation import BOARD_SIZE, LAKE_SQUARES, SQUARE_INDEX, SQUARES, Color

DIRECTIONS = (BOARD_SIZE, -BOARD_SIZE, 1, -1)
"""Offsets from a square to its neighbours: up, down, right and left as Red sees the board."""


def line_from(square: int, direction: int) -> range:
    """Return all squares in a direction from one, the nearest first, to the edge of the board; lakes too."""
    row = square // BOARD_SIZE
    if direction == 1:
        return range(square + 1, (row + 1) * BOARD_SIZE)
    if direction == -1:
        return range(square - 1, row * BOARD_SIZE - 1, -1)
    return range(square + direction, len(SQUARES) if direction > 0 else -1, direction)


NEIGHBOURS: tuple[tuple[int, ...], ...] = tuple(
    ()
    if square in LAKE_SQUARES
    else tuple(square + way for way in DIRECTIONS if line_from(square, way) and square + way not in LAKE_SQUARES)
    for square in range(len(SQUARES))
)
"""By square: the squares that a piece there can step to on an empty board. Lakes have none."""


def row_for(color: Color, square: int) -> int:
    """Return the row of a square as `color` counts them: 0 is its own back row, 9 the opponent's."""
    row = square // BOARD_SIZE
    return row if color is Color.RED else BOARD_SIZE - 1 - row


@cache
def action_squares(action: str) -> tuple[int, int] | None:
    """Return the first and the last square of an action, or None for one without two squares (`resign`).

    For a move, `a4-a5`, and for a path, `d2-d3-e3`, these are its two ends; for a rescue, `a9-a10+8c2`, those of the
    move in it; for a guess, `e7?e9B`, the guessing piece and the other one.
    """
    if "?" in action:
        origin, _, guess = action.partition("?")
        return SQUARE_INDEX[origin], SQUARE_INDEX[guess[:-1]]
    path = action.partition("+")[0].split("-")
    if len(path) < 2:
        return None
    return SQUARE_INDEX[path[0]], SQUARE_INDEX[path[-1]]


__all__ = ["DIRECTIONS", "NEIGHBOURS", "action_squares", "line_from", "row_for"]
