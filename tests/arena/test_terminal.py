"""Output for people: as wide as what it is printed on, with names that differ."""

import fcntl
import io
import pty
import struct
import termios
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.game.faults import GameResult
from arena.game.game_spec import Player
from arena.league.store import GameRow, PlayerTime
from arena.report.standings import make_table
from arena.report.terminal import LEAST, full_report, short_names
from arena.system.terminal_text import PLAIN_WIDTH, TERMINAL_WIDTH, cell_len, drawn, folded, unpainted, width_of
from protocol.notation import Reason

LONG = [f"an-engine-with-a-long-name-{letter}" for letter in "abc"]


def report(names: list[str], width: int, games: int = 1) -> str:
    """All tables of a league in which each wins with Red."""
    players = [Player(name, f"{number}" * 64) for number, name in enumerate(names)]
    time = PlayerTime(10, 20_000, 5_000, 1_000)
    rows = [
        GameRow(number, f"{number:016x}", (red, blue), GameResult.RED, Reason.FLAG, 20, "", (time, time), 1.5)
        for number, (red, blue) in enumerate(list(permutations(players, 2)) * games, 1)
    ]
    table = make_table(players, rows, pairs=True)
    return "\n".join(map(unpainted, drawn(full_report(table, width), width)))


@pytest.mark.parametrize("width", [45, 60, 80, 100, 140])
@pytest.mark.parametrize("names", [LONG, ["ann", "bob", "cat"], LONG[:2]])
def test_no_line_is_wider_than_it_may_be(names: list[str], width: int) -> None:
    assert max(map(len, report(names, width, games=200).splitlines())) <= width


@pytest.mark.parametrize("width", [45, 60, 80])
def test_long_names_are_told_apart_in_every_table(width: int) -> None:
    *tables, endings = report(LONG, width).split("\n\n")
    assert len(tables) >= 3, "of a crosstable that is too wide there are several"
    for text in tables:
        shown = {word for line in text.splitlines() for word in line.split() if word.startswith("an-eng")}
        assert len({word[-1] for word in shown}) == 3
    assert all(name in endings.replace("\n", "") for name in LONG), "there is room for whole names, on several lines"


NAMES = st.lists(st.text(alphabet="ab漢…1@", min_size=1, max_size=20), max_size=12)


@given(NAMES, st.integers(LEAST, 15))
def test_no_two_names_are_alike_and_none_is_too_long(names: list[str], width: int) -> None:
    short = short_names(names, width)
    assert short.keys() == set(names)
    assert len(set(short.values())) == len(short)
    assert all(cell_len(text) <= width for text in short.values())


@given(NAMES, st.integers(LEAST, 15))
def test_a_name_that_has_room_stays_as_it_is(names: list[str], width: int) -> None:
    short = short_names(names, width)
    assert all(short[name] == name for name in names if cell_len(name) <= width)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["an-engine-of-mine", "other"], ["an-engine-…", "other"]),
        (["an-engine-of-mine", "an-engine-of-hers"], ["an-eng…mine", "an-eng…hers"]),
        (["hunter-of-flags@3f9a12", "hunter-of-flags@771c00"], ["hunter…9a12", "hunter…1c00"]),
        (["the-same-bot-a-to-the-end", "the-same-bot-b-to-the-end"], ["the-same-…1", "the-same-…2"]),
    ],
)
def test_what_is_left_is_what_tells_names_apart(names: list[str], short: list[str]) -> None:
    assert list(short_names(names, 11).values()) == short


@pytest.mark.parametrize(
    ("columns", "width"),
    [("60", 60), ("140", 140), ("1", 20), ("0", PLAIN_WIDTH), ("", PLAIN_WIDTH), ("wide", PLAIN_WIDTH), ("-5", 100)],
)
def test_what_is_piped_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert width_of(io.StringIO()) == width


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
        ("go on with: arena match one two", ["go on with: arena match one two"]),
        ("\x1b[1ma drawing that is too wide", ["\x1b[1ma drawing that is too wide"]),
    ],
)
def test_a_line_that_is_too_wide_is_folded_between_words(text: str, lines: list[str]) -> None:
    assert folded(text, 20).split("\n") == lines
