"""What stands in the bot.toml of a bot's folder.

command = ["./target/release/hunter"]     # required: the program and its arguments
build = "cargo build --release"           # optional: run by the shell in the folder, before the first game
name = "hunter"                           # optional: the name in tables, else the folder's
env = { RUST_BACKTRACE = "1" }            # optional: added to the bot's environment
ignore = ["logs/*", "*.tmp"]              # optional: files that the bot writes itself, which are not part of it
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.bots.identity import behind_link
from arena.bots.ignore import MOST_PATTERNS, SOME_PATTERNS, pattern_fault
from arena.bots.names import GRAMMAR, expected_name, name_fault
from arena.bots.spec import TOKEN_VARIABLE
from arena.errors import UsageError, suggest
from arena.hostfile import HOST_ERRORS, FileError, read_toml
from arena.printable import printable, shown

MANIFEST = "bot.toml"
MOST_BYTES = 16 * 1024
"""What it may have: the worst, one key of 8,000 parts, takes the parser a second; with twice as many, four."""
MANIFEST_KEYS = ("command", "build", "name", "env", "ignore")


@dataclass(frozen=True)
class Manifest:
    """A bot.toml that is as it should be. `build` and `name` are None where they are left out."""

    command: tuple[str, ...]
    build: str | None
    name: str | None
    env: Mapping[str, str]
    ignore: tuple[str, ...]


def read_manifest(folder: Path) -> Manifest:
    """The bot.toml of a folder. Raises `UsageError` with the file, the key, what was expected and what came."""
    path = folder / MANIFEST
    where = printable(str(path))
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        raise UsageError(
            f'{printable(str(folder))}: expected a {MANIFEST} in this folder, with at least command = ["./program"]'
        ) from None
    except OSError as error:
        if error.errno in HOST_ERRORS:
            raise
        raise UsageError(f"{where}: cannot be looked at: {error.strerror}") from None
    if stat.S_ISLNK(mode):
        behind = behind_link(folder.resolve(), MANIFEST)
        if behind is None:
            raise UsageError(f"{where}: expected a file of the bot's own, got a link that leads to none in its folder")
        path = behind
    try:
        table = read_toml(path, where, MOST_BYTES)
    except FileError as error:
        raise UsageError(str(error)) from None
    for key in table:
        if key not in MANIFEST_KEYS:
            raise UsageError(f"{where}: unknown key {shown(key)}; {suggest(key, MANIFEST_KEYS)}")
    return Manifest(
        command=_command(table.get("command"), where),
        build=_text(table, "build", where),
        name=_name(table, where),
        env=_env(table.get("env", {}), where),
        ignore=_ignore(table.get("ignore", []), where),
    )


def _command(value: Any, where: str) -> tuple[str, ...]:
    if not (isinstance(value, list) and value and all(isinstance(part, str) and part for part in value)):
        raise UsageError(f'{where}: command: expected a list such as ["./program", "argument"], got {shown(value)}')
    for part in value:
        _refuse_nul(part, f"{where}: command")
    return tuple(value)


def _text(table: Mapping[str, Any], key: str, where: str) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    if not (isinstance(value, str) and value.strip()):
        raise UsageError(f"{where}: {key}: expected a text, got {shown(value)}")
    _refuse_nul(value, f"{where}: {key}")
    return value


def _name(table: Mapping[str, Any], where: str) -> str | None:
    value = table.get("name")
    if value is None:
        return None
    if not isinstance(value, str):
        raise UsageError(f"{where}: name: expected {GRAMMAR}, got {shown(value)}")
    fault = name_fault(value)
    if fault:
        raise UsageError(f"{where}: name: {expected_name(value, fault)}")
    return value


def _env(value: Any, where: str) -> dict[str, str]:
    if not (isinstance(value, dict) and all(isinstance(setting, str) for setting in value.values())):
        raise UsageError(f"{where}: env: expected a table of texts, got {shown(value)}")
    for name, setting in value.items():
        if not name or "=" in name or not name.isprintable():
            raise UsageError(f"{where}: env: expected printable names without '=', got {shown(name)}")
        if name == TOKEN_VARIABLE:
            raise UsageError(f"{where}: env: {name} is the arena's own, by which it knows who owns a process")
        _refuse_nul(setting, f"{where}: env: {name}")
    return dict(value)


def _ignore(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{where}: ignore: expected {SOME_PATTERNS}, got {shown(value)}")
    if len(value) > MOST_PATTERNS:
        raise UsageError(f"{where}: ignore: expected at most {MOST_PATTERNS} patterns, got {len(value)}")
    for pattern in value:
        fault = pattern_fault(pattern)
        if fault:
            raise UsageError(f"{where}: ignore: {fault}")
    return tuple(value)


def _refuse_nul(text: str, where: str) -> None:
    if "\0" in text:
        raise UsageError(f"{where}: expected a text without NUL, which no program can be given, got {shown(text)}")
