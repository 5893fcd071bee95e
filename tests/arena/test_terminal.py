"""Tables for people: as wide as what they are printed on, and no bot in them that looks like another."""

import io
from itertools import permutations

import pytest
from rich.console import Console

from arena.game.spec import Player
from arena.game.verdict import GameResult
from arena.league.store import GameRow, PlayerTime
from arena.report.standings import make_table
from arena.report.terminal import full_report
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
    text = io.StringIO()
    table = make_table(players, rows, pairs=True)
    Console(file=text, width=width).print(full_report(table, width))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


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


def test_where_there_is_room_a_name_is_whole() -> None:
    assert all(name in report(LONG, 140).split("\n\n", maxsplit=1)[0] for name in LONG)


def test_with_60_columns_points_and_elo_are_there() -> None:
    head = report(LONG, 60).splitlines()[0].split()
    assert {"#", "bot", "points", "%", "Elo"} <= set(head)
