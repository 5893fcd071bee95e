"""Which version a store is of, and what an older one gets when it is opened for writing.

The tables are compared with those of all versions before anything is read from them (`arena.league.store.tables`). The
version that the file names has to be that of the columns that are there: one that was lowered would switch all
checksums off.
"""

from pathlib import Path

from arena.errors import UsageError
from arena.hostfile import kind_of
from arena.league.store.database import MADE_BY, Damage, DamagedError, Database
from arena.league.store.game_row import COLUMNS, compared, record_sum, row_sum
from arena.league.store.settings import SettingsTable
from arena.league.store.sums import Sums
from arena.league.store.tables import ADDED, APPLICATION_ID, SCHEMA, TABLES, VERSION, are_known

FIRST_WITH_CPU_TIMES, FIRST_WITH_SUMS = 2, 3


def is_fresh(path: Path, create: bool) -> bool:
    """Whether there is nothing at `path` yet. Raises `UsageError` if nothing may be made there, or it cannot be one."""
    try:
        is_there = path.exists()
        if path.is_dir() or (is_there and not path.is_file()):
            raise UsageError(f"{path}: expected a store ({MADE_BY}), got {kind_of(path.stat().st_mode)}")
        if not create and not is_there:
            raise UsageError(f"{path}: there is no such store")
        fresh = not is_there or path.stat().st_size == 0
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: cannot be opened: {why}") from None
    if fresh and not create:
        raise UsageError(f"{path}: expected a store ({MADE_BY}), got an empty file")
    return fresh


def is_empty_file(path: Path) -> bool:
    """Whether there is a file without anything in it: SQLite makes it so, until the tables of a new store are in it."""
    return path.is_file() and path.stat().st_size == 0


def make_tables(database: Database) -> None:
    """Make an empty store, unless another process has made it in the meantime."""
    with database.transaction():
        if _version(database) == 0:
            for statement in TABLES:
                database.query(statement)
            database.query(f"PRAGMA application_id = {APPLICATION_ID}")
            _upgrade(database, 1)


def check_tables(database: Database, *, is_doubtful: bool) -> tuple[Damage, ...]:
    """Raise `UsageError` if the file has other tables than a store, and `DamagedError` if they are not of its version.

    For a store that `is_doubtful` some of the tables are enough, and the damage is returned.
    """
    with database.transaction("BEGIN"):  # another process may be about to upgrade it
        identity, version = database.number("application_id"), _version(database)
        kinds = {kind for (kind,) in database.query("SELECT type FROM sqlite_schema")}
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
    if {"record_sum", "row_sum"} & columns or database.query("SELECT 1 FROM sqlite_schema WHERE name = 'sums'"):
        return FIRST_WITH_SUMS
    return FIRST_WITH_CPU_TIMES if "red_cpu_us" in columns else 1


def upgrade(database: Database) -> None:
    """Give an older store what it lacks. In one transaction: all of it or nothing."""
    if _version(database) < VERSION:
        with database.transaction():
            _upgrade(database, _version(database))  # which another process may just have done


def _upgrade(database: Database, version: int) -> None:
    for later in range(version + 1, VERSION + 1):
        for statement in ADDED[later]:
            database.query(statement)
    if version < FIRST_WITH_SUMS:
        _sum_all(database)
    database.query(f"PRAGMA user_version = {VERSION}")


def _sum_all(database: Database) -> None:
    """Sum what has been stored so far. A game whose row does not say what its record says gets no checksum, and is
    named from then on."""
    every, count = 0, 0
    for (number,) in database.query("SELECT number FROM games ORDER BY number"):
        count += 1
        ((*read, data),) = database.query(f"SELECT {', '.join(COLUMNS)}, record FROM games WHERE number = ?", number)
        columns = tuple(read)
        if compared(columns, data)[1]:
            continue
        of_record = record_sum(data)
        of_row = row_sum(columns, of_record)
        database.query("UPDATE games SET record_sum = ?, row_sum = ? WHERE number = ?", of_record, of_row, number)
        every ^= int.from_bytes(of_row)
    sums = Sums(database)
    sums.set_games(count, every)
    sums.set_settings(SettingsTable(database, None).raw())


def _version(database: Database) -> int:
    return database.number("user_version")
