"""What a machine keeps of bots does not grow for ever, and nothing goes that is in use."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.league.executor.cluster import trimming
from arena.league.executor.cluster.cache import Cache
from arena.league.executor.cluster.copies import Copies
from arena.league.executor.cluster.packing import key_of
from arena.league.executor.cluster.trimming import (
    EACH_SECONDS,
    LONGEST_UNUSED,
    LOOKED,
    SPARED_SECONDS,
    Kept,
    make_room,
    to_remove,
    trim,
)

NOW = 1e9
KEYS = [letter * 64 for letter in "abcdef"]
AGES = st.one_of(
    st.floats(-1e5, 0), st.floats(0, 2 * SPARED_SECONDS), st.floats(0, 2 * LONGEST_UNUSED)
)  # one of the future, too: clocks are set
KEPT = st.lists(
    st.builds(
        lambda key, way, size, age: Kept(key + way, key, size, NOW - age),
        st.sampled_from(KEYS),
        st.sampled_from(["", "-bwrap", "-default-0-1"]),
        st.integers(0, 100),
        AGES,
    ),
    unique_by=lambda one: one.name,
    max_size=18,
)


@settings(max_examples=60)
@given(kept=KEPT, in_use=st.sets(st.sampled_from(KEYS)), most=st.integers(0, 600))
def test_what_goes_is_what_was_used_longest_ago_and_no_more_of_it_than_has_to(
    kept: list[Kept], in_use: set[str], most: int
) -> None:
    removed = to_remove(kept, in_use, NOW, most)
    left = [one for one in kept if one not in removed]
    free = [one for one in left if one.key not in in_use and NOW - one.used_at > SPARED_SECONDS]
    assert not [one for one in removed if one.key in in_use or NOW - one.used_at <= SPARED_SECONDS]
    assert sum(one.size for one in left) <= most or not free, "it is too much while some of it could go"
    assert all(NOW - one.used_at <= LONGEST_UNUSED for one in free)
    assert all(gone.used_at <= one.used_at for gone in removed for one in free)
    young = [one for one in removed if NOW - one.used_at <= LONGEST_UNUSED]
    if young:  # the last one had to go
        assert sum(one.size for one in left) + young[-1].size > most


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def put(cache: Cache, content: bytes, age: float) -> str:
    """A pack that was used so long ago; returns its key."""
    key = key_of(content)
    cache.put(key, content)
    made_old(cache.folder / key, age)
    return key


def made_old(place: Path, age: float) -> None:
    then = time.time() - age
    os.utime(place, (then, then), follow_symlinks=False)


def names(cache: Cache) -> set[str]:
    return {place.name for place in cache.folder.iterdir()} - {LOOKED}


def test_a_pack_that_a_worker_plays_with_stays_however_old_it_is(cache: Cache) -> None:
    used, unused = (put(cache, content, 2 * LONGEST_UNUSED) for content in (b"used", b"unused"))
    with Copies(cache) as copies:
        copies.new_place(used)
        trim(cache)
        assert {used, unused} & names(cache) == {used}
    made_old(cache.folder / LOOKED, EACH_SECONDS)
    trim(cache)
    assert used not in names(cache), "a worker that has ended plays with none"


def test_what_is_built_of_a_bot_counts_with_all_its_files(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = put(cache, b"bot", 2 * SPARED_SECONDS)
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "program").write_bytes(os.urandom(1 << 20))
    cache.keep_built(key, "bwrap", tmp_path / "built", 1 << 22)
    made_old(cache.folder / f"{key}-bwrap", 3 * SPARED_SECONDS)
    monkeypatch.setattr(trimming, "MOST_KEPT", 1 << 20)
    trim(cache)
    assert names(cache) == {key}


def test_a_machine_looks_once_in_a_while_and_again_after_its_clock_was_set_back(cache: Cache) -> None:
    trim(Cache(cache.folder / "none"))  # nothing is there yet
    cache.make()
    trim(cache)
    key = put(cache, b"bot", 2 * LONGEST_UNUSED)
    trim(cache)
    assert key in names(cache)
    made_old(cache.folder / LOOKED, -1000)
    trim(cache)
    assert key not in names(cache)


def test_what_was_left_of_workers_that_were_killed_goes_and_nothing_that_is_just_made(cache: Cache) -> None:
    gone, left = key_of(b"gone"), put(cache, b"left", 2 * SPARED_SECONDS)
    old = ["draft-1", "discarded-1", f"{gone}.lock"]
    for name in (*old, "draft-2", f"{left}.lock", "precious"):
        (cache.folder / name).mkdir() if name == "discarded-1" else (cache.folder / name).touch()
        if name != "draft-2":
            made_old(cache.folder / name, 2 * SPARED_SECONDS)
    trim(cache)
    assert names(cache) == {"draft-2", left, f"{left}.lock", "precious"}


def test_nothing_outside_goes_where_a_link_has_taken_the_place_of_a_pack(cache: Cache, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    cache.make()
    for name in (KEYS[0], f"{KEYS[1]}-bwrap", "draft-1", LOOKED, f"{KEYS[2]}.lock"):
        (cache.folder / name).symlink_to(precious)
        made_old(cache.folder / name, 2 * LONGEST_UNUSED)
    trim(cache)
    assert names(cache) <= {f"{KEYS[2]}.lock"}
    assert (precious / "file").exists()


def test_on_a_full_disk_all_goes_that_is_not_in_use(cache: Cache) -> None:
    used, fresh, free = put(cache, b"used", 1e4), put(cache, b"fresh", 0), put(cache, b"free", 1e4)
    with Copies(cache) as copies:
        copies.new_place(used)
        assert make_room(cache)
        assert {used, fresh, free} & names(cache) == {used, fresh}
        assert not make_room(cache)
