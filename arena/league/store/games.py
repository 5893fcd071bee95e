"""The games of a store, one at a time: adding them, reading one, and checking that it is as it was stored.

A game whose row or record is not what was stored is named and never counts. In a file that is damaged itself, whatever
can still be reached is read. Rows of versions without checksums count if they say what their records say. All rows are
read by `arena.league.store.rows`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena.game.record import GameRecord, RecordError, decode_record, encode_record
from arena.league.store.database import Database
from arena.league.store.faults import Damage, DamagedError, StoreChangedError, StoreError
from arena.league.store.game_row import (
    COLUMNS,
    FIRST_NUMBER,
    LAST_NUMBER,
    Columns,
    GameRow,
    columns_of,
    compared,
    could_be_stored,
    is_number,
    is_unchanged,
    record_sum,
    row_from,
    row_of,
    row_sum,
)
from arena.league.store.layout import Layout
from arena.league.store.sums import Sums
from arena.printable import SHOWN, printable

RECORDS_AT_ONCE = 32
"""So many are held in memory while they are compared with their checksums, and as long may another program wait."""
SMALLEST_GAME = 512
"""Bytes of a game with its record, about: how many there can be in a file that has lost its count."""
RECORD_CHANGED = "its record was changed after it was stored"
RECORD_GONE = "its record is gone"
ROW_CHANGED = "its row was changed after it was stored"
ROW_GONE = "its row is gone, and its record is there"
UNREADABLE = "it cannot be read any more"


class Stored(NamedTuple):
    """One game as it lies in the store: what of it can be read, and what is wrong with it."""

    number: int
    row: GameRow | None
    record: GameRecord | None
    damage: tuple[Damage, ...]

    @property
    def sound(self) -> GameRecord | None:
        """The record; None if anything is wrong with the game, so that nothing is said of it that its row denies."""
        return None if self.damage else self.record


class GamesTable:
    """The games of an open store of a version.

    `sums` is None for a store of a version that has no checksums.
    """

    def __init__(self, database: Database, sums: Sums | None, layout: Layout) -> None:
        self._database = database
        self._sums = sums
        self._layout = layout
        self._known: set[str] | None = None
        """The ids of the games that are to be there, if others may not have changed the store."""
        self._last = (0, 0)
        """The sums of all games after the last transaction of this process."""

    # --- adding -------------------------------------------------------------------------------------------------------

    def add_all(self, records: Sequence[GameRecord], first: int | None = None) -> list[GameRow]:
        """Store games in one transaction, the first under the number `first`. See `Store.add_all`."""
        sums = self._sums or Sums(self._database)
        encoded = [(record, encode_record(record)) for record in records]
        if self._known is not None:
            self._database.forget_pages()
        with self._database.transaction():
            if first is None:
                ((last,),) = self._database.query("SELECT max(number) FROM games")
                first = (last or 0) + 1
            count, every = sums.games()
            if self._known is not None and (count, every) != self._last:
                self._refuse_loss(self._known)
            before, rows = count, []
            for record, data in encoded:
                row = self.row_of_id(record.id)
                if row is None:
                    row = row_of(first + count - before, record)
                    every ^= self._insert(row, data)
                    count += 1
                rows.append(row)
            if count > before:
                sums.set_games(count, every)
        if self._known is not None:
            self._last = (count, every)
            self._known.update(row.id for row in rows)
        return rows

    def watch(self, known: set[str]) -> None:
        """Notice from now on if any of these games, or of those that are added, is lost: see `Store.watch`."""
        self._last = (self._sums or Sums(self._database)).games()
        self._known = known

    def refuse_loss(self) -> None:
        """Raise `StoreChangedError` if a game is gone that was there: see `Store.refuse_changed`."""
        if self._known is not None:
            self._database.forget_pages()
            with self._database.transaction("BEGIN"):
                self._refuse_loss(self._known)

    def _refuse_loss(self, known: set[str]) -> None:
        """What others have added is no loss: where locks do not work, another arena may play with the same store."""
        there = {game for (game,) in self._database.query("SELECT id FROM games")}
        lost = len(known - there)
        if lost:
            raise StoreChangedError(
                f"{self._database.path}: another program has written to this store while it was open, such as by "
                f"copying another file over it: {lost} of the {len(known)} games of this league that had been stored "
                "are no longer there"
            )

    def row_of_id(self, game_id: str) -> GameRow | None:
        """The row of the game of this id, or None. Raises `DamagedError` if it is not as it was stored."""
        found = self._database.query(f"SELECT {self._layout.columns} FROM games WHERE id = ?", game_id)
        if not found:
            return None
        row = self.row(found[0])
        if row is None:
            raise DamagedError(self._database.path, self.stored(found[0][0]).damage or (Damage(None, ROW_CHANGED),))
        return row

    def _insert(self, row: GameRow, data: bytes) -> int:
        """Write a game; returns its row's checksum as it goes into that of all games."""
        columns, of_record = columns_of(row), record_sum(data)
        if not could_be_stored(columns):
            raise StoreError(f"game {printable(row.id, SHOWN)}: it has a number or a name that no game has")
        of_row = row_sum(columns, of_record)
        values = (*columns, of_record, of_row)
        names = ", ".join((*COLUMNS, "record_sum", "row_sum"))
        self._database.query(f"INSERT INTO games ({names}) VALUES ({', '.join('?' * len(values))})", *values)
        self._database.query("INSERT INTO records VALUES (?, ?)", row.number, data)
        return int.from_bytes(of_row)

    # --- one game -----------------------------------------------------------------------------------------------------

    def row(self, read: Columns) -> GameRow | None:
        """The row whose columns and checksums were read; None if it is not as it was stored."""
        if not self._layout.has_records_apart:
            return self.stored(read[0]).row
        is_whole = is_unchanged(read[:-2], read[-2], read[-1]) and could_be_stored(read[:-2])
        return row_from(read[:-2]) if is_whole else None

    def stored(self, number: int) -> Stored:
        """A game as it lies there, checked in every way that needs nothing but itself."""
        layout = self._layout
        found = self._if_readable(f"SELECT {layout.columns} FROM games WHERE number = ?", number)
        records = self._if_readable(f"SELECT record FROM {layout.records} WHERE number = ?", number)
        if not found:
            words = ROW_GONE if found is not None and records else UNREADABLE
            return Stored(number, None, _decoded(records), (Damage(number, words),))
        read, data = found[0], records[0][0] if records else None
        columns, sums = read[: layout.compared], read[-2:]
        wrong = []
        if not is_number(number):
            wrong.append(f"its number is none that a game gets: expected {FIRST_NUMBER} to {LAST_NUMBER}")
        if layout.has_sums and not is_unchanged(columns, *sums):
            wrong.append(ROW_CHANGED)
        record = None
        if not records:
            wrong.append(UNREADABLE if records is None else RECORD_GONE)
        elif not isinstance(data, bytes) or (layout.has_sums and record_sum(data) != sums[0]):
            wrong.append(RECORD_CHANGED)
        else:
            record, different = compared(columns, data)
            wrong = wrong or different
        row = None
        if record is not None and not wrong:
            there = columns if layout.has_records_apart else (*columns, record.pair_seed, record.started)
            if could_be_stored(there):
                row = row_from(there)
            else:
                wrong.append(ROW_CHANGED)
        return Stored(number, row, record, tuple(Damage(number, words) for words in wrong))

    def _if_readable(self, statement: str, number: int) -> list[tuple[Any, ...]] | None:
        """What a statement finds; None if the file is damaged where it looks."""
        try:
            return self._database.query(statement, number)
        except StoreError:
            return None

    def records_damage(self) -> list[Damage]:
        """The games whose records are not what was stored. A few are read at a time, however many there are."""
        damage: list[Damage] = []
        last: Any = None
        while self._layout.has_sums:
            after, values = ("WHERE number > ?", (last,)) if last is not None else ("", ())
            found = self._database.query(self._statement_for_records(after), *values)
            if not found:
                break
            last = found[-1][0]
            damage += [
                Damage(number, RECORD_CHANGED if data is not None else RECORD_GONE)
                for number, stored_sum, data in found
                if not isinstance(data, bytes) or record_sum(data) != stored_sum
            ]
        return damage + [Damage(number, ROW_GONE) for number in self._without_rows()]

    def _statement_for_records(self, after: str) -> str:
        if not self._layout.has_records_apart:
            return f"SELECT number, record_sum, record FROM games {after} ORDER BY number LIMIT {RECORDS_AT_ONCE}"
        return (
            "SELECT number, record_sum, (SELECT record FROM records WHERE records.number = games.number) "
            f"FROM games {after} ORDER BY number LIMIT {RECORDS_AT_ONCE}"
        )

    def _without_rows(self) -> list[int]:
        """The numbers of records that belong to no row."""
        if not self._layout.has_records_apart:
            return []
        found = self._database.query("SELECT number FROM records WHERE number NOT IN (SELECT number FROM games)")
        return [number for (number,) in found]

    # --- numbers ------------------------------------------------------------------------------------------------------

    def numbers(self) -> list[int]:
        """The numbers of all games that are there, whole or not.

        Of a page that is gone SQLite may read a number that is none: below the first, one is a game's if any of it can
        be read.
        """
        return [number for number in self._all_numbers() if number >= FIRST_NUMBER or self._is_readable(number)]

    def _is_readable(self, number: int) -> bool:
        """Whether there is a row or a record of this number, be it damaged, and not only the number."""
        row = "SELECT 1 FROM games WHERE number = ? AND typeof(id) = 'text'"
        record = f"SELECT 1 FROM {self._layout.records} WHERE number = ? AND typeof(record) = 'blob'"
        return bool(self._if_readable(row, number) or self._if_readable(record, number))

    def _all_numbers(self) -> list[int]:
        try:
            found = self._database.query("SELECT number FROM games NOT INDEXED ORDER BY number")
            alone = self._without_rows()
        except StoreError:
            return self._numbers_of_a_damaged_file()
        numbers = [number for (number,) in found]
        return sorted([*numbers, *alone]) if alone else numbers

    def _numbers_of_a_damaged_file(self) -> list[int]:
        """All numbers that a game may have: read from both ends of the tables up to the damage, and from the index."""
        found: set[int] = set()
        for scan in (
            "SELECT number FROM games NOT INDEXED ORDER BY number",
            "SELECT number FROM games NOT INDEXED ORDER BY number DESC",
            "SELECT number FROM games INDEXED BY sqlite_autoindex_games_1",
            f"SELECT number FROM {self._layout.records} ORDER BY number",
            f"SELECT number FROM {self._layout.records} ORDER BY number DESC",
        ):
            found.update(number for (number,) in self._database.as_far_as_it_goes(scan) if isinstance(number, int))
        most = self._database.size() // SMALLEST_GAME
        try:
            count, _ = (self._sums or Sums(self._database)).games()
        except StoreError:
            count = most
        return sorted(found | set(range(FIRST_NUMBER, min(max(count, *found, 0), most) + 1)))


def _decoded(found: list[tuple[Any, ...]] | None) -> GameRecord | None:
    """The record of a game that has no row. Nothing tells whether it is as it was stored."""
    if not found or not isinstance(found[0][0], bytes):
        return None
    try:
        return decode_record(found[0][0])
    except RecordError:
        return None
