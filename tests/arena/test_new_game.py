"""`arena new-game`: what it writes plays at once, keeps the promises of a game, and finds what breaks them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import invoke

from arena.bots.new import write_game
from arena.errors import UsageError
from arena.game.registry import FILES


@pytest.fixture(scope="module")
def nim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("new-game")
    done = invoke(folder, "new-game", "nim-two", "--json")
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout)
    files = {str(path.relative_to(folder / "nim-two")) for path in (folder / "nim-two").rglob("*") if path.is_file()}
    assert set(written["files"]) == files
    assert written["source"] == "nim_two.py"
    return folder / "nim-two"


def unittests(folder: Path) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-B", "-m", "unittest"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_its_tests_pass_and_a_broken_game_fails_them(nim: Path) -> None:
    assert unittests(nim).returncode == 0
    source = nim / "nim_two.py"
    text = source.read_text()
    leaking = text.replace('return () if seat is None else (f"cup {self._cups[seat]}",)', "return tuple(self._told())")
    leaking = leaking.replace(
        "    def legal", '    def _told(self):\n        return [f"cup {n}" for n in self._cups]\n\n    def legal'
    )
    source.write_text(leaking)
    try:
        done = unittests(nim)
    finally:
        source.write_text(text)
    assert done.returncode == 1
    assert "is anything hidden from it?" in done.stderr


def test_its_bots_play_it_and_are_ready_for_it(nim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, "")
    game = ("--game", "./nim_two.py")
    done = invoke(nim, "match", "bots/greedy.py", "bots/chance.py", *game, "--games", "4", "--json")
    assert done.returncode == 0, done.stderr
    assert {row["forfeits"] for row in json.loads(done.stdout)["standings"]} == {0}
    checked = invoke(nim, "check", "bots/greedy.py", *game)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_what_it_prints_next_can_be_run_and_nothing_is_overwritten(tmp_path: Path) -> None:
    done = invoke(tmp_path, "new-game", "nim")
    assert "match bots/greedy.py bots/chance.py --game ./nim.py" in done.stdout
    before = sorted(tmp_path.rglob("*"))
    again = invoke(tmp_path, "new-game", "nim")
    assert again.returncode == 2
    assert sorted(tmp_path.rglob("*")) == before


def test_no_mark_of_the_template_is_left(nim: Path) -> None:
    for path in nim.rglob("*"):
        if path.is_file() and path.suffix in {".py", ".md", ".toml"}:
            text = path.read_text()
            assert "{{" not in text
            assert "from game import" not in text


@pytest.mark.parametrize(
    "name", ["random", "class", "arena", "stratego", "Nim", "nim-", "a--b", "9men", "x" * 31, "nim_2"]
)
def test_a_name_that_no_game_can_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a name for the game"):
        write_game(tmp_path / name)
    assert not list(tmp_path.iterdir())
