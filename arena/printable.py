"""Text of strangers made fit to be read: for terminals, logs and pages.

A bot's name, its standard error or a path may hold escape sequences that set a clipboard, marks that turn the direction
of writing, or three megabytes of one letter. Such text is made printable once, where it comes in, and is plain text
from there on: everything that is no visible character stands there as its escape, as Python would write it.
"""

import re
import unicodedata

MARKS = 3
"""How many marks may stand over or under one letter; with many more they cover the lines above and below."""

INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Python counts as printable and that show nothing: fillers, blanks and selectors of variants."""
_PICTURE = "\ufe0f"
"""The one of them that ordinary text has: it asks for a coloured picture, as a heart's."""


def printable(text: str, limit: int | None = None, *, lines: bool = False) -> str:
    r"""The same text with nothing in it that a terminal would act on.

    What is not printable (control characters, marks of direction, separators but the space, halves of surrogate pairs)
    or shows nothing becomes an escape such as `\x1b`, and so does each mark after the third on one letter. With
    `lines`, ends of lines and tabs stay, and `\r\n` counts as the end of a line.
    `limit` is the most characters of the result that are kept; what was left out is then said.
    """
    if lines:
        text = text.replace("\r\n", "\n")
    if limit is not None and len(text) > limit:
        shown, left_out = text[:limit], len(text) - limit
        return f"{_escaped(shown, lines)[:limit]}... ({left_out} more characters)"
    return _escaped(text, lines)


def is_mark(character: str) -> bool:
    """Whether a character stands over or under the one before it and takes no column."""
    return unicodedata.category(character) in ("Mn", "Me")


def _escaped(text: str, lines: bool) -> str:
    if text.isascii() and text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    result, marks = [], 0
    for character in text:
        marks = marks + 1 if not character.isascii() and is_mark(character) else 0
        hidden = not character.isprintable() or (INVISIBLE.match(character) and character != _PICTURE)
        is_plain = character in kept or not (hidden or marks > MARKS)
        result.append(character if is_plain else character.encode("unicode_escape").decode("ascii"))
    return "".join(result)


SHOWN = 200
"""Characters of a value that an error shows."""


def shown(value: object) -> str:
    """A value that somebody wrote down, for the error that says it is not what was expected: printable and short."""
    try:
        text = str(value) if isinstance(value, Exception) else repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of more digits than Python writes out
        return f"a {type(value).__name__} that is too large to show"
    return printable(text, SHOWN)
