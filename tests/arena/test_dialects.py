"""Which rules a dialect has words for, and which bots can play what a host has chosen."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.bots.dialect_words import split_word
from arena.bots.finding import find_bots, find_entrants
from arena.bots.fitting import fitting, refuse_unrestorable
from arena.bots.loading import load_bot
from arena.cli.config_file import read_config
from arena.errors import UsageError
from arena.game.dialects import Dialect, check_dialect
from arena.rules.loading import load_ruleset, ruleset_names

PLAYABLE = {
    *("ucc-2012", "isf", "jumbo-494", "original-2000", "milton-bradley", "lattaque"),
    *("jumbo-81320/original", "jumbo-09495/original", "travel/original", "vintage/original"),
}


@pytest.mark.parametrize("name", ruleset_names())
def test_the_dialect_of_2012_has_words_for_the_original_army_and_plain_moves(name: str) -> None:
    ruleset = load_ruleset(name)
    check_dialect(Dialect.ARENA_1, ruleset)
    if name in PLAYABLE:
        check_dialect(Dialect.UCC_2012, ruleset)
        return
    words = "no words for diagonal moves" if name == "tek" else "knows the original army of 40 pieces alone"
    with pytest.raises(UsageError, match=words):
        check_dialect(Dialect.UCC_2012, ruleset)


@pytest.mark.parametrize(
    ("switch", "words"),
    [
        ("rescue", r"pieces that come back \(rescues\), which the rules of isf\+rescue have"),
        ("silent-defence", "a defender that is not named"),
        ("lightning-captains", "moves with a turn"),
        ("attackers-advantage", None),
        ("exploding-bombs", None),
        ("facing-attacks", None),
    ],
)
def test_a_switch_is_refused_only_if_there_are_no_words_for_it(switch: str, words: str | None) -> None:
    ruleset = load_ruleset(f"isf+{switch}")
    if words is None:
        check_dialect(Dialect.UCC_2012, ruleset)
        return
    with pytest.raises(UsageError, match=words):
        check_dialect(Dialect.UCC_2012, ruleset)


# --- what a bot speaks ------------------------------------------------------------------------------------------------


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
    plain, old = (find_bots([word])[0] for word in (str(path), f"ucc:{path}"))
    assert (plain.dialect, old.dialect) == (Dialect.ARENA_1, Dialect.UCC_2012)
    assert (plain.name, plain.path, plain.command) == (old.name, old.path, old.command)
    assert plain.digest != old.digest
    both = find_entrants([f"ucc:{path}", str(path)]).sound()
    assert [bot.digest for bot in both] == [old.digest, plain.digest]


def test_a_file_whose_name_begins_so_is_meant_if_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program(tmp_path, "mine.py")
    assert split_word("ucc:mine.py") == (Dialect.UCC_2012, "mine.py")
    program(tmp_path, "ucc:mine.py")
    assert split_word("ucc:mine.py") == (None, "ucc:mine.py")
    assert find_bots(["ucc:mine.py"])[0].dialect is Dialect.ARENA_1


def test_a_sample_bot_can_be_named_with_a_prefix_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_bots(["ucc:drifter"])[0].dialect is Dialect.UCC_2012


def test_a_bot_toml_says_what_a_bot_speaks_and_a_prefix_adds_nothing_to_that(tmp_path: Path) -> None:
    path = folder_bot(tmp_path, 'protocol = "ucc-2012"\n')
    bot = load_bot(path)
    assert bot.dialect is Dialect.UCC_2012
    assert find_bots([f"ucc:{path}"])[0].digest == bot.digest


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
    asked, _ = read_config(config, {"league": {}}).bots("league") or ([], None)
    *named, sample = (bot.path for bot in asked)
    assert [Path(path.removeprefix("ucc:")) for path in named] == [
        folder / "old.py",
        folder / "older.py",
        folder / "old.py",
    ]
    assert all(path.startswith("ucc:") for path in named)
    assert sample == "drifter"
    assert [bot.dialect for bot in asked] == [*[Dialect.UCC_2012] * 3, None]


# --- whether it can play ----------------------------------------------------------------------------------------------


def test_a_bot_that_cannot_play_what_was_chosen_is_broken_with_the_reason(tmp_path: Path) -> None:
    (bot,) = find_bots([f"ucc:{program(tmp_path)}"])
    isf, duel = load_ruleset("isf"), load_ruleset("duel")
    assert fitting(bot, isf, keep_bots=False, has_openings=False) == bot
    for ruleset, keep_bots, has_openings, words in (
        (duel, False, False, "ucc-2012 knows the original army of 40 pieces alone, and that of duel is another"),
        (isf, True, False, "in which a process plays one game: expected no --keep-bots"),
        (isf, False, True, "in which each bot chooses its set-up: expected no --openings"),
    ):
        refused = fitting(bot, ruleset, keep_bots=keep_bots, has_openings=has_openings)
        assert refused.fault is not None
        assert words in refused.fault
        assert refused.fault.startswith(str(bot.path))
    other = replace(bot, dialect=Dialect.ARENA_1)
    assert fitting(other, duel, keep_bots=True, has_openings=True) == other


def test_a_bot_that_cannot_go_on_in_a_new_process_is_refused_where_games_are_saved(tmp_path: Path) -> None:
    (bot,) = find_bots([f"ucc:{program(tmp_path)}"])
    with pytest.raises(UsageError, match="--pause: it speaks ucc-2012, in which a bot cannot be told a game that has"):
        refuse_unrestorable(bot, "--pause")
    refuse_unrestorable(replace(bot, dialect=Dialect.ARENA_1), "--pause")
