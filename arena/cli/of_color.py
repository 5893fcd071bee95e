"""Options that say something of one of the two bots of a game: `--bot NAME=PATH`, with its name or its colour."""

from collections.abc import Sequence

from protocol.notation import Color


def by_color(
    option: str, values: Sequence[str], names: Sequence[frozenset[str]], what: str = "PATH"
) -> dict[Color, str]:
    """The values of an option that was given as NAME=`what`, by the colour of the bot that each names; `names` are what
    Red, and what Blue, is called. Raises `UsageError`."""
    from arena.errors import UsageError
    from arena.printable import printable, shown

    found: dict[Color, str] = {}
    calls = {color.word: color for color in Color}  # which a bot's own name comes before
    calls |= {name: color for color in Color for name in names[color] - names[color.opponent]}
    for text in values:
        name = max((name for name in calls if text.startswith(f"{name}=")), key=len, default=None)
        if name is None:
            known = printable(", ".join(calls))
            raise UsageError(f"{option}: expected NAME={what} with one of {known}; got {shown(text)}")
        if calls[name] in found:
            raise UsageError(f"{option}: expected it once for {calls[name].word}, got it twice")
        found[calls[name]] = text[len(name) + 1 :]
    return found
