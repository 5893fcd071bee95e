"""The form of output: JSON, and the width of text. Only results go to standard output."""

import os
import re
import sys
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console  # slow to import, and `arena --help` needs only the width

PLAIN_WIDTH = 100
"""Columns of output to a file or a pipe without COLUMNS."""
TERMINAL_WIDTH = 80
"""Columns of a terminal of unknown width."""
LEAST_WIDTH, MOST_WIDTH = 20, 10_000
LONGEST_NUMBER = 10


_COMMAND = re.compile(r"(?:^|(?<=: )(?<!Usage: ))(?:\S*/)?(?:\S*python\S* -m )?arena (?:(?!  ).)*$")
"""A command at the end of a line."""
_BEFORE_LAST_COLUMN = re.compile(r"\s*\S.*\s{2,}(?=\S)|\s*")


def folded(text: str, columns: int) -> str:
    """Fold lines that are too wide between words.

    A folded line keeps its indent, or that of the last column in its first half. A line that ends with a command is
    unchanged, so that it can be copied.
    """
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


def results_console() -> "Console":
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, width=width_of(sys.stdout))


def progress_console() -> "Console":
    from rich.console import Console

    console = Console(file=sys.stderr, highlight=False)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        console.width = width_of(sys.stderr)
    return console


def width_of(stream: IO[str]) -> int:
    """Return the number of columns: COLUMNS if set to a number, else those of the terminal."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdecimal() and len(asked) < LONGEST_NUMBER and int(asked):
        return min(max(int(asked), LEAST_WIDTH), MOST_WIDTH)
    if not stream.isatty():
        return PLAIN_WIDTH
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        columns = 0
    return max(columns, LEAST_WIDTH) if columns else TERMINAL_WIDTH


def to_json(value: object) -> str:
    """Return a value as indented JSON without a line feed at the end."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def to_line(value: object) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()
