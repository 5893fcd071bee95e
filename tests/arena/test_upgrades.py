"""An older store becomes one of this version whole or not at all, and nothing of what it said is lost on the way."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.league.store import VERSION, GameRow, Store
from arena.league.verify import verify

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "stores"
OLDER = [f"v{version}-duel" for version in range(1, VERSION)]
PATIENCE = 120


def copy_of(name: str, folder: Path) -> Path:
    return Path(shutil.copy(GOLDEN / f"{name}.sqlite", folder / "l.sqlite"))


def edit(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute(statement, values)
    database.close()


def upgrade(path: Path) -> None:
    Store(path, create=True).__exit__(None, None, None)


def all_of(path: Path) -> tuple[list[GameRow], dict[str, str], list[GameRecord | None]]:
    with Store(path, create=False) as store:
        return store.rows(), store.settings(), [store.stored(number).record for number in store.numbers()]


def damage_of(path: Path) -> list[str]:
    with Store(path, create=False) as store:
        return [str(damage) for damage in store.read().damage]


@pytest.mark.parametrize("name", OLDER)
def test_rows_settings_and_records_are_the_same_before_and_after(tmp_path: Path, name: str) -> None:
    path = copy_of(name, tmp_path)
    before = all_of(path)
    upgrade(path)
    assert all_of(path) == before
    assert None not in before[2]


@pytest.mark.parametrize("name", OLDER)
def test_the_pair_and_the_date_of_each_game_get_columns_that_say_what_the_record_says(
    tmp_path: Path, name: str
) -> None:
    path = copy_of(name, tmp_path)
    upgrade(path)
    database = sqlite3.connect(path)
    columns = database.execute("SELECT pair_seed, started FROM games ORDER BY number").fetchall()
    database.close()
    records = all_of(path)[2]
    assert columns == [(record.pair_seed, record.started) for record in records if record]
    assert len({seed for seed, _ in columns}) == 6, "twelve games are six pairs"


@pytest.mark.parametrize("name", OLDER)
def test_an_upgraded_store_has_the_tables_of_a_new_one(tmp_path: Path, name: str) -> None:
    path, new = copy_of(name, tmp_path), tmp_path / "new.sqlite"
    upgrade(path)
    upgrade(new)
    schemas = []
    for file in (path, new):
        database = sqlite3.connect(file)
        schemas.append(
            sorted(database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall(), key=str)
        )
        database.close()
    assert schemas[0] == schemas[1]


DIES_AT_EACH_STATEMENT = """
import os, shutil, signal, sys
from pathlib import Path
from arena.league.store import Store
from arena.league.store.database import Database

source, path, step = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
query = Database.query


def dies_at(last):
    done = 0

    def counted(self, statement, *values):
        nonlocal done
        done += 1
        if done == 1:
            query(self, "PRAGMA cache_size = 1")  # so that what has not been committed gets into the file
        if done == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return query(self, statement, *values)

    Database.query = counted
    Store(path, create=True).__exit__(None, None, None)
    os._exit(0)


with Store(source, create=False) as store:
    rows, settings = store.rows(), store.settings()
journals = killed = 0
while True:
    shutil.copy(source, path)
    child = os.fork()
    if child == 0:
        dies_at(killed + 1)
    status = os.waitpid(child, 0)[1]
    journals += path.with_name(path.name + "-journal").exists()
    for create in (False, True):
        with Store(path, create=create) as store:
            assert (store.rows(), store.settings()) == (rows, settings), killed
            store.refuse_damage()
    if os.WIFEXITED(status):
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
    killed += step
