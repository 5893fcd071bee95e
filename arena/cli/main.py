"""The `arena` command itself: its sub-commands, and what a user sees when something goes wrong.

Whatever is raised, a user gets one clear message on standard error and an exit code: 2 for what was asked for wrongly,
1 for what failed (4 after `compare`), 130 for Ctrl-C. A traceback is for us: it is printed only if ARENA_TRACEBACK is
set.
"""

import io
import os
import sys
from typing import Any

import click

from arena.cli import interrupts, streams
from arena.cli.completing import VARIABLE
from arena.cli.exit_codes import FAILED, INTERRUPTED, NO_VERDICT, USAGE
from arena.cli.group import ArenaGroup
from arena.cli.words import started_as_module

TRACEBACK_VARIABLE = "ARENA_TRACEBACK"
LONGEST_COMPLAINT = 4000
"""Characters of what is said of a wrong option, which may be an argument of any length."""


CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.command("arena", cls=ArenaGroup, context_settings=CONTEXT)
def cli() -> None:
    """A bot arena for the board game Stratego."""


def main() -> None:
    """Run the command that the process was started with, and exit."""
    interrupts.leave_at_once()
    streams.take_over()
    code = run()
    interrupts.ignore_from_now_on()
    sys.exit(code)


def run() -> int:
    """Run the command of `sys.argv`, tell what goes wrong, and return the exit code."""
    streams.set_detail(streams.Detail.USUAL)
    try:
        code = cli.main(standalone_mode=False, prog_name="python -m arena" if started_as_module() else "arena") or 0
        streams.flush_results()
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except streams.OutputError as error:
        error.tell()
        code = FAILED
    except BaseExceptionGroup as group:  # out of several tasks of trio
        code = _interrupted() if group.subgroup(KeyboardInterrupt) else _explain(group)
    except Exception as error:
        code = FAILED if VARIABLE in os.environ else _explain(error)  # a line that is being typed is no place for words
    else:
        return code
    return NO_VERDICT if code == FAILED and sys.argv[1:2] == ["compare"] else code


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
        streams.complain(shown.getvalue().rstrip("\n")[:LONGEST_COMPLAINT])
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
        import traceback

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
    streams.complain(f"arena: {text}")
