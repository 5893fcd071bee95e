"""Colour in a terminal, and a pager, for the commands that print long texts."""

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from arena.cli.interrupts import unwinding
from arena.cli.streams import result, writable

if TYPE_CHECKING:
    from arena.report.boards import Paint


AUTO, ALWAYS = "auto", "always"


def paint_for(color: str) -> "Paint":
    from arena.report.boards import colored, plain

    return colored if color == ALWAYS or (color == AUTO and _has_colors()) else plain


def _has_colors() -> bool:
    is_dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return sys.stdout.isatty() and not is_dumb and not os.environ.get("NO_COLOR")


def print_text(text: str, *, color: str) -> None:
    """Print a text, in the user's pager if it does not fit a terminal."""
    size = shutil.get_terminal_size()
    rows = sum(1 + len(click.unstyle(line)) // size.columns for line in text.splitlines())
    if not sys.stdout.isatty() or rows < size.lines:
        result(text, end="")
        return
    if sys.stdout.encoding == "utf-8":  # for any locale: `less` would show it byte by byte in that of C
        os.environ.setdefault("LESSCHARSET", "utf-8")
    with unwinding():  # the pager is there until the terminal is in order again
        click.echo_via_pager(writable(text), color=True if color == ALWAYS else None)
