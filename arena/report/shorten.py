"""Names of bots that are too long for a table, shortened so that they still tell the bots apart.

A name is cut at its end where that leaves it unlike all others, else in the middle, so that it keeps its end (`@3f9a12`
of a version, `#2` of a copy); else what is left out is what it has in common with others. What even that does not tell
apart gets a number.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from rich.cells import cell_len, chop_cells

CUT = "…"
NAME_WIDTH = 24
"""Columns that a name may have in a table, unless there is room for more."""
LEAST = 6
"""Columns that a name has at least: two of its head, the cut, and three to tell it apart."""


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """For each name one of at most `width` columns (but `LEAST`), no two of them alike.

    A name that has room stays as it is.
    """
    width = max(width, LEAST)
    full = list(dict.fromkeys(names))
    short = {name: name for name in full if cell_len(name) <= width}
    left = [name for name in full if name not in short]
    for form in _forms(left, width):
        if not left:
            break
        made = {name: form(name) for name in left}
        counts, taken = Counter(made.values()), set(short.values())
        fitting = {name: text for name, text in made.items() if counts[text] == 1 and text not in taken}
        short |= fitting
        left = [name for name in left if name not in fitting]
    short |= _numbered(left, width, set(short.values()))
    return {name: short[name] for name in full}


def _forms(names: Sequence[str], width: int) -> Iterator[Callable[[str], str]]:
    """Ways to shorten a name, the plainest first."""
    for columns in (0, *range(4, width - 2)):
        yield partial(_with_end, width, columns)
    shared = _shared(min(names, default=""), max(names, default=""))
    yield partial(_from_where_they_differ, width, dict.fromkeys(names, shared))
    longest = dict.fromkeys(names, 0)
    for before, name in pairwise(sorted(names)):
        shared = _shared(before, name)
        longest[before], longest[name] = max(longest[before], shared), max(longest[name], shared)
    yield partial(_from_where_they_differ, width, longest)


def _shared(first: str, second: str) -> int:
    """How many characters two names have in common at their start; the first and last of many in order: all of them."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(first), len(second)))


def _with_end(width: int, columns: int, name: str) -> str:
    """A name cut before its last `columns`."""
    return f"{_head(name, width - 1 - columns)}{CUT}{_head(name[::-1], columns)[::-1]}"


def _from_where_they_differ(width: int, shared: dict[str, int], name: str) -> str:
    """Two columns of the name, and what follows the characters that it shares with others."""
    return f"{_head(name, 2)}{CUT}{_head(name[shared[name] :], width - 3)}"


def _head(text: str, width: int) -> str:
    """The first characters, of at most so many columns."""
    return chop_cells(text, width)[0] if width > 0 and text else ""


def _numbered(names: Iterable[str], width: int, taken: set[str]) -> dict[str, str]:
    """Names that nothing else tells apart: cut, with numbers."""
    made = {}
    number = 1
    for name in names:
        while (text := f"{_head(name, width - len(str(number)) - 1)}{CUT}{number}") in taken:
            number += 1
        taken.add(text)
        made[name] = text
        number += 1
    return made
