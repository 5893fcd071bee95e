"""What bots are called changes no game: whatever is renamed or added beside them, they have the games they played."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import commands
from made_bots import RESIGNS

from arena.league.store import Store

if TYPE_CHECKING:
    import subprocess


def put(path: Path, what: str = "") -> Path:
    """A bot that is a file, with something of its own in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{RESIGNS}# {what or path.stem}\n")
    return path


def bot_folder(folder: Path, manifest: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(f'{manifest}command = ["python3", "main.py"]\n')
    put(folder / "main.py")
    return folder


def arena(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    done = commands.invoke(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def league(folder: Path, *bots: str, rounds: str = "1") -> "subprocess.CompletedProcess[str]":
    options = ("--rules", "duel", "--time", "60s", "--store", "l.sqlite", "-j", "1", "--rounds", rounds)
    return arena(folder, "league", *bots, *options, "--json")


def played(done: "subprocess.CompletedProcess[str]") -> dict[str, int]:
    """How many games each line of the table has."""
    return {line["name"]: line["games"] for line in json.loads(done.stdout)["standings"]}


def stored(folder: Path) -> list[tuple[str, str]]:
    """The stored games: their ids and, as a proof that none was played again, when they were begun."""
    with Store(folder / "l.sqlite", create=False) as store:
        rows = store.rows()
        return [(row.id, str(store.record(row.id)[1].started)) for row in rows]


def sound(folder: Path) -> bool:
    return arena(folder, "verify", "l.sqlite").returncode == 0


# --- in one league ----------------------------------------------------------------------------------------------------


def test_a_file_of_the_same_stem_that_comes_later_replays_nothing(tmp_path: Path) -> None:
    for path in ("p/a/x.py", "y.py"):
        put(tmp_path / path)
    league(tmp_path, "p/a/x.py", "y.py")
    before = stored(tmp_path)
    put(tmp_path / "r" / "x.py", "another")
    done = league(tmp_path, "r/x.py", "p/a/x.py", "y.py")
    assert "p/a/x.py: another bot is named x: this one is listed as a/x" in done.stderr
    assert "6 games, 2 of them stored already" in done.stderr
    assert played(done) == {"a/x": 4, "r/x": 4, "y": 4}
    assert stored(tmp_path)[:2] == before
    assert len(stored(tmp_path)) == 6
    assert sound(tmp_path)


def test_a_bot_that_is_renamed_keeps_its_games_and_stands_in_the_table_by_its_new_name(tmp_path: Path) -> None:
    put(tmp_path / "file.py")
    bot_folder(tmp_path / "folder")
    bot_folder(tmp_path / "named", 'name = "before"\nenv = { A = "1" }\n')
    league(tmp_path, "file.py", "folder", "named")
    before = stored(tmp_path)
    (tmp_path / "file.py").rename(tmp_path / "other.py")
    (tmp_path / "folder").rename(tmp_path / "box")
    text = (tmp_path / "named" / "bot.toml").read_text()
    (tmp_path / "named" / "bot.toml").write_text(text.replace("before", "after"))
    done = league(tmp_path, "other.py", "box", "named")
    assert "6 games, 6 of them stored already" in done.stderr
    assert "has changed since" not in done.stderr
    assert stored(tmp_path) == before
    names = {"other": 4, "box": 4, "after": 4}
    assert played(done) == names
    document = json.loads(done.stdout)
    assert {name for game in document["games"] for name in (game["red"], game["blue"])} == set(names)
    assert document["complete"]
    for options in ((), ("--all",)):
        standings = arena(tmp_path, "standings", "l.sqlite", "--json", *options)
        assert played(standings) == names
        assert json.loads(standings.stdout)["games"] == document["games"]
    for name in ("after", "before"):
        games = json.loads(arena(tmp_path, "games", "l.sqlite", "--bot", name, "--json").stdout)
        assert len(games) == 4
        assert all("after" in (game["red"], game["blue"]) for game in games)
    assert "before" not in arena(tmp_path, "show", "l.sqlite", "1", "--moves").stdout.splitlines()[0]


def test_bots_that_swap_their_names_swap_no_games(tmp_path: Path) -> None:
    for name in ("x", "y"):
        put(tmp_path / f"{name}.py")
    put(tmp_path / "dead.py").write_text("raise SystemExit(1)\n")
    points = {line["name"]: line["points"] for line in standings(league(tmp_path, "x.py", "dead.py"))}
    assert points == {"x": 2.0, "dead": 0.0}
    (tmp_path / "x.py").rename(tmp_path / "t.py")
    (tmp_path / "dead.py").rename(tmp_path / "x.py")
    (tmp_path / "t.py").rename(tmp_path / "dead.py")
    done = league(tmp_path, "x.py", "dead.py")
    assert "2 games, 2 of them stored already" in done.stderr
    assert "has changed since" not in done.stderr
    assert {line["name"]: line["points"] for line in standings(done)} == {"dead": 2.0, "x": 0.0}


def standings(done: "subprocess.CompletedProcess[str]") -> list[dict[str, object]]:
    lines = json.loads(done.stdout)["standings"]
    assert isinstance(lines, list)
    return lines


# --- copies -----------------------------------------------------------------------------------------------------------


def test_copies_of_one_bot_are_pointed_out_and_take_part_as_bots_of_their_own(tmp_path: Path) -> None:
    for name in ("x", "clone"):
        put(tmp_path / f"{name}.py", "same")
    put(tmp_path / "y.py")
    done = league(tmp_path, "x.py", "clone.py", "y.py")
    assert "x, clone: the same files 2 times" in done.stderr
    assert played(done) == {"x": 4, "clone": 4, "y": 4}
    assert len({game for game, _ in stored(tmp_path)}) == 6
    assert sound(tmp_path)
    before = stored(tmp_path)
    again = league(tmp_path, "y.py", "clone.py", "x.py")
    assert standings(again) == standings(done)
    assert stored(tmp_path) == before


def test_one_file_given_twice_plays_against_itself_whoever_is_named_first(tmp_path: Path) -> None:
    put(tmp_path / "x.py")
    options = ("--rules", "duel", "--time", "60s", "--store", "l.sqlite", "--json", "--games", "4")
    first = arena(tmp_path, "match", "x.py", "x.py", *options)
    assert sorted(played(first).values()) == [4, 4]
    assert standings(arena(tmp_path, "match", "./x.py", "x.py", *options)) == standings(first)
    assert len(stored(tmp_path)) == 4
