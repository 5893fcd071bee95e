"""What a file is that somebody has named in the place of a store, and whether it is a whole one.

The header of a store: https://www.sqlite.org/fileformat2.html#the_database_header
"""

import re
from contextlib import suppress
from pathlib import Path

from arena.errors import UsageError
from arena.hostfile import file_errors, read_start
from arena.printable import printable

START = 64
LOOKED_AT = 16
SCHEMA_KEY = b'schema":'
"""With the first two bytes, what of the first `LOOKED_AT` bytes shows what a file is if any one byte was changed."""
STORE_START = b"SQLite format 3\0"
"""How every store begins."""
STORE_OR_FILE = "a store or a file of game records ('arena export')"
SALVAGE = "'arena verify' says what of it can be read, and '--salvage' copies that to a new store"
HEADER_BYTES = 100
PAGE_SIZE, COUNTED_AT, PAGES, VALID_FOR = slice(16, 18), slice(24, 28), slice(28, 32), slice(92, 96)
"""Where the header has the bytes of a page, how many pages there are, and two counters that are equal if that is so."""
LARGEST_PAGE = 1 << 16
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


def missing_end(path: Path) -> str | None:
    """What was expected and what came, of a store that is shorter than its header says; None of any other file.

    Of a store that is being written it may say so by mistake: it is for one that SQLite has found to be damaged.
    """
    header, size = _start(path, HEADER_BYTES), _size(path)
    if not header.startswith(STORE_START):
        return None
    if len(header) < HEADER_BYTES:
        return f"expected a header of {HEADER_BYTES} bytes, got {size} in all: nothing of the games is left"
    page = int.from_bytes(header[PAGE_SIZE])
    page = LARGEST_PAGE if page == 1 else page
    pages = int.from_bytes(header[PAGES])
    if header[COUNTED_AT] != header[VALID_FOR] or size >= pages * page:
        return None
    left = f"its end is missing; {SALVAGE}" if size > page else "nothing of the games is left"
    return f"expected {pages * page} bytes ({pages} pages of {page}, by its header), got {size}: {left}"


def _start(path: Path, size: int = START) -> bytes:
    """The first bytes of a file; none if it cannot be read."""
    with suppress(OSError, ValueError):
        return read_start(path, size, follow=True)
    return b""


def _size(path: Path) -> int:
    with suppress(OSError, ValueError):
        return path.stat().st_size
    return 0


def _is_start_of_records(start: bytes) -> bool:
    return start.startswith(b'{"') or SCHEMA_KEY in start[:LOOKED_AT]
