"""What docs/faq.md quotes of the arena, by the mistake that it is said of."""

import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "faq.md"
QUOTES = re.compile(r"^<!-- mistake: (.+) -->\n```said\n((?:.*\n)+?)```$", re.MULTILINE)


def quotes() -> dict[str, list[str]]:
    """The lines that are quoted, by the name of the mistake in tests/mistakes/mistakes.toml."""
    return {name: lines.splitlines() for name, lines in QUOTES.findall(PAGE.read_text(encoding="utf-8"))}


def is_quoted(name: str, *said: str) -> bool:
    """Whether the page quotes these lines for a mistake as they were said, or does not name it."""
    quoted = quotes().get(name)
    if quoted is None:
        return True
    return len(quoted) == len(said) and all(map(_matches, quoted, said))


def _matches(quoted: str, said: str) -> bool:
    """Numbers may differ, and `...` stands for anything."""
    pattern = re.sub(r"\d+", r"\\d+", re.escape(quoted)).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, said) is not None
