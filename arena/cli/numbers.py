"""Numbers as options take them: an error says what was expected and what came.

Click's own words for both are of its making ("'x' is not a valid integer range", "0 is not in the range 1<=x<=9").
"""

from typing import Any

import click

from arena.printable import SHOWN, printable, shown


class Whole(click.IntRange):
    """A whole number from `min` to `max`, or without an end where that is None."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number. Fails with the range and the value for anything else."""
        try:
            number = int(value)
        except (TypeError, ValueError):
            self.fail(f"expected {self.words}, got {_got(value)}", param, ctx)
        if (self.min is not None and number < self.min) or (self.max is not None and number > self.max):
            self.fail(f"expected {self.words}, got {_got(value)}", param, ctx)
        return number

    @property
    def words(self) -> str:
        """What is expected, in words."""
        if self.max is None:
            return "a whole number" if self.min is None else f"a whole number of at least {self.min:g}"
        return f"a whole number from {self.min} to {self.max}"


class Decimal(click.types.FloatParamType):
    """A number, with a point if need be."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails with the value for anything else."""
        try:
            return float(value)
        except (TypeError, ValueError):
            self.fail(f"expected a number, got {_got(value)}", param, ctx)


def _got(value: Any) -> str:
    """The value as it was written; quotes only about what is no number."""
    is_number = isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit()
    return printable(value, SHOWN) if is_number else shown(value)
