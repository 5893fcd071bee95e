"""The rules for names of bots.

A name is shown in tables, lists and pages next to the names of rivals. So it has no invisible characters, no characters
that move or cover its neighbours, and does not look like a name that the arena makes to distinguish bots
(`folder/name`, `name#2`, `name@3f9a12`). Names that differ only in case, or by similar letters of another alphabet, are
different.
"""

import json
import re
import tomllib
import unicodedata
from pathlib import Path

from arena.system.printable import INVISIBLE, MARKS, is_mark, printable
from arena.system.terminal_text import cell_len

PROGRAM_ENDINGS = (".py", ".sh", ".exe")
"""Endings of files that are taken for bots even if they are not executable."""
NAME_ENDINGS = (
    *PROGRAM_ENDINGS,
    *(".pyz", ".js", ".mjs", ".cjs", ".ts", ".pl", ".rb", ".lua", ".php", ".jl", ".r", ".R", ".tcl", ".awk", ".scm"),
    *(".bash", ".zsh", ".fish", ".jar", ".groovy", ".kts", ".exs", ".swift", ".go", ".rs", ".ml", ".hs", ".lisp"),
    *(".bin", ".out", ".elf", ".bat", ".cmd", ".ps1"),
)
"""Endings that are not part of the name of a single-file bot."""
COLUMNS = 40
GRAMMAR = (
    f"a name of 1 to {COLUMNS} columns: printable characters (in Unicode's form NFC) and single spaces between words"
)

_MADE_BY_THE_ARENA = re.compile(r".*(/|#\d+$|@[0-9a-f]{6,}$)")


def name_fault(name: str) -> str | None:
    """Return why a string cannot be a bot's name; None if it can."""
    if not name:
        return "it is empty"
    if len(name) > COLUMNS * (1 + MARKS):
        return f"it has {len(name)} characters"
    hidden = next((c for c in name if not c.isprintable() or INVISIBLE.match(c)), None)
    if hidden is not None:
        return f"U+{ord(hidden):04X} in it is not a character that shows"
    if name != name.strip(" ") or "  " in name:
        return "it has a space at an end, or two together"
    if not unicodedata.is_normalized("NFC", name):
        return "it is not in the form NFC"
    marks = 0
    for position, character in enumerate(name):
        marks = marks + 1 if is_mark(character) else 0
        if marks and (position == 0 or name[position - marks] == " "):
            return "a mark in it has no letter to stand on"
        if marks > MARKS:
            return f"more than {MARKS} marks stand on one letter"
    if cell_len(name) > COLUMNS:
        return f"it is {cell_len(name)} columns wide"
    if _MADE_BY_THE_ARENA.match(name):
        return "it looks like a name that the arena makes to tell bots apart: with a slash, or ending in #2 or @3f9a12"
    return None


def table_name_fault(name: str) -> str | None:
    """Return why a string cannot be a bot's name in a table, as in `folder/name#2`; None if it can."""
    folder, slash, _ = name.rpartition("/")
    hidden = next((c for c in folder if not c.isprintable() or INVISIBLE.match(c)), None)
    if hidden is not None:
        return f"U+{ord(hidden):04X} in it is not a character that shows"
    if slash and ("/" in folder or folder in (".", "..")):
        return "it is a path, and no folder's name and a bot's"
    return name_fault(given_name(name))


def expected_name(name: str, fault: str) -> str:
    return f"expected {GRAMMAR}, got {printable(repr(name), 100)}: {fault}"


def given_name(name: str) -> str:
    """Return a bot's own name from the one that the arena made of it to distinguish bots.

    No other name has a slash, or ends in such a number (`name_fault`).
    """
    return re.sub(r"#\d+$", "", name.rpartition("/")[2])


def without_name(manifest: bytes) -> bytes:
    """Return a bot.toml without the bot's name, in one canonical form; invalid TOML is returned as it is."""
    try:
        table = tomllib.loads(manifest.decode())
        table.pop("name", None)
        return json.dumps(table, sort_keys=True, default=str).encode()
    except (ValueError, RecursionError):
        return manifest  # `read_manifest` says what is wrong


def base_name(path: Path) -> str:
    """Return the name of a single-file bot: the file's, without the ending of a program."""
    return path.stem if path.suffix in NAME_ENDINGS else path.name


def name_of_file(text: str) -> str:
    """Return a file's name in NFC, as some systems store another form."""
    return unicodedata.normalize("NFC", text)


def made_name(text: str) -> str:
    """Return a valid name for any text: the text itself, or its visible part in quotes."""
    if name_fault(text) is None:
        return text
    shown, kept = printable(text, 200), ""
    for character in shown:
        if cell_len(kept + character) > COLUMNS - 5 or INVISIBLE.match(character):
            return f"'{kept}...'"
        kept += character
    return f"'{kept}'"
