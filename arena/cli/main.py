"""The `arena` command itself: its sub-commands, and what a user sees when something goes wrong.

Whatever is raised, a user gets one clear message on standard error and an exit code: 2 for what was asked for wrongly,
1 for what failed, 130 for Ctrl-C. A traceback is for us: it is printed only if ARENA_TRACEBACK is set.
"""

import io
import os
import sys
import traceback

import click

from arena import __version__
from arena.cli.doctor import doctor_command
from arena.cli.games import games_command
from arena.cli.league import league_command
from arena.cli.match import match_command
from arena.cli.resume import resume_command
from arena.cli.rules import rules_command
from arena.cli.show import show_command
from arena.cli.standings import standings_command

INTERRUPTED = 130
TRACEBACK_VARIABLE = "ARENA_TRACEBACK"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="arena")
def cli() -> None:
    """A bot arena for the board game Stratego.

    Runs bots, in any language, against each other; keeps every game; prints tables that can be trusted.
    """


for _command in (
    league_command,
    match_command,
    standings_command,
    games_command,
    show_command,
    resume_command,
    rules_command,
    doctor_command,
):
    cli.add_command(_command)


def main() -> None:
    """Entry point of the `arena` command."""
    sys.exit(_run())


def _run() -> int:
    from arena.model import ArenaError
    from arena.printable import printable
    from arena.rules.ruleset import RulesetError

    try:
        return cli.main(standalone_mode=False, prog_name="arena") or 0
    except click.ClickException as error:
        words = io.StringIO()
        error.show(words)  # which may name what a shell's * has passed on: the files of strangers
        click.echo(printable(words.getvalue(), lines=True), nl=False, err=True)
        return error.exit_code
    except ArenaError as error:
        _complain(str(error))
        return error.exit_code
    except RulesetError as error:
        _complain(str(error))
        return 2
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): no complaint, and none from Python at shutdown either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        _complain(
            f"internal error: {type(error).__name__}: {error}\n"
            f"This is a mistake in arena, not in your bots. Set {TRACEBACK_VARIABLE}=1 to see where it happened."
        )
        return 1


def _complain(text: str) -> None:
    from arena.printable import printable

    click.echo(f"arena: {printable(text, lines=True)}", err=True)
