"""Stores on a disk that is full, or cut off in the middle of a write.

No game is lost that was reported, and what is said of it is one clear sentence.
"""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from arena.game.record import GameRecord
from arena.league.store import Store, StoreError
from arena.league.store.database import LOCK

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "stores"
PATIENCE = 120
PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copy(GOLDEN / "duel.sqlite", tmp_path / "l.sqlite"))


def games(path: Path, count: int) -> list[GameRecord]:
    """New games for a store."""
    with Store(path, create=False) as store:
        _, record = store.record("12")
    return [msgspec.structs.replace(record, id=f"{number:016x}") for number in range(count)]


def fill(store: Store, records: list[GameRecord]) -> tuple[list[int], str]:
    """Add games until the store cannot take another; returns the numbers that it has told, and why it stopped."""
    told: list[int] = []
    for record in records:
        try:
            told.append(store.add(record).number)
        except StoreError as error:
            return told, str(error)
    raise AssertionError("there was room for all games")


def assert_has(path: Path, numbers: list[int]) -> None:
    """All of these games are there, whole, and nothing else is but the twelve of before."""
    with Store(path, create=False) as store:
        store.refuse_damage()
        assert [row.number for row in store.rows()] == [*range(1, 13), *numbers]


# --- a disk that is full ----------------------------------------------------------------------------------------------


ADDS_GAMES = """
import resource, sys
from pathlib import Path
sys.path.insert(0, "tests/arena")
from test_disks import fill, games
from arena.league.store import Store
path, most = Path(sys.argv[1]), int(sys.argv[2])
records = games(path, 200)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
with Store(path, create=True) as store:
    told, why = fill(store, records)
print(told[-1] if told else 12, why, sep="\\n")
"""


@pytest.mark.parametrize("room", [0, 10 * PAGE + 100])
def test_a_limit_on_the_size_of_files_loses_no_stored_game(path: Path, room: int) -> None:
    most = path.stat().st_size + room
    done = subprocess.run(
        [sys.executable, "-B", "-c", ADDS_GAMES, str(path), str(most)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    last, why = done.stdout.split("\n", 1)
    assert "disk" in why
    assert_has(path, list(range(13, int(last) + 1)))


def test_a_game_that_is_stored_outlives_a_power_cut(path: Path) -> None:
    """SQLite waits for the disk at each commit."""
    full = 2
    with Store(path, create=True) as store:
        assert list(store._database.query("PRAGMA synchronous")) == [(full,)]


TORN = """
import os, sys
from pathlib import Path
from arena.league.store import Store
with Store(Path(sys.argv[1]), create=True) as store:
    query = store._database.query
    query("PRAGMA cache_size = 1")  # so that what has not been committed gets into the file
    query("BEGIN IMMEDIATE")
    query("UPDATE records SET record = zeroblob(20000)")
    os._exit(9)
"""


@pytest.mark.parametrize("kept", [0, PAGE // 2])
def test_a_last_page_that_was_written_in_part_is_put_back(path: Path, kept: int) -> None:
    """The power is cut in the middle of a transaction: of the page that was being written, a part is on the disk, and
    the end of the file may be."""
    whole = path.read_bytes()
    killed = subprocess.run([sys.executable, "-c", TORN, str(path)], cwd=ROOT, timeout=PATIENCE, check=False)
    assert killed.returncode == 9
    torn = path.read_bytes()
    assert len(torn) > len(whole)
    for size in (len(torn) - PAGE + kept, len(whole) - PAGE + kept):
        copy = path.with_name(f"{size}.sqlite")
        copy.write_bytes(torn[:size])
        shutil.copy(path.with_name(path.name + "-journal"), copy.with_name(copy.name + "-journal"))
        assert_has(copy, [])
        assert copy.read_bytes() == whole


WRITES_MEANWHILE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    database.execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
else:
    print("began")
"""


def test_opening_a_store_again_in_the_process_gives_up_no_lock_of_a_transaction_under_way(path: Path) -> None:
    """POSIX takes all locks of a process off a file as soon as it closes any descriptor of it."""

    def from_outside() -> str:
        command = [sys.executable, "-c", WRITES_MEANWHILE, str(path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout.strip()

    with Store(path, create=True) as store:
        opens = threading.Thread(target=lambda: Store(path, create=False).__exit__(None, None, None))
        with store._database.transaction():
            assert from_outside() == "database is locked"
            opens.start()
            opens.join(0.1)
            assert opens.is_alive(), "it waits for the transaction"
            assert from_outside() == "database is locked"
        opens.join(PATIENCE)
        assert LOCK.acquire(blocking=False)
        LOCK.release()
    assert from_outside() == "began"
