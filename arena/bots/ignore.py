"""Which files of a bot's folder are left out of its digest because its author says so: `ignore` in bot.toml.

Patterns are those of a shell, relative to the folder: `*`, `?` and `[...]` stand for characters of one name, `**` for
any number of folders. A pattern without a slash (`*.log`) is for names at any depth, one with a slash (`logs/*`) for
paths from the folder on. What matches a folder leaves out all that is in it.
"""

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.system.printable import shown

MOST_PATTERNS = 100
LONGEST_PATTERN = 200
ANY_DEPTH = "**"
SOME_PATTERNS = 'a list of patterns such as ["logs/*", "*.tmp"]'


def pattern_fault(pattern: object) -> str | None:
    """What keeps a value from being a pattern, in words; None if nothing does."""
    if not isinstance(pattern, str) or not pattern.strip():
        return f"expected {SOME_PATTERNS}, got {shown(pattern)} in it"
    if len(pattern) > LONGEST_PATTERN or "\0" in pattern or "\n" in pattern:
        return f"expected patterns of at most {LONGEST_PATTERN} characters in one line, got {shown(pattern)}"
    if pattern.startswith("!"):
        return f"{shown(pattern)}: what one pattern leaves out, no other brings back; name what is to be left out"
    if pattern.startswith("/") or ".." in pattern.split("/") or not _names(pattern):
        return f"{shown(pattern)}: expected a path from the bot's folder on, which does not lead out of it"
    try:
        _steps(pattern)
    except re.error as error:
        return f"{shown(pattern)}: {error}"
    return None


@dataclass(frozen=True)
class Ignored:
    """The patterns, each as its steps: a compiled step for each name, None for any number of folders."""

    patterns: tuple[tuple[re.Pattern[str] | None, ...], ...] = ()

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "Ignored":
        """The patterns as they stand in bot.toml; see `pattern_fault` for those that cannot be."""
        return cls(tuple(_steps(pattern) for pattern in patterns))

    def matches(self, parts: Sequence[str]) -> bool:
        """Whether a path, as its names from the bot's folder on, is left out."""
        return any(_matches(steps, parts) for steps in self.patterns)


NOTHING_IGNORED = Ignored()


def _names(pattern: str) -> list[str]:
    return [name for name in pattern.split("/") if name not in ("", ".")]


def _steps(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    names = _names(pattern)
    if "/" not in pattern.rstrip("/"):
        names = [ANY_DEPTH, *names]
    return tuple(None if name == ANY_DEPTH else re.compile(fnmatch.translate(name)) for name in names)


def _matches(steps: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    """All ways through the pattern are followed at once, so that no pattern takes long."""
    places = _past_any_depth({0}, steps)
    for part in parts:
        after = set()
        for place in places:
            if place < len(steps):
                step = steps[place]
                if step is None:
                    after.add(place)
                elif step.match(part):
                    after.add(place + 1)
        places = _past_any_depth(after, steps)
    return len(steps) in places


def _past_any_depth(places: set[int], steps: Sequence[re.Pattern[str] | None]) -> set[int]:
    """The places, and those behind any `**` that starts at one of them: it may stand for no folder at all."""
    reached = set(places)
    for place, step in enumerate(steps):
        if step is None and place in reached:
            reached.add(place + 1)
    return reached
