"""Moves as numbers: 1,800 flat codes, 18 for each square of the board, and 800 more where captains may turn.

A square, as a seat counts it, is `10 * row + file`: row 0 is the seat's own back row, file 0 is file a for both seats
(as in the rows of a set-up). So Red counts as the board does, and for Blue the rows are turned round.

A straight move is `18 * origin + way`: ways 0 to 8 are the other squares of the origin's file by row, ways 9 to 17
those of its row by file. A captain's move with a turn is `1800 + 8 * origin + turn`, and `turn` is twice the direction
of the first step (0 forward, 1 back, 2 towards file j, 3 towards file a), plus 1 if the second step goes back or
towards file a. Codes onto lakes exist and are never legal; nor are turns that leave the board.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.stratego.rules.ruleset import Captains, Ruleset
from arena.stratego.rules.rulesets import as_ruleset
from protocol.geometry import DIRECTIONS, line_from
from protocol.notation import BOARD_SIZE, COLOR_BY_WORD, SQUARES, Color

SQUARE_COUNT = len(SQUARES)
WAYS = 2 * (BOARD_SIZE - 1)
STRAIGHT_COUNT = SQUARE_COUNT * WAYS
"""The number of codes of straight moves; those with a turn follow."""
TURNS = 2 * len(DIRECTIONS)
MOST_CODES = STRAIGHT_COUNT + SQUARE_COUNT * TURNS
NOWHERE = 255
"""A square that is none."""

Integers = NDArray[Any]


def code_count(ruleset: Ruleset | str) -> int:
    """Return the number of codes under a ruleset: 1,800, or 2,600 if captains may turn."""
    return STRAIGHT_COUNT if as_ruleset(ruleset).captains is Captains.ONE_STEP else MOST_CODES


def seat_square(square: int, seat: Color) -> int:
    """Return a square of the board as a seat counts it; and back, as turning the rows twice changes nothing."""
    row, file = divmod(square, BOARD_SIZE)
    return square if seat is Color.RED else (BOARD_SIZE - 1 - row) * BOARD_SIZE + file


def _targets(origin: int) -> list[int]:
    file, row = origin % BOARD_SIZE, origin - origin % BOARD_SIZE
    squares = [*range(file, SQUARE_COUNT, BOARD_SIZE), *range(row, row + BOARD_SIZE)]
    return [square for square in squares if square != origin]


def _turned(origin: int) -> list[tuple[int, int]]:
    """Return the corners and the targets of a captain's turns, NOWHERE beyond the edge."""
    found = []
    for turn in range(TURNS):
        first, second = DIRECTIONS[turn // 2], DIRECTIONS[(turn // 2 ^ 2) & 2 | turn & 1]
        corner = next(iter(line_from(origin, first)), NOWHERE)
        target = NOWHERE if corner == NOWHERE else next(iter(line_from(corner, second)), NOWHERE)
        found.append((corner, target))
    return found


PATHS: list[tuple[int, int, int]] = [
    *((origin, NOWHERE, target) for origin in range(SQUARE_COUNT) for target in _targets(origin)),
    *((origin, corner, target) for origin in range(SQUARE_COUNT) for corner, target in _turned(origin)),
]
"""By code: origin, corner and target, as the seat counts squares; NOWHERE for no corner, and beyond the edge."""
_ORIGINS, _, _TARGETS = np.array(PATHS, np.int64).T
_STRAIGHT = slice(STRAIGHT_COUNT)
_CODES: NDArray[np.int16] = np.full((SQUARE_COUNT, SQUARE_COUNT), -1, np.int16)
_CODES[_ORIGINS[_STRAIGHT], _TARGETS[_STRAIGHT]] = np.arange(STRAIGHT_COUNT)


def pairs_of(codes: Integers) -> tuple[Integers, Integers]:
    """Return the origins and the targets of codes of straight moves, as the seat counts squares.

    Raises `ValueError` for any other code.
    """
    wrong = np.extract(np.less(codes, 0) | np.greater_equal(codes, STRAIGHT_COUNT), codes)
    if len(wrong):
        raise ValueError(f"expected codes of straight moves, from 0 to {STRAIGHT_COUNT - 1}, got {wrong[0]}")
    return _ORIGINS[codes], _TARGETS[codes]


def codes_of(origins: Integers, targets: Integers) -> Integers:
    """Return the codes of straight moves between pairs of squares, -1 for two squares that no line joins."""
    return _CODES[origins, targets]


def pair_mask(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of codes (N x 1,800 or 2,600) as one of origins and targets (N x 100 x 100).

    Moves with a turn are left out: two of them can join the same pair of squares.
    """
    pairs = np.zeros((*mask.shape[:-1], SQUARE_COUNT, SQUARE_COUNT), np.bool_)
    pairs[..., _ORIGINS[_STRAIGHT], _TARGETS[_STRAIGHT]] = mask[..., _STRAIGHT]
    return pairs


@cache
def _texts(seat: Color | str) -> tuple[str, ...]:
    """Return the text of each code, empty for a turn that leaves the board."""
    color = COLOR_BY_WORD.get(seat) if isinstance(seat, str) else Color(seat)
    if color is None:
        raise ValueError(f"seat: expected {' or '.join(COLOR_BY_WORD)}, got {seat!r}")
    names = [SQUARES[seat_square(square, color)] for square in range(SQUARE_COUNT)]
    return tuple(
        "" if path[-1] == NOWHERE else "-".join(names[square] for square in path if square != NOWHERE) for path in PATHS
    )


@cache
def _codes_by_text(seat: Color | str) -> dict[str, int]:
    return {text: code for code, text in enumerate(_texts(seat)) if text}


def action_text(code: int, seat: Color | str) -> str:
    """Return the action of a seat's code in the protocol's words: `a4-a5`; empty for a turn that leaves the board.

    `seat` is `red`, `blue` or a `Color`. Raises `ValueError` for what is no code or no seat.
    """
    if not 0 <= code < MOST_CODES:
        raise ValueError(f"expected a code from 0 to {MOST_CODES - 1}, got {code}")
    return _texts(seat)[code]


def action_code(text: str, seat: Color | str) -> int:
    """Return a seat's code of a move in the protocol's words. Raises `ValueError` for any other action.

    `seat` is `red`, `blue` or a `Color`.
    """
    code = _codes_by_text(seat).get(text)
    if code is None:
        raise ValueError(f"{text}: expected a move such as a4-a5 or d2-d3-e3, which alone have codes")
    return code
