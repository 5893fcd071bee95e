"""Limits of single bots, as a host writes them down: a TOML file with a table for each bot, by its name in the league.

    [hunter]
    memory = "1G"
    processes = 128

What a table leaves out is as for all others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from arena.bots.limits import Limits, check_processes, parse_memory, parse_size
from arena.errors import UsageError, suggest
from arena.hostfile import FileError, read_toml
from arena.printable import SHOWN, printable, shown

KEYS = Limits.__struct_fields__


def load_limits(path: Path, usual: Limits, bots: Sequence[str]) -> dict[str, Limits]:
    """The limits of the bots that the file names. Raises `UsageError` with the file, the key and what was expected."""
    where = printable(str(path))
    try:
        tables = read_toml(path)
    except FileError as error:
        raise UsageError(str(error)) from None
    for name, table in tables.items():
        if name not in bots:
            raise UsageError(f"{where}: [{printable(name, SHOWN)}]: no bot here has that name; {suggest(name, bots)}")
        if not isinstance(table, dict):
            raise UsageError(
                f'{where}: {printable(name, SHOWN)}: expected a table such as [hunter] with memory = "1G", '
                f"got {shown(table)}"
            )
    return {name: _limits(f"{where}: [{name}]", table, usual) for name, table in tables.items()}


def _limits(where: str, table: dict[str, Any], usual: Limits) -> Limits:
    values: dict[str, int] = {}
    for key, value in table.items():
        if key not in KEYS:
            raise UsageError(f"{where}: unknown key {shown(key)}; {suggest(key, KEYS)}")
        try:
            values[key] = _value(key, value)
        except UsageError as error:
            raise UsageError(f"{where}: {key}: {error}") from None
    return msgspec.structs.replace(usual, **values)


def _value(key: str, value: object) -> int:
    if key == "processes":
        return check_processes(value)
    if not isinstance(value, str):
        raise UsageError(f'expected a size such as "512M", got {shown(value)}')
    return parse_memory(value) if key == "memory" else parse_size(value)
