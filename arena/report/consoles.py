"""Where results and progress are printed, and how wide that is. Results go to standard output, all else does not."""

import os
import sys
from typing import TextIO

from rich.console import Console

PLAIN_WIDTH = 100
"""Columns of output that goes to a file or a pipe, unless COLUMNS says otherwise."""
TERMINAL_WIDTH = 80
"""Columns of a terminal that does not say how many it has."""
LEAST_WIDTH, MOST_WIDTH = 20, 10_000
"""Columns that tables are made for at all."""
LONGEST_NUMBER = 10


def results_console() -> Console:
    """Standard output, as wide as `width_of` says."""
    return Console(file=sys.stdout, highlight=False, width=width_of(sys.stdout))


def progress_console() -> Console:
    """Standard error: progress and remarks, never results. It follows a terminal that gets another size."""
    console = Console(file=sys.stderr, highlight=False)
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        console.width = width_of(sys.stderr)
    return console


def width_of(stream: TextIO) -> int:
    """How many columns there are: COLUMNS, if that is set to a number; else those of the terminal, if it is one."""
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
