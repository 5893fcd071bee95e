"""Games that are forged with all that follows from them, so that only playing them again can tell."""

import sqlite3
from contextlib import closing
from pathlib import Path

from arena.game.record import GameRecord, encode_record
from arena.league.store.game_row import COLUMNS, columns_of, record_sum, row_of, row_sum


def forge_game(path: Path, number: int, record: GameRecord) -> None:
    """Put a record in the place of a stored game's: its columns, the checksums and the count change with it."""
    renumber_game(path, number, number, record)


def renumber_game(path: Path, number: int, to: int, record: GameRecord) -> None:
    """The same, under another number."""
    data, columns = encode_record(record), columns_of(row_of(to, record))
    sum_of_record = record_sum(data)
    new = row_sum(columns, sum_of_record)
    with closing(sqlite3.connect(path)) as database, database:
        ((old,),) = database.execute("SELECT row_sum FROM games WHERE number = ?", (number,)).fetchall()
        names = ", ".join(f"{name} = ?" for name in (*COLUMNS, "record_sum", "row_sum"))
        database.execute(f"UPDATE games SET {names} WHERE number = ?", (*columns, sum_of_record, new, number))
        database.execute("UPDATE records SET record = ?, number = ? WHERE number = ?", (data, to, number))
        ((total,),) = database.execute("SELECT value FROM sums WHERE name = 'games'").fetchall()
        every = int.from_bytes(total[8:]) ^ int.from_bytes(old) ^ int.from_bytes(new)
        database.execute("UPDATE sums SET value = ? WHERE name = 'games'", (total[:8] + every.to_bytes(16),))
