"""The `arena` command itself: its sub-commands, and what a user sees when something goes wrong.

Whatever is raised, a user gets one clear message on standard error and an exit code: 2 for what was asked for wrongly,
1 for what failed, 130 for Ctrl-C. A traceback is for us: it is printed only if ARENA_TRACEBACK is set.
"""

import io
import os
import sys
import traceback

import click

from arena.cli import interrupts, streams
from arena.cli.bots import bots_command
from arena.cli.compare import compare_command
from arena.cli.doctor import doctor_command
from arena.cli.exit_codes import FAILED, INTERRUPTED, USAGE
from arena.cli.export import export_command
from arena.cli.games import games_command
from arena.cli.import_ import import_command
from arena.cli.league import league_command
from arena.cli.log import log_command
from arena.cli.match import match_command
from arena.cli.new import new_command
from arena.cli.rerun import rerun_command
from arena.cli.resume import resume_command
from arena.cli.rules import rules_command
from arena.cli.show import show_command
from arena.cli.standings import standings_command
from arena.cli.verify import verify_command
from arena.cli.words import started_as_module
from arena.version import __version__

TRACEBACK_VARIABLE = "ARENA_TRACEBACK"
LONGEST_COMPLAINT = 4000
"""Characters of what is said of a wrong option, which may be an argument of any length."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="arena")
def cli() -> None:
    """A bot arena for the board game Stratego.

    Runs bots, in any language, against each other; keeps every game; prints tables that can be trusted.
    """


for _command in (
    league_command,
    match_command,
    compare_command,
    standings_command,
    bots_command,
    games_command,
    show_command,
    log_command,
    rerun_command,
    verify_command,
    export_command,
    import_command,
    resume_command,
    rules_command,
    new_command,
    doctor_command,
):
    cli.add_command(_command)


def main() -> None:
    """Run the command that the process was started with, and exit."""
    interrupts.leave_at_once()
    streams.take_over()
    code = run()
    interrupts.ignore_from_now_on()
    sys.exit(code)


def run() -> int:
    """Run the command of `sys.argv`, tell what goes wrong, and return the exit code."""
    try:
        code = cli.main(standalone_mode=False, prog_name="python -m arena" if started_as_module() else "arena") or 0
        streams.flush_results()
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except streams.OutputError as error:
        error.tell()
        return FAILED
    except BaseExceptionGroup as group:  # out of several tasks of trio
        return _interrupted() if group.subgroup(KeyboardInterrupt) else _explain(group)
    except Exception as error:
        return _explain(error)
    return code


def _interrupted() -> int:
    _complain(interrupts.INTERRUPTED_WORDS)
    return INTERRUPTED


def _explain(error: BaseException) -> int:
    """Tell what went wrong; returns the exit code."""
    from arena.bots.sandbox.launch import host_fault
    from arena.errors import ArenaError
    from arena.rules.ruleset import RulesetError

    if isinstance(error, click.ClickException):
        shown = io.StringIO()
        error.show(shown)
        streams.remark(shown.getvalue().rstrip("\n")[:LONGEST_COMPLAINT])
        return error.exit_code
    if isinstance(error, RulesetError):
        _complain(str(error))
        return USAGE
    known = error if isinstance(error, ArenaError) else host_fault(error)
    if known:
        _complain(str(known))
        return known.exit_code
    if not _has_current_folder():
        _complain("the current folder has been removed; change to another one")
        return USAGE
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exc()
    _complain(
        f"internal error: {type(error).__name__}: {error}\n"
        f"This is a mistake in arena, not in your bots. Set {TRACEBACK_VARIABLE}=1 to see where it happened."
    )
    return FAILED


def _has_current_folder() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def _complain(text: str) -> None:
    streams.remark(f"arena: {text}")
