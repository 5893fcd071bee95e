"""Where games are kept: one SQLite file for one league. A game is in it whole or not at all.

Each game is one row, written in one transaction: the columns that tables are made from, and the record itself. The
settings that all games of the league share are kept beside them, so that games under other rules or another clock can
never get into the same table by mistake.
"""

import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from arena.hostfile import kind_of
from arena.model import ArenaError, GameRecord, GameResult, Player, UsageError
from arena.printable import printable
from arena.record import decode_record, encode_record
from protocol.notation import Color, Reason

APPLICATION_ID = 0x53747241  # "StrA", in the file's header
VERSION = 2
"""2 has the processor time of both sides; a store of version 1 gets the columns when it is opened for writing."""
BUSY_SECONDS = 30.0
DIFFERENCES_SHOWN = 6
ENTRANTS = "entrants"
FILES = "files of "
KEPT_BESIDE = (ENTRANTS, FILES)
"""How the names of settings begin that are none of the games: who takes part, and the files of a version of a bot."""
MOST_OF_FILES = 64 * 1024
"""Characters that are kept of one bot's files; of a bot with more its digest has to do."""
MADE_BY = "a file made by 'arena league' or 'arena match'"

_TABLES = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS games (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    red TEXT NOT NULL, red_digest TEXT NOT NULL,
    blue TEXT NOT NULL, blue_digest TEXT NOT NULL,
    result TEXT NOT NULL, reason TEXT NOT NULL, plies INTEGER NOT NULL, detail TEXT NOT NULL,
    red_moves INTEGER NOT NULL, red_us INTEGER NOT NULL, red_slowest_us INTEGER NOT NULL,
    blue_moves INTEGER NOT NULL, blue_us INTEGER NOT NULL, blue_slowest_us INTEGER NOT NULL,
    seconds REAL NOT NULL,
    record BLOB NOT NULL,
    red_cpu_us INTEGER, blue_cpu_us INTEGER
);
"""
_UPGRADE = (
    "ALTER TABLE games ADD COLUMN red_cpu_us INTEGER",
    "ALTER TABLE games ADD COLUMN blue_cpu_us INTEGER",
)


class StoreError(ArenaError):
    """The store cannot be read or written; the text says why. What was stored before is still there."""


class PlayerTime(NamedTuple):
    """What one side's moves took in one game: how many, in all, and the slowest, in microseconds.

    `cpu_us` is the processor time of them all; None where it was not measured.
    """

    moves: int
    total_us: int
    slowest_us: int
    cpu_us: int | None = None


class GameRow(NamedTuple):
    """What tables need to know of a stored game. Pairs are red, then blue; `number` counts games as they came in."""

    number: int
    id: str
    players: tuple[Player, Player]
    result: GameResult
    reason: Reason
    plies: int
    detail: str
    times: tuple[PlayerTime, PlayerTime]
    seconds: float


class Store:
    """An open store. Use it in a `with` statement."""

    def __init__(self, path: Path, create: bool) -> None:
        """Open the store at `path`; make a new one there if `create` is set and there is nothing yet.

        Raises `UsageError` if there is none, or what is there is not a store or is from a newer version.
        """
        self.path = path
        size = _size(path)
        if size is None and not create:
            raise UsageError(f"{path}: there is no such store")
        fresh = not size
        if fresh and not create:
            raise UsageError(f"{path}: expected a store ({MADE_BY}), got an empty file")
        try:
            # As a whole path: SQLite has names such as ":memory:" that are no files.
            self._database = sqlite3.connect(
                path.absolute(), timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare(fresh, create)
        except sqlite3.Error as error:
            raise _explained(path, error) from None

    def _prepare(self, fresh: bool, create: bool) -> None:
        database = self._database
        database.execute("PRAGMA synchronous = FULL")
        if fresh:
            database.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
                f"{_TABLES} COMMIT;"
            )
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            database.close()
            raise UsageError(f"{self.path}: expected a store made by 'arena', got another program's SQLite file")
        if version > VERSION:
            database.close()
            raise UsageError(
                f"{self.path}: this store was made by a newer version of arena (its format is {version}, this version "
                f"reads up to {VERSION}); nothing was changed in it"
            )
        self._has_cpu_times = version > 1
        if not self._has_cpu_times and create:
            self._upgrade()

    def _upgrade(self) -> None:
        """Give a store of version 1 what version 2 has, unless another process has just done it."""
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version == 1:
            for statement in _UPGRADE:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")
        self._has_cpu_times = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    # --- settings -------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, str]:
        """What all games of this store share."""
        return dict(self._query("SELECT name, value FROM settings"))

    def agree(self, settings: dict[str, str]) -> None:
        """Keep these settings, or raise `UsageError` if the store already holds games under others."""
        self._write("BEGIN IMMEDIATE")  # another process may be about to do the same
        for name, value in settings.items():
            self._write("INSERT OR IGNORE INTO settings VALUES (?, ?)", (name, value))
        present = self.settings()
        different = [name for name, value in settings.items() if present[name] != value]
        self._write("ROLLBACK" if different else "COMMIT")
        if different:
            lines = [f"    {name}: {present[name]} (in the store), {settings[name]} (asked for)" for name in different]
            if len(lines) > DIFFERENCES_SHOWN:
                lines[DIFFERENCES_SHOWN:] = [f"    and {len(lines) - DIFFERENCES_SHOWN} more"]
            raise UsageError(
                f"{self.path}: this store holds games under other settings:\n" + "\n".join(lines) + "\n"
                "use another file with --store, so that the two do not get into one table"
            )

    def set_entrants(self, players: tuple[Player, ...]) -> None:
        """Keep who takes part now: `entrants` without more words means these."""
        value = msgspec.json.encode(players).decode()
        self._write("INSERT OR REPLACE INTO settings VALUES ('entrants', ?)", (value,))

    def entrants(self) -> tuple[Player, ...]:
        """Who took part when the store was last used."""
        value = self.settings().get(ENTRANTS)
        players = msgspec.json.decode(value, type=tuple[Player, ...]) if value else ()
        return tuple(Player(printable(player.name), printable(player.digest)) for player in players)

    def players(self) -> list[Player]:
        """All who have played here, in the order of their last games."""
        rows = self._query(
            "SELECT name, digest FROM (SELECT red AS name, red_digest AS digest, number FROM games"
            " UNION ALL SELECT blue, blue_digest, number FROM games) GROUP BY name, digest ORDER BY max(number)"
        )
        return [Player(name, digest) for name, digest in rows]

    def set_files(self, player: Player, files: Mapping[str, str], versions: Sequence[Player]) -> None:
        """Keep the fingerprints of a player's files. Those of other players of its name stay if they are `versions`."""
        kept = {_files_key(version) for version in (player, *versions)}
        for (name,) in self._query("SELECT name FROM settings"):
            if name.rpartition("@")[0] == FILES + player.name and name not in kept:
                self._write("DELETE FROM settings WHERE name = ?", (name,))
        if files and self.files_of(player) != files:
            value = msgspec.json.encode(files).decode()
            if len(value) <= MOST_OF_FILES:
                self._write("INSERT OR REPLACE INTO settings VALUES (?, ?)", (_files_key(player), value))

    def files_of(self, player: Player) -> dict[str, str]:
        """The fingerprints of a player's files as they were kept; empty if they were not."""
        kept = self._query("SELECT value FROM settings WHERE name = ?", (_files_key(player),))
        try:
            files = msgspec.json.decode(kept[0][0], type=dict[str, str]) if kept else {}
        except msgspec.MsgspecError:
            return {}
        return {printable(name): content for name, content in files.items()}

    # --- games ----------------------------------------------------------------------------------------------------

    def add(self, record: GameRecord) -> GameRow:
        """Store a game, durably and as a whole. A game that is there already is left alone."""
        row = _row(0, record)
        (red, blue), (red_time, blue_time) = row.players, row.times
        values = (
            row.id,
            *(red.name, red.digest, blue.name, blue.digest),
            *(row.result.value, row.reason.value, row.plies, row.detail),
            *(*red_time[:3], *blue_time[:3], row.seconds),
            encode_record(record),
            *(red_time.cpu_us, blue_time.cpu_us),
        )
        marks = ", ".join("?" * len(values))
        self._write(f"INSERT INTO games VALUES (NULL, {marks}) ON CONFLICT (id) DO NOTHING", values)
        ((number,),) = self._query("SELECT number FROM games WHERE id = ?", (record.id,))
        return row._replace(number=number)

    def ids(self) -> set[str]:
        """The ids of all stored games."""
        return {game_id for (game_id,) in self._query("SELECT id FROM games")}

    def rows(self) -> Iterator[GameRow]:
        """All stored games, in the order in which they were stored."""
        cpu_times = "red_cpu_us, blue_cpu_us" if self._has_cpu_times else "NULL, NULL"
        for row in self._query(
            "SELECT number, id, red, red_digest, blue, blue_digest, result, reason, plies, detail, red_moves, red_us,"
            " red_slowest_us, blue_moves, blue_us, blue_slowest_us, seconds,"
            f" {cpu_times} FROM games ORDER BY number"
        ):
            yield GameRow(
                number=row[0],
                id=row[1],
                players=(Player(row[2], row[3]), Player(row[4], row[5])),
                result=GameResult(row[6]),
                reason=Reason(row[7]),
                plies=row[8],
                detail=row[9],
                times=(
                    PlayerTime(*row[10:13])._replace(cpu_us=row[17]),
                    PlayerTime(*row[13:16])._replace(cpu_us=row[18]),
                ),
                seconds=row[16],
            )

    def record(self, game: str) -> tuple[int, GameRecord]:
        """The number and the record of a game, given by its number or the start of its id. Raises `UsageError`."""
        found = []
        if game.isdecimal() and len(game) < 12:
            found = self._query("SELECT number, record FROM games WHERE number = ?", (int(game),))
        if not found:
            found = self._query("SELECT number, record FROM games WHERE substr(id, 1, ?) = ?", (len(game), game))
        if len(found) == 1:
            return int(found[0][0]), decode_record(found[0][1])
        if found:
            raise UsageError(f"{self.path}: {len(found)} games have an id that starts with {game!r}; give more of it")
        ((count,),) = self._query("SELECT count(*) FROM games")
        raise UsageError(
            f"{self.path}: there is no game {game!r}; expected a number from 1 to {count} or the start of an id"
            if count
            else f"{self.path}: there is no game {game!r}; no game is stored here yet"
        )

    def _query(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows that answer a question. A store may come from anywhere: text in it is made printable here."""
        try:
            rows = self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise _explained(self.path, error) from None
        return [tuple(printable(value) if isinstance(value, str) else value for value in row) for row in rows]

    def _write(self, statement: str, values: tuple[object, ...] = ()) -> None:
        try:
            self._database.execute(statement, values)  # outside a transaction: each statement is one of its own
        except sqlite3.Error as error:
            raise _explained(self.path, error) from None


def _size(path: Path) -> int | None:
    """The size of the file, or None if there is none. Raises `UsageError` if what is there cannot be a store."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened: {error.strerror}") from None
    except ValueError:  # a NUL, or half a surrogate pair
        raise UsageError(f"{printable(str(path))}: this is no path") from None
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{path}: expected a store ({MADE_BY}), got {kind_of(status.st_mode)}")
    return status.st_size


