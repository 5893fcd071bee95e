"""`arena check` of bots for a game that is not Stratego."""

import json
from pathlib import Path

import pytest
from commands import invoke
from example_games import BOTS, FILES, copied
from heap import Heap, HeapGame
from heap_bots import GAME_FILE, heap_bot

from arena.errors import UsageError
from arena.sandbox.levels import Level

GAME = ("--game", str(GAME_FILE))
UNHURRIED = ("--sandbox", "basic", "--time", "20s", "--start-time", "30s", "--setup-time", "20s")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, dict[str, str]]]:
    """The words about a good bot, and the situations by their keys."""
    folder = tmp_path_factory.mktemp("good")
    done = invoke(folder, "check", str(heap_bot(folder / "taker.py")), *GAME, *UNHURRIED, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found["ready_for"], {one["key"]: one for one in found["situations"]}


def test_a_good_bot_is_ready_for_all_variants(report: tuple[list[str], dict[str, dict[str, str]]]) -> None:
    ready_for, situations = report
    assert ready_for == ["heap", "quick"]
    assert {one["mark"] for one in situations.values()} == {"passed"}


def test_whole_games_set_ups_and_variants_are_tried(report: tuple[str, dict[str, dict[str, str]]]) -> None:
    situations = report[1]
    assert {"whole-red", "whole-blue", "opening", "resumed", "noise", "rules-quick-red"} <= set(situations)
    assert situations["blue"]["title"] == "plays Second, and waits for its turn"
    assert situations["rules-quick-red"]["group"] == "variants"
    assert int(situations["whole-red"]["plies"]) >= 4


def test_an_illegal_action_is_a_failure_in_the_words_of_the_game(tmp_path: Path) -> None:
    bot = heap_bot(tmp_path / "greedy.py", "'4'")
    done = invoke(tmp_path, "check", str(bot), *GAME, *UNHURRIED, "--quick", "--only", "red", "--json")
    assert done.returncode == 1
    (red,) = [one for one in json.loads(done.stdout)["situations"] if one["key"] == "red"]
    assert red["failure"]["reason"] == "illegal-action"
    assert red["failure"]["words"] == "ply 1: 4: expected one of 1, 2, 3, got 4"


def test_a_stored_game_is_put_to_a_bot_again(tmp_path: Path) -> None:
    first = heap_bot(tmp_path / "first.py")
    second = heap_bot(tmp_path / "second.py", "self.legal[0]")
    played = invoke(tmp_path, "match", str(first), str(second), *GAME, "--store", "games.sqlite", "--jobs", "1")
    assert played.returncode == 0, played.stderr
    same = invoke(tmp_path, "check", str(first), *GAME, "--sandbox", "basic", "--replay", "games.sqlite", "1")
    assert same.returncode == 0, same.stderr
    assert "the same answers now" in same.stdout
    other = invoke(
        tmp_path, "check", str(second), *GAME, "--sandbox", "basic", "--replay", "games.sqlite", "1", "--side", "red"
    )
    assert other.returncode == 1
    assert "answers differ now, the first at ply 1" in other.stdout


def test_a_bot_of_2012_has_only_stratego(tmp_path: Path) -> None:
    bot = heap_bot(tmp_path / "taker.py")
    done = invoke(tmp_path, "check", f"ucc:{bot}", *GAME, "--sandbox", "basic")
    assert done.returncode == 1
    assert "taker: not for any variant (" in done.stdout


class Unlisted(Heap):
    def legal_actions(self) -> None:  # type: ignore[override]
        return None


def test_a_game_that_lists_no_actions_needs_a_policy() -> None:
    with pytest.raises(UsageError, match="heap lists no legal actions and has no policy"):
        HeapGame().policy(Unlisted(5, 3), 1)


@pytest.mark.parametrize(("name", "bot"), [(name, bot) for name, bots in BOTS.items() for bot in bots])
def test_the_sample_bots_of_the_examples_are_ready(name: str, bot: str, tmp_path: Path) -> None:
    level = "basic" if Level.BWRAP.why_not() else "bwrap"
    folder = copied(name, tmp_path)
    game = ("--game", str(folder / FILES[name]))
    done = invoke(tmp_path, "check", str(folder / bot), *game, *UNHURRIED, "--sandbox", level, "--quick", "-v")
    assert done.returncode == 0, done.stdout
    assert "set-up" not in done.stdout
    assert f": ready for {name} (" in done.stdout
