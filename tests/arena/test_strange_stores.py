"""Stores that strangers hand over: opening one harms no file, and costs no more memory than its games need."""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import commands
import pytest
from commands import PROGRAM

from arena.errors import UsageError
from arena.league.store import Store, StoreError

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "stores"
PATIENCE = 120
MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR = 512
READING = (("standings",), ("games",), ("show", "1"), ("verify",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of today with twelve games."""
    return Path(shutil.copy(GOLDEN / "duel.sqlite", tmp_path / "l.sqlite"))


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def arena(path: Path, command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return commands.arena(path.parent, command, str(path), *arguments)


def journal_of(path: Path, super_journal: bytes | None) -> bytes:
    """A journal that has the first page of a store put back, with the path of a super-journal at its end, if any."""
    store = path.read_bytes()
    (size,) = struct.unpack(">H", store[16:18])
    page, nonce = store[:size], 12345
    header = MAGIC + struct.pack(">5I", 1, nonce, len(store) // size, SECTOR, size)
    total = (nonce + sum(page[at] for at in range(size - 200, 0, -200))) % 2**32
    record = struct.pack(">I", 1) + page + struct.pack(">I", total)
    end = b""
    if super_journal is not None:
        lock_page = struct.pack(">I", 0x40000000 // size + 1)
        end = lock_page + super_journal + struct.pack(">2I", len(super_journal), sum(super_journal)) + MAGIC
    return header.ljust(SECTOR, b"\0") + record + end


# --- what lies beside a store ----------------------------------------------------------------------------------------


def test_sqlite_alone_deletes_the_file_that_a_journal_names(path: Path, tmp_path: Path) -> None:
    """What the other tests guard against is real: the journal that they are given does it."""
    mine = tmp_path / "mine"
    mine.write_text("precious")
    beside(path, "-journal").write_bytes(journal_of(path, os.fsencode(mine)))
    database = sqlite3.connect(path)
    assert database.execute("SELECT count(*) FROM games").fetchone() == (12,)
    database.close()
    assert not mine.exists()


@pytest.mark.parametrize("command", READING, ids=lambda words: words[0])
def test_a_journal_that_would_delete_a_file_is_refused_before_the_store_is_opened(
    path: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    beside(path, "-journal").write_bytes(journal_of(path, os.fsencode(mine)))
    done = arena(path, *command)
    assert done.returncode == 2
    assert "delete another file as soon as the store is opened" in done.stderr
    assert "Traceback" not in done.stderr
    assert mine.read_text() == "precious"


@pytest.mark.parametrize("is_linked", [False, True], ids=["its own name", "through a link"])
@pytest.mark.parametrize("create", [False, True])
def test_so_it_is_by_whatever_name_the_store_is_opened_and_for_writing_too(
    path: Path, tmp_path: Path, create: bool, is_linked: bool
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    beside(path, "-journal").write_bytes(journal_of(path, os.fsencode(mine)))
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(UsageError, match="delete another file"):
        Store(tmp_path / "link" if is_linked else path, create=create)
    assert mine.read_text() == "precious"


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("kind", ["a link", "a FIFO", "a folder"])
def test_what_is_no_file_beside_a_store_is_refused_and_left_as_it_was(path: Path, ending: str, kind: str) -> None:
    other = path.with_name("mine")
    other.write_bytes(journal_of(path, None))
    make = {"a link": lambda at: at.symlink_to(other), "a FIFO": os.mkfifo, "a folder": os.mkdir}
    make[kind](beside(path, ending))
    for create in (False, True):
        with pytest.raises(UsageError, match=f"{ending}: expected a file or none, got {kind}"):
            Store(path, create=create)
    assert other.read_bytes() == journal_of(path, None)
    assert os.path.lexists(beside(path, ending))


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("content", [b"", b"precious"])
def test_a_hard_link_beside_a_store_is_refused_and_what_it_leads_to_is_left_as_it_was(
    path: Path, ending: str, content: bytes
) -> None:
    """SQLite would write the pages of a transaction to it."""
    other, before = path.with_name("mine"), path.read_bytes()
    other.write_bytes(content)
    os.link(other, beside(path, ending))
    for create in (False, True):
        with pytest.raises(UsageError, match=f"{ending}: expected a file of its own or none, got one with 2 names"):
            Store(path, create=create)
    assert (other.read_bytes(), path.read_bytes()) == (content, before)
    assert beside(path, ending).samefile(other)


def log_of(path: Path) -> None:
    """Put the write-ahead log of somebody's change beside a store whose header does not speak of one."""
    before = path.read_bytes()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("DELETE FROM games")
    log = beside(path, "-wal").read_bytes()
    writer.close()
    path.write_bytes(before)
    beside(path, "-wal").write_bytes(log)


@pytest.mark.parametrize("create", [False, True])
def test_a_write_ahead_log_beside_a_store_is_refused_and_not_played_in(path: Path, create: bool) -> None:
    log_of(path)
    before = path.read_bytes()
    with pytest.raises(UsageError, match="a write-ahead log, which arena never writes"):
        Store(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize("create", [False, True])
def test_a_store_that_was_set_to_a_write_ahead_log_is_refused(path: Path, create: bool) -> None:
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.close()
    with pytest.raises(UsageError, match="was set to a write-ahead log by another program"):
        Store(path, create=create)


# --- the journal of an arena that was killed --------------------------------------------------------------------------

KILLED_WHILE_STORING = """
import os, sys
from pathlib import Path
from arena.league.store import Store
store = Store(Path(sys.argv[1]), create=True)
query = store._database.query
query("PRAGMA cache_size = 1")  # so that what has not been committed gets into the file
query("BEGIN IMMEDIATE")
query("DELETE FROM games WHERE number > 2")
query("UPDATE games SET detail = 'x' || detail")
query("UPDATE records SET record = zeroblob(9000) || record")
os._exit(9)
"""


def kill_while_storing(path: Path) -> None:
    whole = path.read_bytes()
    command = [sys.executable, "-c", KILLED_WHILE_STORING, str(path)]
    assert subprocess.run(command, cwd=ROOT, timeout=PATIENCE, check=False).returncode == 9
    assert beside(path, "-journal").stat().st_size
    assert path.read_bytes() != whole


@pytest.mark.parametrize("command", READING, ids=lambda words: words[0])
def test_what_a_killed_arena_had_begun_is_undone_by_whatever_reads_the_store(
    path: Path, command: tuple[str, ...]
) -> None:
    whole = path.read_bytes()
    kill_while_storing(path)
    done = arena(path, *command)
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_bytes() == whole
    assert not beside(path, "-journal").exists()


def test_it_is_undone_before_a_league_goes_on(path: Path) -> None:
    with Store(path, create=False) as store:
        rows = store.rows()
    kill_while_storing(path)
    with Store(path, create=True) as store:
        assert store.rows() == rows
        record = store.record("1")[1]
        assert store.add(record).number == 1


def test_a_store_that_is_being_read_when_a_writer_is_killed_is_read_on(path: Path) -> None:
    with Store(path, create=False) as store:
        rows = store.rows()
        kill_while_storing(path)
        assert store.rows() == rows, "inside a transaction, which begins anew"
        kill_while_storing(path)
        assert store.record("12")[0] == 12


def test_a_store_that_is_read_is_not_opened_for_writing(path: Path) -> None:
    with Store(path, create=False) as store, pytest.raises(UsageError, match="cannot be written"):
        store.keep(planned=5)


@pytest.mark.parametrize("name", ["a b?mode=rwc#x%20.sqlite", "é\udcff.sqlite"])
def test_names_with_characters_of_addresses_are_names(path: Path, name: str) -> None:
    with Store(path.rename(path.with_name(name)), create=False) as store:
        assert len(store.rows()) == 12


# --- tables that are not the arena's ----------------------------------------------------------------------------------


def redefine(path: Path, old: str, new: str) -> None:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA writable_schema = ON")
    changed = database.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE instr(sql, ?)", (old, new, old))
    assert changed.rowcount == 1
    database.close()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("detail TEXT NOT NULL", "detail TEXT NOT NULL AS (hex(zeroblob(60000000)))"),
        ("detail TEXT NOT NULL", "detail TEXT NOT NULL DEFAULT 'x'"),
        ("row_sum BLOB", "row_sum BLOB, more TEXT"),
        ("seconds REAL NOT NULL", "seconds REAL NOT NULL CHECK (length(hex(zeroblob(60000000))))"),
    ],
)
def test_a_table_with_other_columns_is_refused_before_it_is_read(path: Path, old: str, new: str) -> None:
    redefine(path, old, new)
    for create in (False, True):
        with pytest.raises(UsageError, match="with the tables of its format 4, got others"):
            Store(path, create=create)


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE more (name TEXT)", "CREATE INDEX i ON games (hex(zeroblob(number)))", "DROP TABLE sums"],
)
def test_a_table_or_an_index_too_many_or_too_few_is_refused(path: Path, statement: str) -> None:
    database = sqlite3.connect(path)
    database.execute(statement)
    database.close()
    with pytest.raises(UsageError, match="with the tables of its format 4, got others"):
        Store(path, create=False)


def test_a_bomb_in_the_tables_takes_no_memory(path: Path) -> None:
    """Each of its twelve games would have 120 MB of text."""
    redefine(path, "detail TEXT NOT NULL", "detail TEXT NOT NULL AS (hex(zeroblob(60000000)))")
    allowed = 512 << 20
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({allowed}, {allowed}))"
    done = subprocess.run(
        [sys.executable, "-c", f"{limit}; {PROGRAM}", "games", str(path)],
        cwd=path.parent,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert "got others" in done.stderr


def test_a_value_larger_than_any_record_is_an_error(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("UPDATE records SET record = zeroblob(300000000) WHERE number = 12")
    database.commit()
    database.close()
    with Store(path, create=False) as store:
        assert len(store.rows()) == 12, "no record is read for a table"
        assert [str(damage) for damage in store.stored(12).damage] == ["game 12: it cannot be read any more"]
        with pytest.raises(StoreError, match="too big"):
            store._database.query("SELECT record FROM records WHERE number = 12")
