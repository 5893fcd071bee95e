"""A bot as a command names it: its path with arguments, name, limits and time.

Other arguments make another bot of the same files, and are part of its digest; the rest is for tables and clocks.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import msgspec

from arena.bots.limits import Limits
from arena.bots.names import name_fault
from arena.bots.samples import split_word
from arena.game.time_control import TimeControl
from arena.system.printable import SHOWN, printable


@dataclass(frozen=True)
class Own:
    """Limits and time of one bot, as the host has set them; None where those of all bots hold.

    Sizes are bytes. Of the time control only the limits on moves are the bot's own.
    """

    memory: int | None = None
    processes: int | None = None
    tmp: int | None = None
    time: TimeControl | None = None

    def over(self, other: "Own") -> "Own":
        mine = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(other, **{name: value for name, value in mine.items() if value is not None})

    def limits(self, usual: Limits) -> Limits:
        values = {"memory": self.memory, "processes": self.processes, "tmp": self.tmp}
        return msgspec.structs.replace(usual, **{key: value for key, value in values.items() if value is not None})


NOTHING_OWN = Own()


@dataclass(frozen=True)
class AskedBot:
    """A bot as it was named: its path as written (or a sample's bare name), and what was given with it.

    The path of a bot of 2012 may have a prefix (`ucc:PATH`). `arguments` are added to its command. Without a `name`,
    its files give the name.
    """

    path: str
    name: str | None = None
    arguments: tuple[str, ...] = ()
    own: Own = NOTHING_OWN

    @property
    def prefix(self) -> str:
        return split_word(self.path)[0]

    @property
    def identifying(self) -> tuple[str, ...]:
        return (self.prefix, *self.arguments) if self.prefix else self.arguments


def asked_bot(word: str) -> AskedBot:
    """Return the bot that a word of a command names: a path, or NAME=PATH. An existing path wins."""
    name, equals, path = word.partition("=")
    if equals and path and name_fault(name) is None and not os.path.lexists(word):
        return AskedBot(path, name)
    return AskedBot(word)


@dataclass(frozen=True)
class OwnByName:
    """Limits and times in a file, for single bots by path, NAME@DIGEST or name; `where` is the file.

    Paths are relative to `folder`. Unless it `is_strict`, tables of bots that do not take part are ignored. `prefix`
    comes before the bot in the heading of its table.
    """

    where: str
    tables: Mapping[str, Own]
    is_strict: bool
    folder: Path = Path()
    prefix: str = ""

    def heading(self, word: str, *, quoted: bool = False) -> str:
        """Return the heading of a bot's table, for errors; a path has to be `quoted` there."""
        shown = printable(word, SHOWN)
        return f'[{self.prefix}"{shown}"]' if quoted else f"[{self.prefix}{shown}]"
