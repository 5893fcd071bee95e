"""The tables of a store: making them in a new file, refusing a file that has others, and the table of settings.

A table of another program can have computed columns of any size, and triggers that run as games are stored. So the
definitions in a file have to be exactly these.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.game.record import STRATEGO_1
from arena.league.store.database import MADE_BY, Damage, DamagedError, Database, StoreError
from arena.league.store.document import (
    GAME,
    NOT_CALIBRATED,
    RULES,
    RULESET,
    SEPARATOR,
    SETTINGS_OF_GAMES,
    TIME_OF,
    Document,
    Kept,
    decode_document,
    encode_document,
    time_differences,
    without_known_times,
)
from arena.league.store.game_row import digest_of
from arena.system.printable import printable
from arena.system.user_files import kind_of

APPLICATION_ID = 0x53747241  # "StrA", in the file's header
VERSION = 1

TABLES = (
    "CREATE TABLE settings (document BLOB NOT NULL, digest BLOB NOT NULL)",
    "CREATE TABLE players (number INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL,"
    " UNIQUE (digest, name))",
    """CREATE TABLE games (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    red INTEGER NOT NULL, blue INTEGER NOT NULL,
    result TEXT NOT NULL, reason TEXT NOT NULL, plies INTEGER NOT NULL, detail TEXT NOT NULL,
    red_moves INTEGER NOT NULL, red_us INTEGER NOT NULL, red_slowest_us INTEGER NOT NULL,
    blue_moves INTEGER NOT NULL, blue_us INTEGER NOT NULL, blue_slowest_us INTEGER NOT NULL,
    seconds REAL NOT NULL, red_cpu_us INTEGER, blue_cpu_us INTEGER,
    pair_seed INTEGER NOT NULL, started REAL NOT NULL,
    record_digest BLOB NOT NULL, row_digest BLOB NOT NULL
)""",
    "CREATE INDEX games_of_red ON games (red)",
    "CREATE INDEX games_of_blue ON games (blue)",
    "CREATE TABLE records (number INTEGER PRIMARY KEY, record BLOB NOT NULL)",
)
"""A record is some twenty times as large as its row: in one table, reading rows would read the records."""


def is_fresh(path: Path, create: bool) -> bool:
    """Return whether `path` is free or an empty file. Raises `UsageError` if no store can be opened or made there."""
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
    """Return whether the file is empty, as SQLite makes it before the tables of a new store are in it."""
    return path.is_file() and path.stat().st_size == 0


def make_tables(database: Database) -> None:
    """Make an empty store, unless another process has made it in the meantime."""
    with database.transaction():
        if database.number("user_version") == 0:
            for statement in TABLES:
                database.query(statement)
            document = encode_document({}, Kept())
            database.query("INSERT INTO settings VALUES (?, ?)", document, digest_of(document))
            database.query(f"PRAGMA application_id = {APPLICATION_ID}")
            database.query(f"PRAGMA user_version = {VERSION}")


def check_tables(database: Database) -> None:
    """Raise `UsageError` if the file is no store, or one of another version."""
    path = database.path
    with database.transaction("BEGIN"):
        if database.number("application_id") != APPLICATION_ID:
            raise UsageError(f"{path}: expected a store made by 'arena', got another program's SQLite file")
        version = database.number("user_version")
        if version != VERSION:
            raise UsageError(
                f"{path}: this store has format {version}, and this version of arena reads format {VERSION}: use the "
                "version that made it; it was not changed"
            )
        found = database.query("SELECT sql FROM sqlite_schema")
    if {sql for (sql,) in found if sql is not None} != set(TABLES):
        raise UsageError(
            f"{path}: expected a store made by 'arena', with the tables of its format {VERSION}, got others: they were "
            "damaged, or made or changed by another program, and none of them was read"
        )


SETTINGS_CHANGED = "the settings were changed after they were stored"
SETTINGS_UNREADABLE = "the settings cannot be read any more"
NO_SETTINGS = (SETTINGS_CHANGED, SETTINGS_UNREADABLE)
"""The damage of a store with untrustworthy settings."""
DIFFERENCES_SHOWN = 6
VALUE_SHOWN = 500
"""Characters of a setting that an error shows."""


class SettingsTable:
    _database: Database

    def read_document(self) -> tuple[Document, tuple[Damage, ...]]:
        """Return the settings document, or an empty one and its damage."""
        try:
            found = self._database.query("SELECT document, digest FROM settings")
        except StoreError:
            return Document(), (Damage(None, SETTINGS_UNREADABLE),)
        if len(found) == 1 and isinstance(data := found[0][0], bytes) and digest_of(data) == found[0][1]:
            document = decode_document(data)
            if document is not None:
                return document, ()
        return Document(), (Damage(None, SETTINGS_CHANGED),)

    def _document(self) -> Document:
        document, damage = self.read_document()
        if damage:
            raise DamagedError(self._database.path, damage)
        return document

    def settings(self) -> dict[str, str]:
        """Return the settings that all games of this store share. Raises `DamagedError`."""
        return self._document().games

    def kept(self) -> Kept:
        """Return the last league's data. Raises `DamagedError`."""
        return self._document().kept

    def claims(self) -> Kept:
        """Return the last league's data; empty if it is damaged."""
        return self.read_document()[0].kept

    def unchecked_settings(self) -> Document | None:
        """Return the settings even if they were changed; None if they cannot be read."""
        try:
            found = self._database.query("SELECT document FROM settings")
        except StoreError:
            return None
        return decode_document(found[0][0]) if found else None

    def keep_agreed(
        self,
        asked: Mapping[str, str],
        *,
        has_games: bool,
        players: Sequence[Player] = (),
        played: Callable[[], Collection[str]] = tuple,
    ) -> None:
        """Store these settings of games, inside a transaction; `played` returns the digests of all players with games.

        Raises `UsageError` if there are others already, and `DamagedError` if there are games without settings.
        """
        document = self._document()
        present = {**NOT_CALIBRATED, **document.games} if has_games else document.games
        lost = [name for name in SETTINGS_OF_GAMES if name in asked and name not in present]
        if lost and has_games:
            words = f"it holds games, and not what they were played under ({', '.join(lost)})"
            raise DamagedError(self._database.path, (Damage(None, words),))
        games = [printable(each.get(GAME, STRATEGO_1), VALUE_SHOWN) for each in (present, asked) if RULESET in each]
        if len(set(games)) > 1:
            raise UsageError(
                f"{self._database.path}: this store holds games of {games[0]}, and {games[1]} was asked for: a store "
                "is for one game and version; name the game with --game, or another store"
            )
        of_all = {name: value for name, value in asked.items() if not name.startswith(TIME_OF)}
        of_all = {**NOT_CALIBRATED, **of_all} if of_all else {}
        different = _differences(present, of_all) + time_differences(
            present, asked, players, lambda: {*played(), *(player.digest for player in document.kept.entrants)}
        )
        if different:
            if len(different) > DIFFERENCES_SHOWN:
                different[DIFFERENCES_SHOWN:] = [f"    and {len(different) - DIFFERENCES_SHOWN} more"]
            raise UsageError(
                f"{self._database.path}: this store holds games under other settings:\n"
                + "\n".join(different)
                + "\nuse another store, so that the two do not get into one table"
            )
        new = {name: value for name, value in without_known_times(asked, present).items() if name not in present}
        if new:
            self._write({**document.games, **new}, document.kept)

    def keep(self, **fields: Any) -> None:
        self._change_kept(lambda _: fields)

    def _change_kept(self, changes: Callable[[Kept], Mapping[str, Any]]) -> None:
        with self._database.transaction():
            document = self._document()
            kept = replace(document.kept, **changes(document.kept))
            if kept != document.kept:
                self._write(document.games, kept)

    def _write(self, games: Mapping[str, str], kept: Kept) -> None:
        try:
            data = encode_document(games, kept)
        except UnicodeEncodeError:
            raise StoreError(f"{self._database.path}: expected text that can be stored as UTF-8") from None
        self._database.query("UPDATE settings SET document = ?, digest = ?", data, digest_of(data))


def _differences(present: Mapping[str, str], asked: Mapping[str, str]) -> list[str]:
    lines = []
    different = [name for name, value in asked.items() if present.get(name, value) != value]
    for name in different:
        if name == RULES and RULESET in different:
            continue
        there, new = present[name], asked[name]
        if name == RULES:
            old, now = there.split(SEPARATOR), new.split(SEPARATOR)
            there = SEPARATOR.join(rule for rule in old if rule not in now) or "none of these"
            new = SEPARATOR.join(rule for rule in now if rule not in old) or "none of these"
        there, new = printable(there, VALUE_SHOWN), printable(new, VALUE_SHOWN)
        lines.append(f"    {name}: {there} (in the store), {new} (asked for)")
    return lines
