"""Limits and time of single bots, as a host writes them down: a TOML file with a table for each bot, by its name in the
league.

    [hunter]
    memory = "1G"
    processes = 128
    time = "1s/move"

What a table leaves out is as for all others.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from arena.bots.limits import MOST_PROCESSES, Limits, parse_memory, parse_size
from arena.errors import UsageError, suggest
from arena.game.time_control import TimeControl, parse_time
from arena.hostfile import read_toml
from arena.printable import SHOWN, printable
from arena.schema import expected, structured

_Size = Annotated[str, Meta(extra=expected('a size such as "512M"'))]


_Time = Annotated[str, Meta(extra=expected('a time such as "1s/move" or "60+0.6"'))]
T = TypeVar("T")


class BotTable(NamedTuple):
    """What a host has said of one bot: its limits, and how long it may take where that is not as for all others.

    Of the time control only the limits on moves are the bot's own.
    """

    limits: Limits
    time: TimeControl | None = None


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """The table of one bot as it stands in the file."""

    memory: _Size | None = None
    processes: Annotated[int, Meta(ge=1, le=MOST_PROCESSES)] | None = None
    tmp: _Size | None = None
    time: _Time | None = None


_Tables = dict[str, Annotated[_Table, Meta(extra=expected('a table such as [hunter] with memory = "1G"'))]]


def load_limits(path: Path, usual: Limits, bots: Sequence[str]) -> dict[str, BotTable]:
    """What the file says of the bots it names. Raises `UsageError` with the file, the key and what was expected."""
    where = printable(str(path))
    tables = read_toml(path)
    for name in tables:
        if name not in bots:
            raise UsageError(f"{where}: [{printable(name, SHOWN)}]: no bot here has that name; {suggest(name, bots)}")
    return {
        name: _bot_table(own, usual, f"{where}: [{printable(name, SHOWN)}]")
        for name, own in structured(tables, _Tables, where).items()
    }


def _bot_table(own: _Table, usual: Limits, where: str) -> BotTable:
    values: Mapping[str, int | None] = {
        "memory": _parsed(own.memory, parse_memory, f"{where}: memory"),
        "processes": own.processes,
        "tmp": _parsed(own.tmp, parse_size, f"{where}: tmp"),
    }
    limits = msgspec.structs.replace(usual, **{key: value for key, value in values.items() if value is not None})
    return BotTable(limits, _parsed(own.time, parse_time, f"{where}: time"))


def _parsed(text: str | None, parse: Callable[[str], T], where: str) -> T | None:
    try:
        return None if text is None else parse(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
