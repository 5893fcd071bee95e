"""The `arena` command as a group: its commands are imported when they are asked for, and each can be completed."""

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from arena.cli import front
from arena.cli.catalog import COMMANDS, MEANT, NAMES, home_of
from arena.cli.completing import teach
from arena.report.consoles import fitted

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Commands(Mapping[str, click.Command]):
    """The commands by name; each is imported when it is looked up."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in NAMES:
            raise KeyError(name)
        return _imported(name)

    def __contains__(self, name: object) -> bool:
        return name in NAMES  # without importing it

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


@cache
def _imported(name: str) -> click.Command:
    module, attribute = home_of(name)
    return teach(getattr(import_module(module), attribute))


class ArenaGroup(click.Group):
    """All commands. Its help is that of `arena.cli.front`, so that there is one."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands = Commands()  # type: ignore[assignment]  # click only reads it
        self.params.append(
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_version,
                help="Show the version of the arena and of the protocol, and exit.",
            )
        )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """The commands with the lines that help has for them: to be offered, none has to be imported."""
        from click.shell_completion import CompletionItem

        if incomplete and not incomplete[0].isalnum():
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=words) for _, name, words in COMMANDS if name.startswith(incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words begin with. What is none is told with the one that was probably meant."""
        word = args[0]
        if word == "help":
            ctx.fail(f"No such command 'help'. Did you mean 'arena {' '.join((*args[1:2], '--help'))}'?")
        if word in MEANT:
            words = next(words for _, name, words in COMMANDS if name == MEANT[word].split()[0])
            ctx.fail(f"No such command {word!r}. Did you mean 'arena {MEANT[word]}' ({words})?")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(fitted(front.help_text(), sys.stdout))


def _show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(front.version_text(), nl=False)
        ctx.exit()
