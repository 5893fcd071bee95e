"""What is drawn at the end of a terminal is wiped whole, whatever size the terminal has got since."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from arena.report.progress import ERASE_ROW, HIDE_CURSOR, SHOW_CURSOR, UP, Frame, erasing


class Terminal:
    """Rows of a terminal that folds long lines, and folds them anew when it gets another width."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.lines = [""]

    def print(self, text: str) -> None:
        first, *more = text.split("\n")
        self.lines[-1] += first
        self.lines += more

    def rows(self) -> list[str]:
        """What stands in each row."""
        width = self.columns
        return [line[at : at + width] for line in self.lines for at in range(0, max(1, len(line)), width)]

    def after(self, erasing: str) -> list[str]:
        """The rows that are left above the cursor, which has to be in an empty one."""
        rows = self.rows()
        up = erasing.count(UP)
        assert erasing.count(ERASE_ROW) == up + 1, "each row that the cursor comes to is erased"
        return rows[: len(rows) - 1 - up]


@given(st.lists(st.integers(0, 70), min_size=1, max_size=8), st.integers(20, 90))
def test_all_rows_that_lines_take_now_are_erased_and_none_above(widths: list[int], columns: int) -> None:
    terminal = Terminal(columns)
    terminal.print("before\n" + "\n".join("x" * width for width in widths))
    assert terminal.after(erasing(widths, columns)) == ["before"]


def test_of_nothing_nothing_is_erased() -> None:
    assert erasing([], 80) == ""


def console(width: int = 60, height: int = 10) -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    return Console(file=screen, force_terminal=True, width=width, height=height, color_system=None), screen


def test_a_frame_is_drawn_over_and_wiped_in_the_end() -> None:
    to, screen = console()
    with Frame(to) as frame:
        frame.draw(Text("one\ntwo"))
        frame.draw(Text("three"))
    assert screen.getvalue() == f"{HIDE_CURSOR}one\ntwo{erasing([3, 3], 60)}three{erasing([5], 60)}{SHOW_CURSOR}"


def test_a_frame_of_a_terminal_that_became_narrower_is_erased_as_it_is_folded_there() -> None:
    to, screen = console()
    with Frame(to) as frame:
        frame.draw(Text("x" * 50))
        assert not frame.is_misfit
        to.width = 30
        assert frame.is_misfit
        frame.draw(Text("y" * 50))
        assert not frame.is_misfit
        drawn = screen.getvalue()
    assert f"{'x' * 50}{erasing([50], 30)}{'y' * 30}\n{'y' * 20}" in drawn


def test_no_more_lines_are_drawn_than_there_are_rows() -> None:
    to, screen = console(height=5)
    with Frame(to) as frame:
        frame.draw(Text("\n".join("abcdefgh")))
        assert screen.getvalue() == f"{HIDE_CURSOR}a\nb\nc\nd\ne"


def test_a_remark_stays_above_what_is_drawn() -> None:
    to, screen = console()
    with Frame(to) as frame:
        frame.draw(Text("table"))
        frame.print_above(Text("said\nat length"))
        drawn = screen.getvalue()
    assert drawn.endswith(f"{erasing([5], 60)}said\nat length\ntable")


@pytest.mark.parametrize("width", [20, 60])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    to, screen = console(width)
    with Frame(to) as frame:
        frame.draw(Text("word " * 40))
        drawn = screen.getvalue().removeprefix(HIDE_CURSOR)
    assert max(map(len, drawn.split("\n"))) <= width
