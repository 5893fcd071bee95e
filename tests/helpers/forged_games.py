"""Stores that are forged with all that follows from a change, digests included, so that only a check of it can tell."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from arena.game.record import GameRecord, encode_record
from arena.league.store.game_row import TABLE_COLUMNS, columns_of, digest_of, row_digest, row_of


def forge_game(path: Path, number: int, record: GameRecord) -> None:
    """Put a record in the place of a stored game's, and make its row anew."""
    renumber_game(path, number, number, record)


def renumber_game(path: Path, number: int, to: int, record: GameRecord) -> None:
    """Put a record in the place of a stored game's, under another number."""
    data, columns = encode_record(record), columns_of(row_of(to, record))
    with closing(sqlite3.connect(path)) as database, database:
        red, blue = (_number_of(database, player.name, player.digest) for player in record.players)
        of_record = digest_of(data)
        values = (*columns[:2], red, blue, *columns[6:], of_record, row_digest(columns, of_record))
        names = ", ".join(f"{name} = ?" for name in TABLE_COLUMNS)
        database.execute(f"UPDATE games SET {names} WHERE number = ?", (*values, number))
        database.execute("UPDATE records SET record = ?, number = ? WHERE number = ?", (data, to, number))


def _number_of(database: sqlite3.Connection, name: str, digest: str) -> int:
    database.execute("INSERT OR IGNORE INTO players (name, digest) VALUES (?, ?)", (name, digest))
    ((number,),) = database.execute("SELECT number FROM players WHERE name = ? AND digest = ?", (name, digest))
    return int(number)


def forge_row(path: Path, number: int, column: str, value: object) -> None:
    """Change a column of a game's row, and its digest with it: only comparing the row with the record can tell."""
    with closing(sqlite3.connect(path)) as database, database:
        if column.removesuffix("_digest") in ("red", "blue"):
            side, _, is_digest = column.partition("_")
            database.execute(
                f"INSERT INTO players (name, digest) SELECT {'name, ?' if is_digest else '?, digest'} FROM players "
                f"WHERE number = (SELECT {side} FROM games WHERE number = ?)",
                (value, number),
            )
            column, value = side, database.execute("SELECT max(number) FROM players").fetchone()[0]
        database.execute(f"UPDATE games SET {column} = ? WHERE number = ?", (value, number))
        query = f"SELECT {', '.join(TABLE_COLUMNS)} FROM games WHERE number = ?"
        (row,) = database.execute(query, (number,)).fetchall()
        players = {one: who for one, *who in database.execute("SELECT number, name, digest FROM players")}
        columns = (*row[:2], *players[row[2]], *players[row[3]], *row[4:-2])
        new = row_digest(columns, row[-2])
        database.execute("UPDATE games SET row_digest = ? WHERE number = ?", (new, number))


def forge_settings(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        ((data,),) = database.execute("SELECT document FROM settings").fetchall()
        document = msgspec.json.decode(data)
        change(document)
        data = msgspec.json.encode(document)
        database.execute("UPDATE settings SET document = ?, digest = ?", (data, digest_of(data)))


def forge_setting(path: Path, name: str, value: object) -> None:
    """Change one setting of games, or one that is kept next to them; None takes it away."""

    def change(document: dict[str, Any]) -> None:
        part = document["games"] if name in document["games"] or " " in name else document["kept"]
        if value is None:
            part.pop(name, None)
        else:
            part[name] = value

    forge_settings(path, change)
