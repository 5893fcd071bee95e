"""The form of output: JSON, and the width of text. Only results go to standard output."""

import os
import re
import sys
from collections.abc import Iterable
from typing import IO

from arena.report.layout import Block, drawn, unpainted

PLAIN_WIDTH = 100
"""Columns of output to a file or a pipe without COLUMNS."""
TERMINAL_WIDTH, TERMINAL_HEIGHT = 80, 24
"""Columns and rows of a terminal of unknown size."""
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


def is_dumb(stream: IO[str]) -> bool:
    """Whether a stream is no terminal, or one that does not know codes for colours and the cursor."""
    return not stream.isatty() or os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def has_colors(stream: IO[str]) -> bool:
    return not is_dumb(stream) and not os.environ.get("NO_COLOR")


def for_stream(text: str, stream: IO[str]) -> str:
    """Remove the colours of a text that a stream does not show."""
    return text if has_colors(stream) else unpainted(text)


def print_blocks(blocks: Iterable[Block]) -> None:
    """Draw on standard output."""
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
    """Return a value as indented JSON without a line feed at the end."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def to_line(value: object) -> str:
    import msgspec

    return msgspec.json.encode(value).decode()
