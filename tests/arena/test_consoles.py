"""How wide output is taken to be: as wide as its terminal, or as COLUMNS says, or as is usual for a file."""

import fcntl
import io
import pty
import struct
import termios

import pytest

from arena.report.consoles import PLAIN_WIDTH, TERMINAL_WIDTH, folded, progress_console, width_of


@pytest.mark.parametrize(
    ("columns", "width"),
    [("60", 60), ("140", 140), ("1", 20), ("0", PLAIN_WIDTH), ("", PLAIN_WIDTH), ("wide", PLAIN_WIDTH), ("-5", 100)],
)
def test_what_is_piped_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width_of(io.StringIO()) == width


def test_a_pipe_has_a_width_of_its_own_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert width_of(io.StringIO()) == PLAIN_WIDTH
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert progress_console().width == PLAIN_WIDTH


def test_a_terminal_is_as_wide_as_it_says_or_as_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    controller, other = pty.openpty()
    with open(controller, "rb"), open(other, "w") as stream:
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 67, 0, 0))
        assert width_of(stream) == 67
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
        assert width_of(stream) == TERMINAL_WIDTH


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short", ["short"]),
        ("a line that is too wide", ["a line that is too", "wide"]),
        ("  indented and too wide", ["  indented and too", "  wide"]),
        ("key   what the key is for", ["key   what the key", "      is for"]),
        ("an-unbreakable-word-of-its-own", ["an-unbreakable-word-of-its-own"]),
        ("go on with: arena match one two", ["go on with:", "arena match \\", "    one two"]),
        ("go on with: arena match 'one  two'", ["go on with: arena", "match 'one  two'"]),
        ("\x1b[1ma drawing that is too wide", ["\x1b[1ma drawing that is too wide"]),
    ],
)
def test_a_line_that_is_too_wide_is_folded_between_words(text: str, lines: list[str]) -> None:
    assert folded(text, 20).split("\n") == lines
