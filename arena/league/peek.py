"""What the completion of a command line wants of a store: names and games, at once, and without a trace.

It stands beside the store and not in it, as it must not wait for the imports of that.
No lock is taken, nothing is undone and nothing is created beside the file, as SQLite would otherwise do even for a
reader. So what is found while another process stores a game may be wrong; it is a list to choose from, and no result.
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
"""What a look may take; what has been found by then is what there is."""
INSTRUCTIONS = 10_000
"""How many of them SQLite runs between two looks at the time."""
LONGEST = 1 << 16
"""Bytes of a value; a stranger's file may hold any."""


class PeekedGame(NamedTuple):
    """A stored game in a list to choose from."""

    number: int
    red: str
    blue: str
    result: str
    plies: int


def peek_games(path: str, start: str, most: int) -> list[PeekedGame]:
    """List the last games whose number begins with these digits, the newest first; none if this is no store."""
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
    """The names, beginning so, of bots that have played in a store, sorted; none if this is no store."""
    names = {_shown(name) for (name,) in _rows(path, "SELECT name FROM players")}
    return sorted(name for name in names if name.startswith(start))


def _rows(path: str, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
    """The rows that a statement finds in time, in a file that is only looked at."""
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
