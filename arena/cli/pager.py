"""Colour in a terminal, and a pager, for the commands that print long texts."""

import os
import sys

import click

from arena.cli.interrupts import unwinding
from arena.cli.streams import result, writable
from arena.report.consoles import has_colors, height_of, width_of
from arena.report.layout import Paint, colored, plain

AUTO, ALWAYS = "auto", "always"


def paint_for(color: str) -> Paint:
    return colored if color == ALWAYS or (color == AUTO and has_colors(sys.stdout)) else plain


def print_text(text: str, *, color: str) -> None:
    """Print a text, in the user's pager if it does not fit a terminal."""
    columns = width_of(sys.stdout)
    rows = sum(1 + len(click.unstyle(line)) // columns for line in text.splitlines())
    if not sys.stdout.isatty() or rows < height_of(sys.stdout):
        result(text, end="")
        return
    if sys.stdout.encoding == "utf-8":  # for any locale: `less` would show it byte by byte in that of C
        os.environ.setdefault("LESSCHARSET", "utf-8")
    with unwinding():  # the pager is there until the terminal is in order again
        click.echo_via_pager(writable(text), color=True if color == ALWAYS else None)
