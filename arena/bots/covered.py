"""The files that a bot's digest covers, and their stamps, by which changes show without reading.

Patterns of `ignore` in bot.toml are those of a shell, relative to the folder: `*`, `?` and `[...]` match characters of
one name, `**` any number of folders. A pattern without a slash (`*.log`) matches names at any depth, one with a slash
(`logs/*`) paths from the folder on. A pattern that matches a folder leaves out everything in it.
"""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.system.printable import shown

MOST_PATTERNS = 100
LONGEST_PATTERN = 200
ANY_DEPTH = "**"
FILES_NAMED = 5
SOME_PATTERNS = 'a list of patterns such as ["logs/*", "*.tmp"]'


def pattern_fault(pattern: object) -> str | None:
    """Return why a value is not a pattern; None if it is one."""
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
    """Patterns, each as its steps: a compiled pattern for each name, None for any number of folders."""

    patterns: tuple[tuple[re.Pattern[str] | None, ...], ...] = ()

    @classmethod
    def of(cls, patterns: Sequence[str]) -> "Ignored":
        return cls(tuple(_steps(pattern) for pattern in patterns))

    def matches(self, parts: Sequence[str]) -> bool:
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
    # All ways through the pattern are followed at once, so that no pattern takes long.
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
    """Return the places, and those after any `**` that starts at one of them, as it may match no folder."""
    reached = set(places)
    for place, step in enumerate(steps):
        if step is None and place in reached:
            reached.add(place + 1)
    return reached


SETTLED_NS = 2 * 10**9
"""A file written more recently than this may change again with the same times: some file systems count in seconds."""

Parts = tuple[bytes, ...]
"""A path as the names from the bot's folder on."""
Stamp = tuple[int, ...]
"""Inode, size, and times of the last change of content and of metadata, in ns since 1970; for a link to a file of the
folder, followed by those of that file.
"""


@dataclass(frozen=True)
class Covered:
    """The files that a digest covers, in a folder free of links: `only` one, or all but those `ignored`.

    `always` are covered though ignored, hidden or in a build folder; `never`, the program that is built, is not.
    """

    folder: Path
    only: str | None = None
    ignored: Ignored = NOTHING_IGNORED
    always: tuple[Path, ...] = ()
    never: Path | None = None


@dataclass(frozen=True)
class Look:
    """The state of the covered files at one time (ns since 1970), by which a change shows without reading.

    `program` is the stamp of the built program, which no digest covers; None where there is none. `made` is the SHA-256
    of its content, if it was read: a rebuilt program may be the same.
    """

    covered: Covered
    stamps: Mapping[Parts, Stamp]
    program: Stamp | None
    at: int
    made: bytes | None = None

    @property
    def is_settled(self) -> bool:
        times = (time for stamp in self.stamps.values() for time in (*stamp[2::4], *stamp[3::4]))
        return max(times, default=0) < self.at - SETTLED_NS


def file_changes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Compare fingerprints of files: `new`, `gone` or `changed` by name, sorted."""
    changed = {name: "new" for name in now if name not in before}
    changed |= {name: "gone" for name in before if name not in now}
    changed |= {name: "changed" for name, content in now.items() if before.get(name, content) != content}
    return dict(sorted(changed.items()))


def named(changed: Mapping[str, str]) -> str:
    """Return the names of changed files, each with its change; of many, the first ones."""
    words = [f"{name} ({how})" for name, how in sorted(changed.items())]
    if len(words) > FILES_NAMED:
        words[FILES_NAMED:] = [f"and {len(words) - FILES_NAMED} more files"]
    return ", ".join(words)
