"""Where games are kept: one SQLite file for one league. A game is in it whole or not at all.

Each game is one row, written in one transaction: the columns that tables are made from, and the record itself. The
settings that all games of the league share are kept beside them, so that games under other rules or another clock can
never get into the same table by mistake.

Nothing that is read is believed unseen. A row carries checksums (`arena.league.store.game_row`), the file says how many
games it holds and which, and the settings are summed too. What is not as it was stored is named and never counts:
`read` gives the games that are whole and names the others, `rows` refuses a store that has any of those.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from arena.errors import UsageError
from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.game.spec import Player
from arena.hostfile import kind_of
from arena.league.store.database import MADE_BY, Damage, DamagedError, Database, StoreError, damage_text
from arena.league.store.game_row import (
    COLUMNS,
    SUM_BYTES,
    Columns,
    GameRow,
    PlayerTime,
    columns_of,
    differences,
    is_unchanged,
    record_sum,
    row_from,
    row_of,
    row_sum,
)
from arena.league.store.tables import ADDED, APPLICATION_ID, SCHEMA, TABLES, VERSION, are_known
from arena.printable import printable

__all__ = [
    "APPLICATION_ID",
    "VERSION",
    "Contents",
    "Damage",
    "DamagedError",
    "GameRow",
    "PlayerTime",
    "Store",
    "StoreError",
    "Stored",
    "damage_text",
]

PLANNED = "planned games"
DIFFERENCES_SHOWN = 6
SMALLEST_ROW = 64
"""Fewer bytes than any row takes: so a file's size bounds its games, whatever else it says."""
COUNT_BYTES = 8
RECORDS_AT_ONCE = 32
"""So many are held in memory while they are compared with their checksums, and as long may another program wait."""
SMALLEST_GAME = 512
"""Bytes of a game with its record, about: how many there can be in a file that has lost its count."""
RECORD_CHANGED = "its record was changed after it was stored"
COUNT_CHANGED = "the count of games was changed after it was stored"
GAPS_SHOWN = 10
SETTINGS_OF_GAMES = ("ruleset", "rules", "time", "other times")
"""What every store says that holds games. Without it, games under any other rules could be added."""
ROW_CHANGED = "its row was changed after it was stored"
UNREADABLE = "it cannot be read any more"
ENTRANTS = "entrants"
FILES = "files of "
KEPT_BESIDE = (ENTRANTS, FILES, PLANNED)
"""How the names of settings begin that are none of the games: who takes part, the files of a version of a bot, and how
many games are to be played."""
MOST_OF_FILES = 64 * 1024


class Contents(NamedTuple):
    """What a store holds: the rows of the games that are whole, in the order in which they were stored, who took part
    when it was last used, the settings, and what is not as it was stored, a sentence each."""

    rows: list[GameRow]
    entrants: tuple[Player, ...]
    settings: dict[str, str]
    damage: tuple[Damage, ...]

    @property
    def planned(self) -> int | None:
        """How many games were to be played when the store was last used; None where that was not kept."""
        value = self.settings.get(PLANNED, "")
        return int(value) if value.isascii() and value.isdecimal() else None


class Stored(NamedTuple):
    """One game as it lies in the store: what of it can be read, and what is wrong with it."""

    number: int
    row: GameRow | None
    record: GameRecord | None
    damage: tuple[Damage, ...]


