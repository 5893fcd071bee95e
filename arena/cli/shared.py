"""Options that several commands have, as decorators of commands."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def with_options(function: Callable[..., Any], options: Sequence[Decorator]) -> Callable[..., Any]:
    """A command with these options (`click.option`), which its help has in this order."""
    for option in reversed(options):
        function = option(function)
    return function


def those_named(options: Sequence[Decorator], names: Collection[str]) -> list[Decorator]:
    """Those of the options whose parameters have one of these names."""
    return [option for option in options if _name(option) in names]


def _name(option: Decorator) -> str:
    (parameter,) = option(lambda: None).__click_params__  # type: ignore[attr-defined]
    return str(parameter.name)
