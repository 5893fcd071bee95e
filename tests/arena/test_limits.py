"""Limits are written the way people write sizes, and a host's file for single bots is read strictly."""

from dataclasses import replace
from pathlib import Path

import pytest

from arena.bots.asked import Own, OwnByName
from arena.bots.finding import find_entrants
from arena.bots.limits import GIB, MIB, Limits, parse_memory, parse_size, size_text
from arena.bots.limits_file import by_bot, load_own
from arena.bots.spec import BotSpec
from arena.errors import UsageError
from arena.game.time_control import TimeControl

BOTS = ["hunter", "drifter"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512M", 512 * MIB),
        ("1G", GIB),
        ("1GiB", GIB),
        ("2gb", 2 * GIB),
        ("64K", 65536),
        ("65536", 65536),
        (" 8m ", 8 * MIB),
    ],
)
def test_a_size_is_bytes_or_has_a_unit_of_1024(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "M", "0", "0M", "-1M", "1.5G", "12 parsecs", "1T", "9" * 20])
def test_anything_else_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(UsageError, match="expected a size such as 512M, 1G or 65536"):
        parse_size(text)


def test_memory_that_no_program_starts_with_is_taken_for_a_forgotten_unit() -> None:
    with pytest.raises(UsageError, match="at least 16M of memory for a bot, got '512'"):
        parse_memory("512")


@pytest.mark.parametrize("size", [1, 1023, 1024, 16 * MIB, 512 * MIB, GIB, 3 * GIB + 1])
def test_a_size_reads_back_from_its_text(size: int) -> None:
    assert parse_size(size_text(size)) == size


def write(folder: Path, text: str) -> Path:
    path = folder / "limits.toml"
    path.write_text(text)
    return path


def test_a_bot_of_the_file_gets_its_own_limits_and_the_usual_ones_for_the_rest(tmp_path: Path) -> None:
    path = write(tmp_path, '[hunter]\nmemory = "1G"\nprocesses = 128\n')
    own = load_own(path, BOTS)
    assert own == {"hunter": Own(memory=GIB, processes=128)}
    assert own["hunter"].limits(Limits(tmp=MIB)) == Limits(memory=GIB, processes=128, tmp=MIB)


def test_a_bot_of_the_file_may_have_a_time_of_its_own_in_the_words_of_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path, "[hunter]\ntime = '1s/move'\n[drifter]\ntime = '60+0.5,2s'\ntmp = '1M'\n")
    assert load_own(path, BOTS) == {
        "hunter": Own(time=TimeControl(move_ms=1000)),
        "drifter": Own(tmp=MIB, time=TimeControl(move_ms=2000, bank_ms=60_000, increment_ms=500)),
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[huntr]\n", r"\[huntr\]: no bot here has that name; did you mean hunter"),
        ("hunter = 3\n", r'hunter: expected a table such as \[hunter\] with memory = "1G", got 3'),
        ("[hunter]\nmemroy = '1G'\n", r"\[hunter\]: unknown key 'memroy'; did you mean memory"),
        ("[hunter]\nmemory = 512\n", r'\[hunter\]: memory: expected a size such as "512M", got 512'),
        ("[hunter]\nprocesses = 0\n", r"\[hunter\]: processes: expected a whole number from 1 to 1000000, got 0"),
        ("[hunter]\nprocesses = true\n", r"\[hunter\]: processes: expected a whole number from 1 to 1000000, got True"),
        ("[hunter]\ntmp = 'much'\n", r"\[hunter\]: tmp: expected a size such as 512M"),
        ("[hunter\n", r"limits.toml: not valid TOML"),
        ("[hunter]\ntime = 5\n", r'\[hunter\]: time: expected a time such as "1s/move" or "60\+0.6", got 5'),
        ("[hunter]\ntime = '1x'\n", r"limits.toml: \[hunter\]: time: expected a time such as 100ms.* got '1x'"),
    ],
)
def test_what_does_not_fit_is_refused_with_file_bot_and_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load_own(write(tmp_path, text), BOTS)


@pytest.fixture
def namesakes(tmp_path: Path) -> list[BotSpec]:
    """Two bots of one name, and one of another."""
    for name in ("a/hunter.py", "b/hunter.py", "c/other.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f"# {name}\n")
    return find_entrants([str(tmp_path / name) for name in ("a/hunter.py", "b/hunter.py", "c/other.py")]).sound()


def test_a_table_may_be_named_by_a_path_or_a_digest_whatever_bots_call_themselves(
    tmp_path: Path, namesakes: list[BotSpec]
) -> None:
    first, second, other = namesakes
    names = [bot.name for bot in namesakes]
    key = f"hunter@{second.player.digest[:8]}"
    path = write(tmp_path, f"['{first.path}']\nprocesses = 7\n['{key}']\nprocesses = 8\n[other]\nprocesses = 9\n")
    assert load_own(path, names, namesakes) == {
        first.name: Own(processes=7),
        second.name: Own(processes=8),
        other.name: Own(processes=9),
    }


def test_a_name_of_two_bots_is_refused_with_what_to_write(tmp_path: Path, namesakes: list[BotSpec]) -> None:
    first, second, _ = namesakes
    with pytest.raises(UsageError) as caught:
        load_own(write(tmp_path, "[hunter]\nprocesses = 7\n"), [bot.name for bot in namesakes], namesakes)
    assert f'2 bots here go by that; write which one: ["{first.path}"] or ["{second.path}"]' in str(caught.value)


def test_tables_of_a_file_with_settings_go_by_the_same_rules_and_its_paths_start_from_its_folder(
    tmp_path: Path, namesakes: list[BotSpec]
) -> None:
    first, second, _ = namesakes
    names = [bot.name for bot in namesakes]
    tables = {"./a/hunter.py": Own(processes=7), f"hunter@{second.player.digest[:8]}": Own(processes=8)}
    said = OwnByName("arena.toml", tables, is_strict=True, folder=tmp_path, prefix="bot.")
    assert by_bot(said, names, namesakes) == {first.name: Own(processes=7), second.name: Own(processes=8)}
    elsewhere = replace(said, folder=tmp_path / "a")
    with pytest.raises(UsageError, match=r"arena\.toml: \[bot\.\./a/hunter\.py\]: no bot here has that name"):
        by_bot(elsewhere, names, namesakes)


def test_two_tables_for_one_bot_are_refused(tmp_path: Path, namesakes: list[BotSpec]) -> None:
    other = namesakes[2]
    path = write(tmp_path, f"[other]\nprocesses = 7\n['{other.path}']\nprocesses = 8\n")
    with pytest.raises(UsageError, match="expected one table for each bot"):
        load_own(path, [bot.name for bot in namesakes], namesakes)
