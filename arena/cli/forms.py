"""The forms that results are printed in: a table for people, one JSON document, or JSON with one object a line."""

import enum
from collections.abc import Callable
from typing import Any

import click


class Form(enum.Enum):
    """How results are printed."""

    TEXT = enum.auto()
    JSON = enum.auto()
    LINES = enum.auto()


def lines_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--jsonl` to a command that plays games, which gets it as `as_lines`."""
    words = "Print JSON, one object a line: each game when it is over, and at the end the results."
    return click.option("--jsonl", "as_lines", is_flag=True, help=words)(function)


def form_of(*, as_json: bool, as_lines: bool) -> Form:
    """The form that the options ask for. Raises `click.UsageError` if that is two."""
    if as_json and as_lines:
        raise click.UsageError("--json and --jsonl are two forms of output: expected one of them")
    return Form.JSON if as_json else Form.LINES if as_lines else Form.TEXT
