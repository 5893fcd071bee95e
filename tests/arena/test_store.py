"""The store: a game is in it whole or not at all, and nothing that is in it is ever lost or mixed up."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from arena.league.schedule import Settings
from arena.model import GameRecord, GameResult, Player, TimeControl, UsageError, Verdict
from arena.rules.loading import load_ruleset
from arena.store import APPLICATION_ID, VERSION, PlayerTime, Store, StoreError
from protocol.notation import Reason

RED, BLUE = Player("hunter", "aa" * 32), Player("drifter", "bb" * 32)
DUEL = load_ruleset("duel")


def record(game_id: str = "0123456789abcdef", result: GameResult = GameResult.RED) -> GameRecord:
    """A record that a store takes; what the game was is of no matter here."""
    return GameRecord(
        id=game_id,
        arena="0",
        ruleset="duel",
        rules=tuple(DUEL.lines()),
        time=TimeControl(),
        players=(RED, BLUE),
        seeds=(1, 2),
        pair_seed=3,
        declared=("hunter 1.0", ""),
        setups=(None, None),
        actions=("a4-a5", "a7-a6", "a5-a6"),
        times_us=(1000, 20, 3000),
        notes=(),
        verdict=Verdict(result, Reason.FLAG, 3, "blue (drifter) lost its flag"),
        stderr=("", "warning: é"),
        started=1.5,
        seconds=2.5,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "league.sqlite"


def test_a_stored_game_comes_back_as_the_same_value(path: Path) -> None:
    with Store(path, create=True) as store:
        store.add(record())
    with Store(path, create=False) as store:
        assert store.record("1") == (1, record())
        assert store.record("0123") == (1, record())


def test_a_row_says_what_the_record_says(path: Path) -> None:
    with Store(path, create=True) as store:
        added = store.add(record())
        assert list(store.rows()) == [added]
    assert added.number == 1
    assert added.players == (RED, BLUE)
    assert (added.result, added.reason, added.plies) == (GameResult.RED, Reason.FLAG, 3)
    assert added.times == (PlayerTime(2, 4000, 3000), PlayerTime(1, 20, 20))


def test_times_go_to_the_right_side_where_blue_starts(path: Path) -> None:
    rules = tuple(replace(DUEL, starts=type(DUEL.starts).BLUE).lines())
    with Store(path, create=True) as store:
        added = store.add(msgspec.structs.replace(record(), rules=rules))
    assert added.times == (PlayerTime(1, 20, 20), PlayerTime(2, 4000, 3000))


def test_a_game_that_is_stored_is_not_stored_again_nor_changed(path: Path) -> None:
    with Store(path, create=True) as store:
        store.add(record())
        again = store.add(record(result=GameResult.BLUE))
        assert again.number == 1
        assert [row.result for row in store.rows()] == [GameResult.RED]


def test_a_game_can_be_asked_for_by_number_or_by_the_start_of_its_id_and_nothing_else(path: Path) -> None:
    with Store(path, create=True) as store:
        with pytest.raises(UsageError, match="no game is stored here yet"):
            store.record("1")
        store.add(record("aaaa000000000000"))
        store.add(record("aaab000000000000"))
        with pytest.raises(UsageError, match="2 games have an id that starts with 'aaa'"):
            store.record("aaa")
        with pytest.raises(UsageError, match="expected a number from 1 to 2"):
            store.record("3")
        with pytest.raises(UsageError, match="there is no game 'b'"):
            store.record("b")
        assert store.record("aaab")[0] == 2


def test_settings_must_agree_with_what_the_store_holds(path: Path) -> None:
    settings = Settings(DUEL, TimeControl())
    with Store(path, create=True) as store:
        store.agree(settings.described())
        store.agree(settings.described())
        with pytest.raises(UsageError, match=r"time: 100ms \(in the store\), 200ms \(asked for\)"):
            store.agree(Settings(DUEL, TimeControl(move_ms=200)).described())
        assert store.settings() == settings.described()


def test_entrants_are_those_of_the_last_time(path: Path) -> None:
    with Store(path, create=True) as store:
        assert store.entrants() == ()
        store.set_entrants((RED, BLUE))
        store.set_entrants((BLUE,))
        assert store.entrants() == (BLUE,)


def test_what_is_not_a_store_is_refused_and_left_as_it_was(path: Path, tmp_path: Path) -> None:
    path.write_text("not a database, but long enough to be looked at: " + "x" * 1000)
    before = path.read_bytes()
    with pytest.raises(UsageError, match="expected a store"):
        Store(path, create=True)
    assert path.read_bytes() == before
    with pytest.raises(UsageError, match="got a folder"):
        Store(tmp_path, create=True)
    with pytest.raises(UsageError, match="no such store"):
        Store(tmp_path / "missing.sqlite", create=False)
    assert not (tmp_path / "missing.sqlite").exists()


def test_another_programs_database_is_refused_and_left_as_it_was(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE things (name TEXT)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match="another program's SQLite file"):
        Store(path, create=True)
    assert path.read_bytes() == before


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_was(path: Path) -> None:
    Store(path, create=True).__exit__(None, None, None)
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    assert newer.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    newer.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match="newer version of arena"):
        Store(path, create=False)
    assert path.read_bytes() == before


def test_a_full_disk_is_said_in_one_sentence_and_loses_no_game(path: Path) -> None:
    """SQLite itself is told that the file may not grow, which is what a full disk looks like from inside."""
    with Store(path, create=True) as store:
        store.add(record("1" * 16))
        (pages,) = store._database.execute("PRAGMA page_count").fetchone()
        store._database.execute(f"PRAGMA max_page_count = {pages}")
        big = msgspec.structs.replace(record("2" * 16), stderr=("x" * 100_000, ""))
        with pytest.raises(StoreError, match="the disk is full; every game that was stored before is still there"):
            store.add(big)
    with Store(path, create=False) as store:
        assert store.ids() == {"1" * 16}
        assert store.record("1")[1].id == "1" * 16


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be opened"):
        Store(tmp_path / "no" / "league.sqlite", create=True)
