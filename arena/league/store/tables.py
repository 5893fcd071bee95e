"""The tables of a store: what each version of it has, and whether a file has just these.

A table that somebody else defined can hold columns that are computed when they are read, of any size, and indexes that
run as games are stored. So the definitions in a file have to be those of one of the versions, word for word.
"""

import re
import sqlite3
from collections.abc import Iterable
from functools import cache

APPLICATION_ID = 0x53747241  # "StrA", in the file's header
VERSION = 3
"""2 has the processor time of both sides, 3 has checksums. Older stores get them when they are opened for writing."""

TABLES = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE games (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    red TEXT NOT NULL, red_digest TEXT NOT NULL,
    blue TEXT NOT NULL, blue_digest TEXT NOT NULL,
    result TEXT NOT NULL, reason TEXT NOT NULL, plies INTEGER NOT NULL, detail TEXT NOT NULL,
    red_moves INTEGER NOT NULL, red_us INTEGER NOT NULL, red_slowest_us INTEGER NOT NULL,
    blue_moves INTEGER NOT NULL, blue_us INTEGER NOT NULL, blue_slowest_us INTEGER NOT NULL,
    seconds REAL NOT NULL,
    record BLOB NOT NULL
)""",
)
"""The tables of version 1; what later versions have more is added to them, in a new store as in an old one."""
ADDED = {
    2: ("ALTER TABLE games ADD COLUMN red_cpu_us INTEGER", "ALTER TABLE games ADD COLUMN blue_cpu_us INTEGER"),
    3: (
        "ALTER TABLE games ADD COLUMN record_sum BLOB",
        "ALTER TABLE games ADD COLUMN row_sum BLOB",
        "CREATE TABLE sums (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    ),
}
"""By version. `sums` has two rows: `games`, a count and the exclusive or of all `row_sum`, and `settings`."""
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
    for statement in (*TABLES, *(added for later in range(2, version + 1) for added in ADDED[later])):
        database.execute(statement)
    definitions = _definitions(database.execute(SCHEMA))
    database.close()
    return definitions
