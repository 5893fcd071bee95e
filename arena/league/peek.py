"""Names, games and ends of games of a store for the completion of a command line, found quickly and without a trace.

This module is outside the store's package to avoid its slow imports. It takes no lock, rolls no transaction back and
creates no file, so a list may be wrong while another process stores a game.
"""

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import quote

from arena.system.printable import printable

MOST_SECONDS = 0.3
INSTRUCTIONS = 10_000
LONGEST = 1 << 16


class PeekedGame(NamedTuple):
    number: int
    red: str
    blue: str
    result: str
    plies: int


def peek_games(path: str, start: str, most: int) -> list[PeekedGame]:
    """List the last games with a number that begins with these digits, the newest first; empty if this is no store."""
    statement = (
        "SELECT games.number, red.name, blue.name, result, plies FROM games "
        "JOIN players AS red ON red.number = games.red JOIN players AS blue ON blue.number = games.blue "
        "WHERE substr(CAST(games.number AS TEXT), 1, ?) = ? ORDER BY games.number DESC LIMIT ?"
    )
    rows = list(_rows(path, statement, len(start), start, most))
    return [
        PeekedGame(number, _shown(red), _shown(blue), _shown(result), plies)
        for number, red, blue, result, plies in rows
        if isinstance(number, int) and isinstance(plies, int)  # of a damaged store they may be anything
    ]


def peek_names(path: str, start: str) -> list[str]:
    """List the names with this start of bots that have played in a store, sorted; empty if this is no store."""
    names = {_shown(name) for (name,) in _rows(path, "SELECT name FROM players")}
    return sorted(name for name in names if name.startswith(start))


def peek_reasons(path: str) -> list[str]:
    """List how the games of a store have ended; empty if this is no store."""
    return sorted({_shown(reason) for (reason,) in _rows(path, "SELECT DISTINCT reason FROM games")})


def _rows(path: str, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
    try:
        full = os.path.realpath(os.path.expanduser(path))
        if not stat.S_ISREG(os.stat(full).st_mode):
            return
        address = f"file://{quote(os.fsencode(full))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            end = time.monotonic() + MOST_SECONDS
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.set_progress_handler(lambda: time.monotonic() > end, INSTRUCTIONS)
            yield from connection.execute(statement, values)
    except (OSError, ValueError, sqlite3.Error):
        return


def _shown(value: object) -> str:
    return printable(str(value))
