"""What the commands that play games have in common: a process of their own, the level in words, how they stop."""

import sys

from arena.bots.sandbox.levels import Level, enter_scope
from arena.bots.sandbox.rlimits import use_all_descriptors
from arena.cli.words import shell_line, this_command
from arena.errors import ArenaError


def own_process(sandbox: str) -> None:
    """Do to this process what a command may do and a host program would not like: it is there for games alone.

    This may start the command again, in a scope in which the level that is asked for works.
    """
    enter_scope(sandbox)
    use_all_descriptors()


def level_line(level: Level, is_chosen: bool) -> str:
    """How bots are held, in a line that is printed before they are started; `is_chosen`: by `auto`."""
    chosen = " (the strongest that works here: arena doctor)" if is_chosen else ""
    return f"sandbox: {level.value}{chosen}{_what_bots_may_do() if level is Level.DEFAULT else ''}"


def _what_bots_may_do() -> str:
    """What a host should know of the default level. Only the first sandbox is tried, which takes some milliseconds."""
    stronger = "; safer: --sandbox bwrap" if Level.BWRAP.why_not() is None else ""
    return f" (bots can use your files and network{stronger})"


def same_command() -> str:
    """The line that does what this command does once more."""
    return shell_line(*this_command(), *sys.argv[1:])


def stopped_by(error: ArenaError, *lines: str) -> ArenaError:
    """The error with what else is to be said where it stopped the games: what is kept, and how to go on."""
    told = ArenaError("\n".join([str(error), *lines]))
    told.exit_code = error.exit_code
    return told
