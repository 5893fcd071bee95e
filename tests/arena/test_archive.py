"""The archive of a store: copies of the bots that play, with which a game is played again after a new upload."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import invoke
from made_bots import QUICK
from made_files import put
from played_here import games_played_here

from arena.api.leagues import League
from arena.bots.archive import archive_of, copies_in, keep_copies
from arena.bots.loading import load_bot
from arena.league.store import Store

if TYPE_CHECKING:
    import subprocess


PLAYS = QUICK.format(first="")
CHANGED = QUICK.format(first="# new\n")


def bot_folder(folder: Path) -> Path:
    put(folder / "run", PLAYS)
    (folder / "bot.toml").write_text('command = ["./run"]\nignore = ["*.log"]\n')
    return folder


def run_league(path: Path, *, archive: bool | None = None, **options: object) -> None:
    league = League(path / "l.sqlite", rules="duel", time="60s", jobs=1)
    league.add(path / "one", path / "two")
    with games_played_here():
        league.run(archive=archive, **options)  # type: ignore[arg-type]


def rerun(path: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    return invoke(Path(), "rerun", str(path), "1", *more)


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two bots, one of which is a folder itself."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "one", PLAYS)
    bot_folder(tmp_path / "two")
    return tmp_path


def test_a_game_is_played_again_by_the_versions_that_played_it_after_a_new_upload(bots: Path) -> None:
    run_league(bots, format="swiss")
    put(bots / "one", CHANGED)
    put(bots / "two" / "run", CHANGED)
    done = rerun(bots / "l.sqlite")
    assert done.returncode == 0, done.stderr
    assert "same to the end" in done.stdout
    assert done.stderr.count("l.bots") == 2


@pytest.mark.parametrize(
    ("format_", "archive", "is_there"),
    [
        ("round-robin", None, False),
        ("round-robin", True, True),
        ("swiss", False, False),
        ("knockout", None, True),
    ],
)
def test_formats_with_rounds_have_an_archive_and_others_where_it_is_asked_for(
    bots: Path, format_: str, archive: bool | None, is_there: bool
) -> None:
    run_league(bots, archive=archive, format=format_)
    assert archive_of(bots / "l.sqlite").is_dir() == is_there


def test_a_copy_is_the_same_bot_without_what_the_digest_leaves_out(bots: Path) -> None:
    folder = bots / "two"
    for name in (".hidden", "a.log"):
        (folder / name).write_text("")
    (folder / "sub").mkdir()
    (folder / "sub" / "book").write_text("e4")
    (folder / "link").symlink_to("sub/book")
    (folder / "out").symlink_to("/nowhere")
    for bot in (load_bot(folder), load_bot(bots / "one")):
        assert keep_copies(bots / "archive", [bot]) == []
        (copy,) = copies_in(bots / "archive", bot.digest)
        assert load_bot(copy).digest == bot.digest
    (copy,) = copies_in(bots / "archive", load_bot(folder).digest)
    assert sorted(os.listdir(copy)) == ["bot.toml", "link", "out", "run", "sub"]


def test_a_bot_that_cannot_be_copied_is_said_and_leaves_nothing_half_done(bots: Path) -> None:
    bot = load_bot(bots / "one")
    put(bots / "one", "#!/bin/sh\n# changed since\n")
    (line,) = keep_copies(bots / "archive", [bot])
    assert "its files have changed meanwhile" in line
    assert list((bots / "archive").iterdir()) == []


def test_an_archive_that_came_from_elsewhere_is_not_trusted_without_a_sandbox(bots: Path) -> None:
    run_league(bots, format="swiss")
    elsewhere = bots / "elsewhere"
    elsewhere.mkdir()
    for name in ("l.sqlite", "l.bots"):
        (bots / name).rename(elsewhere / name)
    put(bots / "one", CHANGED)
    done = rerun(elsewhere / "l.sqlite")
    assert "without a sandbox it could use your files and network" in done.stderr
    assert "sandbox: basic" not in done.stderr
    assert "same to the end" in rerun(elsewhere / "l.sqlite", "--sandbox", "basic").stdout


def test_a_copy_of_the_archive_plays_where_another_file_of_its_content_is_not_trusted(bots: Path) -> None:
    run_league(bots, format="swiss")
    (bots / "one").rename(bots / "moved")
    assert "same to the end" in rerun(bots / "l.sqlite").stdout


def test_a_league_without_its_archive_goes_on(bots: Path) -> None:
    run_league(bots, format="knockout")
    archive = archive_of(bots / "l.sqlite")
    archive.rename(bots / "gone")
    run_league(bots, format="knockout")
    assert len(list(archive.iterdir())) == 2, "what takes part is copied again"
    with Store(bots / "l.sqlite", create=False) as store:
        assert len(store.rows()) == len({row.id for row in store.rows()})
