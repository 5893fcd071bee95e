"""Flat codes, pairs of squares and the protocol's words name the same moves."""

import numpy as np
import pytest

from arena.learn.action_codes import (
    STRAIGHT_COUNT,
    action_code,
    action_text,
    codes_of,
    pair_mask,
    pairs_of,
    seat_square,
)
from arena.stratego.rules.board import MOVES
from protocol.notation import BOARD_SIZE, SQUARES, Color


@pytest.mark.parametrize("seat", Color)
def test_each_straight_move_has_one_code_and_each_code_one_move(seat: Color) -> None:
    assert sorted(action_code(text, seat) for text in MOVES) == list(range(STRAIGHT_COUNT))
    assert all(action_text(action_code(text, seat), seat) == text for text in MOVES)


def test_a_seat_counts_rows_from_its_own_side_and_files_from_file_a() -> None:
    assert action_code("b1-b2", Color.RED) == action_code("b10-b9", Color.BLUE)
    assert action_code("a1-a2", Color.RED) == 0
    assert action_code("a1-b1", Color.RED) == BOARD_SIZE - 1
    assert [seat_square(seat_square(square, Color.BLUE), Color.BLUE) for square in range(100)] == list(range(100))


def test_arrays_of_codes_are_those_of_single_pairs() -> None:
    codes = np.arange(STRAIGHT_COUNT)
    origins, targets = pairs_of(codes)
    assert np.array_equal(codes_of(origins, targets), codes)
    assert codes_of(np.array([0, 5]), np.array([11, 5])).tolist() == [-1, -1]


def test_a_mask_of_pairs_has_the_codes_of_the_flat_one() -> None:
    mask = np.random.default_rng(1).random((3, STRAIGHT_COUNT)) < 0.1
    pairs = pair_mask(mask)
    assert pairs.shape == (3, len(SQUARES), len(SQUARES))
    for flat, square in zip(mask, pairs, strict=True):
        assert np.sort(codes_of(*np.nonzero(square))).tolist() == np.flatnonzero(flat).tolist()


@pytest.mark.parametrize("text", ["resign", "d2-d3-e3", "a1-b2", "a1-a1", "a9-a10+8c2", "e7?e9B"])
def test_an_action_that_is_no_straight_move_has_no_code(text: str) -> None:
    with pytest.raises(ValueError, match="expected a straight move"):
        action_code(text, Color.RED)
