"""`arena league --format`: real bots, a store, the format's own list beside the table, and leagues that go on."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke
from made_bots import QUICK

from arena.api.leagues import League
from arena.league.store import Store

if TYPE_CHECKING:
    import subprocess


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five bots; the last one crashes when it is to move, the others resign."""
    for number in range(1, 6):
        path = tmp_path / f"bot{number}"
        program = QUICK.format(first=f"# {number}\n")
        path.write_text(program.replace("echo 'move resign'", "exit 1") if number == 5 else program)
        path.chmod(0o755)
    return tmp_path


def arena(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "80")
        return invoke(folder, *arguments)


def league(folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    bots = [f"bot{number}" for number in range(1, 6)]
    return arena(folder, "league", *bots, "--rules", "duel", "--time", "10s", "--store", "l.sqlite", "-j", "1", *more)


def test_a_swiss_is_played_stored_and_listed_and_goes_on_in_another_format(folder: Path) -> None:
    done = league(folder, "--format", "swiss", "--rounds", "3", "-v")
    assert done.returncode == 0, done.stderr
    assert "swiss league of 5 bots, 12 games" in done.stderr
    assert "\nformat: 3 rounds\n" in done.stderr
    assert "[12/12]" in done.stderr
    listed = done.stdout.partition("Swiss, after 3 rounds: points with byes")[2].split()
    assert listed[:6] == ["#", "bot", "points", "Buchholz", "won", "byes"]
    assert "incomplete" not in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert arena(folder, "standings", "l.sqlite").stdout == done.stdout

    again = league(folder, "--format", "swiss", "--rounds", "3", "--json")
    assert "12 of them stored already" in again.stderr
    document = json.loads(again.stdout)
    assert document["complete"]
    assert document["planned_games"] == len(document["games"]) == 12
    places = document["placing"]["places"]
    assert sum(place["points"] for place in places) == 12 + 3 * 2
    assert sorted(place["byes"] for place in places) == [0, 0, 1, 1, 1]

    whole = league(folder, "--rounds", "1")
    assert "league of 5 bots, 20 games, 12 of them stored already" in whole.stderr
    assert "\nformat: 1 round\n" in whole.stderr
    assert "Swiss" not in whole.stdout


def test_a_disqualified_bot_is_named_with_the_games_that_are_left_out(folder: Path) -> None:
    (folder / "given.txt").write_text(
        "red  FBBS2339M./........../........../2.........\nblue FBBS2339M./........../........../.2........\n"
    )
    done = league(folder, "--rounds", "1", "--disqualify", "1", "-j", "2", "--openings", "given.txt")
    assert done.returncode == 0, done.stderr
    assert "\nformat: 1 round, out after 1 fault\nopenings: given.txt (1)\nsandbox: " in done.stderr
    assert "bot5 is disqualified after 1 fault:" in done.stdout
    with Store(folder / "l.sqlite", create=False) as store:
        rows, planned = store.rows(), store.read().kept.planned
    left_out = 20 - len(rows)
    assert f"after 1 fault: {left_out} games left out" in done.stdout
    assert "so far" not in done.stdout
    assert planned == len(rows)
    standings = arena(folder, "standings", "l.sqlite").stdout
    assert "incomplete" not in standings
    line = f"bot5 is disqualified after 1 fault: {left_out} games left out"
    assert line in standings.splitlines()
    document = json.loads(arena(folder, "standings", "l.sqlite", "--json").stdout)
    out = {"name": "bot5", "faults": 1, "left_out": left_out, "is_so_far": False, "not_counted": 0}
    assert {name: value for name, value in document["placing"].items() if value} == {"disqualified": [out]}
    assert line in arena(folder, "standings", "l.sqlite", "--csv").stderr
    assert f"\n{line}" in str(League(folder / "l.sqlite").standings())

    whole = league(folder, "--rounds", "1", "--openings", "given.txt")
    assert whole.returncode == 0, whole.stderr
    assert "disqualified" not in whole.stdout
    assert "disqualified" not in arena(folder, "standings", "l.sqlite").stdout

    again = league(folder, "--rounds", "1", "--disqualify", "1", "-j", "2", "--openings", "given.txt")
    assert line in again.stdout.splitlines()
    same = arena(folder, "standings", "l.sqlite")
    assert same.stdout == again.stdout
    assert f"{left_out} games outside this league are excluded" in same.stderr
    words = f"{line}; {left_out} games of it outside the league are in this table"
    assert words in " ".join(arena(folder, "standings", "l.sqlite", "--all").stdout.split())


def test_a_knockout_that_is_not_over_is_incomplete(folder: Path) -> None:
    assert league(folder, "--format", "knockout").returncode == 0
    with Store(folder / "l.sqlite", create=False) as store:
        games = len(store.rows())
    with Store(folder / "l.sqlite", create=True) as store:
        store.keep(planned=None)  # as it is while games are under way
    standings = arena(folder, "standings", "l.sqlite").stdout
    assert f"incomplete: {games} of at least {games + 1} games" in standings
    done = league(folder, "--format", "knockout")
    assert "winner" in done.stdout
    assert not re.search(r"game \d", done.stderr), "nothing is played again"
    with Store(folder / "l.sqlite", create=False) as store:
        assert store.read().kept.planned == games
