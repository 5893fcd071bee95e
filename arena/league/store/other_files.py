"""What a file is that somebody has named in the place of a store."""

import re
from contextlib import suppress
from pathlib import Path

from arena.errors import UsageError
from arena.system.printable import printable
from arena.system.user_files import file_errors, read_start

START = 64
LOOKED_AT = 16
SCHEMA_KEY = b'schema":'
"""With the first two bytes, what of the first `LOOKED_AT` bytes shows what a file is if any one byte was changed."""
STORE_START = b"SQLite format 3\0"
"""How every store begins."""
STORE_OR_FILE = "a store or a file of game records ('arena export')"
SALVAGE = "'arena verify' says what of it can be read, and '--salvage' copies that to a new store"
_VIEW = re.compile(rb'\{"schema":\d{1,9},"view":"(red|blue|public)",')


def is_record_file(path: Path) -> bool:
    """Whether a file looks like one of records, sound or not: it begins with a JSON object in one line."""
    return _is_start_of_records(_start(path))


def other_file(path: Path) -> str:
    """What a file is that is no store, in words, and what can be done with it."""
    start = _start(path)
    view = _VIEW.match(start)
    if view:
        side = view[1].decode()
        return f"what {side} may know of games, as 'arena export --view' writes it for other programs"
    if _is_start_of_records(start):
        return "a file of game records; 'arena import STORE FILE' makes a store of it, or adds to one"
    return "another file"


def refuse_other_files(path: Path) -> None:
    """Raise `UsageError` unless there is a file that begins as a store or a file of records does."""
    where = printable(str(path))
    with file_errors(where, STORE_OR_FILE):
        try:
            start = read_start(path, START, follow=True)
        except FileNotFoundError:
            raise UsageError(f"{where}: expected {STORE_OR_FILE}, and there is nothing") from None
    if not start:
        raise UsageError(f"{where}: expected {STORE_OR_FILE}, got an empty file")
    if not start.startswith(STORE_START) and not _is_start_of_records(start):
        raise UsageError(f"{where}: expected {STORE_OR_FILE}, got another file")


def _start(path: Path) -> bytes:
    """The first bytes of a file; none if it cannot be read."""
    with suppress(OSError, ValueError):
        return read_start(path, START, follow=True)
    return b""


def _is_start_of_records(start: bytes) -> bool:
    return start.startswith(b'{"') or SCHEMA_KEY in start[:LOOKED_AT]
