"""The games of an open store: adding them, reading one or all, and checking that each is as it was stored.

Games are only ever added, with the next number: so a missing number is a lost game. Rows are read in batches, so that
memory does not grow with the games, and a program that stores games does not wait for the whole pass.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from arena.game.game_spec import Player
from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.league.store.database import Damage, DamagedError, Database, StoreError
from arena.league.store.game_row import (
    FIRST_NUMBER,
    LAST_NUMBER,
    TABLE_COLUMNS,
    Columns,
    GameRow,
    columns_of,
    compared,
    could_be_stored,
    digest_of,
    is_number,
    is_unchanged,
    row_digest,
    row_from,
    row_of,
)
from arena.system.printable import SHOWN, printable

ROWS_AT_ONCE = 1000
RECORDS_AT_ONCE = 32
SMALLEST_GAME = 512
"""The approximate bytes of a game with its record, which bound the games of a damaged file."""
SMALLEST_NUMBER = -(2**63)
GAPS_SHOWN = 10
RECORD_CHANGED = "its record was changed after it was stored"
RECORD_GONE = "its record is gone"
ROW_CHANGED = "its row was changed after it was stored"
ROW_GONE = "its row is gone, and its record is there"
UNREADABLE = "it cannot be read any more"

_READ = f"SELECT {', '.join(TABLE_COLUMNS)} FROM games"
_LAST = "SELECT max(coalesce((SELECT max(number) FROM games), 0), coalesce((SELECT max(number) FROM records), 0))"
_EXISTS = tuple(f"SELECT 1 FROM {table} WHERE number = ?" for table in ("games", "records"))
_INSERT = f"INSERT INTO games VALUES ({', '.join('?' * len(TABLE_COLUMNS))})"


class Stored(NamedTuple):
    """One game in the store: its readable parts, and its damage."""

    number: int
    row: GameRow | None
    record: GameRecord | None
    damage: tuple[Damage, ...]

    @property
    def sound(self) -> GameRecord | None:
        return None if self.damage else self.record


class GameTable:
    def __init__(self, database: Database, *, is_doubtful: bool) -> None:
        self._database = database
        self._is_doubtful = is_doubtful
        self._players: dict[int, tuple[Any, Any]] = {}
        """The names and digests of the players by their numbers, which never change."""
        self._is_last_lost = False
        """Whether the file is too damaged to say how many games were stored."""

    def add_all(self, records: Sequence[GameRecord]) -> list[GameRow]:
        """Store the games that are not there yet in one transaction, with the next numbers; return the row of each."""
        if not records:
            return []
        encoded = [(record, encode_record(record)) for record in records]
        with self._database.transaction():
            number, rows = self.last_number(), []
            for record, data in encoded:
                row = self.row(record.id)
                if row is None:
                    number += 1
                    row = row_of(number, record)
                    self._insert(row, data)
                rows.append(row)
        return rows

    def add(self, record: GameRecord) -> GameRow:
        return self.add_all([record])[0]

    def _insert(self, row: GameRow, data: bytes) -> None:
        columns, of_record = columns_of(row), digest_of(data)
        if not could_be_stored(columns):
            raise StoreError(f"game {printable(row.id, SHOWN)}: its number or a name in it is invalid")
        red, blue = map(self._number_of, row.players)
        values = (*columns[:2], red, blue, *columns[6:], of_record, row_digest(columns, of_record))
        self._database.query(_INSERT, *values)
        self._database.query("INSERT INTO records VALUES (?, ?)", row.number, data)

    def _number_of(self, player: Player) -> int:
        query = "SELECT number FROM players WHERE digest = ? AND name = ?"
        found = self._database.query(query, player.digest, player.name)
        if not found:
            self._database.query("INSERT INTO players (digest, name) VALUES (?, ?)", player.digest, player.name)
            found = self._database.query(query, player.digest, player.name)
        return int(found[0][0])

    def row(self, game_id: str) -> GameRow | None:
        """Return the row of the game of this id, or None. Raises `DamagedError`."""
        found = self._database.query(f"{_READ} WHERE id = ?", game_id)
        if not found:
            return None
        columns = self._whole(found[0])
        if columns is None:
            raise DamagedError(self._database.path, self.stored(found[0][0]).damage or (Damage(None, ROW_CHANGED),))
        return row_from(columns)

    def _columns(self, read: Columns) -> Columns:
        players = self._players
        if read[2] not in players or read[3] not in players:
            found = self._database.query("SELECT number, name, digest FROM players")
            players.update((number, (name, digest)) for number, name, digest in found)
        return (*read[:2], *players.get(read[2], ("", "")), *players.get(read[3], ("", "")), *read[4:-2])

    def _whole(self, read: Columns) -> Columns | None:
        """Return the `COLUMNS` of a row of the table; None if it is damaged."""
        columns = self._columns(read)
        return columns if is_unchanged(columns, read[-2], read[-1]) and could_be_stored(columns) else None

    def stored(self, number: int) -> Stored:
        found = self._if_readable(f"{_READ} WHERE number = ?", number)
        records = self._if_readable("SELECT record FROM records WHERE number = ?", number)
        data = records[0][0] if records else None
        record: GameRecord | None = None
        if not found:
            with suppress(RecordError):
                record = decode_record(data if isinstance(data, bytes) else b"")
            words = ROW_GONE if found is not None and records else UNREADABLE
            return Stored(number, None, record, (Damage(number, words),))
        read = found[0]
        columns, wrong = self._columns(read), list[str]()
        if not is_number(number):
            wrong.append(f"its number is none that a game gets: expected {FIRST_NUMBER} to {LAST_NUMBER}")
        if not is_unchanged(columns, read[-2], read[-1]):
            wrong.append(ROW_CHANGED)
        if not records:
            wrong.append(UNREADABLE if records is None else RECORD_GONE)
        elif not isinstance(data, bytes) or digest_of(data) != read[-2]:
            wrong.append(RECORD_CHANGED)
        else:
            record, different = compared(columns, data)
            wrong = wrong or different
        if record is not None and not wrong and not could_be_stored(columns):
            wrong.append(ROW_CHANGED)
        row = row_from(columns) if record is not None and not wrong else None
        return Stored(number, row, record, tuple(Damage(number, words) for words in wrong))

    def _if_readable(self, statement: str, number: int) -> list[tuple[Any, ...]] | None:
        try:
            return self._database.query(statement, number)
        except StoreError:
            return None

    def last_number(self) -> int:
        """Return the number of the last game, or 0; in a damaged file that of the last one with readable parts."""
        try:
            ((last,),) = self._database.query(_LAST)
        except StoreError:
            if not self._is_doubtful:
                raise
            self._is_last_lost = True
            return self._last_readable
        return last if isinstance(last, int) else 0

    @cached_property
    def _last_readable(self) -> int:
        possible = range(self._database.size() // SMALLEST_GAME, FIRST_NUMBER - 1, -1)
        return next((number for number in possible if any(self._if_readable(each, number) for each in _EXISTS)), 0)

    def numbers(self) -> list[int]:
        try:
            found = self._database.query("SELECT number FROM games UNION SELECT number FROM records ORDER BY number")
        except StoreError:
            if not self._is_doubtful:
                raise
            return [
                number
                for number in self._possible_numbers()
                if any(self._if_readable(statement, number) != [] for statement in _EXISTS)
            ]
        return [number for (number,) in found]

    def _possible_numbers(self, first: int = FIRST_NUMBER) -> range:
        return range(max(first, FIRST_NUMBER), min(self.last_number(), self._database.size() // SMALLEST_GAME) + 1)

    def whole(self, last: int, damage: list[Damage]) -> Iterator[Columns]:
        """Yield the undamaged rows up to number `last`, in order; by the end all damage of rows is in `damage`."""
        count, before, gaps = 0, 0, list[str]()
        for read in self._read(last, damage):
            number = read[0]
            if number > before + 1:
                gaps.append(_gap(before + 1, number - 1))
            count, before = count + 1, max(number, 0)
            columns = self._whole(read)
            if columns is None:
                damage.append(Damage(number, ROW_CHANGED))
            else:
                yield columns
        if before < last:
            gaps.append(_gap(before + 1, last))
        if gaps or self._is_last_lost:
            if len(gaps) > GAPS_SHOWN:
                gaps[GAPS_SHOWN:] = ["others"]
            stored = "it cannot be read how many" if self._is_last_lost else f"{last}"
            missing = f"; no row has the number {', '.join(gaps)}" if gaps else ""
            damage.append(Damage(None, f"{stored} games were stored, and {count} can be found{missing}"))

    def _read(self, last: int, damage: list[Damage]) -> Iterator[Columns]:
        number = SMALLEST_NUMBER
        while number <= last:
            statement = f"{_READ} WHERE number >= ? AND number <= ? ORDER BY number LIMIT {ROWS_AT_ONCE}"
            try:
                found = self._database.query(statement, number, last)
            except StoreError:
                if not self._is_doubtful:
                    raise
                break
            yield from found
            if len(found) < ROWS_AT_ONCE:
                return
            number = found[-1][0] + 1
        for one in self._possible_numbers(number):
            rows = self._if_readable(f"{_READ} WHERE number = ?", one)
            if rows is None:
                damage.append(Damage(one, UNREADABLE))
            yield from rows or ()

    def newest_rows(self, damage: list[Damage]) -> Iterator[GameRow]:
        """Yield the undamaged rows from the last one backwards, and add the others to `damage`."""
        number, at_once = self.last_number(), 20
        while found := self._database.query(f"{_READ} WHERE number <= ? ORDER BY number DESC LIMIT {at_once}", number):
            for read in found:
                columns = self._whole(read)
                if columns is None:
                    damage.append(Damage(read[0], ROW_CHANGED))
                else:
                    yield row_from(columns)
            number, at_once = found[-1][0] - 1, ROWS_AT_ONCE

    def rows_of_players(self, digests: Sequence[str], *, newest_first: bool = False) -> Iterator[GameRow]:
        order = "DESC" if newest_first else "ASC"
        marks = ", ".join("?" * len(digests))
        chosen = f"SELECT number FROM players WHERE digest IN ({marks})"
        red, blue = (f"SELECT number FROM games WHERE {side} IN ({chosen})" for side in ("red", "blue"))
        found = self._database.query(f"{red} UNION {blue} ORDER BY number {order}", *digests, *digests)
        yield from self._whole_where("number", [number for (number,) in found], order)

    def rows_of_ids(self, ids: Sequence[str]) -> list[GameRow]:
        found = {row.id: row for row in self._whole_where("id", ids)}
        return [found[game_id] for game_id in ids if game_id in found]

    def _whole_where(self, column: str, values: Sequence[object], order: str = "ASC") -> Iterator[GameRow]:
        for start in range(0, len(values), ROWS_AT_ONCE):
            some = values[start : start + ROWS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._database.query(f"{_READ} WHERE {column} IN ({marks}) ORDER BY number {order}", *some)
            yield from map(row_from, filter(None, map(self._whole, rows)))

    def count_between(self, digests: Collection[str]) -> int:
        ((count,),) = self._database.query(f"SELECT count(*) FROM games WHERE {_between(digests)}", *digests, *digests)
        return int(count)

    def numbers_between(self, digests: Collection[str]) -> list[int]:
        """Return the numbers of the games between players of these digests, in order."""
        query = f"SELECT number FROM games WHERE {_between(digests)} ORDER BY number"
        return [number for (number,) in self._database.query(query, *digests, *digests)]

    def records_damage(self) -> list[Damage]:
        """Return the damage of records, with few records in memory at once."""
        damage: list[Damage] = []
        last = SMALLEST_NUMBER
        while found := self._database.query(
            "SELECT number, record_digest, (SELECT record FROM records WHERE records.number = games.number) "
            f"FROM games WHERE number > ? ORDER BY number LIMIT {RECORDS_AT_ONCE}",
            last,
        ):
            last = found[-1][0]
            damage += [
                Damage(number, RECORD_CHANGED if data is not None else RECORD_GONE)
                for number, digest, data in found
                if not isinstance(data, bytes) or digest_of(data) != digest
            ]
        alone = self._database.query("SELECT number FROM records WHERE number NOT IN (SELECT number FROM games)")
        return damage + [Damage(number, ROW_GONE) for (number,) in alone]

    def players(self) -> list[Player]:
        """Return all players, in the order of their last games."""
        last = "coalesce((SELECT max(number) FROM games WHERE {} = players.number), 0)"
        has_played = "EXISTS (SELECT 1 FROM games WHERE {} = players.number)"
        rows = self._database.query(
            f"SELECT name, digest FROM players WHERE {has_played.format('red')} OR {has_played.format('blue')} "
            f"ORDER BY max({last.format('red')}, {last.format('blue')}), {last.format('blue')}"
        )
        return [Player(printable(str(name)), printable(str(digest))) for name, digest in rows]


def _between(digests: Collection[str]) -> str:
    players = f"(SELECT number FROM players WHERE digest IN ({', '.join('?' * len(digests))}))"
    return f"red IN {players} AND blue IN {players}"


def _gap(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"
