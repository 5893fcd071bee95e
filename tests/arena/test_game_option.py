"""`--game` says which game is played or was played, and a store is for one game and version."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke
from made_files import put
from taking_game import takers, taking

import arena.game
from arena.game import STRATEGO, game_named
from arena.game.registry import FILES
from arena.league.store import Store

if TYPE_CHECKING:
    import subprocess

ALWAYS = ("--sandbox", "basic", "--time", "2s/move", "-q")


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command that knows no game but those that it names."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(FILES, "")
        patched.setattr(arena.game, "_games", {STRATEGO: game_named(STRATEGO)})
        return invoke(folder, *words)


def played(folder: Path, *words: str) -> None:
    done = run(folder, "match", "ann.py", "bob.py", "--game", "./taking.py", *ALWAYS, *words)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a game, two bots and a store of two games."""
    made = tmp_path_factory.mktemp("games")
    taking(made)
    takers(made)
    played(made, "--store", "t.sqlite")
    assert run(made, "export", "t.sqlite", "-o", "t.jsonl").returncode == 0
    return made


NEED_THE_GAME = (
    ("show", "t.sqlite", "1"),
    ("log", "t.sqlite", "1"),
    ("verify", "t.sqlite"),
    ("verify", "t.jsonl"),
    ("export", "t.sqlite", "--view", "public"),
    ("import", "new.sqlite", "t.jsonl"),
    ("import", "new.sqlite", "t.sqlite"),
    ("rerun", "t.sqlite", "1"),
    ("report", "t.sqlite", "--out", "site"),
    ("check", "ann.py", "--replay", "t.sqlite", "1", "--side", "red"),
)


@pytest.mark.parametrize("words", NEED_THE_GAME, ids=" ".join)
def test_a_command_that_plays_games_again_is_told_where_the_game_is(folder: Path, words: tuple[str, ...]) -> None:
    file = next(word for word in words if word.startswith("t."))
    refused = run(folder, *words)
    assert refused.returncode == 2
    expected = f"{file} holds games of taking 1: say where the game is with --game FILE"
    assert refused.stderr.strip().removeprefix("arena: ") == expected
    done = run(folder, *words, "--game", "./taking.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [("games", "t.sqlite"), ("standings", "t.sqlite"), ("bots", "t.sqlite")])
def test_tables_need_no_game(folder: Path, words: tuple[str, ...]) -> None:
    done = run(folder, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert run(folder, *words, "--game", "taking.py").stdout == done.stdout


def test_another_game_or_version_is_refused(folder: Path, tmp_path: Path) -> None:
    first, second = str(folder / "ann.py"), str(folder / "bob.py")
    other, newer = taking(tmp_path, "other"), taking(tmp_path, version="2")
    for game, called in (((), "stratego 1"), (("--game", str(other)), "other 1"), (("--game", str(newer)), "taking 2")):
        refused = run(folder, "match", first, second, *game, *ALWAYS, "--store", "t.sqlite")
        assert refused.returncode == 2
        assert f"this store holds games of taking 1, and {called} was asked for" in refused.stderr
    shown = run(folder, "show", "t.sqlite", "1", "--game", str(newer))
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "holds games of taking 1, and taking 2 is here" in shown.stderr


def test_rules_lists_the_variants_and_shows_one(folder: Path) -> None:
    listed = run(folder, "rules", "--game", "./taking.py").stdout
    assert "Take one to three stones. Who takes the last one loses.\nrule stones 9\n" in listed
    assert "The variants of taking: taking, short" in listed
    assert "rule stones 4\n" in run(folder, "rules", "short", "--game", "./taking.py").stdout
    values = json.loads(run(folder, "rules", "short", "--game", "./taking.py", "--json").stdout)
    assert (values["game"], values["name"], values["values"]) == ("taking", "short", {"stones": "4"})
    refused = run(folder, "rules", "--game", "./taking.py", "--names", "de")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_games_are_chosen_by_the_reasons_of_their_game(folder: Path) -> None:
    assert run(folder, "games", "t.sqlite", "--reason", "last-stone").stdout.count("game ") == 2
    assert run(folder, "games", "t.sqlite", "--reason", "crash").returncode == 0
    refused = run(folder, "games", "t.sqlite", "--reason", "last-stoen", "--game", "taking.py")
    assert refused.returncode == 2
    assert "did you mean last-stone?" in refused.stderr
    assert run(folder, "games", "t.sqlite", "--reason", "flag").returncode == 2


def test_the_usual_name_of_a_store_has_the_game_in_it(folder: Path, tmp_path: Path) -> None:
    taking(tmp_path)
    takers(tmp_path)
    played(tmp_path)
    played(tmp_path, "--rules", "short")
    names = {path.name for path in tmp_path.glob("*.sqlite")}
    assert names == {"match-ann-bob-taking-2000ms.sqlite", "match-ann-bob-taking-short-2000ms.sqlite"}


def test_openings_and_bots_of_2012_are_refused_where_they_make_no_sense(folder: Path) -> None:
    put(folder / "o.txt", "red a\nblue b\n", 0o644)
    openings = run(folder, "match", "ann.py", "bob.py", "--game", "taking.py", "--openings", "o.txt")
    assert openings.returncode == 2
    assert "--openings: expected a game with set-ups, got taking" in openings.stderr
    old = run(folder, "match", "ucc:ann.py", "bob.py", "--game", "taking.py", *ALWAYS, "--store", "old.sqlite")
    assert old.returncode == 2
    assert "not of taking" in old.stderr


def test_a_game_with_chance_has_a_random_seed_that_its_store_keeps(tmp_path: Path) -> None:
    taking(tmp_path, has_chance=True)
    takers(tmp_path)
    seeds = []
    for name, games in (("a", "2"), ("a", "4"), ("b", "2")):
        played(tmp_path, "--store", f"{name}.sqlite", "--games", games)
        with Store(tmp_path / f"{name}.sqlite", create=False) as store:
            seeds.append(store.settings()["seed"])
            assert store.last_number() == int(games)
    assert seeds[0] == seeds[1] != seeds[2]
    words = ("match", "ann.py", "bob.py", "--game", "taking.py", "--sandbox", "basic", "--time", "2s/move")
    assert "--keep-bots: expected a game without chance" in run(tmp_path, *words, "--keep-bots").stderr
    told = run(tmp_path, *words, "--store", "a.sqlite").stderr
    assert f"seed: {seeds[0]}, kept by the store\n" in told
    told = run(tmp_path, *words, "--store", "c.sqlite", "--seed", "7").stderr
    assert "seed: 7, which can be guessed" in told
