"""What is said of one game that was stopped, between bots or with a person: what is kept of it, and how it goes on."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from arena.cli.playing import same_command, stopped_by
from arena.cli.words import shell_line, this_command
from arena.errors import ArenaError, UsageError
from arena.league.saved import PreparedGame
from arena.league.store import StoreChangedError

CHANGED = (
    "this game is not stored; what is at {path} now would be taken for its store: put the one with the games of before "
    "back there before you give the same command again"
)


def kept_words(prepared: PreparedGame) -> str:
    """What is there of a game that was stopped before it could be saved."""
    return f"{prepared.file} is as it was" if prepared.history else "there is nothing to save"


def line_to_go_on(prepared: PreparedGame, *command: str) -> str:
    """The command line by which the saved game goes on, with the interpreters that it needs; `command` is what stands
    before its file."""
    named = [word for path in prepared.held.interpreters for word in ("--interpreter", path)]
    return shell_line(*this_command(), *command, str(prepared.file), *named)


@contextmanager
def saying_how_to_go_on(prepared: PreparedGame, again: str, *before: str) -> Iterator[None]:
    """Have an error by which the game ends say what is to be said `before`, and how to go on: `again`, and the same
    command. One that says that these bots cannot play it is left as it is: there is nothing to go on with."""
    try:
        yield
    except ArenaError as error:
        if type(error) is UsageError:
            raise
        is_changed = isinstance(error, StoreChangedError)
        how = CHANGED.format(path=prepared.store.path) if is_changed else f"{again}: {same_command()}"
        raise stopped_by(error, *before, how) from error


def does_not_count(lines: Iterable[str]) -> ArenaError:
    """The error of a game whose bots have changed while it was played: these lines say how."""
    return ArenaError("\n".join([*lines, "what was played does not count: it is neither stored nor saved"]))
