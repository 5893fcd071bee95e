"""Bots as bytes: what arrives is what was sent, and nothing that arrives gets out of its folder."""

import os
from pathlib import Path

import pytest

from arena.bots.limits import MIB
from arena.bots.loading import load_bot
from arena.errors import UsageError
from arena.league.executor.cluster import packing
from arena.league.executor.cluster.packing import not_sent, pack_bot, unpack

PROGRAM = "#!/bin/sh\nexit 0\n"


def folder_bot(folder: Path, **files: str) -> Path:
    folder.mkdir()
    (folder / "bot.toml").write_text('command = ["./play.sh"]\n')
    (folder / "play.sh").write_text(PROGRAM)
    (folder / "play.sh").chmod(0o755)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_a_bot_that_is_a_folder_is_the_same_bot_where_it_is_unpacked(tmp_path: Path) -> None:
    bot = load_bot(folder_bot(tmp_path / "ann", notes="x", empty=""))
    (tmp_path / "there").mkdir()
    unpack(pack_bot(bot), tmp_path / "there")
    again = load_bot(tmp_path / "there" / "ann")
    assert (again.digest, again.name) == (bot.digest, bot.name)
    assert os.access(tmp_path / "there" / "ann" / "play.sh", os.X_OK)
    assert not os.access(tmp_path / "there" / "ann" / "notes", os.X_OK)


def test_what_stays_at_home_is_told_with_names(tmp_path: Path) -> None:
    folder = folder_bot(tmp_path / "ann", **{".secret": "x", "log.txt": "y"})
    (folder / "bot.toml").write_text('command = ["./play.sh"]\nignore = ["*.txt", "tmp/*"]\n')
    for name in ("venv", "tmp/1/inner", "tmp/empty", "__pycache__"):
        (folder / name).mkdir(parents=True)
    told = not_sent(load_bot(folder))
    assert told == (
        "not sent to workers, as it is ignored, hidden or made by tools: .secret, log.txt, tmp/1 and 1 more"
    )
    assert not_sent(load_bot(folder_bot(tmp_path / "bob"))) == ""
    (tmp_path / "cat.py").write_text("")
    assert not_sent(load_bot(tmp_path / "cat.py")).startswith(
        "a bot that is one file is sent to workers without the files next to it"
    )


def test_a_link_that_leads_out_behind_another_link_is_not_sent(tmp_path: Path) -> None:
    folder = folder_bot(tmp_path / "ann")
    (folder / "here").symlink_to(".")
    (folder / "out").symlink_to("here/..")
    with pytest.raises(UsageError, match="out is a link out of the bot's folder, to here/"):
        pack_bot(load_bot(folder))


def test_more_than_can_be_sent_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_BYTES", MIB)
    folder = folder_bot(tmp_path / "ann")
    with (folder / "weights").open("wb") as file:
        file.truncate(MIB)
    with pytest.raises(UsageError, match="ann: its files have more than 1M"):
        pack_bot(load_bot(folder))


def test_a_link_within_the_folder_travels(tmp_path: Path) -> None:
    folder = folder_bot(tmp_path / "ann", book="x")
    (folder / "data").mkdir()
    (folder / "data" / "more").write_text("more")
    (folder / "latest").symlink_to("data")
    (folder / "alias").symlink_to("book")
    bot = load_bot(folder)
    (tmp_path / "there").mkdir()
    unpack(pack_bot(bot), tmp_path / "there")
    again = tmp_path / "there" / "ann"
    assert load_bot(again).digest == bot.digest
    assert (again / "latest" / "more").read_text() == "more"
    assert (again / "alias").read_text() == "x"


def test_a_bot_that_has_changed_since_is_not_sent(tmp_path: Path) -> None:
    folder = folder_bot(tmp_path / "ann", book="x")
    bot = load_bot(folder)
    (folder / "book").write_text("y")
    with pytest.raises(UsageError, match="have changed"):
        pack_bot(bot)
