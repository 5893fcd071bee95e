"""The `arena` command as a click group, which imports its commands on demand."""

import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from arena.cli import catalog, interrupts, streams
from arena.cli.exit_codes import FAILED, INTERRUPTED, NO_VERDICT, USAGE
from arena.cli.installation import started_as_module
from arena.errors import nearest
from arena.system.terminal_text import folded, width_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

TRACEBACK_VARIABLE = "ARENA_TRACEBACK"
LONGEST_COMPLAINT = 4000
"""Characters of a message about a wrong option, which may quote an argument of any length."""
CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class ArenaGroup(click.Group):
    """All commands. The help of the group is in `arena.cli.catalog`."""

    def all_commands(self) -> dict[str, click.Command]:
        return {name: _imported(name) for name in catalog.NAMES}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(catalog.NAMES)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return _imported(name) if name in catalog.NAMES else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        if incomplete and not incomplete[0].isalnum():
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=words) for _, name, words in catalog.COMMANDS if name.startswith(incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word == "help":
            ctx.fail(f"No such command 'help'. Did you mean 'arena {' '.join((*args[1:2], '--help'))}'?")
        near = [] if word in catalog.NAMES else nearest(word, catalog.NAMES)
        meant = catalog.MEANT.get(word) or next(iter(near), None)
        if meant is not None:
            words = next(words for _, name, words in catalog.COMMANDS if name == meant.split()[0])
            ctx.fail(f"No such command {word!r}. Did you mean 'arena {meant}' ({words})?")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(folded(catalog.help_text(), width_of(sys.stdout)))

    def main(  # type: ignore[override]  # click overloads it by the value of standalone_mode
        self, args: Sequence[str] | None = None, standalone_mode: bool = True, **options: Any
    ) -> Any:
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **options)
        sys.exit(self.run(args, **options))

    def run(self, args: Sequence[str] | None = None, **options: Any) -> int:
        args = list(sys.argv[1:] if args is None else args)
        streams.set_detail(streams.Detail.USUAL)
        name = "python -m arena" if started_as_module() else "arena"
        options |= {"prog_name": name, "complete_var": catalog.COMPLETION_VARIABLE}
        try:
            code = super().main(args, standalone_mode=False, **options) or 0
            streams.flush_results()
        except (click.Abort, KeyboardInterrupt):
            return _interrupted()
        except streams.OutputError as error:
            error.tell()
            code = FAILED
        except BaseExceptionGroup as group:  # out of several tasks of trio
            code = _interrupted() if group.subgroup(KeyboardInterrupt) else _explain(group)
        except Exception as error:
            is_typing = catalog.COMPLETION_VARIABLE in os.environ  # a prompt is no place for messages
            code = FAILED if is_typing else _explain(error)
        else:
            return int(code)
        return NO_VERDICT if code == FAILED and args[:1] == ["compare"] else code


def _imported(name: str) -> click.Command:
    word = name.replace("-", "_")
    command: click.Command = getattr(import_module(f"arena.cli.cmd_{word}"), f"{word}_command")
    return command


def _show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(catalog.version_text(), nl=False)
        ctx.exit()


@click.command("arena", cls=ArenaGroup, context_settings=CONTEXT)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version of the arena and of the protocol, and exit.",
)
def cli() -> None:
    """A bot arena for the board game Stratego."""


def main() -> None:
    interrupts.leave_at_once()
    streams.take_over()
    code = cli.run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python shuts down, where it would cause a traceback
    gc.freeze()  # or Python would look for garbage in all that was imported, for a tenth of the time of a quick command
    sys.exit(code)


def _interrupted() -> int:
    _complain(interrupts.INTERRUPTED_WORDS)
    return INTERRUPTED


def _explain(error: BaseException) -> int:
    from arena.sandbox.launch import known_fault

    if isinstance(error, click.ClickException):
        shown = io.StringIO()
        error.show(shown)
        streams.complain(shown.getvalue().rstrip("\n")[:LONGEST_COMPLAINT])
        return error.exit_code
    known = known_fault(error)
    if known:
        _complain(str(known))
        return known.exit_code
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        traceback.print_exc()
    if isinstance(error, FileNotFoundError) and _is_folder_gone():
        _complain("the current folder has been deleted: go to another one")
        return USAGE
    _complain(
        f"internal error: {type(error).__name__}: {error}\n"
        f"This is a mistake in arena, not in your bots. Set {TRACEBACK_VARIABLE}=1 to see where it happened."
    )
    return FAILED


def _is_folder_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _complain(text: str) -> None:
    streams.complain(f"arena: {text}")
