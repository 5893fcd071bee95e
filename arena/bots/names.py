"""What a bot may be called.

A name stands in tables, lists and pages beside the names of rivals, so it must be seen for what it is: nothing in it
that does not show, nothing that moves or covers its neighbours, and nothing that looks like the names which the arena
makes to tell bots apart (`folder/name`, `name#2`, `name@3f9a12`). Names that differ only in case, or by letters of
another alphabet that look alike, are different names.
"""

import json
import re
import tomllib
import unicodedata

from arena.system.printable import INVISIBLE, MARKS, is_mark, printable

PROGRAM_ENDINGS = (".py", ".sh", ".exe")
"""Endings by which a file that need not be executable is taken for a bot."""
NAME_ENDINGS = (
    *PROGRAM_ENDINGS,
    *(".pyz", ".js", ".mjs", ".cjs", ".ts", ".pl", ".rb", ".lua", ".php", ".jl", ".r", ".R", ".tcl", ".awk", ".scm"),
    *(".bash", ".zsh", ".fish", ".jar", ".groovy", ".kts", ".exs", ".swift", ".go", ".rs", ".ml", ".hs", ".lisp"),
    *(".bin", ".out", ".elf", ".bat", ".cmd", ".ps1"),
)
"""What is no part of the name of a bot that is a file."""
COLUMNS = 40
GRAMMAR = (
    f"a name of 1 to {COLUMNS} columns: printable characters (in Unicode's form NFC) and single spaces between words"
)

_MADE_BY_THE_ARENA = re.compile(r".*(/|#\d+$|@[0-9a-f]{6,}$)")


def columns(text: str) -> int:
    """Return how many columns of a terminal a printable text takes: East Asian wide characters two, marks none."""
    return sum(0 if is_mark(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def name_fault(name: str) -> str | None:
    """Return why a string cannot be a bot's name, in words; None if it can."""
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
    if columns(name) > COLUMNS:
        return f"it is {columns(name)} columns wide"
    if _MADE_BY_THE_ARENA.match(name):
        return "it looks like a name that the arena makes to tell bots apart: with a slash, or ending in #2 or @3f9a12"
    return None


def table_name_fault(name: str) -> str | None:
    """Return why a string cannot be the name of a bot in a table, in words: the bot's name, or what the arena makes of
    it to tell bots apart, as in `folder/name#2`."""
    folder, slash, _ = name.rpartition("/")
    hidden = next((c for c in folder if not c.isprintable() or INVISIBLE.match(c)), None)
    if hidden is not None:
        return f"U+{ord(hidden):04X} in it is not a character that shows"
    if slash and ("/" in folder or folder in (".", "..")):
        return "it is a path, and no folder's name and a bot's"
    return name_fault(given_name(name))


def expected_name(name: str, fault: str) -> str:
    """Return the error for a string that cannot be a name: what was expected, what came, and why that is not it."""
    return f"expected {GRAMMAR}, got {printable(repr(name), 100)}: {fault}"


def given_name(name: str) -> str:
    """Return the name of which the arena has made this one to tell bots apart; the same name if it has not.

    Nothing else has a slash in it, or ends in such a number (`name_fault`).
    """
    return re.sub(r"#\d+$", "", name.rpartition("/")[2])


def without_name(manifest: bytes) -> bytes:
    """Return what a bot.toml says, but for the bot's name, in one form; what is no TOML is as it was."""
    try:
        table = tomllib.loads(manifest.decode())
        table.pop("name", None)
        return json.dumps(table, sort_keys=True, default=str).encode()
    except (ValueError, RecursionError):
        return manifest  # `read_manifest` says what is wrong


def name_of_file(text: str) -> str:
    """Return a file's name as the name of a bot; some systems keep it in another form than NFC."""
    return unicodedata.normalize("NFC", text)


def made_name(text: str) -> str:
    """A name that can stand in a table for any text: the text if it is a name, else in quotes what shows of it."""
    if name_fault(text) is None:
        return text
    shown, kept = printable(text, 200), ""
    for character in shown:
        if columns(kept + character) > COLUMNS - 5 or INVISIBLE.match(character):
            return f"'{kept}...'"
        kept += character
    return f"'{kept}'"
