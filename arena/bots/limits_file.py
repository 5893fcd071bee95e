"""Limits and time of single bots, from a TOML file of the host.

A table is for one bot: by its path, by NAME@DIGEST with the start of its digest, or by its name in the league. The
tables `[bot.NAME]` of a file with settings (`arena.cli.config`) follow the same rules.

An entrant chooses the name, and with it which table applies; the path and the digest are the host's.

    [hunter]
    memory = "1G"
    processes = 128
    time = "1s/move"

Keys that a table leaves out are as for all bots.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from arena.bots.asked import Own, OwnByName
from arena.bots.limits import MOST_PROCESSES, parse_memory, parse_size
from arena.bots.names import given_name
from arena.bots.spec import BotSpec
from arena.errors import UsageError, suggest
from arena.game.time_control import parse_time
from arena.system.printable import SHOWN, printable
from arena.system.schema import expected, structured
from arena.system.user_files import read_toml

_Size = Annotated[str, Meta(extra=expected('a size such as "512M"'))]


_Time = Annotated[str, Meta(extra=expected('a time such as "1s/move" or "60+0.6"'))]
T = TypeVar("T")
LEAST_DIGITS, SHOWN_DIGITS = 6, 12
"""The fewest digits of a digest that identify a bot, and how many are shown."""


class OwnTable(msgspec.Struct, forbid_unknown_fields=True):
    memory: _Size | None = None
    processes: Annotated[int, Meta(ge=1, le=MOST_PROCESSES)] | None = None
    tmp: _Size | None = None
    time: _Time | None = None


OwnTables = dict[str, Annotated[OwnTable, Meta(extra=expected('a table such as [hunter] with memory = "1G"'))]]


def load_own(path: Path, names: Sequence[str], bots: Sequence[BotSpec] = ()) -> dict[str, Own]:
    """Read a file of limits; return them by the bots' names in the league. `bots` can be named by path or digest too.

    Raises `UsageError` with the file, the key and what was expected.
    """
    where = printable(str(path))
    tables = structured(read_toml(path), OwnTables, where)
    own = {key: own_of(table, f"{where}: [{printable(key, SHOWN)}]") for key, table in tables.items()}
    return by_bot(OwnByName(where, own, is_strict=True), names, bots)


def by_bot(said: OwnByName, names: Sequence[str], bots: Sequence[BotSpec] = ()) -> dict[str, Own]:
    """Return the limits in a file by the names of these bots in the league.

    Raises `UsageError` for a table of several bots, for two tables of one and, if the file is strict, for one of none.
    """
    named = {key: _named(key, bots, said) or key for key in said.tables}
    for key, name in named.items():
        _refuse_ambiguous(key, name, names, bots, said)
        if said.is_strict and name not in names:
            raise UsageError(f"{said.where}: {said.heading(key)}: no bot here has that name; {suggest(key, names)}")
    keys: dict[str, str] = {}
    for key, name in named.items():
        if name in keys:
            both = f"{said.heading(keys[name])} and {said.heading(key)}"
            raise UsageError(f"{said.where}: expected one table for each bot, got {both} for one")
        keys[name] = key
    return {name: said.tables[key] for name, key in keys.items() if name in names}


def _named(key: str, bots: Sequence[BotSpec], said: OwnByName) -> str | None:
    found = [bot.name for bot in bots if _is_path_of(key, bot, said)]
    if not found and "@" in key:
        name, _, digest = key.rpartition("@")
        is_digest = len(digest) >= LEAST_DIGITS
        found = [
            bot.name
            for bot in bots
            if is_digest and bot.player.digest.startswith(digest) and name in (bot.name, given_name(bot.name))
        ]
    return found[0] if len(found) == 1 else None


def _is_path_of(key: str, bot: BotSpec, said: OwnByName) -> bool:
    path = os.path.abspath(os.path.join(said.folder, key))
    return path in (os.path.abspath(bot.path), printable(os.path.abspath(bot.path)))


def _refuse_ambiguous(key: str, name: str, names: Sequence[str], bots: Sequence[BotSpec], said: OwnByName) -> None:
    alike = [bot for bot in bots if key == given_name(bot.name) or _is_path_of(key, bot, said)]
    if name not in names and len(alike) > 1:
        paths = [os.path.relpath(bot.path, said.folder) if said.folder != Path() else str(bot.path) for bot in alike]
        is_told_apart = len(set(paths)) == len(paths)
        ways = paths if is_told_apart else [f"{key}@{bot.player.digest[:SHOWN_DIGITS]}" for bot in alike]
        raise UsageError(
            f"{said.where}: {said.heading(key)}: {len(alike)} bots here go by that; write which one: "
            + " or ".join(said.heading(printable(way), quoted=True) for way in ways)
        )


def own_of(table: OwnTable, where: str) -> Own:
    """Read the table of one bot. Raises `UsageError` with the place in the file, the key and what was expected."""
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
