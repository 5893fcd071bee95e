"""What a machine keeps of bots: as it was sent and built, or not at all; and nothing else is ever touched."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.bots import load_bot
from arena.errors import ArenaError
from arena.league.executor.cluster.cache import DIGEST, TREE, Cache, FullError, SpoiltError
from arena.league.executor.cluster.messages import CarriedBot
from arena.league.executor.cluster.packing import key_of, pack_bot
from arena.league.executor.cluster.trees import tree_digest
from arena.league.executor.wire import WireBot

MOST = 1 << 20


@pytest.fixture
def pack(tmp_path: Path) -> bytes:
    (tmp_path / "ann.py").write_text("print('ready')\n")
    return pack_bot(load_bot(tmp_path / "ann.py"))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def carried(tmp_path: Path, key: str) -> CarriedBot:
    return CarriedBot(WireBot.of(load_bot(tmp_path / "ann.py")), key, b"ann.py", (), False)


def place(tmp_path: Path, name: str = "place") -> Path:
    (tmp_path / name).mkdir()
    return tmp_path / name


def test_what_was_put_there_is_unpacked(cache: Cache, pack: bytes, tmp_path: Path) -> None:
    key = key_of(pack)
    assert cache.missing([carried(tmp_path, key)]) == (key,)
    cache.put(key, pack)
    assert cache.missing([carried(tmp_path, key)]) == ()
    cache.unpack(key, place(tmp_path))
    assert (tmp_path / "place" / "ann.py").read_text() == "print('ready')\n"


def test_a_pack_that_comes_in_parts_is_there_when_all_have_come(cache: Cache, pack: bytes, tmp_path: Path) -> None:
    key = key_of(pack)
    for at in range(0, len(pack), 10):
        assert cache.missing([carried(tmp_path, key)]) == (key,)
        cache.put(key, pack[at : at + 10], at, len(pack))
    assert [entry.name for entry in cache.folder.iterdir()] == [key]
    cache.unpack(key, place(tmp_path))


@pytest.mark.parametrize("parts", [[10], [0, 20], [0, 10, 10]])
def test_parts_of_a_pack_that_do_not_follow_one_another_are_refused_and_not_kept(
    cache: Cache, pack: bytes, parts: list[int]
) -> None:
    for at in parts[:-1]:
        cache.put(key_of(pack), pack[at : at + 10], at, len(pack))
    with pytest.raises(ArenaError, match=r"^a bot's files did not arrive as they were sent$"):
        cache.put(key_of(pack), pack[parts[-1] : parts[-1] + 10], parts[-1], len(pack))
    assert list(cache.folder.iterdir()) == []


def test_a_pack_may_be_sent_anew_from_its_beginning(cache: Cache, pack: bytes) -> None:
    cache.put(key_of(pack), pack[:10], 0, len(pack))
    cache.put(key_of(pack), pack, 0, len(pack))
    assert [entry.name for entry in cache.folder.iterdir()] == [key_of(pack)]


def test_a_pack_for_which_the_disk_has_no_room_is_refused_before_any_of_it_is_written(
    cache: Cache, pack: bytes
) -> None:
    with pytest.raises(FullError, match="No space left on device"):
        cache.put(key_of(pack), pack[:10], 0, 1 << 60)
    assert list(cache.folder.iterdir()) == []


def test_what_is_used_says_so_by_its_time(cache: Cache, pack: bytes, tmp_path: Path) -> None:
    key = key_of(pack)
    cache.put(key, pack)
    cache.keep_built(key, "bwrap", place(tmp_path, "built"), MOST)
    kept = [cache.folder / key, cache.folder / f"{key}-bwrap"]
    for one in kept:
        os.utime(one, (0, 0))
    cache.unpack(key, place(tmp_path))
    cache.take_built(key, "bwrap", place(tmp_path, "again"), MOST)
    assert all(one.stat().st_mtime > 0 for one in kept)


def test_a_lock_that_is_removed_as_it_is_waited_for_is_taken_where_it_is_then(cache: Cache) -> None:
    """Or two would build a bot at once, each of which holds a lock of its own."""
    key, taken = "a" * 64, threading.Event()
    cache.make()

    def take() -> None:
        with cache.locked(key):
            assert (cache.folder / f"{key}.lock").exists()
            taken.set()

    with cache.locked(key):
        waiting = threading.Thread(target=take)
        waiting.start()
        cache.remove_lock(key)  # nothing happens: it is held
        (cache.folder / f"{key}.lock").unlink()
    waiting.join()
    assert taken.is_set()


def precious(tmp_path: Path) -> Path:
    """A folder outside, that nothing may be done to."""
    folder = tmp_path / "precious"
    if not folder.exists():
        folder.mkdir()
        (folder / "file").write_text("precious")
    return folder


def changed(path: Path, tmp_path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def emptied(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"")


def a_link_out(path: Path, tmp_path: Path) -> None:
    path.unlink()
    path.symlink_to(precious(tmp_path) / "file")


def a_link_to_a_folder(path: Path, tmp_path: Path) -> None:
    path.unlink()
    path.symlink_to(precious(tmp_path))


def a_folder(path: Path, tmp_path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "link").symlink_to(precious(tmp_path))


def a_fifo(path: Path, tmp_path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


SPOILS = [changed, emptied, a_link_out, a_link_to_a_folder, a_folder, a_fifo]


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_pack_that_is_spoilt_is_thrown_away_alone_and_can_be_sent_again(
    cache: Cache, pack: bytes, tmp_path: Path, spoil: Callable[[Path, Path], None]
) -> None:
    key = key_of(pack)
    cache.put(key, pack)
    precious(tmp_path)
    spoil(cache.folder / key, tmp_path)
    with pytest.raises(SpoiltError):
        cache.unpack(key, place(tmp_path))
    assert os.listdir(tmp_path / "place") == os.listdir(cache.folder) == []
    assert (tmp_path / "precious" / "file").read_text() == "precious"
    cache.put(key, pack)
    cache.unpack(key, tmp_path / "place")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads what is closed")
def test_a_pack_that_was_closed_is_thrown_away(cache: Cache, pack: bytes, tmp_path: Path) -> None:
    cache.put(key_of(pack), pack)
    (cache.folder / key_of(pack)).chmod(0)
    with pytest.raises(SpoiltError):
        cache.unpack(key_of(pack), place(tmp_path))
    assert os.listdir(cache.folder) == []


def test_another_pack_than_its_key_says_is_not_kept(cache: Cache, pack: bytes) -> None:
    with pytest.raises(ArenaError, match="did not arrive as they were sent"):
        cache.put(key_of(pack + b"x"), pack)
    assert list(cache.folder.iterdir()) == []


@pytest.mark.parametrize("key", ["", "..", "../x", "a" * 63, "A" * 64])
def test_what_is_no_key_leads_nowhere(cache: Cache, key: str, tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="expected the key of a pack"):
        cache.unpack(key, tmp_path)


# --- what has been built ----------------------------------------------------------------------------------------------


@pytest.fixture
def key(cache: Cache, pack: bytes, tmp_path: Path) -> str:
    """A bot that has been built: a program, a link to the system, a folder."""
    cache.put(key_of(pack), pack)
    made = place(tmp_path, "made") / "ann"
    (made / "sub").mkdir(parents=True)
    (made / "program").write_text("1")
    (made / "program").chmod(0o755)
    (made / "sub" / "link").symlink_to("/bin/sh")
    cache.keep_built(key_of(pack), "default", made.parent, MOST)
    return key_of(pack)


def test_what_was_built_is_taken_as_it_was(cache: Cache, key: str, tmp_path: Path) -> None:
    assert not cache.has_built(key, "bwrap")
    assert cache.has_built(key, "default")
    digest = cache.take_built(key, "default", place(tmp_path), MOST)
    assert tree_digest(tmp_path / "place") == tree_digest(tmp_path / "made") == digest
    assert os.access(tmp_path / "place" / "ann" / "program", os.X_OK)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "program").write_text("2"),
        lambda folder: (folder / "program").chmod(0o644),
        lambda folder: (folder / "program").unlink(),
        lambda folder: (folder / ".hidden").touch(),
        lambda folder: (folder / "sub" / "more").mkdir(),
        lambda folder: (folder / "sub" / "link").rename(folder / "sub" / "other"),
    ],
)
def test_any_change_of_what_was_built_is_another_digest(
    cache: Cache, key: str, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    change(cache.folder / f"{key}-default" / TREE / "ann")
    digest = cache.take_built(key, "default", place(tmp_path), MOST)
    assert tree_digest(tmp_path / "place") != digest


@pytest.mark.parametrize("part", ["", TREE, DIGEST])
def test_what_was_built_and_is_a_link_now_is_thrown_away_alone(
    cache: Cache, key: str, tmp_path: Path, part: str
) -> None:
    spoilt = cache.folder / f"{key}-default" / part
    spoilt.rename(tmp_path / "elsewhere")
    spoilt.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SpoiltError):
        cache.take_built(key, "default", place(tmp_path), MOST)
    assert not cache.has_built(key, "default")
    assert (tmp_path / "elsewhere").exists()


def test_more_than_may_be_kept_is_not_kept(cache: Cache, key: str, tmp_path: Path) -> None:
    cache.keep_built(key, "bwrap", tmp_path / "made", 0)
    assert not cache.has_built(key, "bwrap")
    assert not list(cache.folder.glob("draft-*"))