class Store:
    """An open store. Use it in a `with` statement."""

    def __init__(self, path: Path, create: bool, *, is_doubtful: bool = False) -> None:
        """Open the store at `path`; make a new one there if `create` is set and there is nothing yet.

        One that `is_doubtful` is only read, and opened as long as anything of it can be: `read` names what is wrong.
        Raises `UsageError` if there is none, or what is there is not a store or is from a newer version, and
        `DamagedError` if it says of itself that it is older than what is in it.
        """
        self.path = path
        self._is_doubtful = is_doubtful
        self._whole_damage: tuple[Damage, ...] = ()
        fresh = _is_fresh(path, create)
        self._database = Database(path, write=create)
        try:
            self._prepare(fresh, create)
        except BaseException:
            self._database.close()
            raise

    def _prepare(self, fresh: bool, create: bool) -> None:
        if self._is_doubtful:
            self._whole_damage = tuple(self._database.prepare_for_salvage())
        self._database.prepare()
        if fresh:
            with self._database.transaction():
                if self._version() == 0:  # no other process has made it in the meantime
                    for statement in TABLES:
                        self._query(statement)
                    self._query(f"PRAGMA application_id = {APPLICATION_ID}")
                    self._upgrade(1)
        version = self._check_tables()
        if version < VERSION and create:
            with self._database.transaction():
                self._upgrade(self._version())  # which another process may just have done
        present = self._format_present()
        self._has_sums = present >= 3
        cpu_us = "red_cpu_us, blue_cpu_us" if present >= 2 else "NULL, NULL"
        sums = "record_sum, row_sum" if self._has_sums else "NULL, NULL"
        self._columns = f"{', '.join(COLUMNS[:-2])}, {cpu_us}, {sums}"

    def _check_tables(self) -> int:
        """The version of the store, whose tables are those of one: nothing else has been read by then."""
        with self._database.transaction("BEGIN"):  # another process may be about to upgrade it
            identity, version = self._database.number("application_id"), self._version()
            kinds = {kind for (kind,) in self._query("SELECT type FROM sqlite_schema")}
            if not kinds <= {"table", "index"} or identity != APPLICATION_ID:
                raise UsageError(f"{self.path}: expected a store made by 'arena', got another program's SQLite file")
            if version > VERSION:
                raise UsageError(
                    f"{self.path}: this store was made by a newer version of arena (its format is {version}, this "
                    f"version reads up to {VERSION}); nothing was changed in it"
                )
            if not are_known(self._query(SCHEMA), all_there=not self._is_doubtful):
                raise UsageError(
                    f"{self.path}: expected a store made by 'arena', with the tables of its format {version}, got "
                    "others: they were damaged, or made or changed by another program, and none of them was read"
                )
            self._refuse_or_note(self._format_damage())
        return version

    def _format_present(self) -> int:
        """The version whose columns the games have, whatever the file says its version is."""
        columns = {name for _, name, *_ in self._query("PRAGMA table_info(games)")}
        if {"record_sum", "row_sum"} & columns or self._query("SELECT 1 FROM sqlite_schema WHERE name = 'sums'"):
            return 3
        return 2 if "red_cpu_us" in columns else 1

    def _format_damage(self) -> tuple[Damage, ...]:
        """Whether the version is that of what is there. One that was lowered would switch all checksums off."""
        version, present = self._version(), self._format_present()
        if version < 1:
            return (Damage(None, f"its format is {version}, and there is no such"),)
        if version != present:
            return (Damage(None, f"it says that its format is {version}, and has what format {present} has"),)
        return ()

    def _refuse_or_note(self, damage: tuple[Damage, ...]) -> None:
        if damage and not self._is_doubtful:
            raise DamagedError(self.path, damage)
        self._whole_damage += damage

    def _version(self) -> int:
        return self._database.number("user_version")

    def _query(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._database.query(statement, *values)

    def _upgrade(self, version: int) -> None:
        """Give a store of this version what later ones have; it is in a transaction, so all of it or nothing."""
        for later in range(version + 1, VERSION + 1):
            for statement in ADDED[later]:
                self._query(statement)
        if version < 3:
            self._sum_all()
        self._query(f"PRAGMA user_version = {VERSION}")

    def _sum_all(self) -> None:
        """Sum what has been stored so far. A game whose row does not say what its record says gets no checksum, and is
        named from then on."""
        every, count = 0, 0
        for (number,) in self._query("SELECT number FROM games ORDER BY number"):
            count += 1
            ((*read, data),) = self._query(f"SELECT {', '.join(COLUMNS)}, record FROM games WHERE number = ?", number)
            columns = tuple(read)
            if _compared(columns, data)[1]:
                continue
            of_record = record_sum(data)
            of_row = row_sum(columns, of_record)
            self._query("UPDATE games SET record_sum = ?, row_sum = ? WHERE number = ?", of_record, of_row, number)
            every ^= int.from_bytes(of_row)
        self._query("INSERT INTO sums VALUES ('games', ?)", _games_sum(count, every))
        self._query("INSERT INTO sums VALUES ('settings', ?)", _settings_sum(self._settings()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    # --- settings -------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, str]:
        """What all games of this store share. Raises `DamagedError` if that is not what was stored."""
        settings = self._settings()
        damage = self._settings_damage(settings)
        if damage:
            raise DamagedError(self.path, damage)
        return settings

    def agree(self, settings: Mapping[str, str]) -> None:
        """Keep these settings, or raise `UsageError` if the store already holds games under others.

        Whatever adds games begins with this. So here all records are compared with their checksums, too. Raises
        `DamagedError` if anything in the store is not as it was stored, or it holds games and not their settings.
        """
        self.refuse_damage()
        with self._database.transaction():  # another process may be about to do the same
            present = self.settings()
            lost = [name for name in SETTINGS_OF_GAMES if name in settings and name not in present]
            if lost and self._query("SELECT 1 FROM games LIMIT 1"):
                words = f"it holds games, and not what they were played under ({', '.join(lost)})"
                raise DamagedError(self.path, (Damage(None, words),))
            different = [name for name, value in settings.items() if present.get(name, value) != value]
            if different:
                raise UsageError(self._disagreement(present, settings, different))
            self._set({name: value for name, value in settings.items() if name not in present})

    def _disagreement(self, present: Mapping[str, str], asked: Mapping[str, str], different: list[str]) -> str:
        lines = [f"    {name}: {present[name]} (in the store), {asked[name]} (asked for)" for name in different]
        if len(lines) > DIFFERENCES_SHOWN:
            lines[DIFFERENCES_SHOWN:] = [f"    and {len(lines) - DIFFERENCES_SHOWN} more"]
        return (
            f"{self.path}: this store holds games under other settings:\n" + "\n".join(lines) + "\n"
            "use another file with --store, so that the two do not get into one table"
        )

    def set_entrants(self, players: tuple[Player, ...]) -> None:
        """Keep who takes part now: `entrants` without more words means these."""
        with self._database.transaction():
            self.settings()
            self._set({ENTRANTS: msgspec.json.encode(players).decode()})

    def set_planned(self, games: int) -> None:
        """Keep how many games those who take part now are to play, so that a table can say what is missing."""
        with self._database.transaction():
            self.settings()
            self._set({PLANNED: str(games)})

    def entrants(self) -> tuple[Player, ...]:
        """Who took part when the store was last used."""
        return _entrants(self.settings())

    def players(self) -> list[Player]:
        """All who have played here, in the order of their last games."""
        rows = self._query(
            "SELECT name, digest FROM (SELECT red AS name, red_digest AS digest, number FROM games"
            " UNION ALL SELECT blue, blue_digest, number FROM games) GROUP BY name, digest ORDER BY max(number)"
        )
        return [Player(printable(str(name)), printable(str(digest))) for name, digest in rows]

    def players_as_now_called(self) -> list[Player]:
        """All who have played here, as `players` gives them, and then those of them who took part the last time: one
        who was renamed may have played no game since."""
        played = self.players()
        digests = {player.digest for player in played}
        with suppress(DamagedError):
            return [*played, *(player for player in self.entrants() if player.digest in digests)]
        return played

    def count_others(self, players: Sequence[Player]) -> int:
        """How many games there are with a bot that is none of these, nor another version of one: by digest and name."""
        pairs = self._query(
            "SELECT red, red_digest, blue, blue_digest, count(*) FROM games GROUP BY red, red_digest, blue, blue_digest"
        )
        names, digests = {player.name for player in players}, {player.digest for player in players}

        def is_known(name: object, digest: object) -> bool:
            return name in names or digest in digests

        return sum(count for *sides, count in pairs if not (is_known(*sides[:2]) and is_known(*sides[2:])))

    def set_files(self, player: Player, files: Mapping[str, str], versions: Sequence[Player]) -> None:
        """Keep the fingerprints of a player's files. Those of other players of its name stay if they are `versions`."""
        kept = {_files_key(version) for version in (player, *versions)}
        with self._database.transaction():
            present = self.settings()
            changes: dict[str, str | None] = {
                name: None for name in present if name.rpartition("@")[0] == FILES + player.name and name not in kept
            }
            value = msgspec.json.encode(files).decode()
            if files and len(value) <= MOST_OF_FILES and present.get(_files_key(player)) != value:
                changes[_files_key(player)] = value
            self._set(changes)

    def files_of(self, player: Player) -> dict[str, str]:
        """The fingerprints of a player's files as they were kept; empty if they were not."""
        kept = self.settings().get(_files_key(player), "{}")
        try:
            files = msgspec.json.decode(kept, type=dict[str, str])
        except msgspec.MsgspecError:
            return {}
        return {printable(name): content for name, content in files.items()}

    def doubtful_settings(self) -> dict[str, str]:
        """The settings as they lie there, whether they were changed or not; empty if they cannot be read."""
        try:
            return {name: value for name, value in self._settings().items() if isinstance(value, str)}
        except StoreError:
            return {}

    def _settings(self) -> dict[str, str]:
        return dict(self._query("SELECT name, value FROM settings"))

    def _settings_damage(self, settings: dict[str, str]) -> tuple[Damage, ...]:
        """What is wrong with the settings, if anything."""
        try:
            unchanged = not self._has_sums or _settings_sum(settings) == self._sum("settings")
            _entrants(settings)
        except (msgspec.MsgspecError, TypeError, UnicodeEncodeError, StoreError):
            unchanged = False
        return () if unchanged else (Damage(None, "the settings were changed after they were stored"),)

    def _set(self, changes: Mapping[str, str | None]) -> None:
        """Change settings, inside a transaction; None takes one away."""
        for name, value in changes.items():
            if value is None:
                self._query("DELETE FROM settings WHERE name = ?", name)
            else:
                self._query("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value)
        if changes:
            self._query("INSERT OR REPLACE INTO sums VALUES ('settings', ?)", _settings_sum(self._settings()))

    # --- games ----------------------------------------------------------------------------------------------------

    def add(self, record: GameRecord, number: int | None = None) -> GameRow:
        """Store a game, durably and as a whole. A game that is there already is left alone; returns what is stored.

        It gets the next number, or `number`, which no other game may have.
        """
        data = encode_record(record)
        with self._database.transaction():
            found = self._query("SELECT number FROM games WHERE id = ?", record.id)
            if found:
                stored = self.stored(found[0][0])
                if stored.row is None:
                    raise DamagedError(self.path, stored.damage)
                return stored.row
            ((last,),) = self._query("SELECT max(number) FROM games")
            row = row_of((last or 0) + 1 if number is None else number, record)
            columns, of_record = columns_of(row), record_sum(data)
            of_row = row_sum(columns, of_record)
            values = (*columns, data, of_record, of_row)
            names = ", ".join((*COLUMNS, "record", "record_sum", "row_sum"))
            self._query(f"INSERT INTO games ({names}) VALUES ({', '.join('?' * len(values))})", *values)
            count, every = self._games_sum()
            total = _games_sum(count + 1, every ^ int.from_bytes(of_row))
            self._query("UPDATE sums SET value = ? WHERE name = 'games'", total)
        return row

    def ids(self) -> set[str]:
        """The ids of all stored games. Raises `DamagedError` as `rows` does."""
        return {row.id for row in self.rows()}

    def rows(self) -> list[GameRow]:
        """All stored games, in the order in which they were stored.

        Raises `DamagedError` if anything in the store is not as it was stored.
        """
        contents = self.read()
        if contents.damage:
            raise DamagedError(self.path, contents.damage)
        return contents.rows

    def read(self) -> Contents:
        """All that is as it was stored, and what is not."""
        with self._database.transaction("BEGIN"):  # one moment of a store that another process may be adding to
            try:
                settings = self._settings()
                damage = self._settings_damage(settings)
            except StoreError:
                damage = (Damage(None, "the settings cannot be read any more"),)
            if damage:
                settings = {}
            rows, damaged = self._read_games() if self._has_sums else self._read_games_without_sums()
        return Contents(rows, _entrants(settings), settings, (*self._whole_damage, *damaged, *damage))

    def refuse_damage(self) -> None:
        """Raise `DamagedError` if anything is not as it was stored, the records included, which `read` leaves alone."""
        contents = self.read()
        damage = (*contents.damage, *(self._records_damage() if self._has_sums else ()))
        if damage:
            raise DamagedError(self.path, damage)

    def _records_damage(self) -> list[Damage]:
        """The games whose records are not what was stored. A few are read at a time, however many there are."""
        damage: list[Damage] = []
        last: Any = None
        while True:
            after, values = ("WHERE number > ?", (last,)) if last is not None else ("", ())
            found = self._query(
                f"SELECT number, record_sum, record FROM games {after} ORDER BY number LIMIT {RECORDS_AT_ONCE}", *values
            )
            if not found:
                return damage
            last = found[-1][0]
            damage += [
                Damage(number, RECORD_CHANGED)
                for number, stored_sum, data in found
                if not isinstance(data, bytes) or record_sum(data) != stored_sum
            ]

    def _read_games(self) -> tuple[list[GameRow], list[Damage]]:
        rows: list[GameRow] = []
        damage: list[Damage] = []
        every = 0
        try:
            found = self._query(f"SELECT {self._columns} FROM games ORDER BY number")
        except StoreError as error:
            found, damage = self._one_by_one(error)
        for columns in found:
            if is_unchanged(columns[:-2], *columns[-2:]):
                rows.append(row_from(columns[:-2]))
                every ^= int.from_bytes(columns[-1])
            else:
                damage.append(Damage(columns[0], ROW_CHANGED))
        return rows, damage + self._missing([columns[0] for columns in found], every, bool(damage))

    def _one_by_one(self, error: StoreError) -> tuple[list[tuple[Any, ...]], list[Damage]]:
        """The rows that can still be reached in a file that is damaged itself, and the numbers of those that cannot."""
        found, damage = [], []
        for number in self.numbers():
            try:
                found += self._query(f"SELECT {self._columns} FROM games WHERE number = ?", number)
            except StoreError:
                damage.append(Damage(number, UNREADABLE))
        if not found and not self._is_doubtful:
            raise error
        return found, damage or [Damage(None, "the file itself is damaged")]

    def _missing(self, numbers: list[int], every: int, is_damaged: bool) -> list[Damage]:
        """What the count of all games and the sum of their rows tell of games that are not there, or too many."""
        try:
            count, expected = self._games_sum()
        except StoreError:
            return [Damage(None, COUNT_CHANGED)]
        if count != len(numbers):
            gaps = _gaps(numbers) if count > len(numbers) else ""
            stored = "1 game was" if count == 1 else f"{count} games were"
            return [Damage(None, f"{stored} stored, and {len(numbers)} can be found{gaps}")]
        return (
            []
            if is_damaged or every == expected
            else [Damage(None, "the list of games was changed after they were stored")]
        )

    def _read_games_without_sums(self) -> tuple[list[GameRow], list[Damage]]:
        """The same of a store of version 1 or 2: there a row counts if it says what its record says."""
        rows: list[GameRow] = []
        damage: list[Damage] = []
        numbers = self._query("SELECT number FROM games ORDER BY number")
        for (number,) in numbers:
            stored = self.stored(number)
            damage += stored.damage
            if stored.row:
                rows.append(stored.row)
        ((count, last),) = self._query("SELECT count(*), max(number) FROM games")
        if not count == (last or 0) == len(numbers):
            found = min(count, len(numbers))
            damage.append(Damage(None, f"{last} games were stored, and {found} can be found"))
        return rows, damage

    def numbers(self) -> list[int]:
        """The numbers of all games that are there, whole or not."""
        try:
            return [number for (number,) in self._query("SELECT number FROM games NOT INDEXED ORDER BY number")]
        except StoreError:
            return self._numbers_of_a_damaged_file()

    def _numbers_of_a_damaged_file(self) -> list[int]:
        """All numbers that a game may have: read from both ends of the table up to the damage, and from its index."""
        found: set[int] = set()
        for scan in (
            "SELECT number FROM games NOT INDEXED ORDER BY number",
            "SELECT number FROM games NOT INDEXED ORDER BY number DESC",
            "SELECT number FROM games INDEXED BY sqlite_autoindex_games_1",
        ):
            found.update(number for (number,) in self._database.as_far_as_it_goes(scan) if isinstance(number, int))
        most = self._size() // SMALLEST_GAME
        try:
            count, _ = self._games_sum()
        except StoreError:
            count = most
        return sorted(found | set(range(1, min(max(count, *found, 0), most) + 1)))

    def stored(self, number: int) -> Stored:
        """A game as it lies there, checked in every way that needs nothing but itself."""
        try:
            found = self._query(f"SELECT {self._columns}, record FROM games WHERE number = ?", number)
        except StoreError:
            found = []
        if not found:
            return Stored(number, None, None, (Damage(number, UNREADABLE),))
        (*read, data), *_ = found
        columns, sums = tuple(read[:-2]), read[-2:]
        wrong = []
        if self._has_sums and not is_unchanged(columns, *sums):
            wrong.append(ROW_CHANGED)
        is_record_sound = isinstance(data, bytes) and (not self._has_sums or record_sum(data) == sums[0])
        record = None
        if not is_record_sound:
            wrong.append(RECORD_CHANGED)
        else:
            record, different = _compared(columns, data)
            wrong = wrong or different
        return Stored(
            number, None if wrong else row_from(columns), record, tuple(Damage(number, words) for words in wrong)
        )

    def record(self, game: str) -> tuple[int, GameRecord]:
        """The number and the record of a game, given by its number or the start of its id.

        Raises `UsageError`, or `DamagedError` if it is not as it was stored.
        """
        found = []
        if game.isdecimal() and len(game) < 12:
            found = self._query("SELECT number FROM games WHERE number = ?", int(game))
        if not found:
            found = self._query("SELECT number FROM games WHERE substr(id, 1, ?) = ?", len(game), game)
        if len(found) == 1:
            stored = self.stored(found[0][0])
            if stored.record is None or stored.damage:
                raise DamagedError(self.path, stored.damage)
            return stored.number, stored.record
        if found:
            raise UsageError(f"{self.path}: {len(found)} games have an id that starts with {game!r}; give more of it")
        ((last,),) = self._query("SELECT max(number) FROM games")
        raise UsageError(
            f"{self.path}: there is no game {game!r}; expected a number from 1 to {last} or the start of an id"
            if last is not None
            else f"{self.path}: there is no game {game!r}; no game is stored here yet"
        )

    def file_damage(self) -> list[Damage]:
        """What SQLite finds wrong with the file itself."""
        return self._database.damage()

    # --- checksums ------------------------------------------------------------------------------------------------

    def _sum(self, name: str) -> bytes:
        found = self._query("SELECT value FROM sums WHERE name = ?", name)
        return found[0][0] if found and isinstance(found[0][0], bytes) else b""

    def _games_sum(self) -> tuple[int, int]:
        """How many games were stored, and the exclusive or of the sums of their rows. Raises `DamagedError`."""
        value = self._sum("games")
        count = int.from_bytes(value[:COUNT_BYTES])
        if len(value) != COUNT_BYTES + SUM_BYTES or count > self._size() // SMALLEST_ROW:
            raise DamagedError(self.path, (Damage(None, COUNT_CHANGED),))
        return count, int.from_bytes(value[COUNT_BYTES:])

    def _size(self) -> int:
        """Of the file, in bytes."""
        return self._database.number("page_count") * self._database.number("page_size")


def _is_fresh(path: Path, create: bool) -> bool:
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


def _gaps(numbers: Sequence[int]) -> str:
    """Which numbers up to the last no game has, in words; `numbers` rise."""
    gaps = [(low + 1, high - 1) for low, high in pairwise([0, *numbers]) if high > low + 1]
    words = [str(first) if first == last else f"{first} to {last}" for first, last in gaps]
    if len(words) > GAPS_SHOWN:
        words[GAPS_SHOWN:] = ["others"]
    return f"; no game has the number {', '.join(words)}" if words else ""


def _compared(columns: Columns, data: object) -> tuple[GameRecord | None, list[str]]:
    """A game's record, and what is wrong with it apart from checksums: columns that say something else than it does."""
    try:
        record = decode_record(data if isinstance(data, bytes) else b"")
    except RecordError as error:
        return None, [f"its record cannot be read: {error}"]
    different = differences(columns, record)
    return record, [f"its row does not say what its record says: {'; '.join(different)}"] if different else []


def _files_key(player: Player) -> str:
    return f"{FILES}{player.name}@{player.digest}"


def _entrants(settings: Mapping[str, str]) -> tuple[Player, ...]:
    value = settings.get(ENTRANTS)
    players = msgspec.json.decode(value, type=tuple[Player, ...]) if value else ()
    return tuple(Player(printable(player.name), printable(player.digest)) for player in players)


def _settings_sum(settings: Mapping[str, str]) -> bytes:
    return blake2b(msgspec.msgpack.encode(sorted(settings.items())), digest_size=SUM_BYTES).digest()


def _games_sum(count: int, every: int) -> bytes:
    return count.to_bytes(COUNT_BYTES) + every.to_bytes(SUM_BYTES)
