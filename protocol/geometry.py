"""The board as a bot's author thinks of it: which squares touch, whose row is whose, and what an action's text means.

Everything here follows from squares alone. Squares are numbers as in `protocol.notation`.
"""

from functools import cache

from protocol.notation import BOARD_SIZE, LAKE_SQUARES, SQUARE_INDEX, SQUARES, Color


def _neighbours(square: int) -> tuple[int, ...]:
    row, file = divmod(square, BOARD_SIZE)
    touching = []
    if row < BOARD_SIZE - 1:
        touching.append(square + BOARD_SIZE)
    if row > 0:
        touching.append(square - BOARD_SIZE)
    if file < BOARD_SIZE - 1:
        touching.append(square + 1)
    if file > 0:
        touching.append(square - 1)
    return tuple(other for other in touching if other not in LAKE_SQUARES)


NEIGHBOURS: tuple[tuple[int, ...], ...] = tuple(
    () if square in LAKE_SQUARES else _neighbours(square) for square in range(len(SQUARES))
)
"""Per square, the squares that a piece there can step to if nothing stands in its way. Lakes have none."""


def row_for(color: Color, square: int) -> int:
    """The row of a square as `color` counts them: 0 is its own back row, 9 the opponent's."""
    row = square // BOARD_SIZE
    return row if color is Color.RED else BOARD_SIZE - 1 - row


@cache
def action_squares(action: str) -> tuple[int, int] | None:
    """Where an action starts and where it leads, or None for one that names no two squares (`resign`).

    For a move, `a4-a5`, and for a path, `d2-d3-e3`, these are its two ends; for a rescue, `a9-a10+8c2`, those of the
    move in it; for a guess, `e7?e9B`, the piece that guesses and the piece that is asked.
    """
    if "?" in action:
        origin, _, guess = action.partition("?")
        return SQUARE_INDEX[origin], SQUARE_INDEX[guess[:-1]]
    path = action.partition("+")[0].split("-")
    if len(path) < 2:
        return None
    return SQUARE_INDEX[path[0]], SQUARE_INDEX[path[-1]]


__all__ = ["NEIGHBOURS", "action_squares", "row_for"]
