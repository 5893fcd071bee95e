"""The forms that results are printed in: a table for people, one JSON document, or JSON with one object a line."""

import enum
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from arena.cli.streams import Detail, detail, set_detail


class Form(enum.Enum):
    """How results are printed."""

    TEXT = enum.auto()
    JSON = enum.auto()
    LINES = enum.auto()


def lines_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--jsonl` to a command that plays games, which gets it as `as_lines`."""
    words = "Print JSON, one object a line: each game when it is over, and at the end the results."
    return click.option("--jsonl", "as_lines", is_flag=True, help=words)(function)


def detail_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--quiet` and `--verbose` to a command. They set what `arena.cli.streams.detail` returns."""
    for short, name, asked, words in (
        ("-q", "--quiet", Detail.QUIET, "Print the table alone."),
        ("-v", "--verbose", Detail.VERBOSE, "Print a line for each game when it is over."),
    ):
        function = click.option(
            short, name, is_flag=True, expose_value=False, callback=partial(_say, asked), help=words
        )(function)
    return function


def _say(asked: Detail, ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        if detail() not in (Detail.USUAL, asked):
            raise click.UsageError("--quiet and --verbose: expected one of them", ctx)
        set_detail(asked)


def form_of(*, as_json: bool, as_lines: bool) -> Form:
    """The form that the options ask for. Raises `click.UsageError` if that is two."""
    if as_json and as_lines:
        raise click.UsageError("--json and --jsonl are two forms of output: expected one of them")
    return Form.JSON if as_json else Form.LINES if as_lines else Form.TEXT
