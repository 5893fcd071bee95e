"""All rows of a store in one pass, each compared with its checksum, a few at a time.

The memory that it takes does not grow with the games, and a program that stores games meanwhile waits for a few rows
and not for the pass: games are only ever added, with rising numbers, so that the rows up to the last number of one
moment are the store of that moment.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from arena.league.store.database import Database
from arena.league.store.faults import Damage, StoreError
from arena.league.store.game_row import Columns, columns_of, could_be_stored, head_of, is_unchanged, record_sum
from arena.league.store.games import ROW_CHANGED, UNREADABLE, GamesTable
from arena.league.store.layout import Layout
from arena.league.store.sums import COUNT_CHANGED, Sums

ROWS_AT_ONCE = 1000
GAPS_SHOWN = 10
SMALLEST_NUMBER, LARGEST_NUMBER = -(2**63), 2**63 - 1
LIST_CHANGED = "the list of games was changed after they were stored"


class Moment(NamedTuple):
    """What the store says of all its games at one moment: the last number, their count and the sum of their rows."""

    last: int
    games: int | None
    """How many there are; None if it is not what was stored."""
    every: int


class Rows:
    """The rows of an open store. One that `is_doubtful` is read as far as it can be."""

    def __init__(self, database: Database, games: GamesTable, sums: Sums, layout: Layout, *, is_doubtful: bool) -> None:
        self._database = database
        self._games = games
        self._sums = sums
        self._layout = layout
        self._is_doubtful = is_doubtful

    def moment(self) -> Moment:
        """Now; to be called in a transaction, or by the only one who writes."""
        last = LARGEST_NUMBER
        with suppress(StoreError):
            ((found,),) = self._database.query("SELECT max(number) FROM games")
            last = found if found is not None else SMALLEST_NUMBER
        if not self._layout.has_sums:
            return Moment(last, None, 0)
        try:
            return Moment(last, *self._sums.games())
        except StoreError:
            return Moment(last, None, 0)

    def whole(self, moment: Moment, damage: list[Damage], *, pairs: bool = True) -> Iterator[Columns]:
        """The rows of the games that are whole, in the order of their numbers; what is wrong with the others is added
        to `damage`, all of it by the end.

        Records are not looked at where rows have checksums of their own, but for the pairs and dates of version 3, if
        `pairs` are asked for. Raises `StoreError`.
        """
        if not self._layout.has_sums:
            return self._by_records(moment, damage)
        return self._by_sums(moment, damage, pairs=pairs and not self._layout.has_records_apart)

    def _by_sums(self, moment: Moment, damage: list[Damage], *, pairs: bool) -> Iterator[Columns]:
        compared, before = self._layout.compared, len(damage)
        count = every = 0
        for read in self._read(moment, damage, self._layout.columns_or_record if pairs else self._layout.columns):
            columns = read[:-2]
            count += 1
            if pairs:
                columns = (*read[:compared], *_pair_of(read[compared], read[-2]))
            if is_unchanged(read[:compared], read[-2], read[-1]) and could_be_stored(columns):
                every ^= int.from_bytes(read[-1])
                yield columns
            else:
                damage.append(Damage(read[0], ROW_CHANGED))
        if moment.games is None:
            damage.append(Damage(None, COUNT_CHANGED))
        elif moment.games != count:
            gaps = _gaps(self._games.numbers()) if moment.games > count else ""
            stored = "1 game was" if moment.games == 1 else f"{moment.games} games were"
            damage.append(Damage(None, f"{stored} stored, and {count} can be found{gaps}"))
        elif len(damage) == before and every != moment.every:
            damage.append(Damage(None, LIST_CHANGED))

    def _read(self, moment: Moment, damage: list[Damage], columns: str) -> Iterator[Columns]:
        """The rows as they lie there, with their checksums; those that cannot be read are named."""
        after = f"SELECT {columns} FROM games WHERE number >= ? AND number <= ? ORDER BY number"
        number, has_found = SMALLEST_NUMBER, False
        while number <= moment.last:
            try:
                found = self._database.query_rows(f"{after} LIMIT {ROWS_AT_ONCE}", number, moment.last)
            except StoreError as error:
                yield from self._one_by_one(number, columns, error, damage, has_found=has_found)
                return
            yield from found
            if len(found) < ROWS_AT_ONCE:
                return
            number, has_found = found[-1][0] + 1, True

    def _one_by_one(
        self, start: int, columns: str, error: StoreError, damage: list[Damage], *, has_found: bool
    ) -> Iterator[Columns]:
        """The rows from a number on that can still be reached in a file that is damaged itself."""
        before = len(damage)
        for number in self._games.numbers():
            if number < start:
                continue
            try:
                found = self._database.query(f"SELECT {columns} FROM games WHERE number = ?", number)
            except StoreError:
                damage.append(Damage(number, UNREADABLE))
                continue
            has_found = has_found or bool(found)
            yield from found
        if not has_found and not self._is_doubtful:
            raise error
        if len(damage) == before:
            damage.append(Damage(None, "the file itself is damaged"))

    def _by_records(self, moment: Moment, damage: list[Damage]) -> Iterator[Columns]:
        found = 0
        numbers = self._database.query("SELECT number FROM games WHERE number <= ? ORDER BY number", moment.last)
        for (number,) in numbers:
            stored = self._games.stored(number)
            damage += stored.damage
            if stored.row:
                yield columns_of(stored.row)
            found += 1
        ((count, last),) = self._database.query("SELECT count(*), max(number) FROM games")
        if not count == (last or 0) == found:
            damage.append(Damage(None, f"{last} games were stored, and {min(count, found)} can be found"))

    def of(self, digests: Sequence[str]) -> Iterator[Columns]:
        """The rows of the games that are whole of players with these digests. What is damaged is passed over."""
        marks = ", ".join("?" * len(digests))
        chosen = f"(red_digest IN ({marks}) OR blue_digest IN ({marks}))"
        number = SMALLEST_NUMBER
        while True:
            found = self._database.query_rows(
                f"SELECT {self._layout.columns} FROM games WHERE number >= ? AND {chosen} ORDER BY number "
                f"LIMIT {ROWS_AT_ONCE}",
                *(number, *digests, *digests),
            )
            for read in found:
                row = self._games.row(read)
                if row:
                    yield columns_of(row)
            if len(found) < ROWS_AT_ONCE:
                return
            number = found[-1][0] + 1


def _pair_of(record: object, sum_of_record: object) -> tuple[int | None, float | None]:
    """The pair's seed and the date that an unchanged record has."""
    is_unchanged = isinstance(record, bytes) and record_sum(record) == sum_of_record
    return head_of(record) if is_unchanged else (None, None)


def _gaps(numbers: Sequence[int]) -> str:
    """Which numbers up to the last no game has, in words; `numbers` rise."""
    gaps = [(low + 1, high - 1) for low, high in pairwise([0, *numbers]) if high > low + 1]
    words = [str(first) if first == last else f"{first} to {last}" for first, last in gaps]
    if len(words) > GAPS_SHOWN:
        words[GAPS_SHOWN:] = ["others"]
    return f"; no game has the number {', '.join(words)}" if words else ""
