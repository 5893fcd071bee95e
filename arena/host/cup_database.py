"""host.sqlite: all that a competition knows besides its games.

The host process is the only writer. What belongs together is written in one transaction, with its row of the audit log.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from arena.errors import ArenaError, UsageError
from arena.system.printable import printable

FILE = "host.sqlite"
VERSION = 1
T = TypeVar("T")

SCHEMA = """
create table account(
  id integer primary key, name text not null unique, is_host integer not null default 0,
  is_disabled integer not null default 0, can_found integer not null default 0, created real not null) strict;
create table team(id integer primary key, name text not null unique, created real not null) strict;
create table member(
  account integer primary key references account, team integer not null references team) strict, without rowid;
create table token(
  id integer primary key autoincrement, hash text not null unique, account integer not null references account,
  name text not null, created real not null, last_used real) strict;
create table invitation(
  id integer primary key autoincrement, hash text not null unique, team integer references team,
  account integer references account, is_host integer not null, maker integer references account,
  token integer references token on delete cascade, created real not null, expires real not null) strict;
create table session(
  hash text primary key, account integer not null references account,
  token integer references token on delete cascade, created real not null, expires real not null)
  strict, without rowid;
create table season(
  number integer primary key, state text not null, seed_hash text not null, seed text not null, opened real not null,
  frozen real, final text, finished real, counted integer not null default 0,
  leader integer references submission) strict;
create table submission(
  id integer primary key, team integer not null references team, account integer not null references account,
  bot text not null, digest text not null default '', bytes integer not null, sent_as text not null,
  received real not null, changed real not null, state text not null, reason text not null default '',
  forfeits integer not null default 0, games integer not null default 0, player text not null default '') strict;
create index submission_by_team on submission(team, bot);
create index submission_by_state on submission(state);
create table stage(
  submission integer not null references submission, name text not null, state text not null, begun real not null,
  ended real, attempts integer not null, seconds real not null default 0, text text not null default '',
  log text not null default '', primary key(submission, name)) strict, without rowid;
create table challenge(
  id integer primary key, account integer references account, season integer not null references season,
  submission integer not null references submission, against integer not null references submission,
  games integer not null, played integer not null default 0, created real not null, state text not null,
  reason text not null default '') strict;
create table announcement(id integer primary key, text text not null, created real not null) strict;
create table delivery(
  id integer primary key, hook integer not null, body text not null, created real not null, attempts integer not null
  default 0, next real not null, done real, error text not null default '') strict;
create table audit(
  id integer primary key, time real not null, account integer references account, address text not null,
  action text not null, detail text not null) strict;
create table quota(team integer primary key references team, a_day integer, active integer) strict;
"""


class CupDatabase:
    """The open file. Rows are read as values of msgspec structs whose fields have the names of the columns."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Raises `UsageError` for a file that is missing, is another's, or is of another version."""
        where = printable(str(path))
        if not create and not path.is_file():
            raise UsageError(f"{where}: expected the database of a competition, and there is no file")
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
                self._connection.execute(f"pragma {pragma}")
            version = self._connection.execute("pragma user_version").fetchone()[0]
            if version == 0 and create:
                self._connection.executescript(f"begin; {SCHEMA}; pragma user_version = {VERSION}; commit;")
            elif version != VERSION:
                raise UsageError(f"{where}: expected a database of version {VERSION}, got version {version}")
        except sqlite3.Error as error:
            raise UsageError(f"{where}: cannot be opened as the database of a competition: {error}") from None
        self.revision = 0
        """The number of changes, without those that only count games."""

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def change(self, *, waits: bool = True) -> Iterator[None]:
        """Write what the body writes as one transaction. Raises `ArenaError` if the disk is full.

        If it `waits` for the disk, a power failure cannot undo it.
        """
        try:
            self._connection.execute(f"pragma synchronous = {'FULL' if waits else 'NORMAL'}")
            self._connection.execute("begin immediate")
            self.revision += waits
            try:
                yield
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:  # SQLite rolls back by itself on some errors
                    self._connection.execute("rollback")
                raise
        except sqlite3.OperationalError as error:
            raise ArenaError(f"the database of the competition cannot be written: {error}") from error

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement that writes; return the id of the new row, if it made one."""
        return self._connection.execute(sql, values).lastrowid or 0

    def insert(self, table: str, **values: Any) -> int:
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        return self.run(f"insert into {table}({names}) values({marks})", *values.values())

    def rows(self, kind: type[T], sql: str, *values: Any) -> list[T]:
        found = self._connection.execute(sql, values).fetchall()
        return [msgspec.convert(dict(row), kind, strict=False) for row in found]

    def row(self, kind: type[T], sql: str, *values: Any) -> T | None:
        return next(iter(self.rows(kind, sql, *values)), None)

    def value(self, sql: str, *values: Any) -> Any:
        """Return the first column of the first row; None without one."""
        row = self._connection.execute(sql, values).fetchone()
        return row[0] if row else None

    def column(self, sql: str, *values: Any) -> list[Any]:
        return [row[0] for row in self._connection.execute(sql, values)]

    def note(self, action: str, detail: Mapping[str, Any], account: int | None = None, address: str = "") -> None:
        """Add a row to the audit log, within a transaction."""
        self.revision += 1
        text = msgspec.json.encode(detail).decode()
        self.insert("audit", time=time.time(), account=account, address=address, action=action, detail=text)
