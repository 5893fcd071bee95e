"""Colour in a terminal, and a pager, for the commands that print long texts."""

import codecs
import itertools
import os
import sys
from collections.abc import Iterable

import click

from arena.cli.interrupts import unwinding
from arena.cli.streams import result, writable
from arena.report.consoles import has_colors, height_of, width_of
from arena.report.layout import Paint, colored, plain

AUTO, ALWAYS = "auto", "always"


def paint_for(color: str) -> Paint:
    return colored if color == ALWAYS or (color == AUTO and has_colors(sys.stdout)) else plain


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "utf-8"


def print_pages(pages: Iterable[str], *, color: str) -> None:
    """Print pieces of text, each with its line feeds; in the user's pager if they do not fit a terminal.

    Without a pager, an error in the pieces leaves the output empty.
    """
    if not sys.stdout.isatty():
        for page in list(pages):
            result(page, end="")
        return
    pages = iter(pages)
    head: list[str] = []
    columns, left = width_of(sys.stdout), height_of(sys.stdout) - 1
    for page in pages:
        head.append(page)
        left -= sum(1 + len(click.unstyle(line)) // columns for line in page.split("\n")[:-1])
        if left < 0:
            if _is_utf8(sys.stdout.encoding):  # for any locale: `less` would show it byte by byte in that of C
                os.environ.setdefault("LESSCHARSET", "utf-8")
            with unwinding():  # the pager is there until the terminal is in order again
                shown = map(writable, itertools.chain(head, pages))
                click.echo_via_pager(shown, color=True if color == ALWAYS else None)
            return
    for page in head:
        result(page, end="")
