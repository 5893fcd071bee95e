"""Every result is of the version that it stands under: bots that change while their league runs."""

import errno
import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import made_files
import pytest
from commands import invoke
from made_bots import RESIGNS

from arena.bots.covered import SETTLED_NS
from arena.bots.finding import find_entrants
from arena.bots.loading import load_bot
from arena.bots.spec import BotSpec
from arena.league.store import Store
from arena.league.versions import Change, compare

if TYPE_CHECKING:
    import subprocess

put = partial(made_files.put, mode=0o644)
ROOT = Path(__file__).parent.parent.parent
REWRITES_ITSELF = "open(__file__, 'a').write('# more\\n')\n"
GROWS = "open('log.txt', 'a').write('a game\\n')\n"


def bot_folder(folder: Path, program: str = RESIGNS, manifest: str = "") -> Path:
    put(folder / "bot.toml", f'command = ["python3", "main.py"]\n{manifest}')
    put(folder / "main.py", program)
    return folder


def league(folder: Path, *bots: str, command: str = "league") -> "subprocess.CompletedProcess[str]":
    rounds = ["--rounds", "2"] if command == "league" else []
    options = ("--rules", "duel", *rounds, "--store", "l.sqlite", "-j", "1", "--time", "60s")
    return invoke(folder, command, *bots, *options)


def names_played(store: Path) -> list[set[str]]:
    with Store(store, create=False) as stored:
        return [{player.name for player in row.players} for row in stored.rows()]


# --- whole leagues ----------------------------------------------------------------------------------------------------


def test_a_bot_that_changes_is_played_no_more_and_the_others_are(tmp_path: Path) -> None:
    put(tmp_path / "ann.py", RESIGNS)
    put(tmp_path / "bob.py", RESIGNS)
    put(tmp_path / "edited.py", REWRITES_ITSELF + RESIGNS)
    done = league(tmp_path, "ann.py", "bob.py", "edited.py")
    assert done.returncode == 1
    assert names_played(tmp_path / "l.sqlite") == [{"ann", "bob"}] * 4
    assert "edited (edited.py) has changed while it was played: edited.py (changed)\n" in done.stderr
    assert "4 of 12 games are stored" in done.stderr
    assert "the same command again plays the new version" in done.stderr
    assert "ignore" not in done.stderr, "a bot that is a file has nothing to ignore"
    assert "incomplete" in done.stdout


def test_files_that_come_into_a_folder_are_remarked_on_and_the_games_count(tmp_path: Path) -> None:
    put(tmp_path / "ann.py", RESIGNS)
    bot_folder(tmp_path / "logger", GROWS + RESIGNS)
    done = league(tmp_path, "ann.py", "logger")
    assert done.returncode == 0, done.stderr
    assert len(names_played(tmp_path / "l.sqlite")) == 4
    assert done.stderr.count("log.txt (new)") == 1
    assert 'ignore = ["log.txt"]' in done.stderr


def test_a_bot_that_writes_to_a_file_of_its_digest_is_told_the_cure(tmp_path: Path) -> None:
    put(tmp_path / "ann.py", RESIGNS)
    put(bot_folder(tmp_path / "logger", GROWS + RESIGNS) / "log.txt", "")
    done = league(tmp_path, "ann.py", "logger")
    assert done.returncode == 1
    assert names_played(tmp_path / "l.sqlite") == []
    assert "log.txt (changed)" in done.stderr
    assert 'ignore = ["log.txt"]' in done.stderr
    bot_folder(tmp_path / "logger", GROWS + RESIGNS, 'ignore = ["log.txt"]\n')
    done = league(tmp_path, "ann.py", "logger")
    assert done.returncode == 0, done.stderr
    assert len(names_played(tmp_path / "l.sqlite")) == 4


def test_a_game_that_can_be_interrupted_does_not_count_either(tmp_path: Path) -> None:
    put(tmp_path / "ann.py", RESIGNS)
    put(tmp_path / "edited.py", REWRITES_ITSELF + RESIGNS)
    done = league(tmp_path, "ann.py", "edited.py", "--pause", "saved", command="match")
    assert done.returncode == 1
    assert names_played(tmp_path / "l.sqlite") == []
    assert "edited.py (changed)" in done.stderr
    assert not (tmp_path / "saved").exists()


# --- the check --------------------------------------------------------------------------------------------------------


def change_of(bot: BotSpec) -> Change | None:
    assert bot.look is not None
    return compare(bot, bot.look)[1]


def files_of(bot: BotSpec) -> dict[str, str]:
    change = change_of(bot)
    assert change is not None
    assert not change.is_only_new
    return dict(change.files)


def long_ago(folder: Path) -> BotSpec:
    bot = load_bot(folder)
    assert bot.look is not None
    return replace(bot, look=replace(bot.look, at=bot.look.at + 2 * SETTLED_NS))


