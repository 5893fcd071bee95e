"""Text of strangers made fit to be read: for terminals, logs and pages.

A bot's name, its standard error or a path may hold escape sequences that set a clipboard, marks that turn the direction
of writing, or three megabytes of one letter. Such text is made printable once, where it comes in, and is plain text
from there on: everything that is no visible character stands there as its escape, as Python would write it.
"""


def printable(text: str, limit: int | None = None, *, lines: bool = False) -> str:
    r"""The same text with nothing in it that a terminal would act on.

    What is not printable (control characters, marks of direction, separators but the space, halves of surrogate pairs)
    becomes an escape such as `\x1b`. With `lines`, ends of lines and tabs stay, and `\r\n` counts as the end of a line.
    `limit` is the most characters of the result that are kept; what was left out is then said.
    """
    if lines:
        text = text.replace("\r\n", "\n")
    if limit is not None and len(text) > limit:
        shown, left_out = text[:limit], len(text) - limit
        return f"{_escaped(shown, lines)[:limit]}... ({left_out} more characters)"
    return _escaped(text, lines)


def _escaped(text: str, lines: bool) -> str:
    if text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    return "".join(c if c.isprintable() or c in kept else c.encode("unicode_escape").decode("ascii") for c in text)


SHOWN = 200
"""Characters of a value that an error shows."""


def shown(value: object) -> str:
    """A value that somebody wrote down, for the error that says it is not what was expected: printable and short."""
    try:
        text = str(value) if isinstance(value, Exception) else repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of more digits than Python writes out
        return f"a {type(value).__name__} that is too large to show"
    return printable(text, SHOWN)
