"""Standings and crosstable as CSV and Markdown say what the table says, and a bot's name is never more than a name."""

import csv
import re
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cli.main import cli
from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.league.store import GameRow, Store
from arena.report.documents import FORMULA, escaped, table_text
from arena.report.game_list import players_of
from arena.report.standings import HeadToHead, Line, Table, make_table
from arena.report.terminal import interval_text

OWN = Path(__file__).parent.parent / "golden" / "stores" / "own.sqlite"
names = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=12)


def rows_of_own() -> list[GameRow]:
    with Store(OWN, create=False) as store:
        return store.rows()


ROWS = rows_of_own()
STEADY = next(player.digest for row in ROWS for player in row.players if player.name == "steady")


def called(name: str) -> Table:
    """The table with the bot `steady` under another name."""

    def renamed(player: Player) -> Player:
        return Player(name, player.digest) if player.name == "steady" else player

    rows = [row._replace(players=(renamed(row.players[0]), renamed(row.players[1]))) for row in ROWS]
    return make_table(players_of(rows), rows)


@pytest.fixture(scope="module")
def table() -> Table:
    return called("steady")


def test_csv_has_every_value_of_the_standings(table: Table) -> None:
    rows = list(csv.DictReader(StringIO(table_text(table, "csv", crosstable=False))))
    assert list(rows[0]) == [field.name for field in msgspec.structs.fields(Line)]
    for row, line in zip(rows, table.lines, strict=True):
        assert (row["name"], row["digest"], int(row["games"])) == (line.name, line.digest, line.games)
        assert (row["elo_high"] == "") == (line.elo_high is None)
        assert float(row["elo"]) == pytest.approx(line.elo, abs=1e-6)


def test_csv_of_the_crosstable_has_a_row_for_each_bot_and_opponent(table: Table) -> None:
    rows = list(csv.DictReader(StringIO(table_text(table, "csv", crosstable=True))))
    assert list(rows[0]) == [field.name for field in msgspec.structs.fields(HeadToHead)]
    assert {(row["name"], row["opponent"], float(row["points"])) for row in rows} == {
        (meeting.name, meeting.opponent, meeting.points) for meeting in table.meetings
    }


@given(names)
@settings(deadline=None, max_examples=60)
def test_no_name_is_a_formula_in_a_spreadsheet_or_breaks_a_row(name: str) -> None:
    renamed = called(name)
    (_, *rows), cross = (
        list(csv.reader(StringIO(table_text(renamed, "csv", crosstable=cross)))) for cross in (False, True)
    )
    first = next(row[1] for row in rows if row[2] == STEADY)
    shown = next(line.name for line in renamed.lines if line.digest == STEADY)
    assert first in (shown, f"'{shown}")
    assert not any(cell.startswith(FORMULA) and not re.fullmatch(r"-?[\d.]+", cell) for row in rows for cell in row)
    assert {len(row) for row in rows} == {len(msgspec.structs.fields(Line))}
    assert first in {row[0] for row in cross}


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "＝1"])  # noqa: RUF001  # wide, on purpose
def test_a_name_that_would_be_a_formula_gets_an_apostrophe(name: str) -> None:
    assert f",'{name}," in table_text(called(name), "csv", crosstable=False).replace('"', "")


@given(names)
@settings(deadline=None, max_examples=60)
def test_no_name_is_markup_or_breaks_a_row_in_markdown(name: str) -> None:
    renamed = called(name)
    for text in (table_text(renamed, "markdown", crosstable=cross) for cross in (False, True)):
        rows = text.split("\n")[:-1]
        assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows}) == 1
        shown = next(line.name for line in renamed.lines if line.digest == STEADY)
        assert any(f"| {escaped(shown)} |" in row for row in rows)
    assert re.sub(r"\\(.)", r"\1", escaped(name)) == name
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[<|]", escaped(name))


def test_markdown_shows_points_and_open_ends_as_the_terminal_does(table: Table) -> None:
    standings, crosstable = (table_text(table, "markdown", crosstable=cross) for cross in (False, True))
    for line, (place, name, counts) in zip(
        table.lines[::3], [(1, "steady", "5/6 | 4 | 2 | 0 | 0"), (4, "dead", "0/6 | 0 | 0 | 6 | 6")], strict=True
    ):
        ends = interval_text(line.elo_low, line.elo_high)
        assert f"| {place} | {name} | {counts} | {round(line.elo or 0):+d} | {ends} |\n" in standings
    assert "| 3 | breaker | 0/2 | 0/2 |  | 2/2 |\n" in crosstable


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["games", "--json", "--jsonl"], "--json and --jsonl cannot be used together"),
        (["games", "--long", "--json"], "--long and --json cannot be used together"),
        (["standings", "--csv", "--markdown"], "--csv and --markdown cannot be used together"),
        (["standings", "--crosstable"], "--crosstable needs --csv or --markdown"),
        (["standings", "--places", "--crosstable", "--csv"], "--places and --crosstable cannot"),
        (["standings", "--pairs", "--csv"], "--pairs and --csv cannot be used together"),
    ],
)
def test_the_command_line_drops_no_form_in_silence(arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        cli.main([arguments[0], str(OWN), *arguments[1:]], standalone_mode=False)
