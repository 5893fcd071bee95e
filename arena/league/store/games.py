"""The games of a store: reading them, checking that they are as they were stored, and adding to them.

A game whose row or record is not what was stored is named and never counts. In a file that is damaged itself, whatever
can still be reached is read. Rows of versions without checksums count if they say what their records say.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from arena.game.record import GameRecord, encode_record
from arena.league.store.database import Damage, DamagedError, Database, StoreError
from arena.league.store.game_row import (
    COLUMNS,
    GameRow,
    columns_of,
    compared,
    is_unchanged,
    record_sum,
    row_from,
    row_of,
    row_sum,
)
from arena.league.store.sums import COUNT_CHANGED, Sums

RECORDS_AT_ONCE = 32
"""So many are held in memory while they are compared with their checksums, and as long may another program wait."""
SMALLEST_GAME = 512
"""Bytes of a game with its record, about: how many there can be in a file that has lost its count."""
GAPS_SHOWN = 10
RECORD_CHANGED = "its record was changed after it was stored"
ROW_CHANGED = "its row was changed after it was stored"
UNREADABLE = "it cannot be read any more"


class Stored(NamedTuple):
    """One game as it lies in the store: what of it can be read, and what is wrong with it."""

    number: int
    row: GameRow | None
    record: GameRecord | None
    damage: tuple[Damage, ...]


class GamesTable:
    """The games of an open store.

    `sums` is None for a store of a version that has no checksums, `has_cpu_times` is false for the first version. One
    that `is_doubtful` is read as far as it can be.
    """

    def __init__(self, database: Database, sums: Sums | None, *, has_cpu_times: bool, is_doubtful: bool) -> None:
        self._database = database
        self._sums = sums
        self._is_doubtful = is_doubtful
        cpu_us = "red_cpu_us, blue_cpu_us" if has_cpu_times else "NULL, NULL"
        row_sums = "record_sum, row_sum" if sums else "NULL, NULL"
        self._columns = f"{', '.join(COLUMNS[:-2])}, {cpu_us}, {row_sums}"

    # --- adding -------------------------------------------------------------------------------------------------------

    def add_all(self, records: Sequence[GameRecord], first: int | None = None) -> list[GameRow]:
        """Store games in one transaction, the first under the number `first`. See `Store.add_all`."""
        sums = self._sums or Sums(self._database)
        encoded = [(record, encode_record(record)) for record in records]
        with self._database.transaction():
            if first is None:
                ((last,),) = self._database.query("SELECT max(number) FROM games")
                first = (last or 0) + 1
            count, every = sums.games()
            before, rows = count, []
            for record, data in encoded:
                row = self._row_of_id(record.id)
                if row is None:
                    row = row_of(first + count - before, record)
                    every ^= self._insert(row, data)
                    count += 1
                rows.append(row)
            if count > before:
                sums.set_games(count, every)
        return rows

    def _row_of_id(self, game_id: str) -> GameRow | None:
        """The row of the game of this id, or None. Raises `DamagedError` if it is not as it was stored."""
        found = self._database.query("SELECT number FROM games WHERE id = ?", game_id)
        if not found:
            return None
        stored = self.stored(found[0][0])
        if stored.row is None:
            raise DamagedError(self._database.path, stored.damage)
        return stored.row

    def _insert(self, row: GameRow, data: bytes) -> int:
        """Write a game; returns its row's checksum as it goes into that of all games."""
        columns, of_record = columns_of(row), record_sum(data)
        of_row = row_sum(columns, of_record)
        values = (*columns, data, of_record, of_row)
        names = ", ".join((*COLUMNS, "record", "record_sum", "row_sum"))
        self._database.query(f"INSERT INTO games ({names}) VALUES ({', '.join('?' * len(values))})", *values)
        return int.from_bytes(of_row)

    # --- reading rows -------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[list[GameRow], list[Damage]]:
        """The rows of the games that are whole, in the order of their numbers, and what is wrong with the others.

        Records are not looked at where rows have checksums of their own. Raises `StoreError`.
        """
        return self._rows_by_sums(self._sums) if self._sums else self._rows_by_records()

    def _rows_by_sums(self, sums: Sums) -> tuple[list[GameRow], list[Damage]]:
        rows: list[GameRow] = []
        damage: list[Damage] = []
        every = 0
        try:
            found = self._database.query(f"SELECT {self._columns} FROM games ORDER BY number")
        except StoreError as error:
            found, damage = self._one_by_one(error)
        for columns in found:
            if is_unchanged(columns[:-2], *columns[-2:]):
                rows.append(row_from(columns[:-2]))
                every ^= int.from_bytes(columns[-1])
            else:
                damage.append(Damage(columns[0], ROW_CHANGED))
        return rows, damage + _missing(sums, [columns[0] for columns in found], every, bool(damage))

    def _one_by_one(self, error: StoreError) -> tuple[list[tuple[Any, ...]], list[Damage]]:
        """The rows that can still be reached in a file that is damaged itself, and the numbers of those that cannot."""
        found, damage = [], []
        for number in self.numbers():
            try:
                found += self._database.query(f"SELECT {self._columns} FROM games WHERE number = ?", number)
            except StoreError:
                damage.append(Damage(number, UNREADABLE))
        if not found and not self._is_doubtful:
            raise error
        return found, damage or [Damage(None, "the file itself is damaged")]

    def _rows_by_records(self) -> tuple[list[GameRow], list[Damage]]:
        rows: list[GameRow] = []
        damage: list[Damage] = []
        numbers = self._database.query("SELECT number FROM games ORDER BY number")
        for (number,) in numbers:
            stored = self.stored(number)
            damage += stored.damage
            if stored.row:
                rows.append(stored.row)
        ((count, last),) = self._database.query("SELECT count(*), max(number) FROM games")
        if not count == (last or 0) == len(numbers):
            found = min(count, len(numbers))
            damage.append(Damage(None, f"{last} games were stored, and {found} can be found"))
        return rows, damage

    # --- one game -----------------------------------------------------------------------------------------------------

    def stored(self, number: int) -> Stored:
        """A game as it lies there, checked in every way that needs nothing but itself."""
        try:
            found = self._database.query(f"SELECT {self._columns}, record FROM games WHERE number = ?", number)
        except StoreError:
            found = []
        if not found:
            return Stored(number, None, None, (Damage(number, UNREADABLE),))
        (*read, data), *_ = found
        columns, sums = tuple(read[:-2]), read[-2:]
        wrong = []
        if self._sums and not is_unchanged(columns, *sums):
            wrong.append(ROW_CHANGED)
        is_record_sound = isinstance(data, bytes) and (not self._sums or record_sum(data) == sums[0])
        record = None
        if not is_record_sound:
            wrong.append(RECORD_CHANGED)
        else:
            record, different = compared(columns, data)
            wrong = wrong or different
        return Stored(
            number, None if wrong else row_from(columns), record, tuple(Damage(number, words) for words in wrong)
        )

    def records_damage(self) -> list[Damage]:
        """The games whose records are not what was stored. A few are read at a time, however many there are."""
        damage: list[Damage] = []
        last: Any = None
        while self._sums:
            after, values = ("WHERE number > ?", (last,)) if last is not None else ("", ())
            found = self._database.query(
                f"SELECT number, record_sum, record FROM games {after} ORDER BY number LIMIT {RECORDS_AT_ONCE}", *values
            )
            if not found:
                break
            last = found[-1][0]
            damage += [
                Damage(number, RECORD_CHANGED)
                for number, stored_sum, data in found
                if not isinstance(data, bytes) or record_sum(data) != stored_sum
            ]
        return damage

    # --- numbers ------------------------------------------------------------------------------------------------------

    def numbers(self) -> list[int]:
        """The numbers of all games that are there, whole or not."""
        try:
            found = self._database.query("SELECT number FROM games NOT INDEXED ORDER BY number")
        except StoreError:
            return self._numbers_of_a_damaged_file()
        return [number for (number,) in found]

    def _numbers_of_a_damaged_file(self) -> list[int]:
        """All numbers that a game may have: read from both ends of the table up to the damage, and from its index."""
        found: set[int] = set()
        for scan in (
            "SELECT number FROM games NOT INDEXED ORDER BY number",
            "SELECT number FROM games NOT INDEXED ORDER BY number DESC",
            "SELECT number FROM games INDEXED BY sqlite_autoindex_games_1",
        ):
            found.update(number for (number,) in self._database.as_far_as_it_goes(scan) if isinstance(number, int))
        most = self._database.size() // SMALLEST_GAME
        try:
            count, _ = (self._sums or Sums(self._database)).games()
        except StoreError:
            count = most
        return sorted(found | set(range(1, min(max(count, *found, 0), most) + 1)))


def _missing(sums: Sums, numbers: list[int], every: int, is_damaged: bool) -> list[Damage]:
    """What the count of all games and the sum of their rows tell of games that are not there, or too many."""
    try:
        count, expected = sums.games()
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


def _gaps(numbers: Sequence[int]) -> str:
    """Which numbers up to the last no game has, in words; `numbers` rise."""
    gaps = [(low + 1, high - 1) for low, high in pairwise([0, *numbers]) if high > low + 1]
    words = [str(first) if first == last else f"{first} to {last}" for first, last in gaps]
    if len(words) > GAPS_SHOWN:
        words[GAPS_SHOWN:] = ["others"]
    return f"; no game has the number {', '.join(words)}" if words else ""
