"""`--game` says which game is played or was played, and a store is for one game and version."""

import json
from pathlib import Path

import pytest
from commands import arena
from made_files import put
from taking_game import takers, taking

from arena.league.store import Store

ALWAYS = ("--sandbox", "basic", "--time", "2s/move", "-q")


def played(folder: Path, *words: str) -> None:
    done = arena(folder, "match", "ann.py", "bob.py", "--game", "./taking.py", *ALWAYS, *words)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a game, two bots and a store of two games."""
    made = tmp_path_factory.mktemp("games")
    taking(made)
    takers(made)
    played(made, "--store", "t.sqlite")
    assert arena(made, "export", "t.sqlite", "-o", "t.jsonl").returncode == 0
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
    refused = arena(folder, *words)
    assert refused.returncode == 2
    expected = f"{file} holds games of taking 1: say where the game is with --game FILE"
    assert refused.stderr.strip().removeprefix("arena: ") == expected
    done = arena(folder, *words, "--game", "./taking.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [("games", "t.sqlite"), ("standings", "t.sqlite"), ("bots", "t.sqlite")])
def test_tables_need_no_game(folder: Path, words: tuple[str, ...]) -> None:
    done = arena(folder, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert arena(folder, *words, "--game", "taking.py").stdout == done.stdout


def test_another_game_or_version_is_refused(folder: Path, tmp_path: Path) -> None:
    first, second = str(folder / "ann.py"), str(folder / "bob.py")
    other, newer = taking(tmp_path, "other"), taking(tmp_path, version="2")
    for game, called in (((), "stratego 1"), (("--game", str(other)), "other 1"), (("--game", str(newer)), "taking 2")):
        refused = arena(folder, "match", first, second, *game, *ALWAYS, "--store", "t.sqlite")
        assert refused.returncode == 2
        assert f"this store holds games of taking 1, and {called} was asked for" in refused.stderr
    shown = arena(folder, "show", "t.sqlite", "1", "--game", str(newer))
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "holds games of taking 1, and taking 2 is here" in shown.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0", "the game cannot be loaded: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit('no')", "the game cannot be loaded: SystemExit: no"),
        ("def (", "the game cannot be loaded: SyntaxError"),
        ("", "expected GAME to be a game (arena.game.Game), got None"),
        ("GAME = int", "expected GAME to be a game (arena.game.Game), got <class 'int'>"),
        ("from arena.game import Game\nclass GAME(Game):\n    name = 'x'", "the game cannot be loaded: TypeError: "),
        ("from arena.game import Game\nclass GAME(Game):\n    start = 1", "expected a name of letters"),
        ("from arena.game import Game\nclass GAME(Game):\n    name, start = 'stratego', 1", "a name of its own"),
    ],
)
def test_what_is_no_game_is_refused_in_a_line(tmp_path: Path, text: str, words: str) -> None:
    put(tmp_path / "mine.py", text)
    refused = arena(tmp_path, "rules", "--game", "mine.py")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert words in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_path_or_a_name_of_nothing_is_refused(tmp_path: Path) -> None:
    for name, words in (("./none.py", "'./none.py' is none"), ("strateg", "did you mean stratego?")):
        refused = arena(tmp_path, "rules", "--game", name)
        assert refused.returncode == 2
        assert words in refused.stderr


def test_rules_lists_the_variants_and_shows_one(folder: Path) -> None:
    listed = arena(folder, "rules", "--game", "./taking.py").stdout
    assert "Take one to three stones. Who takes the last one loses.\nrule stones 9\n" in listed
    assert "The variants of taking: taking, short" in listed
    assert "rule stones 4\n" in arena(folder, "rules", "short", "--game", "./taking.py").stdout
    values = json.loads(arena(folder, "rules", "short", "--game", "./taking.py", "--json").stdout)
    assert (values["game"], values["name"], values["values"]) == ("taking", "short", {"stones": "4"})
    refused = arena(folder, "rules", "--game", "./taking.py", "--names", "de")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_games_are_chosen_by_the_reasons_of_their_game(folder: Path) -> None:
    assert arena(folder, "games", "t.sqlite", "--reason", "last-stone").stdout.count("game ") == 2
    assert arena(folder, "games", "t.sqlite", "--reason", "crash").returncode == 0
    refused = arena(folder, "games", "t.sqlite", "--reason", "last-stoen", "--game", "taking.py")
    assert refused.returncode == 2
    assert "did you mean last-stone?" in refused.stderr
    assert arena(folder, "games", "t.sqlite", "--reason", "flag").returncode == 2


def test_the_usual_name_of_a_store_has_the_game_in_it(folder: Path, tmp_path: Path) -> None:
    taking(tmp_path)
    takers(tmp_path)
    played(tmp_path)
    played(tmp_path, "--rules", "short")
    names = {path.name for path in tmp_path.glob("*.sqlite")}
    assert names == {"match-ann-bob-taking-2000ms.sqlite", "match-ann-bob-taking-short-2000ms.sqlite"}


def test_openings_and_bots_of_2012_are_refused_where_they_make_no_sense(folder: Path) -> None:
    put(folder / "o.txt", "red a\nblue b\n", 0o644)
    openings = arena(folder, "match", "ann.py", "bob.py", "--game", "taking.py", "--openings", "o.txt")
    assert openings.returncode == 2
    assert "--openings: expected a game with set-ups, got taking" in openings.stderr
    old = arena(folder, "match", "ucc:ann.py", "bob.py", "--game", "taking.py", *ALWAYS, "--store", "old.sqlite")
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
    assert "--keep-bots: expected a game without chance" in arena(tmp_path, *words, "--keep-bots").stderr
    told = arena(tmp_path, *words, "--store", "a.sqlite").stderr
    assert f"seed: {seeds[0]}, kept by the store\n" in told
    told = arena(tmp_path, *words, "--store", "c.sqlite", "--seed", "7").stderr
    assert "seed: 7, which can be guessed" in told
