"""Limits of single bots, as a host writes them down: a TOML file with a table for each bot, by its name in the league.

    [hunter]
    memory = "1G"
    processes = 128

What a table leaves out is as for all others.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from arena.bots.limits import MOST_PROCESSES, Limits, parse_memory, parse_size
from arena.errors import UsageError, suggest
from arena.hostfile import read_toml
from arena.printable import SHOWN, printable
from arena.schema import expected, structured

_Size = Annotated[str, Meta(extra=expected('a size such as "512M"'))]


class _BotLimits(msgspec.Struct, forbid_unknown_fields=True):
    """The table of one bot: the limits of it alone."""

    memory: _Size | None = None
    processes: Annotated[int, Meta(ge=1, le=MOST_PROCESSES)] | None = None
    tmp: _Size | None = None


_Tables = dict[str, Annotated[_BotLimits, Meta(extra=expected('a table such as [hunter] with memory = "1G"'))]]


def load_limits(path: Path, usual: Limits, bots: Sequence[str]) -> dict[str, Limits]:
    """The limits of the bots that the file names. Raises `UsageError` with the file, the key and what was expected."""
    where = printable(str(path))
    tables = read_toml(path)
    for name in tables:
        if name not in bots:
            raise UsageError(f"{where}: [{printable(name, SHOWN)}]: no bot here has that name; {suggest(name, bots)}")
    return {
        name: _limits(own, usual, f"{where}: [{printable(name, SHOWN)}]")
        for name, own in structured(tables, _Tables, where).items()
    }


def _limits(own: _BotLimits, usual: Limits, where: str) -> Limits:
    values: Mapping[str, int | None] = {
        "memory": _size(own.memory, parse_memory, f"{where}: memory"),
        "processes": own.processes,
        "tmp": _size(own.tmp, parse_size, f"{where}: tmp"),
    }
    return msgspec.structs.replace(usual, **{key: value for key, value in values.items() if value is not None})


def _size(text: str | None, parse: Callable[[str], int], where: str) -> int | None:
    try:
        return None if text is None else parse(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
