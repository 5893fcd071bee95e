"""Stores that strangers hand over: opening one harms no file, and costs no more memory than its games need."""

import shutil
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import commands
import pytest
from commands import PROGRAM, run_program

from arena.errors import UsageError
from arena.league.store import Store

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "stores"
READING = (("standings",), ("games",), ("show", "1"), ("verify",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of today with twelve games."""
    return Path(shutil.copy(GOLDEN / "duel.sqlite", tmp_path / "l.sqlite"))


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def arena(path: Path, command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return commands.invoke(path.parent, command, str(path), *arguments)


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
    assert run_program(command, ROOT).returncode == 9
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
        ("row_digest BLOB NOT NULL", "row_digest BLOB NOT NULL, more TEXT"),
        ("seconds REAL NOT NULL", "seconds REAL NOT NULL CHECK (length(hex(zeroblob(60000000))))"),
    ],
)
def test_a_table_with_other_columns_is_refused_before_it_is_read(path: Path, old: str, new: str) -> None:
    redefine(path, old, new)
    for create in (False, True):
        with pytest.raises(UsageError, match="with the tables of its format 1, got others"):
            Store(path, create=create)


def test_a_bomb_in_the_tables_takes_no_memory(path: Path) -> None:
    """Each of its twelve games would have 120 MB of text."""
    redefine(path, "detail TEXT NOT NULL", "detail TEXT NOT NULL AS (hex(zeroblob(60000000)))")
    allowed = 512 << 20
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({allowed}, {allowed}))"
    done = run_program([sys.executable, "-c", f"{limit}; {PROGRAM}", "games", path], path.parent)
    assert done.returncode == 2
    assert "got others" in done.stderr
