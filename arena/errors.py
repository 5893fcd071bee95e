"""What every error that a user can meet is, and the hint at what may have been meant."""

from collections.abc import Iterable


class ArenaError(Exception):
    """Something that a user has to know and can act on. The text stands alone: what was expected, what came, where.

    The command line prints it without a traceback and exits with `exit_code`.
    """

    exit_code = 1


class UsageError(ArenaError):
    """What was asked for makes no sense: a wrong path, name or option."""

    exit_code = 2


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Those of the known words that may have been meant by `word`, the nearest first; at most three."""
    import difflib  # bots that search import this module, and start sooner

    return difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)


def suggest(word: str, known: Iterable[str], also: Iterable[str] = ()) -> str:
    """The words to help someone who wrote `word` where one of `known` was expected.

    What is `also` allowed may have been meant too, but is not listed where nothing is near.
    """
    choices = list(known)
    near = nearest(word, [*choices, *also])
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(choices)}"
