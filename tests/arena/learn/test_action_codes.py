"""Flat codes, pairs of squares and the protocol's words name the same moves."""

import numpy as np
import pytest

from arena.learn.action_codes import (
    MOST_CODES,
    STRAIGHT_COUNT,
    action_code,
    action_text,
    code_count,
    codes_of,
    pair_mask,
    pairs_of,
    seat_square,
)
from arena.stratego.rules.action_types import path_through
from arena.stratego.rules.board import MOVES
from protocol.notation import BOARD_SIZE, SQUARES, Color


@pytest.mark.parametrize("seat", Color)
def test_each_straight_move_has_one_code_and_each_code_one_move(seat: Color) -> None:
    assert sorted(action_code(text, seat) for text in MOVES) == list(range(STRAIGHT_COUNT))
    assert all(action_text(action_code(text, seat), seat) == text for text in MOVES)


@pytest.mark.parametrize("seat", Color)
def test_each_turn_of_a_captain_on_the_board_has_one_code(seat: Color) -> None:
    steps = [move for move in MOVES.values() if not move.between]
    turns = [
        path_through(first, second).text
        for first in steps
        for second in steps
        if second.origin == first.target and second.sideways != first.sideways
    ]
    codes = {action_code(text, seat) for text in turns}
    assert len(codes) == len(turns)
    assert all(STRAIGHT_COUNT <= code < MOST_CODES for code in codes)
    assert all(action_text(action_code(text, seat), seat) == text for text in turns)
    assert all(action_text(code, seat) == "" for code in set(range(STRAIGHT_COUNT, MOST_CODES)) - codes)


def test_turns_are_numbered_by_the_first_step_and_then_by_the_side() -> None:
    turns = ("d3-e3", "d3-c3", "d1-e1", "d1-c1", "e2-e3", "e2-e1", "c2-c3", "c2-c1")
    first = STRAIGHT_COUNT + 8 * (BOARD_SIZE + 3)
    assert [action_code(f"d2-{turn}", Color.RED) for turn in turns] == list(range(first, first + 8))
    assert action_code("d9-d8-e8", Color.BLUE) == first


@pytest.mark.parametrize(
    ("rules", "count"), [("isf", 1800), ("isf+lightning-captains", 2600), ("vintage/lightning", 2600)]
)
def test_only_rules_with_captains_that_turn_have_more_codes(rules: str, count: int) -> None:
    assert code_count(rules) == count


def test_a_seat_counts_rows_from_its_own_side_and_files_from_file_a() -> None:
    assert action_code("b1-b2", Color.RED) == action_code("b10-b9", Color.BLUE)
    assert action_code("a1-a2", Color.RED) == 0
    assert action_code("a1-b1", Color.RED) == BOARD_SIZE - 1
    assert [seat_square(seat_square(square, Color.BLUE), Color.BLUE) for square in range(100)] == list(range(100))


def test_arrays_of_codes_are_those_of_single_pairs() -> None:
    codes = np.arange(STRAIGHT_COUNT)
    origins, targets = pairs_of(codes)
    assert np.array_equal(codes_of(origins, targets), codes)
    assert [SQUARES[square] for square in pairs_of(np.array(action_code("d2-d9", Color.RED)))] == ["d2", "d9"]
    assert codes_of(np.array([0, 5]), np.array([11, 5])).tolist() == [-1, -1]


def test_a_mask_of_pairs_has_the_codes_of_the_flat_one() -> None:
    mask = np.random.default_rng(1).random((3, STRAIGHT_COUNT)) < 0.1
    pairs = pair_mask(mask)
    assert np.array_equal(
        pair_mask(np.pad(mask, [(0, 0), (0, MOST_CODES - STRAIGHT_COUNT)], constant_values=True)), pairs
    )
    assert pairs.shape == (3, len(SQUARES), len(SQUARES))
    for flat, square in zip(mask, pairs, strict=True):
        assert np.sort(codes_of(*np.nonzero(square))).tolist() == np.flatnonzero(flat).tolist()


@pytest.mark.parametrize("text", ["resign", "d2-d3-d4", "d2-d3-d2", "a1-b2", "a1-a1", "a9-a10+8c2", "e7?e9B"])
def test_an_action_that_is_no_move_of_a_line_or_with_one_turn_has_no_code(text: str) -> None:
    with pytest.raises(ValueError, match="expected a move such as a4-a5 or d2-d3-e3"):
        action_code(text, Color.RED)


@pytest.mark.parametrize("seat", Color)
def test_a_seat_is_named_by_its_word_too(seat: Color) -> None:
    code = action_code("a4-a5", seat)
    assert action_code("a4-a5", seat.word) == action_code("a4-a5", Color(int(seat))) == code
    assert action_text(code, seat.word) == "a4-a5"


def test_what_is_no_code_no_pair_or_no_seat_is_refused() -> None:
    for code in (-1, MOST_CODES):
        with pytest.raises(ValueError, match=f"expected a code from 0 to 2599, got {code}"):
            action_text(code, Color.RED)
    for code in (-1, action_code("d2-d3-e3", Color.RED)):
        with pytest.raises(ValueError, match=f"expected codes of straight moves, from 0 to 1799, got {code}"):
            pairs_of(np.array([0, code]))
    with pytest.raises(ValueError, match="seat: expected red or blue, got 'green'"):
        action_code("a4-a5", "green")
