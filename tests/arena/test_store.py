"""The store: a game is in it whole or not at all, and nothing that is in it is ever lost or mixed up."""

import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest
from unplayed import record_of

from arena.errors import UsageError
from arena.game.faults import GameResult, Verdict
from arena.game.game_spec import GameSpec, Player
from arena.game.record import GameRecord
from arena.game.time_control import TimeControl
from arena.league.settings import Settings
from arena.league.store import Store, StoreError
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Reason

RED, BLUE = Player("hunter", "aa" * 32), Player("drifter", "bb" * 32)
DUEL = load_ruleset("duel")
ROOT = Path(__file__).parent.parent.parent


def record(game_id: str = "0123456789abcdef", result: GameResult = GameResult.RED) -> GameRecord:
    return msgspec.structs.replace(
        record_of(GameSpec(game_id, variant_of(DUEL), TimeControl(), (RED, BLUE), (1, 2), 3)),
        declared=("hunter 1.0", ""),
        actions=("a4-a5", "a7-a6", "a5-a6"),
        times_us=(1000, 20, 3000),
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
        assert store.record("012345") == (1, record())


def ids(count: int, start: int = 0) -> list[str]:
    return [f"{number:016x}" for number in range(start, start + count)]


def test_several_games_are_stored_in_the_order_given_as_they_would_be_one_by_one(path: Path, tmp_path: Path) -> None:
    records = [record(game_id) for game_id in ids(5)]
    one_by_one = tmp_path / "one-by-one.sqlite"
    with Store(path, create=True) as store, Store(one_by_one, create=True) as other:
        assert store.add_all([]) == []
        assert store.add_all(records[:2]) + store.add_all(records[2:]) == [other.add(each) for each in records]
        assert store.rows() == other.rows()
        assert [store.record(str(number)) for number in range(1, 6)] == list(enumerate(records, 1))
        store.refuse_damage()


def test_a_bot_that_joins_later_is_known_to_a_reader_that_has_read_the_others(path: Path) -> None:
    with Store(path, create=True) as store, Store(path, create=False) as reader:
        store.add(record(ids(1)[0]))
        assert [row.players for row in reader.rows()] == [(RED, BLUE)]
        for number, players in enumerate(((RED, Player("new", "cc" * 32)), (Player("newer", "dd" * 32), BLUE)), 1):
            store.add(msgspec.structs.replace(record(ids(1, number)[0]), players=players))
            assert reader.rows()[-1].players == players


def test_of_several_games_none_is_stored_if_one_cannot_be(path: Path) -> None:
    with Store(path, create=True) as store:
        store.add(record("1" * 16))
        (pages,) = store._database.connection.execute("PRAGMA page_count").fetchone()
        store._database.connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        big = msgspec.structs.replace(record("3" * 16), stderr=("x" * 100_000, ""))
        with pytest.raises(StoreError, match="the disk is full; every game that was stored before is still there"):
            store.add_all([record("2" * 16), big, record("4" * 16)])
        assert {row.id for row in store.rows()} == {"1" * 16}
        assert [row.number for row in store.add_all([record("2" * 16), record("4" * 16)])] == [2, 3]
        store.refuse_damage()


BATCH = 20
STORES_BATCHES = """
import os, sys
import msgspec
from pathlib import Path
from arena.league.store import Store
path, batch, dies_after = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
with Store(path, create=True) as store:
    _, record = store.record("1")
    store._database.query("PRAGMA cache_size = 1")  # so that what has not been committed gets into the file
    query, inserted = store._database.query, 0
    def dying(statement, *values):
        global inserted
        inserted += statement.startswith("INSERT INTO games")
        found = query(statement, *values)
        if inserted == dies_after:
            os._exit(9)
        return found
    store._database.query = dying
    while True:
        first = len({row.id for row in store.rows()})
        store.add_all([msgspec.structs.replace(record, id=f"{first + i:016x}") for i in range(batch)])
        print(first + batch, flush=True)
"""


def stores_batches(path: Path, dies_after: int = -1) -> "subprocess.Popen[str]":
    with Store(path, create=True) as store:
        store.add_all([record(game_id) for game_id in ids(BATCH)])
    command = [sys.executable, "-c", STORES_BATCHES, str(path), str(BATCH), str(dies_after)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("inserted", [1, 10, BATCH])
def test_of_games_that_were_being_stored_when_the_arena_was_killed_none_is_there(path: Path, inserted: int) -> None:
    with stores_batches(path, BATCH + inserted) as process:
        assert process.communicate()[0] == f"{2 * BATCH}\n"
        assert process.returncode == 9
    assert path.with_name(path.name + "-journal").stat().st_size, "the transaction was under way"
    with Store(path, create=False) as store:
        assert [row.id for row in store.rows()] == ids(2 * BATCH)
        store.refuse_damage()


def test_an_arena_killed_at_any_moment_leaves_all_games_that_were_said_to_be_stored_and_no_part_of_a_batch(
    path: Path,
) -> None:
    random = Random(9)
    for _ in range(5):
        path.unlink(missing_ok=True)
        with stores_batches(path) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(random.randint(1, 5))]
            for _ in range(random.randint(0, 20_000)):  # some part of the time that a batch takes
                pass
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        with Store(path, create=False) as store:
            stored = [row.id for row in store.rows()]
            store.refuse_damage()
        assert stored == ids(len(stored))
        assert len(stored) % BATCH == 0
        assert len(stored) >= int(lines[-1])


def test_a_game_can_be_asked_for_by_number_or_by_the_start_of_its_id_and_nothing_else(path: Path) -> None:
    with Store(path, create=True) as store:
        with pytest.raises(UsageError, match="no game is stored here yet"):
            store.record("1")
        store.add(record("aaaa000000000000"))
        store.add(record("aaab000000000000"))
        with pytest.raises(UsageError, match="several games have an id that starts with 'aaa'"):
            store.record("aaa")
        with pytest.raises(UsageError, match="expected a number from 1 to 2"):
            store.record("3")
        with pytest.raises(UsageError, match="there is no game 'b'"):
            store.record("b")
        assert store.record("aaab")[0] == 2
        store.add(record("5555555555555555"))
        assert store.record("555555")[0] == 3
        with pytest.raises(UsageError, match=r"there is no game '55555'; expected a number from 1 to 3$"):
            store.record("55555")


def test_settings_must_agree_with_what_the_store_holds(path: Path) -> None:
    settings = Settings(variant_of(DUEL), TimeControl())
    with Store(path, create=True) as store:
        store.agree(settings.described())
        store.agree(settings.described())
        with pytest.raises(UsageError, match=r"time: 100ms \(in the store\), 200ms \(asked for\)"):
            store.agree(Settings(variant_of(DUEL), TimeControl(move_ms=200)).described())
        assert store.settings() == settings.described()


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


# --- many that open one at a time ----------------------------------------------------------


def test_an_empty_file_is_made_a_store_of_only_if_that_was_asked_for(path: Path) -> None:
    path.touch()
    with pytest.raises(UsageError, match="got an empty file"):
        Store(path, create=False)
    assert path.read_bytes() == b""
    with Store(path, create=True) as store:
        assert store.add(record()).number == 1


def test_other_rules_are_refused_with_their_names_or_else_with_what_differs(path: Path) -> None:
    with Store(path, create=True) as store:
        store.agree({"ruleset": "isf", "rules": "spy straight; rescues 0", "time": "100ms"})
        with pytest.raises(UsageError) as named:
            store.agree({"ruleset": "duel", "rules": "spy diagonal; rescues 0", "time": "100ms"})
        with pytest.raises(UsageError) as changed:
            store.agree({"ruleset": "isf", "rules": "spy diagonal; rescues 0", "time": "100ms"})
    assert "    ruleset: isf (in the store), duel (asked for)\nuse another" in str(named.value)
    assert "    rules: spy straight (in the store), spy diagonal (asked for)\nuse another" in str(changed.value)
