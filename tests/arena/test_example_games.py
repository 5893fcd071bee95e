"""The example games of docs/examples through the commands: all of them work as for Stratego, by file and by name."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import invoke
from example_games import BOTS, FILES, FOLDER, copied

from arena.game.registry import FILES as KNOWN_FILES

PLAIN = """#!/usr/bin/env python3
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "hello":
        print("name plain\\nwant legal\\nready", flush=True)
    elif words[0] == "legal":
        legal = words[1:]
    elif words[0] == "turn":
        print("move", legal[0], flush=True)
    elif words[0] == "quit":
        break
"""
SHORT = {"connect4": "small", "liars-dice": "short"}


class Table(NamedTuple):
    """A copy of an example with a league in `l.sqlite`: its sample bots and a plain one."""

    name: str
    folder: Path
    bots: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        return ("--game", f"./{FILES[self.name]}", "--rules", SHORT[self.name])

    def run(self, *words: str, code: int = 0) -> str:
        done = invoke(self.folder, *words)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(autouse=True, scope="module")
def games_forgotten_afterwards() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(KNOWN_FILES, "")
        yield


@pytest.fixture(scope="module", params=list(FILES))
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("examples")
    folder.chmod(0o755)
    place = copied(request.param, folder)
    (place / "plain.py").write_text(PLAIN)
    table = Table(request.param, place, (*BOTS[request.param], "plain.py"))
    table.run("league", *table.bots, *table.words, "--store", "l.sqlite", "--seed", "5", "-j", "1", "-q")
    return table


def standings(table: Table, *words: str) -> list[dict[str, Any]]:
    rows = json.loads(table.run(*words, "--json"))["standings"]
    assert isinstance(rows, list)
    return rows


def test_a_league_of_all_bots_is_played_without_a_fault(table: Table) -> None:
    rows = standings(table, "standings", "l.sqlite")
    assert {row["games"] for row in rows} == {4}
    assert {row["forfeits"] for row in rows} == {0}
    assert min(rows, key=lambda row: row["points"])["name"] == "plain"
    assert "6 games, all sound" in table.run("verify", "l.sqlite")


def test_a_game_is_shown_as_each_seat_knew_it_and_logged(table: Table) -> None:
    everything, red = (table.run("show", "l.sqlite", "1", "--view", view) for view in ("all", "red"))
    assert "ply 1: red" in everything
    log = table.run("log", "l.sqlite", "1")
    assert f"to red    game red {SHORT[table.name]}" in log
    if table.name == "liars-dice":
        assert "?" not in everything.partition("ply 1")[2]
        assert re.search(r"^blue \? \?$", red, re.MULTILINE)
        red_log = table.run("log", "l.sqlite", "1", "--side", "red")
        assert re.search(r"^to red +dice", red_log, re.MULTILINE)
        assert "to blue" not in red_log
    else:
        assert everything.partition("ply 1")[2].count(". . . . .") == red.partition("ply 1")[2].count(". . . . .")


def test_a_paused_game_is_resumed(table: Table) -> None:
    pause = ("--pause", "p.json", "--pause-after", "3", "--store", "p.sqlite", "--seed", str(2**64 - 1))
    table.run("match", *BOTS[table.name], *table.words, *pause)
    table.run("resume", "p.json", "--game", f"./{FILES[table.name]}")
    assert "1 game" in table.run("verify", "p.sqlite")


def test_an_installed_package_is_found_by_its_name(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed as pip does it: the module, and a folder with the entry points, on the path."""
    pyproject = (FOLDER / table.name / "pyproject.toml").read_text()
    point = pyproject.partition('"arena.games"]\n')[2].partition("\n")[0].replace('"', "")
    module = FILES[table.name]
    (tmp_path / module).write_text((FOLDER / table.name / module).read_text())
    info = tmp_path / f"{module}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {table.name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[arena.games]\n{point}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(KNOWN_FILES, "")
    assert table.name in table.run("rules", "--game", table.name)
