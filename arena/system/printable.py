"""Untrusted text made printable for terminals, logs and pages.

A bot's name, standard error or path may hold escape sequences, direction marks, or megabytes of one letter. Such text
is made printable once, at the point of input: each invisible character becomes its escape in Python.
"""

import re
import unicodedata

MARKS = 3
"""Combining marks allowed on one letter; many more would cover the lines above and below."""

INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Python counts as printable but are invisible: fillers, blanks and variant selectors."""
_PICTURE = "\ufe0f"
"""The variant selector of ordinary text: it asks for a coloured picture, as of a heart."""

SHOWN = 200


def printable(text: str, limit: int | None = None, *, lines: bool = False) -> str:
    r"""Escape the invisible characters of a text.

    Characters that are not printable (control characters, marks of direction, separators but the space, halves of
    surrogate pairs) or invisible become an escape such as `\x1b`, and so does each mark after the third on one letter.
    With `lines`, ends of lines and tabs stay, and `\r\n` counts as the end of a line. `limit` is the most characters
    of the result that are kept; a note says how many were left out.
    """
    if lines:
        text = text.replace("\r\n", "\n")
    if limit is not None and len(text) > limit:
        return f"{_escaped(text[:limit], lines)[:limit]}... ({len(text) - limit} more characters)"
    return _escaped(text, lines)


def isolated(name: str) -> str:
    """Isolate a name so that its direction of writing does not affect the text around it."""
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def is_mark(character: str) -> bool:
    """Whether a character is drawn over or under the one before it and takes no column."""
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


def shown(value: object) -> str:
    """Return the `repr` of a wrong value for an error, printable and short; of an exception, its text."""
    try:
        text = str(value) if isinstance(value, Exception) else repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of more digits than Python writes out
        return f"a {type(value).__name__} that is too large to show"
    return printable(text, SHOWN)


def counted(number: int, one: str, many: str = "") -> str:
    """Return "1 game" or "2 games"; `many` is the plural, by default `one` with an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"
