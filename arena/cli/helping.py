"""Help, and the common class of commands."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any

import click

from arena.cli.installation import refuse_windows
from arena.errors import UsageError
from arena.system.printable import SHOWN, printable, shown
from arena.system.terminal_text import folded

OTHERS = "Other options"
HELPS = ("--help", "--help-all")
NAME_COLUMNS = 28
"""Widest column of option names; after a longer name the text begins on the next line."""
TOO_FEW_OR_MANY = ("Missing argument", "Got unexpected extra argument")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Example = tuple[str, str]
Groups = Mapping[str, Collection[str]]
"""Headings, and the options below each by their long names without dashes."""


class ArenaCommand(click.Command):
    def __init__(
        self,
        *arguments: Any,
        examples: Sequence[Example],
        usual: Collection[str] = (),
        groups: Groups | None = None,
        runs_bots: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.examples = tuple(examples)
        self.usual = tuple(usual)
        self.groups = dict(groups or {})
        self.runs_bots = runs_bots

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            words = error.format_message().removesuffix(".")
            if words.startswith(TOO_FEW_OR_MANY):
                raise click.UsageError(f"{words}. For example: {self.examples[0][0]}", ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> Any:
        if self.runs_bots:
            refuse_windows()
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), _HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = grouped(self, ctx)
        is_full = bool(ctx.meta.get(HELPS[1]))
        if not is_full:
            options = [option for _, options in sections for option in options if option.opts[-1] not in HELPS]
            usual = [option for name in self.usual for option in options if long_name(option) == name]
            sections = [("Options", [*(usual or options), _HELP_ALL])]
        for heading, options in sections:
            with formatter.section(heading):
                rows = [record(option, ctx, names_choices=is_full) for option in options]
                formatter.write_dl(rows, col_max=NAME_COLUMNS)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(line) for line, _ in self.examples)
        with formatter.section("Examples"):
            for line, words in self.examples:
                example = f"  {line:{width}}  {words}".rstrip()
                if len(example) > formatter.width:
                    example = folded(f"  {line}\n    {words}".rstrip(), formatter.width)
                formatter.write(f"{example}\n")


def command(
    *examples: Example, cls: type[ArenaCommand] = ArenaCommand, **settings: Any
) -> Callable[[Callable[..., Any]], ArenaCommand]:
    """Return a decorator that makes a command of a function `NAME_command`."""

    def made(function: Callable[..., Any]) -> ArenaCommand:
        name = function.__name__.removesuffix("_command").replace("_", "-")
        return click.command(name, cls=cls, examples=examples, **settings)(function)

    return made


def grouped(command: click.Command, ctx: click.Context) -> list[tuple[str, list[click.Option]]]:
    found = (param for param in command.get_params(ctx) if isinstance(param, click.Option) and not param.hidden)
    left = {long_name(option): option for option in found}
    groups = command.groups if isinstance(command, ArenaCommand) else {}
    sections = [(heading, [left.pop(name) for name in names if name in left]) for heading, names in groups.items()]
    sections.append((OTHERS if groups else "Options", list(left.values())))
    return [(heading, options) for heading, options in sections if options]


def record(option: click.Option, ctx: click.Context, *, names_choices: bool = True) -> tuple[str, str]:
    names, words = option.get_help_record(ctx) or (option.opts[0], "")
    if names_choices and option.metavar and isinstance(option.type, click.Choice):
        words, bracket, rest = words.partition("  [")
        words = f"{words} One of {', '.join(map(str, option.type.choices))}.{bracket}{rest}"
    return re.sub(r"--([\w-]+) / --no-\1\b", r"--[no-]\1", names), words


def long_name(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def _show_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[HELPS[1]] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options, in groups, and exit.",
)


class Whole(click.types.IntParamType):
    name = "n"

    def __init__(self, min: int | None = None, max: int | None = None) -> None:  # as in click.IntRange
        self.min, self.max = min, max

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError):
            self.fail(f"expected {self.words}, got {shown(value)}", param, ctx)
        if (self.min is not None and number < self.min) or (self.max is not None and number > self.max):
            self.fail(f"expected {self.words}, got {printable(str(value), SHOWN)}", param, ctx)
        return number

    @property
    def words(self) -> str:
        if self.max is None:
            return "a whole number" if self.min is None else f"a whole number of at least {self.min}"
        return f"a whole number from {self.min} to {self.max}"


def exclusive(**given: object) -> None:
    """Raise `UsageError` if more than one of these options is given."""
    names = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if len(names) > 1:
        raise UsageError(f"{names[0]} and {names[1]} cannot be used together")


def with_options(options: Sequence[Decorator]) -> Decorator:
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)
