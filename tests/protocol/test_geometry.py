"""The kit's geometry, held against distances between squares and spelled out where a formula could be wrong alike."""

import pytest

from protocol.geometry import DIRECTIONS, NEIGHBOURS, action_squares, line_from
from protocol.notation import LAKE_SQUARES, SQUARE_INDEX, SQUARES


def test_the_lines_from_a_square_are_all_squares_of_its_file_and_rank_the_nearest_first() -> None:
    up, down, right, left = ([SQUARES[near] for near in line_from(SQUARE_INDEX["c5"], way)] for way in DIRECTIONS)
    assert up == ["c6", "c7", "c8", "c9", "c10"]
    assert down == ["c4", "c3", "c2", "c1"]
    assert right == ["d5", "e5", "f5", "g5", "h5", "i5", "j5"]
    assert left == ["b5", "a5"]
    for square, name in enumerate(SQUARES):
        found = [SQUARES[other] for way in DIRECTIONS for other in line_from(square, way)]
        assert sorted([*found, name, name]) == sorted(
            other for line in (0, 1) for other in SQUARES if (other[0] == name[0], other[1:] == name[1:])[line]
        )


def test_squares_are_neighbours_if_they_are_one_step_apart_and_neither_is_a_lake() -> None:
    for one in range(100):
        for other in range(100):
            apart = abs(one % 10 - other % 10) + abs(one // 10 - other // 10)
            assert (other in NEIGHBOURS[one]) is (apart == 1 and not {one, other} & LAKE_SQUARES)


@pytest.mark.parametrize(
    ("action", "squares"),
    [
        ("a4-a5", ("a4", "a5")),
        ("j10-a10", ("j10", "a10")),
        ("d2-d3-e3", ("d2", "e3")),
        ("a9-a10+8c2", ("a9", "a10")),
        ("b8-b9-b10+Ma1", ("b8", "b10")),
        ("e7?e9B", ("e7", "e9")),
        ("e7?e10B", ("e7", "e10")),
        ("j8?j103", ("j8", "j10")),
        ("a10?a95", ("a10", "a9")),
    ],
)
def test_an_action_names_where_it_starts_and_where_it_leads(action: str, squares: tuple[str, str]) -> None:
    found = action_squares(action)
    assert found is not None
    assert (SQUARES[found[0]], SQUARES[found[1]]) == squares
