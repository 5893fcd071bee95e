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

from arena.limits import Limits, parse_memory, parse_size
from arena.model import UsageError
from arena.printable import SHOWN, printable, shown
from arena.rules.loading import suggest
from arena.toml_file import read_toml

KEYS = Limits.__struct_fields__
MOST_BYTES = 1024 * 1024
"""The host writes this file, with a table for each bot if need be."""
MOST_PROCESSES = 4_194_304
"""Linux numbers no more processes than this."""


def load_limits(path: Path, usual: Limits, bots: Sequence[str]) -> dict[str, Limits]:
    """The limits of the bots that the file names. Raises `UsageError` with the file, the key and what was expected."""
    where = printable(str(path))
    tables = read_toml(path, most=MOST_BYTES)
    for name, table in tables.items():
        if name not in bots:
            raise UsageError(f"{where}: [{printable(name, SHOWN)}]: no bot here has that name; {suggest(name, bots)}")
        if not isinstance(table, dict):
            raise UsageError(
                f'{where}: {name}: expected a table such as [{name}] with memory = "1G", got {shown(table)}'
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
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_PROCESSES:
            raise UsageError(f"expected a number from 1 to {MOST_PROCESSES}, got {shown(value)}")
        return value
    if not isinstance(value, str) or len(value) > SHOWN:
        raise UsageError(f'expected a size such as "512M", got {shown(value)}')
    return parse_memory(value) if key == "memory" else parse_size(value)
