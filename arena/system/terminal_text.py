"""Text in a terminal: its width, colours, wrapping and tables; and JSON."""

import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import IO, NamedTuple

from arena.system.printable import is_mark

CUT = "…"
GAP = 2
NARROW = 8
"""Columns that a table leaves a wrapped column before it cuts others."""

Paint = Callable[[str, str], str]
_CODES = {"bold": 1, "dim": 2, "reverse": 7, "red": 31, "blue": 34}
_PAINTED = re.compile(r"\x1b\[[0-9;]*m")


def plain(text: str, style: str) -> str:
    return text


def colored(text: str, style: str) -> str:
    """Paint with the eight colours of every terminal, in the user's shades."""
    return f"\x1b[{';'.join(str(_CODES[word]) for word in style.split())}m{text}\x1b[0m"


def unpainted(text: str) -> str:
    return _PAINTED.sub("", text)


def cell_len(text: str) -> int:
    """Return the number of columns that a text takes: two for a wide character, none for a mark."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    return 0 if is_mark(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1


def beginning(text: str, width: int) -> str:
    """Return the longest beginning of a text that takes at most `width` columns."""
    used = 0
    for at, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:at]
    return text


def cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else beginning(text, width - 1) + CUT


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a line that is too wide between words, and within a word that is. All lines keep its indent."""
    if cell_len(text) <= width:
        return [text]
    words = text.split()
    indent = text[: text.index(words[0])] if words else ""
    room = max(1, width - len(indent))
    lines = [""]
    for word in words:
        joined = f"{lines[-1]} {word}".lstrip()
        if cell_len(joined) <= room:
            lines[-1] = joined
            continue
        rest = word
        while rest:
            lines.append(beginning(rest, room) or rest[0])
            rest = rest[len(lines[-1]) :]
    return [indent + line for line in lines if line]


class Styled(NamedTuple):
    text: str
    style: str


class GridColumn(NamedTuple):
    """A column of a table, aligned as in `format`; cells of more than `most` columns of text are wrapped or cut."""

    header: str
    align: str = "<"
    wraps: bool = False
    most: int = 10_000


class Grid:
    """A table without lines around its cells."""

    def __init__(self, *columns: GridColumn | str) -> None:
        self._columns = [GridColumn(column) if isinstance(column, str) else column for column in columns]
        self.rows: list[tuple[str, ...]] = []

    def add_row(self, *cells: str) -> None:
        self.rows.append(cells)

    def lines(self, width: int) -> Iterator[str]:
        """Return the lines of the table. Wrapped columns, and then the widest ones, become narrower to fit."""
        columns = self._columns
        headers = tuple(column.header for column in columns)
        widths = [
            min(column.most, max(map(cell_len, cells)))
            for column, cells in zip(columns, zip(headers, *self.rows, strict=True), strict=True)
        ]
        for _ in range(sum(widths) + GAP * (len(widths) - 1) - width):
            widest = max(range(len(widths)), key=lambda at: (columns[at].wraps and widths[at] > NARROW, widths[at]))
            widths[widest] = max(1, widths[widest] - 1)
        for row, cells in enumerate([headers, *self.rows]):
            parts = [
                wrapped(cell, room) if column.wraps else [cut(cell, room)]
                for column, cell, room in zip(columns, cells, widths, strict=True)
            ]
            for line in zip_longest(*parts, fillvalue=""):
                aligned = (
                    f"{text:{column.align}{room - cell_len(text) + len(text)}}"
                    for column, text, room in zip(columns, line, widths, strict=True)
                )
                text = (" " * GAP).join(aligned).rstrip()
                yield text if row else colored(text, "dim")


Block = str | Styled | Grid


def drawn(blocks: Iterable[Block], width: int) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Grid):
            lines += block.lines(width)
        elif isinstance(block, Styled):
            lines.append(colored(cut(block.text, width), block.style))
        else:
            lines += (line for text in block.split("\n") for line in wrapped(text, width))
    return lines


PLAIN_WIDTH = 100
"""Columns of output to a file or a pipe without COLUMNS."""
TERMINAL_WIDTH, TERMINAL_HEIGHT = 80, 24
LEAST_WIDTH, MOST_WIDTH = 20, 10_000
LONGEST_NUMBER = 10


_COMMAND = re.compile(r"(?:^|(?<=: )(?<!Usage: ))(?:\S*/)?(?:\S*python\S* -m )?arena (?:(?!  ).)*$")
"""A command at the end of a line."""
_BEFORE_LAST_COLUMN = re.compile(r"\s*\S.*\s{2,}(?=\S)|\s*")


def folded(text: str, columns: int) -> str:
    """Fold lines that are too wide between words, but no line that ends with a command, so that it can be copied."""
    return "\n".join(part for line in text.split("\n") for part in _folded_line(line, columns))


def _folded_line(line: str, columns: int) -> list[str]:
    if len(line) <= columns or "\x1b" in line or _COMMAND.search(line.lstrip()):  # what has colours is a drawing
        return [line]
    import textwrap

    indent = len(_BEFORE_LAST_COLUMN.match(line[: columns // 2])[0])  # type: ignore[index]  # it matches any text
    return textwrap.wrap(line, columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def fitted(text: str, stream: IO[str]) -> str:
    """Fold a text to the width of a terminal; return it unchanged for a file or a pipe."""
    return folded(text, width_of(stream)) if stream.isatty() else text


def is_dumb(stream: IO[str]) -> bool:
    """Whether a stream is no terminal, or one that does not know codes for colours and the cursor."""
    return not stream.isatty() or os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def has_colors(stream: IO[str]) -> bool:
    return not is_dumb(stream) and not os.environ.get("NO_COLOR")


def for_stream(text: str, stream: IO[str]) -> str:
    return text if has_colors(stream) else unpainted(text)


def print_blocks(blocks: Iterable[Block]) -> None:
    for line in drawn(blocks, width_of(sys.stdout)):
        print(for_stream(line, sys.stdout))


def width_of(stream: IO[str]) -> int:
    """Return the number of columns: COLUMNS if set to a number, else those of the terminal."""
    asked = _asked("COLUMNS")
    if asked:
        return min(max(asked, LEAST_WIDTH), MOST_WIDTH)
    if not stream.isatty():
        return PLAIN_WIDTH
    columns, _ = _terminal_size(stream)
    return max(columns, LEAST_WIDTH) if columns else TERMINAL_WIDTH


def height_of(stream: IO[str]) -> int:
    return _asked("LINES") or _terminal_size(stream)[1] or TERMINAL_HEIGHT


def _asked(variable: str) -> int:
    asked = os.environ.get(variable, "")
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < LONGEST_NUMBER else 0


def _terminal_size(stream: IO[str]) -> tuple[int, int]:
    try:
        return os.get_terminal_size(stream.fileno())
    except OSError:
        return 0, 0


def to_json(value: object) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def to_line(value: object) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()
