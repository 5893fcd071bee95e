"""Help that fits a screen: `--help` ends with examples and is short where it has to be; `--help-all` has everything.

A command says its `examples`, which options are the `usual` ones (all, if none are named) and how all of them are
grouped. Where all of it does not fit, `--help` has the usual options with the first clause of what each means, which is
therefore to be one that stands alone.

Numbers as options say what was expected and what came: click's own words are less plain ("0 is not in the range
1<=x<=9").
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any

import click

from arena.report.consoles import folded
from arena.system.printable import SHOWN, printable, shown

HELP_ALL = "help_all"
WORDS = "words"
"""Where a context has what stands on a line that is completed, before the word that is asked for."""
OTHERS = "Other options"
SCREEN_LINES = 23
"""Of 24 in a terminal, as the next prompt takes one."""
NARROW, WIDE = 26, 32
"""How many columns the names of options take, at most, before what they mean goes into a line of its own."""
HELPS = ("--help", "--help-all")
TOO_FEW_OR_MANY = ("Missing argument", "Got unexpected extra argument")
"""How click begins to say that there are not as many words on the line as the command takes."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Example = tuple[str, str]
"""A command as a shell runs it, and what it does."""
Groups = Mapping[str, Collection[str]]
"""Headings, and the options below each by their long names without dashes."""


class ArenaCommand(click.Command):
    """A command of the arena."""

    def __init__(
        self,
        *arguments: Any,
        examples: Sequence[Example] = (),
        usual: Collection[str] = (),
        groups: Groups | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.examples = tuple(examples)
        self.usual = tuple(usual)
        self.groups = dict(groups or {})
        for param in self.params:
            if isinstance(param, click.Option) and param.metavar is None and isinstance(param.type, click.IntRange):
                param.metavar = "N"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # a line that is being completed, of which click forgets what is not whole
            ctx.meta[WORDS] = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise self._with_example(error, ctx) from None

    def _with_example(self, error: click.UsageError, ctx: click.Context) -> click.UsageError:
        """Add an example to an error about too few or too many words, or about an option without its value."""
        words = error.format_message().removesuffix(".")
        if self.examples and words.startswith(TOO_FEW_OR_MANY):
            return click.UsageError(f"{words}. For example: {self.examples[0][0]}", ctx)
        if isinstance(error, click.BadOptionUsage) and " requires " in words:
            name = error.option_name
            option = next((param for param in self.params if name in param.opts), None)
            example = next((f". For example: {line}" for line, _ in self.examples if f"{name} " in line), "")
            if option is not None:
                return click.UsageError(f"{name}: expected {option.make_metavar(ctx)} after it{example}", ctx)
        return error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), _HELP_ALL]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta.get(HELP_ALL):
            self._write(formatter, ctx, grouped(self, ctx), WIDE)
            return
        options = [option for option in options_of(self, ctx) if option.opts[-1] not in HELPS]
        whole = ctx.make_formatter()
        self._write(whole, ctx, [("Options", options)], NARROW)
        if whole.getvalue().count("\n") <= SCREEN_LINES:
            formatter.write(whole.getvalue())
            return
        shown = [option for option in options if not self.usual or long_name(option) in self.usual]
        shown.sort(key=lambda option: self.usual.index(long_name(option)) if self.usual else 0)
        what = f"Show all {len(options)} options" if len(shown) < len(options) else "Say more of each option"
        self._write(formatter, ctx, [("Options", shown)], NARROW, is_brief=True, last=("--help-all", f"{what}."))

    def _write(
        self,
        formatter: click.HelpFormatter,
        ctx: click.Context,
        sections: "list[tuple[str, list[click.Option]]]",
        columns: int,
        *,
        is_brief: bool = False,
        last: tuple[str, str] | None = None,
    ) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        for heading, options in sections:
            rows = [(brief if is_brief else full)(option, ctx) for option in options] + ([last] if last else [])
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=columns)
        self.format_epilog(ctx, formatter)
        if self.examples:
            wide = max(len(line) for line, _ in self.examples)
            with formatter.section("Examples"):
                for line, words in self.examples:
                    shown = f"  {line:{wide}}  {words}".rstrip()
                    if len(shown) > formatter.width:
                        shown = folded(f"  {line}\n    {words}".rstrip(), formatter.width)
                    formatter.write(f"{shown}\n")


def grouped(command: click.Command, ctx: click.Context) -> list[tuple[str, list[click.Option]]]:
    """All options of a command below the headings that it has for them."""
    left = {long_name(option): option for option in options_of(command, ctx)}
    groups = command.groups if isinstance(command, ArenaCommand) else {}
    found = [(heading, [left.pop(name) for name in names if name in left]) for heading, names in groups.items()]
    found.append((OTHERS if groups else "Options", list(left.values())))
    return [(heading, options) for heading, options in found if options]


def options_of(command: click.Command, ctx: click.Context) -> list[click.Option]:
    """All options of a command that help shows."""
    found = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    return [option for option in found if not option.hidden]


def full(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """How an option is written, and what it means."""
    names, words = _record(option, ctx)
    if option.metavar and isinstance(option.type, click.Choice):
        words, bracket, rest = words.partition("  [")
        words = f"{words} One of {', '.join(map(str, option.type.choices))}.{bracket}{rest}"
    return re.sub(r"--([\w-]+) / --no-\1\b", r"--[no-]\1", names), words


def brief(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """The same with the first clause of what it means."""
    names, words = _record(option, ctx)
    clause = re.split(r"[.;:](?=\s|$)| \(", words, maxsplit=1)[0]
    usual = re.search(r"\[default: ([^];]*)", words)
    return re.sub(r" / --no-[\w-]+", "", names), f"{clause}.  [default: {usual[1]}]" if usual else f"{clause}."


def _record(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    names, words = option.get_help_record(ctx) or (option.opts[0], "")
    words = re.sub(r"\[default: \((.*?)\)(?=[;\]])", r"[default: \1", words)
    words = re.sub(r"(; |(?<=\[))x>=[01](?=\])", "", words).replace("  []", "")
    return names, re.sub(r"(\d+)<=x<=(\d+)", r"\1 to \2", words)


def long_name(option: click.Option) -> str:
    """The long name of an option, without dashes."""
    return max(option.opts, key=len).lstrip("-")


def _show_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
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


def with_options(options: Sequence[Decorator]) -> Decorator:
    """Return a decorator that adds these options (`click.option`) to a command, in this order."""
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)
