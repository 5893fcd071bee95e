"""Colours for what is printed line by line: text and its style in, the same text out, perhaps with codes."""

import re
from collections.abc import Callable

from rich.color import ColorSystem
from rich.style import Style

_CODES = re.compile(r"\x1b\[[0-9;]*m")

Paint = Callable[[str, str], str]
"""Text and a style in the words of rich (`bold red`) in, what is to be printed out."""


def plain(text: str, style: str) -> str:
    """No colour."""
    return text


def unpainted(text: str) -> str:
    """What has been painted, without the codes: as wide as it is shown."""
    return _CODES.sub("", text)


def colored(text: str, style: str) -> str:
    """With the eight colours that every terminal has, of which the user has chosen the shades."""
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)
