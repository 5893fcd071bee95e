"""Which version a store is of, and what an older one gets when it is opened for writing.

The tables are compared with those of all versions before anything is read from them (`arena.league.store.tables`). The
version that the file names has to be that of the columns that are there: one that was lowered would switch all
checksums off.
"""

import os
from contextlib import suppress
from itertools import islice
from pathlib import Path

from arena.errors import UsageError, nearest
from arena.hostfile import kind_of
from arena.league.store.database import Database
from arena.league.store.faults import MADE_BY, Damage, DamagedError, StoreError
from arena.league.store.game_row import COLUMNS, compared, head_of, is_unchanged, record_sum, row_sum
from arena.league.store.layout import FIRST_WITH_CPU_TIMES, FIRST_WITH_RECORDS_APART, FIRST_WITH_SUMS, Layout
from arena.league.store.other_files import missing_end
from arena.league.store.rows import LARGEST_NUMBER, SMALLEST_NUMBER
from arena.league.store.settings import SettingsTable
from arena.league.store.sums import Sums
from arena.league.store.tables import APPLICATION_ID, GAMES, RECORDS, SCHEMA, SUMS, TABLES, VERSION, are_known
from arena.printable import printable

NUMBERS_AT_ONCE = 1000
NAMES_LOOKED_AT = 1000
BESIDE = ("-lock", "-wal", "-shm", "-journal")
"""How files end that are no stores, but stand beside them."""
OLD_GAMES = "older_games"
"""The table of an older version while its games are copied; nobody else ever sees it."""


def is_fresh(path: Path, create: bool) -> bool:
    """Whether there is nothing at `path` yet. Raises `UsageError` if nothing may be made there, or it cannot be one."""
    try:
        is_there = path.exists()
        if path.is_dir() or (is_there and not path.is_file()):
            raise UsageError(f"{path}: expected a store ({MADE_BY}), got {kind_of(path.stat().st_mode)}")
        if not create and not is_there:
            raise UsageError(f"{path}: there is no such store{_near(path)}")
        fresh = not is_there or path.stat().st_size == 0
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: cannot be opened: {why}") from None
    if fresh and not create:
        raise UsageError(f"{path}: expected a store ({MADE_BY}), got an empty file")
    return fresh


