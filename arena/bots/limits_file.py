"""Limits and time of single bots, as a host writes them down: a TOML file with a table for each bot, by its path as it
was given, by NAME@DIGEST with the start of its digest, or by its name in the league.

An entrant chooses the name, and with it whose table it takes: the other two are the host's.

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
from arena.bots.names import given_name
from arena.bots.spec import BotSpec
from arena.errors import UsageError, suggest
from arena.game.time_control import parse_time
from arena.hostfile import read_toml
from arena.printable import SHOWN, printable
from arena.schema import expected, structured

_Size = Annotated[str, Meta(extra=expected('a size such as "512M"'))]


_Time = Annotated[str, Meta(extra=expected('a time such as "1s/move" or "60+0.6"'))]
T = TypeVar("T")
LEAST_DIGITS, SHOWN_DIGITS = 6, 12
"""Of a digest: how many tell a bot, and how many are shown."""


class OwnTable(msgspec.Struct, forbid_unknown_fields=True):
    """The table of one bot as it stands in a file."""

    memory: _Size | None = None
    processes: Annotated[int, Meta(ge=1, le=MOST_PROCESSES)] | None = None
    tmp: _Size | None = None
    time: _Time | None = None


OwnTables = dict[str, Annotated[OwnTable, Meta(extra=expected('a table such as [hunter] with memory = "1G"'))]]


def load_own(path: Path, names: Sequence[str], bots: Sequence[BotSpec] = ()) -> dict[str, Own]:
    """What the file says of bots, by their names in the league; `bots` can be named by path or digest as well.

    Raises `UsageError` with the file, the key and what was expected.
    """
    where = printable(str(path))
    tables = read_toml(path)
    named = {key: _named(key, bots) or key for key in tables}
    for key, name in named.items():
        _refuse_ambiguous(key, name, names, bots, where)
    check_names(named.values(), names, where)
    twice = [key for key, name in named.items() if list(named.values()).count(name) > 1]
    if twice:
        keys = " and ".join(f"[{printable(key, SHOWN)}]" for key in twice)
        raise UsageError(f"{where}: expected one table for each bot, got {keys} for one")
    return {
        named[key]: own_of(table, f"{where}: [{printable(key, SHOWN)}]")
        for key, table in structured(tables, OwnTables, where).items()
    }


def _named(key: str, bots: Sequence[BotSpec]) -> str | None:
    """The name of the one bot that a path or NAME@DIGEST stands for; None if that is not one bot."""
    found = [bot.name for bot in bots if key == printable(str(bot.path))]
    if not found and "@" in key:
        name, _, digest = key.rpartition("@")
        is_digest = len(digest) >= LEAST_DIGITS
        found = [
            bot.name
            for bot in bots
            if is_digest and bot.player.digest.startswith(digest) and name in (bot.name, given_name(bot.name))
        ]
    return found[0] if len(found) == 1 else None


def _refuse_ambiguous(key: str, name: str, names: Sequence[str], bots: Sequence[BotSpec], where: str) -> None:
    """Raise `UsageError` with what to write for a name that several bots call themselves, or a path given twice."""
    alike = [bot for bot in bots if key in (given_name(bot.name), printable(str(bot.path)))]
    if name not in names and len(alike) > 1:
        paths = [printable(str(bot.path)) for bot in alike]
        is_told_apart = len(set(paths)) == len(paths)
        ways = paths if is_told_apart else [f"{key}@{bot.player.digest[:SHOWN_DIGITS]}" for bot in alike]
        raise UsageError(
            f"{where}: [{printable(key, SHOWN)}]: {len(alike)} bots here go by that; write which one: "
            + " or ".join(f'["{way}"]' for way in ways)
        )


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
