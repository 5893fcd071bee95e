"""The keys that a file with settings may have, made from the options of the commands: name, type and what it holds."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from arena.cli.helping import long_name

if TYPE_CHECKING:
    from arena.league.config_file import Holds, Key

LARGEST = 2**63 - 1
"""What msgspec can compare with; the option itself knows its bounds."""


def options_in_file(command: click.Command) -> list[click.Option]:
    """The options of a command that can stand in a file."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    return [option for option in options if option.expose_value]


def keys_of(command: click.Command) -> "dict[str, Key]":
    """The keys of a command: those of its options, by name."""
    from arena.league.config_file import Key

    return {
        long_name(option): Key(long_name(option), _kind(option), _holds(option), f"{option.help} {option.multiple}")
        for option in options_in_file(command)
    }


def _holds(option: click.Option) -> "Holds":
    from arena.league.config_file import Holds

    metavar = option.metavar or ""
    if isinstance(option.type, click.Path) or metavar in ("PATH", "FILE"):
        return Holds.PATH
    if option.name == "rules":
        return Holds.RULES
    return Holds.NAMES if metavar.endswith(",...") else Holds.VALUE


def _kind(option: click.Option) -> Any:
    """The type that a value in the file has for an option."""
    from msgspec import Meta

    from arena.league.config_file import Holds
    from arena.schema import expected

    match option.type:
        case _ if option.is_flag:
            return bool
        case click.IntRange(min=least, max=most):
            return Annotated[int, Meta(ge=least, le=most if most is not None and most <= LARGEST else None)]
        case click.Choice(choices=choices):
            return Literal[tuple(str(choice) for choice in choices)]
        case click.types.IntParamType():
            return int
        case click.types.FloatParamType():
            return float
    usual = option.default
    example = f' such as "{usual}"' if isinstance(usual, str) else ""
    word = Annotated[str, Meta(extra=expected(f"a string{example}"))]  # with a pattern, msgspec 0.22 corrupts memory
    return word | list[str] if option.multiple or _holds(option) is Holds.NAMES else word
