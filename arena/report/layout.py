"""Text laid out in the columns of a terminal: colours, wrapping and tables.

A drawing is a sequence of blocks: plain text, which is wrapped, coloured text, which is cut, and tables.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from arena.system.printable import is_mark

CUT = "…"
GAP = 2
"""Columns between two columns of a table."""
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
    """Return the number of columns that a text takes."""
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
    """Return the lines of a drawing of `width` columns."""
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Grid):
            lines += block.lines(width)
        elif isinstance(block, Styled):
            lines.append(colored(cut(block.text, width), block.style))
        else:
            lines += (line for text in block.split("\n") for line in wrapped(text, width))
    return lines
