"""Limits and time of single bots, as a host writes them down: a TOML file with a table for each bot, by its name in the
league.

    [hunter]
    memory = "1G"
    processes = 128
    time = "1s/move"

What a table leaves out is as for all others.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from arena.bots.asked import Own
from arena.bots.limits import MOST_PROCESSES, parse_memory, parse_size
from arena.errors import UsageError, suggest
from arena.game.time_control import parse_time
from arena.hostfile import read_toml
from arena.printable import SHOWN, printable
from arena.schema import expected, structured

_Size = Annotated[str, Meta(extra=expected('a size such as "512M"'))]


_Time = Annotated[str, Meta(extra=expected('a time such as "1s/move" or "60+0.6"'))]
T = TypeVar("T")


class OwnTable(msgspec.Struct, forbid_unknown_fields=True):
    """The table of one bot as it stands in a file."""

    memory: _Size | None = None
    processes: Annotated[int, Meta(ge=1, le=MOST_PROCESSES)] | None = None
    tmp: _Size | None = None
    time: _Time | None = None


OwnTables = dict[str, Annotated[OwnTable, Meta(extra=expected('a table such as [hunter] with memory = "1G"'))]]


def load_own(path: Path, bots: Sequence[str]) -> dict[str, Own]:
    """What the file says of the bots it names. Raises `UsageError` with the file, the key and what was expected."""
    where = printable(str(path))
    tables = read_toml(path)
    check_names(tables, bots, where)
    return {
        name: own_of(table, f"{where}: [{printable(name, SHOWN)}]")
        for name, table in structured(tables, OwnTables, where).items()
    }


def check_names(named: Iterable[str], bots: Sequence[str], where: str, prefix: str = "") -> None:
    """Raise `UsageError` for a table of a bot that is not there; `prefix` is what stands before its name."""
    for name in named:
        if name not in bots:
            table = f"[{prefix}{printable(name, SHOWN)}]"
            raise UsageError(f"{where}: {table}: no bot here has that name; {suggest(name, bots)}")


def own_of(table: OwnTable, where: str) -> Own:
    """What a table says. Raises `UsageError` with the place in the file, the key and what was expected."""
    return Own(
        memory=_parsed(table.memory, parse_memory, f"{where}: memory"),
        processes=table.processes,
        tmp=_parsed(table.tmp, parse_size, f"{where}: tmp"),
        time=_parsed(table.time, parse_time, f"{where}: time"),
    )


def _parsed(text: str | None, parse: Callable[[str], T], where: str) -> T | None:
    try:
        return None if text is None else parse(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
