"""The library with a game that is not Stratego."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from heap_bots import GAME_FILE, heap_bot

import arena
from arena.game import Game, registry


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("bots")
    return heap_bot(folder / "most.py"), heap_bot(folder / "least.py", "self.legal[0]")


@pytest.fixture(autouse=True)
def _games_of_this_test(monkeypatch: pytest.MonkeyPatch, played_here: None) -> None:
    monkeypatch.setenv(registry.FILES, "")


def heap() -> Any:
    return importlib.import_module("heap")


OPTIONS: dict[str, Any] = {"time": "20s", "jobs": 1}


@pytest.mark.parametrize("game", [str(GAME_FILE), GAME_FILE, heap().HeapGame, heap().HeapGame()])
def test_a_game_is_named_by_its_file_its_class_or_an_object(bots: tuple[Path, Path], game: Any) -> None:
    record = arena.play(*bots, game=game, rules="quick", time="20s")
    assert (record.game, record.ruleset) == ("heap 1", "quick")
    assert record.verdict.reason.value == "last-one"


def test_a_match_a_test_and_a_league_are_played(bots: tuple[Path, Path], tmp_path: Path) -> None:
    result = arena.match(*bots, games=2, game=GAME_FILE, **OPTIONS)
    assert result.wins + result.losses == 2
    assert not any(record.verdict.reason.is_forfeit for record in result.records)
    assert arena.compare(*bots, games=2, game=GAME_FILE, **OPTIONS).games == 2
    league = arena.League(tmp_path / "l.sqlite", game=GAME_FILE, **OPTIONS)
    league.add(*bots)
    assert league.run().games == 2
    assert [game.reason.value for game in league.games()] == ["last-one", "last-one"]


def test_steps_have_text_and_lines(bots: tuple[Path, Path]) -> None:
    told: list[object] = []
    record = arena.play(*bots, game=GAME_FILE, time="20s", on_event=told.append)
    first, second, *_ = arena.replay(record)
    assert (first.board, first.view("red"), first.events) == ("heap of 14", "heap of 14", ())
    assert (second.board, second.events) == ("heap of 11", ("moved red 3",))
    assert repr(second) == "Step(1, red 3, moved red 3)"
    played = [event for event in told if isinstance(event, arena.ActionPlayed)]
    assert played[0].told == (("moved red 3",), ("moved red 3",))


def test_records_are_replayed_in_a_new_program_that_names_the_game(bots: tuple[Path, Path], tmp_path: Path) -> None:
    store = tmp_path / "g.sqlite"
    arena.match(*bots, games=1, game=GAME_FILE, store=store, **OPTIONS)
    script = f"""
import arena
league = arena.League({str(store)!r}, game={str(GAME_FILE)!r})
print(list(arena.replay(league.record(1)))[-1].board)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "heap of 0\n"


class Homeless(Game):
    name = "homeless"


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("none.py", "game: expected the name of a game, or a Python file"),
        ("heapp", "there is no game 'heapp' here"),
        (3, "game: expected the name of a game, its Python file, or a game"),
        (Homeless, "expected GAME to be a game"),
    ],
)
def test_what_is_no_game_is_refused(bots: tuple[Path, Path], game: Any, words: str) -> None:
    with pytest.raises(arena.UsageError, match=words):
        arena.play(*bots, game=game)
    with pytest.raises(arena.UsageError, match="heap has no variant 'slow'"):
        arena.play(*bots, game=GAME_FILE, rules="slow")


def test_a_game_of_a_script_is_to_have_a_file_of_its_own() -> None:
    script = """
import arena
from heap import HeapGame
class Mine(HeapGame):
    name = "mine"
try:
    arena.play("a", "b", game=Mine)
except arena.UsageError as error:
    print(error)
"""
    folder = str(GAME_FILE.parent)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout.startswith("game: expected mine in a Python file of its own that defines it as GAME")