def _files_key(player: Player) -> str:
    return f"{FILES}{player.name}@{player.digest}"


def _row(number: int, record: GameRecord) -> GameRow:
    blue_starts = dict(record.rules).get("starts") == Color.BLUE.word
    red_time, blue_time = (
        _player_time(record.times_us[side ^ blue_starts :: 2], record.cpu_us[side ^ blue_starts :: 2]) for side in Color
    )
    verdict = record.verdict
    return GameRow(
        number=number,
        id=record.id,
        players=record.players,
        result=verdict.result,
        reason=verdict.reason,
        plies=verdict.plies,
        detail=verdict.detail,
        times=(red_time, blue_time),
        seconds=record.seconds,
    )


def _player_time(times_us: tuple[int, ...], cpu_us: tuple[int, ...]) -> PlayerTime:
    used = sum(cpu_us) if len(cpu_us) == len(times_us) else None
    return PlayerTime(len(times_us), sum(times_us), max(times_us, default=0), used)


def _explained(path: Path, error: sqlite3.Error) -> ArenaError:
    text = str(error)
    if "not a database" in text:
        return UsageError(
            f"{path}: expected a store (a file made by 'arena league' or 'arena match'), got another file"
        )
    if "full" in text:
        return StoreError(f"{path}: the disk is full; every game that was stored before is still there")
    if "unable to open" in text:
        return UsageError(f"{path}: cannot be opened: is its folder there, and may you write to it?")
    if "readonly" in text:
        return UsageError(f"{path}: cannot be written: the file or its folder is read-only")
    if "locked" in text:
        return StoreError(f"{path}: another program has been using this store for more than {BUSY_SECONDS:g} s")
    return StoreError(f"{path}: {text}")
