"""The dialect of 2012 as text: what is written is read back as it was; x counts files and y ranks."""

import re
from itertools import product

import pytest

from arena.game.ucc_lines import (
    LETTERS,
    RANKS,
    action_line,
    is_row,
    own_rows,
    read_action,
    read_row,
    result_line,
    setup_lines,
)
from arena.rules.board import MOVES
from protocol.messages import Battle
from protocol.notation import SQUARES, Color, Rank, Survivor


def test_every_straight_move_is_read_back_as_it_was_written() -> None:
    assert all(read_action(action_line(action).encode()) == action for action in MOVES)


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("0 0 DOWN", "a1-a2"),
        ("9 0 LEFT", "j1-i1"),
        ("0 9 UP 9", "a10-a1"),
        ("9 9 LEFT", "j10-i10"),
        ("4 3 RIGHT 2", "e4-g4"),
    ],
)
def test_x_is_the_file_and_y_the_rank_counted_from_red(line: str, action: str) -> None:
    assert action_line(action) == line
    assert read_action(line.encode()) == action


def test_a_move_of_one_square_has_no_number() -> None:
    for x, y in product(range(9), range(10)):
        assert action_line(f"{SQUARES[10 * y + x]}-{SQUARES[10 * y + x + 1]}") == f"{x} {y} RIGHT"


def test_the_marshal_is_1_and_the_scout_9() -> None:
    named = {rank.name.lower(): letter for rank, letter in LETTERS.items()}
    numbered = ("marshal", "general", "colonel", "major", "captain", "lieutenant", "sergeant", "miner", "scout")
    assert named == {name: str(number) for number, name in enumerate(numbered, 1)} | {
        "spy": "s",
        "bomb": "B",
        "flag": "F",
    }
    assert Rank.INFILTRATOR not in LETTERS
    assert len(RANKS) == 12


def test_blues_rows_stand_the_other_way_round_and_files_do_not() -> None:
    lines = ["99999999s1", "5555444332", "BB77776666", "FBB8888B8B"]
    rows = tuple(read_row(line.encode(), number) for number, line in enumerate(lines, 1))
    setup = "/".join(own_rows(Color.BLUE, rows))
    assert setup == "FBB3333B3B/BB44445555/6666777889/22222222SM"
    assert setup_lines(Color.BLUE, setup) == lines
    assert setup_lines(Color.RED, setup) == lines[::-1]


@pytest.mark.parametrize(
    ("battle", "line"),
    [
        (None, "0 3 DOWN 3 OK"),
        (Battle("a7", Rank.SCOUT, Rank.SCOUT, Survivor.NEITHER), "0 3 DOWN 3 BOTHDIE 9 9"),
        (Battle("a7", Rank.SCOUT, Rank.SPY, Survivor.ATTACKER), "0 3 DOWN 3 KILLS 9 s"),
        (Battle("a7", Rank.SCOUT, Rank.BOMB, Survivor.DEFENDER), "0 3 DOWN 3 DIES 9 B"),
    ],
)
def test_what_came_of_a_move_stands_behind_it_with_the_attacker_first(battle: Battle | None, line: str) -> None:
    assert result_line("a4-a7", battle) == line


def test_a_row_has_ten_pieces_of_the_dialects_own_letters() -> None:
    assert is_row("FBs8B974B8")
    assert not any(map(is_row, ("FBS8B974B8", "FBs8B974B", "FBs8B974B88", "setup", "0 3 DOWN 2")))
    assert not re.search("[MS0]", "".join(RANKS))
