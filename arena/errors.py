"""The errors that a user can meet, and suggestions of what may have been meant."""

import enum
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class ArenaError(Exception):
    """An error for the user. Its text says where, what was expected, what came, and what to do."""

    exit_code = 1


class UsageError(ArenaError):
    """Invalid arguments: a wrong path, name or option."""

    exit_code = 2


class IllegalAnswerError(ArenaError):
    """A set-up or an action that the rules of a game do not allow. The text says what was expected and what came.

    `rule` is the broken rule, for hints, if the game names its rules.
    """

    rule: enum.Enum | None = None


def nearest(word: str, known: Iterable[str], cutoff: float = 0.62) -> list[str]:
    import difflib  # bots that search import this module, and start sooner

    return difflib.get_close_matches(word, list(known), n=3, cutoff=cutoff)


def suggest(word: str, known: Iterable[str], also: Iterable[str] = ()) -> str:
    """Return "did you mean ...?" or else the list of known words. Words in `also` are suggested, but not listed."""
    choices = list(known)
    near = nearest(word, [*choices, *also])
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(choices)}"


@contextmanager
def extra_named(extra: str) -> Iterator[None]:
    """Let an import that fails say what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: install stratego-arena with its extra {extra!r}, or {error.name}") from None