def test_what_is_as_it_was_long_before_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = long_ago(bot_folder(tmp_path / "hunter"))
    monkeypatch.delattr("arena.league.versions.identify_again")
    assert change_of(bot) is None


def test_what_was_just_written_is_read_for_its_times_may_not_tell(tmp_path: Path) -> None:
    bot = load_bot(bot_folder(tmp_path / "hunter"))
    assert bot.look is not None
    path = tmp_path / "hunter" / "main.py"
    path.write_text(RESIGNS.replace("turn", "TURN"))
    status = path.stat()
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    same_times = replace(bot.look, stamps={**bot.look.stamps, (b"main.py",): stamp})
    assert files_of(replace(bot, look=same_times)) == {"main.py": "changed"}


def test_other_times_and_the_same_content_are_no_change(tmp_path: Path) -> None:
    bot = long_ago(bot_folder(tmp_path / "hunter"))
    again = tmp_path / "again"
    again.write_bytes((tmp_path / "hunter" / "main.py").read_bytes())
    again.replace(tmp_path / "hunter" / "main.py")
    os.utime(tmp_path / "hunter" / "bot.toml", (1, 1))
    assert change_of(bot) is None


@pytest.mark.parametrize("times", [None, (1_000_000_000, 1_000_000_000)])
def test_an_edit_is_seen_whatever_times_it_sets(tmp_path: Path, times: tuple[int, int] | None) -> None:
    folder = bot_folder(tmp_path / "hunter")
    os.utime(folder / "main.py", times)
    bot = long_ago(folder)
    put(folder / "main.py", RESIGNS.replace("turn", "TURN"))
    os.utime(folder / "main.py", times)
    assert files_of(bot) == {"main.py": "changed"}


def test_new_changed_and_gone_files_are_told_apart(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "hunter", manifest='ignore = ["*.tmp"]\n')
    put(folder / "old.bin", "1")
    put(folder / "model.bin", "1")
    bot = long_ago(folder)
    put(folder / "x.tmp", "ignored")
    put(folder / "__pycache__" / "x", "left out")
    assert change_of(bot) is None
    put(folder / "more" / "new.bin", "1")
    assert change_of(bot) == Change({"more/new.bin": "new"}, is_only_new=True)
    put(folder / "model.bin", "2")
    (folder / "old.bin").unlink()
    assert files_of(bot) == {"more/new.bin": "new", "model.bin": "changed", "old.bin": "gone"}


def test_the_file_behind_a_link_counts(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path / "hunter")
    put(folder / ".hidden" / "book", "1")
    (folder / "book").symlink_to(".hidden/book")
    bot = long_ago(folder)
    assert change_of(bot) is None
    put(folder / ".hidden" / "book", "2")
    assert files_of(bot) == {"book": "changed"}


def test_a_program_that_is_built_anew_is_a_change(tmp_path: Path) -> None:
    folder = tmp_path / "hunter"
    put(folder / "bot.toml", 'command = ["./target/run"]\nbuild = "true"\n')
    program = put(folder / "target" / "run", "1", mode=0o755)
    bot = long_ago(folder)
    assert change_of(bot) is None
    put(folder / "target" / "other", "1")
    assert change_of(bot) is None
    put(program, "2!", mode=0o755)
    assert files_of(bot) == {"target/run": "changed"}
    program.unlink()
    assert files_of(bot) == {"target/run": "gone"}


@pytest.mark.parametrize(
    ("call", "number"), [("scandir", errno.EMFILE), ("lstat", errno.ENOMEM), ("open", errno.EMFILE)]
)
def test_a_machine_that_has_run_out_is_not_taken_for_a_change_or_a_fault_of_the_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    bot = load_bot(bot_folder(tmp_path / "hunter"))
    assert bot.look is not None
    look = replace(bot.look, at=0)  # so recent that it is read anew

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(OSError, match=os.strerror(number)):
        compare(bot, look)
    with pytest.raises(OSError, match=os.strerror(number)):
        find_entrants([str(bot.folder)])


def test_a_store_does_not_become_a_part_of_a_bot(tmp_path: Path) -> None:
    """As `cd mine; arena match . ../other` would have it: from the second run on every game would change the bot."""
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(ROOT / "bots" / "drifter.py", folder / "run.py")
    (folder / "run.py").chmod(0o755)
    (folder / "bot.toml").write_text('command = ["./run.py"]\n')
    shutil.copy(ROOT / "bots" / "drifter.py", tmp_path / "other.py")
    for more in ([], ["--pause", "../game.json"], ["--store", "deeper/../s.sqlite"]):
        done = invoke(folder, "match", ".", "../other.py", *more)
        assert done.returncode == 2, done.stderr
        assert "the store would lie in the folder of" in done.stderr
    assert {path.name for path in folder.iterdir()} == {"bot.toml", "run.py"}