print(killed, journals)
"""


@pytest.mark.parametrize(("name", "step"), [("v1-duel", 9), ("v2-own", 10), ("v3-duel", 3)])
def test_an_upgrade_killed_before_any_of_its_statements_is_undone_and_done_anew(
    tmp_path: Path, name: str, step: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES_AT_EACH_STATEMENT, str(GOLDEN / f"{name}.sqlite"), str(tmp_path / "l"), str(step)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    killed, journals = map(int, done.stdout.split())
    assert killed > 40, "each game takes three statements"
    assert journals > 2, "some of them had written to the file"


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE games SET result = 'blue' WHERE number = 12", "game 12: its row was changed after it was stored"),
        ("UPDATE games SET red = x'ff00' WHERE number = 12", "game 12: its row was changed after it was stored"),
        ("DELETE FROM games WHERE number = 12", "12 games were stored, and 11 can be found"),
        ("DELETE FROM games WHERE number = 5", "12 games were stored, and 11 can be found; no game has the number 5"),
        ("DELETE FROM sums WHERE name = 'games'", "the count of games was changed after it was stored"),
        (
            "UPDATE sums SET value = value || x'00' WHERE name = 'games'",
            "the count of games was changed after it was stored",
        ),
        ("UPDATE settings SET value = '1s' WHERE name = 'time'", "the settings were changed after they were stored"),
    ],
)
def test_what_was_damaged_in_a_store_of_version_3_is_named_as_before(
    tmp_path: Path, statement: str, named: str
) -> None:
    path = copy_of("v3-duel", tmp_path)
    edit(path, statement)
    assert damage_of(path) == [named]
    upgrade(path)
    assert damage_of(path) == [named]


def test_a_game_that_was_put_in_the_place_of_another_in_version_3_is_noticed_afterwards_too(tmp_path: Path) -> None:
    path = copy_of("v3-duel", tmp_path)
    edit(path, "UPDATE sums SET value = CAST(substr(value, 1, 20) || x'00000000' AS BLOB) WHERE name = 'games'")
    assert damage_of(path) == ["the list of games was changed after they were stored"]
    upgrade(path)
    assert damage_of(path) == ["the list of games was changed after they were stored"]


@pytest.mark.parametrize("version", [1, 2])
def test_a_game_that_is_gone_from_a_store_without_checksums_is_still_missed(tmp_path: Path, version: int) -> None:
    path = copy_of(f"v{version}-duel", tmp_path)
    edit(path, "DELETE FROM games WHERE number = 5")
    assert damage_of(path) == ["12 games were stored, and 11 can be found"]
    upgrade(path)
    assert damage_of(path) == ["12 games were stored, and 11 can be found; no game has the number 5"]


def test_a_row_whose_record_was_damaged_counts_as_before_without_its_pair(tmp_path: Path) -> None:
    path = copy_of("v3-duel", tmp_path)
    edit(path, "UPDATE games SET record = replace(CAST(record AS TEXT), 'red', 'blu') WHERE number = 3")
    before = all_of(path)[0]
    upgrade(path)
    rows = all_of(path)[0]
    assert rows == before
    assert (rows[2].pair_seed, rows[2].started) == (None, None)
    with Store(path, create=False) as store, pytest.raises(ArenaError, match="game 3: its record was changed"):
        store.refuse_damage()


def test_every_game_of_a_damaged_older_store_can_still_be_salvaged(tmp_path: Path) -> None:
    """A row that was changed beside a record that was not: what is copied is what can be looked into later."""
    path = copy_of("v3-duel", tmp_path)
    edit(path, "UPDATE games SET result = 'blue' WHERE number = 12")
    upgrade(path)
    with Store(path, create=False) as store:
        assert store.stored(12).record is not None
        assert [str(damage) for damage in verify(store, lambda done, of: None)] == [
            "game 12: its row was changed after it was stored"
        ]


def test_a_store_that_is_upgraded_while_it_is_read_is_read_on(tmp_path: Path) -> None:
    path = copy_of("v3-duel", tmp_path)
    with Store(path, create=False) as reader:
        before = reader.rows()
        upgrade(path)
        assert reader.rows() == before
        assert reader.record("12")[0] == 12
