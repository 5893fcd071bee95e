"""The tables of a store: what each version of it has, and whether a file has just these.

A table that somebody else defined can hold columns that are computed when they are read, of any size, and indexes that
run as games are stored. So the definitions in a file have to be those of one of the versions, word for word.
"""

import re
import sqlite3
from collections.abc import Iterable
from functools import cache

APPLICATION_ID = 0x53747241  # "StrA", in the file's header
VERSION = 4
"""2 has the processor time of both sides, 3 has checksums, 4 has the records in a table of their own, and the pair and
the date of each game beside its row. Older stores become this one when they are opened for writing."""

SETTINGS = "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
SUMS = "CREATE TABLE sums (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
"""It has two rows: `games`, a count and the exclusive or of all `row_sum`, and `settings`."""
COLUMNS_OF_1 = """
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    red TEXT NOT NULL, red_digest TEXT NOT NULL,
    blue TEXT NOT NULL, blue_digest TEXT NOT NULL,
    result TEXT NOT NULL, reason TEXT NOT NULL, plies INTEGER NOT NULL, detail TEXT NOT NULL,
    red_moves INTEGER NOT NULL, red_us INTEGER NOT NULL, red_slowest_us INTEGER NOT NULL,
    blue_moves INTEGER NOT NULL, blue_us INTEGER NOT NULL, blue_slowest_us INTEGER NOT NULL,
    seconds REAL NOT NULL"""
GAMES = f"""CREATE TABLE games ({COLUMNS_OF_1},
    red_cpu_us INTEGER, blue_cpu_us INTEGER,
    pair_seed INTEGER, started REAL,
    record_sum BLOB, row_sum BLOB
)"""
RECORDS = "CREATE TABLE records (number INTEGER PRIMARY KEY, record BLOB NOT NULL)"
"""A record is some twenty times as large as its row: with the records between them, all rows are read through them."""
TABLES = (SETTINGS, GAMES, RECORDS, SUMS)
"""The tables of a new store."""

TABLES_OF_1 = (SETTINGS, f"CREATE TABLE games ({COLUMNS_OF_1},\n    record BLOB NOT NULL\n)")
ADDED = {
    2: ("ALTER TABLE games ADD COLUMN red_cpu_us INTEGER", "ALTER TABLE games ADD COLUMN blue_cpu_us INTEGER"),
    3: (
        "ALTER TABLE games ADD COLUMN record_sum BLOB",
        "ALTER TABLE games ADD COLUMN row_sum BLOB",
        SUMS,
    ),
}
"""What versions 2 and 3 have that the one before had not."""
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema"

Definitions = list[tuple[str, str, str, str]]
"""The rows of `SCHEMA`, with texts that differ in white space alone made equal."""


def are_known(schema: Iterable[tuple[object, ...]], *, all_there: bool) -> bool:
    """Whether these rows of `SCHEMA` are those of a store of one of the versions; unless `all_there`, some of those."""
    found = _definitions(schema)
    versions = [_definitions_of(version) for version in range(1, VERSION + 1)]
    return found in versions if all_there else any(set(found) <= set(known) for known in versions)


def _definitions(schema: Iterable[tuple[object, ...]]) -> Definitions:
    return sorted((str(kind), str(name), str(table), _plain(sql)) for kind, name, table, sql in schema)


def _plain(sql: object) -> str:
    """A definition with one form of white space; an index that a key brings with it has none."""
    return " ".join(re.sub(r"\s*([(),])\s*", r" \1 ", "" if sql is None else str(sql)).split())


@cache
def _definitions_of(version: int) -> Definitions:
    """What SQLite itself makes of the statements of a version."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    older = (*TABLES_OF_1, *(added for later in range(2, version + 1) for added in ADDED.get(later, ())))
    for statement in TABLES if version == VERSION else older:
        database.execute(statement)
    definitions = _definitions(database.execute(SCHEMA))
    database.close()
    return definitions
