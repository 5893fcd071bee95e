"""How bots of 2012 are named, and which of them can play what a host has chosen."""

from pathlib import Path

import pytest

from arena.bots.finding import find_entrants, fitting
from arena.bots.loading import load_bot
from arena.bots.samples import ADAPTER
from arena.cli.config import read_config
from arena.errors import UsageError
from arena.stratego.game import GAME


def program(folder: Path, name: str = "old.py") -> Path:
    path = folder / name
    path.write_text("print()\n")
    return path


def folder_bot(folder: Path, protocol: str) -> Path:
    inner = folder / "old"
    inner.mkdir()
    program(inner)
    (inner / "bot.toml").write_text(f'command = ["python3", "old.py"]\n{protocol}')
    return inner


def test_a_prefix_says_what_a_bot_speaks_and_makes_another_bot_of_its_file(tmp_path: Path) -> None:
    path = program(tmp_path)
    plain, old = (find_entrants([word]).bots[0] for word in (str(path), f"ucc:{path}"))
    assert (plain.name, plain.path, plain.command) == (old.name, old.path, old.command)
    assert (plain.words, old.words) == (plain.command, (*ADAPTER, *old.command))
    assert plain.digest != old.digest
    both = find_entrants([f"ucc:{path}", str(path)]).sound()
    assert [bot.digest for bot in both] == [old.digest, plain.digest]


@pytest.mark.parametrize(("protocol", "is_of_2012"), [("", False), ("arena-1", False), ("ucc-2012", True)])
def test_a_bot_toml_says_what_a_bot_speaks(tmp_path: Path, protocol: str, *, is_of_2012: bool) -> None:
    bot = load_bot(folder_bot(tmp_path, f'protocol = "{protocol}"\n' if protocol else ""))
    assert bot.is_of_2012 is is_of_2012


def test_a_protocol_that_there_is_not_is_an_error_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"bot\.toml: protocol: expected .*arena-1.*ucc-2012.*, got 'ucc'"):
        load_bot(folder_bot(tmp_path, 'protocol = "ucc"\n'))


def test_a_file_of_settings_names_bots_with_a_prefix_relative_to_itself(tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    for name in ("old.py", "older.py"):
        program(folder, name)
    config = tmp_path / "arena.toml"
    config.write_text('bots = ["ucc:inner/*.py", { path = "ucc:./inner/old.py", name = "again" }, "drifter"]\n')
    asked = read_config(config, "league", {"league": {}}).bots or []
    *named, sample = (bot.path for bot in asked)
    assert [Path(path.removeprefix("ucc:")) for path in named] == [
        folder / "old.py",
        folder / "older.py",
        folder / "old.py",
    ]
    assert all(path.startswith("ucc:") for path in named)
    assert sample == "drifter"
    assert [bot.prefix for bot in asked] == [*["ucc:"] * 3, ""]


# --- whether it can play ----------------------------------------------------------------------------------------------


def test_a_bot_that_cannot_play_what_was_chosen_is_broken_with_the_reason(tmp_path: Path) -> None:
    path = program(tmp_path)
    plain, old = (find_entrants([word]).bots[0] for word in (str(path), f"ucc:{path}"))
    isf, duel = GAME.variant("isf"), GAME.variant("duel")
    assert fitting(old, isf, has_openings=False) == old
    assert fitting(plain, duel, has_openings=True) == plain
    words = "ucc-2012 has no words for an army other than the original one of 40 pieces, which the rules of duel have"
    assert fitting(old, duel, has_openings=False).fault == f"{path}: {words}"
    words = "in ucc-2012 each bot chooses its set-up: expected no --openings"
    assert fitting(old, isf, has_openings=True).fault == f"{path}: {words}"
