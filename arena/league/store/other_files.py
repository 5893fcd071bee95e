"""What a file is that somebody has named in the place of a store."""

import os
import re
from contextlib import suppress
from pathlib import Path

from arena.hostfile import open_regular

START = 64
LOOKED_AT = 16
SCHEMA_KEY = b'schema":'
"""With the first two bytes, what of the first `LOOKED_AT` bytes shows what a file is if any one byte was changed."""
_VIEW = re.compile(rb'\{"schema":\d{1,9},"view":"(red|blue)",')


def is_record_file(path: Path) -> bool:
    """Whether a file looks like one of records, sound or not: it begins with a JSON object in one line."""
    return _is_start_of_records(_start(path))


def other_file(path: Path) -> str:
    """What a file is that is no store, in words, and what can be done with it."""
    start = _start(path)
    view = _VIEW.match(start)
    if view:
        side = view[1].decode()
        return f"what {side} may know of games, as 'arena export --view {side}' writes it for other programs"
    if _is_start_of_records(start):
        return "a file of game records; 'arena import STORE FILE' makes a store of it, or adds to one"
    return "another file"


def _start(path: Path) -> bytes:
    """The first bytes of a file; none if it cannot be read."""
    with suppress(OSError, ValueError):
        descriptor = open_regular(path, follow=True)
        try:
            return os.read(descriptor, START)
        finally:
            os.close(descriptor)
    return b""


def _is_start_of_records(start: bytes) -> bool:
    return start.startswith(b'{"') or SCHEMA_KEY in start[:LOOKED_AT]
