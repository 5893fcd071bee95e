"""A worker's own copies of bots: what changes in them shows, and nothing of them is left behind."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.bots import load_bot
from arena.errors import ArenaError
from arena.league.executor.cluster.cache import Cache
from arena.league.executor.cluster.copies import MOVED, Copies, WatchedCopy

PROGRAM = "print('ready')\n"


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[Copies]:
    with Copies(Cache(tmp_path / "cache")) as made:
        yield made


def folder_bot(copies: Copies) -> WatchedCopy:
    folder = copies.new_place("a" * 64) / "ann"
    folder.mkdir()
    (folder / "bot.toml").write_text('command = ["python3", "main.py"]\nignore = ["logs/*"]\n')
    (folder / "main.py").write_text(PROGRAM)
    (folder / "book").write_text("1")
    (folder / "logs").mkdir()
    return WatchedCopy(load_bot(folder))


def file_bot(copies: Copies) -> WatchedCopy:
    file = copies.new_place("b" * 64) / "bob.py"
    file.write_text(PROGRAM)
    return WatchedCopy(load_bot(file))


def rewritten(path: Path) -> None:
    path.write_text("2")


def put_back(path: Path) -> None:
    """Other content for a moment, then the same again, with the same times."""
    before, found = path.read_bytes(), path.stat()
    path.write_text("2")
    path.write_bytes(before)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def replaced_by_a_link(path: Path) -> None:
    path.rename(path.with_name(".aside"))
    path.symlink_to(".aside")


@pytest.mark.parametrize("change", [rewritten, put_back, replaced_by_a_link, Path.unlink, lambda path: path.chmod(0)])
def test_a_change_of_a_file_shows(copies: Copies, change: Callable[[Path], object]) -> None:
    copy = folder_bot(copies)
    assert copy.look().changed == ""
    change(copy.bot.folder / "book")
    assert "book (" in copy.look().changed


@pytest.mark.parametrize("make", [folder_bot, file_bot])
def test_a_folder_that_was_moved_away_and_back_shows(copies: Copies, make: Callable[[Copies], WatchedCopy]) -> None:
    copy = make(copies)
    place = copy.bot.look.covered.folder if copy.bot.look else Path()
    place.rename(place.with_name("aside"))
    place.mkdir()
    place.rmdir()
    place.with_name("aside").rename(place)
    assert copy.look().changed == MOVED


def test_a_folder_that_a_link_takes_the_place_of_shows(copies: Copies, tmp_path: Path) -> None:
    copy = folder_bot(copies)
    folder = copy.bot.folder
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert copy.look().changed


def test_a_folder_that_is_gone_shows(copies: Copies) -> None:
    copy = folder_bot(copies)
    copy.bot.folder.rename(copy.bot.folder.with_name("gone"))
    assert copy.look().changed


def test_what_is_ignored_is_no_change_and_new_files_are_told_of_once(copies: Copies) -> None:
    copy = folder_bot(copies)
    (copy.bot.folder / "logs" / "1").write_text("a game")
    (copy.bot.folder / "log.txt").write_text("a game")
    seen = copy.look()
    assert (seen.changed, seen.new) == ("", {"log.txt": "new"})
    assert copy.look().new is None


def test_at_the_end_nothing_is_left(tmp_path: Path) -> None:
    with Copies(Cache(tmp_path / "cache")) as copies:
        folder = folder_bot(copies).bot.folder
        (folder / "closed").mkdir()
        (folder / "closed" / "file").write_text("x")
        (folder / "closed").chmod(0)
    assert os.listdir(tmp_path / "cache") == ["play-0.lock"]


def test_what_a_worker_left_that_was_killed_is_removed_and_what_another_one_uses_is_not(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with Copies(cache) as used:
        place = used.new_place("a" * 64)
        (cache.folder / "play-7" / "1").mkdir(parents=True)
        (cache.folder / "play-7.lock").touch()
        with Copies(cache):
            assert place.is_dir()
            assert not (cache.folder / "play-7").exists()


def test_a_bot_has_the_same_path_in_each_run_and_another_one_for_each_worker_and_copy(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    with Copies(cache) as first, Copies(cache) as second:
        places = [copies.new_place("a" * 64) for copies in (first, first, second)]
        ids = [copies.where(place) for copies, place in zip((first, first, second), places, strict=True)]
    assert len(set(places)) == len(set(ids)) == 3
    with Copies(cache) as again:
        assert again.new_place("a" * 64) == places[0]


def test_a_link_in_the_place_of_stale_copies_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    cache.folder.mkdir()
    (cache.folder / "play-7").symlink_to(tmp_path / "precious")
    (cache.folder / "play-7.lock").touch()
    with Copies(cache):
        assert not os.path.lexists(cache.folder / "play-7")
    assert (tmp_path / "precious" / "file").exists()


def test_where_nothing_can_be_written_that_is_said_with_the_folder(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with (
        pytest.raises(ArenaError, match=f"a bot's files cannot be kept in {tmp_path}/cache: "),
        Copies(Cache(tmp_path / "cache")),
    ):
        pass