def _near(path: Path) -> str:
    """What the folder holds of nearly that name."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        names = [entry.name for entry in islice(entries, NAMES_LOOKED_AT)]
        near = nearest(path.name, [name for name in names if not name.endswith(BESIDE)])
        return printable(f"; did you mean {' or '.join(near)}?") if near else ""
    return ""


def is_empty_file(path: Path) -> bool:
    """Whether there is a file without anything in it: SQLite makes it so, until the tables of a new store are in it."""
    return path.is_file() and path.stat().st_size == 0


def make_tables(database: Database) -> None:
    """Make an empty store, unless another process has made it in the meantime."""
    with database.transaction():
        if _version(database) == 0:
            for statement in TABLES:
                database.query(statement)
            sums = Sums(database)
            sums.set_games(0, 0)
            sums.set_settings({})
            database.query(f"PRAGMA application_id = {APPLICATION_ID}")
            database.query(f"PRAGMA user_version = {VERSION}")


def check_tables(database: Database, *, is_doubtful: bool) -> tuple[Damage, ...]:
    """Raise `UsageError` if the file has other tables than a store, `DamagedError` if they are not of its version, and
    `StoreError` if there is too little of it for any.

    For a store that `is_doubtful` some of the tables are enough, and the damage is returned.
    """
    with database.transaction("BEGIN"):  # another process may be about to upgrade it
        identity, version = database.number("application_id"), _version(database)
        kinds = {kind for (kind,) in database.query("SELECT type FROM sqlite_schema")}
        if identity == APPLICATION_ID and None in kinds:
            words = missing_end(database.path) or "the file is damaged: what tables it has cannot be read"
            raise StoreError(f"{database.path}: {words}")
        if not kinds <= {"table", "index"} or identity != APPLICATION_ID:
            raise UsageError(f"{database.path}: expected a store made by 'arena', got another program's SQLite file")
        if version > VERSION:
            raise UsageError(
                f"{database.path}: this store was made by a newer version of arena (its format is {version}, this "
                f"version reads up to {VERSION}); nothing was changed in it"
            )
        if not are_known(database.query(SCHEMA), all_there=not is_doubtful):
            raise UsageError(
                f"{database.path}: expected a store made by 'arena', with the tables of its format {version}, got "
                "others: they were damaged, or made or changed by another program, and none of them was read"
            )
        damage = _version_damage(version, present_version(database))
        if damage and not is_doubtful:
            raise DamagedError(database.path, damage)
    return damage


def _version_damage(version: int, present: int) -> tuple[Damage, ...]:
    """What is wrong with the version that the file names, if anything."""
    if version < 1:
        return (Damage(None, f"its format is {version}, and there is no such"),)
    if version != present:
        return (Damage(None, f"it says that its format is {version}, and has what format {present} has"),)
    return ()


def present_version(database: Database) -> int:
    """The version whose columns the games have, whatever the file says its version is."""
    columns = {name for _, name, *_ in database.query("PRAGMA table_info(games)")}
    tables = {name for (name,) in database.query("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "pair_seed" in columns or "records" in tables:
        return FIRST_WITH_RECORDS_APART
    if {"record_sum", "row_sum"} & columns or "sums" in tables:
        return FIRST_WITH_SUMS
    return FIRST_WITH_CPU_TIMES if "red_cpu_us" in columns else 1


def upgrade(database: Database) -> None:
    """Make a store of this version of an older one. In one transaction: all of it or nothing."""
    if _version(database) < VERSION:
        with database.transaction():
            version = _version(database)
            if version < VERSION:  # another process may just have done it
                _upgrade(database, Layout(version))
                database.query(f"PRAGMA user_version = {VERSION}")


def _upgrade(database: Database, old: Layout) -> None:
    """Copy every game to the tables of this version, whatever stands in it, and then drop the old one."""
    database.query(f"ALTER TABLE games RENAME TO {OLD_GAMES}")
    for statement in (GAMES, RECORDS) if old.has_sums else (GAMES, RECORDS, SUMS):
        database.query(statement)
    every, count, number = 0, 0, SMALLEST_NUMBER
    while numbers := database.query(
        f"SELECT number FROM {OLD_GAMES} WHERE number >= ? ORDER BY number LIMIT {NUMBERS_AT_ONCE}", number
    ):
        for (number,) in numbers:
            every ^= _copy_game(database, old, number)
            count += 1
        if number == LARGEST_NUMBER:
            break
        number += 1
    sums = Sums(database)
    if old.has_sums:
        _change_sum(sums, every)
    else:
        ((last,),) = database.query(f"SELECT max(number) FROM {OLD_GAMES}")
        sums.set_games(max(count, last or 0), every)  # without sums, a gap in the numbers tells of a game that is gone
        sums.set_settings(SettingsTable(database, None).text())
    database.query(f"DROP TABLE {OLD_GAMES}")


def _copy_game(database: Database, old: Layout, number: int) -> int:
    """Copy a game; returns by what the sum of all rows changes.

    What was whole gets its new columns and a checksum over all of them. A game that is not as it was stored, or whose
    row does not say what its record says, is copied as it is and has no checksum that agrees: it is named from then on.
    """
    ((*read, data),) = database.query(f"SELECT {old.columns}, record FROM {OLD_GAMES} WHERE number = ?", number)
    columns, of_record, of_row = tuple(read[: old.compared]), read[-2], read[-1]
    head: tuple[int | None, float | None] = (None, None)
    change = 0
    if old.has_sums and is_unchanged(columns, of_record, of_row):
        change = int.from_bytes(of_row)
        if isinstance(data, bytes) and record_sum(data) == of_record:
            head = head_of(data)
        of_row = row_sum((*columns, *head), of_record)
        change ^= int.from_bytes(of_row)
    elif not old.has_sums and not compared(columns, data)[1]:
        of_record, head = record_sum(data), head_of(data)
        of_row = row_sum((*columns, *head), of_record)
        change = int.from_bytes(of_row)
    names = ", ".join(COLUMNS[: old.compared])
    values = ", ".join(old.columns.split(", ")[: old.compared])
    database.query(
        f"INSERT INTO games ({names}, pair_seed, started, record_sum, row_sum) "
        f"SELECT {values}, ?, ?, ?, ? FROM {OLD_GAMES} WHERE number = ?",
        *(*head, of_record, of_row, number),
    )
    database.query(f"INSERT INTO records SELECT number, record FROM {OLD_GAMES} WHERE number = ?", number)
    return change


def _change_sum(sums: Sums, change: int) -> None:
    """Keep what the store says of all its games, but for what their new checksums change: what is missing stays so."""
    try:
        count, every = sums.games()
    except DamagedError:
        return  # it is named from then on, as it was
    sums.set_games(count, every ^ change)


def _version(database: Database) -> int:
    return database.number("user_version")
