"""A file that says what a command line can say: `arena.toml`, or the table `[tool.arena]` of a pyproject.toml.

    rules = "barrage"
    bots = ["bots/*", { path = "./mine", args = ["--depth", "3"] }]
    [league]
    rounds = 4
    [bot.mine]
    time = "1s/move"

What may stand in it is not written down here: the keys are the options of the commands. One that is the same for all
commands stands at the top, and in a command's table where that is to differ; any other in its command's table.
Paths are relative to the file.

The trap: a file of the current folder decides which programs run. It is looked for there and nowhere else, and it has
to belong to whoever runs the arena, or to whom the folder belongs.
"""

import enum
import glob
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from arena.bots.asked import AskedBot, Own
from arena.bots.limits_file import OwnTable, own_of
from arena.bots.names import GRAMMAR, expected_name, name_fault
from arena.bots.old_bots import split_prefix
from arena.bots.samples import SAMPLES, sample_file
from arena.errors import nearest, suggest
from arena.hostfile import FileError, read_toml
from arena.printable import SHOWN, printable, shown
from arena.schema import expected, structured

FILE = "arena.toml"
PROJECT = "pyproject.toml"
TOOL = ("tool", "arena")
"""The tables of a pyproject.toml that the settings are in."""
BOTS, BOT = "bots", "bot"
SUFFIX = ".toml"
_Word = Annotated[str, Meta(pattern=r"\A[^\0]*\Z", extra=expected("a string without NUL"))]


class Holds(enum.Enum):
    """What a string in the file is, where it is not just passed on."""

    VALUE = enum.auto()
    PATH = enum.auto()
    RULES = enum.auto()
    NAMES = enum.auto()
    """Names separated by commas, which may stand in a list."""


@dataclass(frozen=True)
class Key:
    """What may stand in the file because a command has an option of that name, without its dashes.

    `kind` is the type of its value, for `arena.schema`; `meaning` tells whether options of two commands are the same.
    """

    name: str
    kind: Any
    holds: Holds
    meaning: str


Keys = Mapping[str, Mapping[str, Key]]
"""The keys of each command, by their names."""


@dataclass(frozen=True)
class Found:
    """A value that stands in the file, as the command line would take it, and where it stands: `[league] rounds`.

    `is_shared`: whether it stands at the top, for all commands.
    """

    value: Any
    key: str
    is_shared: bool = True


@dataclass(frozen=True)
class ConfigFile:
    """A file whose keys and types are as they should be. `own` is what it says of single bots, by the words for them
    (`arena.bots.limits_file`); `prefix` is what stands before all names of tables."""

    where: str
    folder: Path
    prefix: str
    commands: Mapping[str, Mapping[str, Found]]
    own: Mapping[str, Own]

    def settings(self, command: str) -> dict[str, Found]:
        """What it says to a command, by key; without its bots."""
        return {name: found for name, found in self.commands[command].items() if name != BOTS}

    def bots(self, command: str) -> tuple[list[AskedBot], Found] | None:
        """The bots that it names to a command, and where; None if it names none. Raises `FileError`."""
        found = self.commands[command].get(BOTS)
        if found is None:
            return None
        where = f"{self.where}: {found.key}"
        if not found.value:
            raise FileError(f"{where}: expected the paths of bots, got an empty list")
        asked = [
            bot for number, entry in enumerate(found.value, 1) for bot in self._entry(entry, f"{where}: entry {number}")
        ]
        return asked, found

    def _entry(self, entry: object, where: str) -> Iterator[AskedBot]:
        """The bots of one entry, which are several if it has a pattern."""
        if isinstance(entry, str):
            entry = {"path": entry}
        if not isinstance(entry, Mapping):
            raise FileError(f'{where}: expected a path, or a table with path = "./mine", got {shown(entry)}')
        table = structured(entry, _BotTable, where)
        fault = name_fault(table.name) if table.name is not None else None
        if table.name is not None and fault:
            raise FileError(f"{where}: name: {expected_name(table.name, fault)}")
        own = own_of(table, where)
        prefix, text = self._prefix(table.path)
        for path in self._paths(text, where):
            yield AskedBot(f"{prefix}{path}", table.name, table.args, own)

    def _prefix(self, text: str) -> tuple[str, str]:
        """Return the prefix of a path and the path that is left; a path that exists has none."""
        prefix, path = split_prefix(text)
        return ("", text) if os.path.lexists(_from(self.folder, text)) else (prefix, path)

    def _paths(self, text: str, where: str) -> list[str]:
        """The paths that a pattern matches, as a shell has them, or the one that is written."""
        path = _from(self.folder, text)
        if os.path.lexists(path) or not glob.has_magic(text):
            if text in SAMPLES and not os.path.lexists(path):
                return [str(sample_file(text)) if os.path.lexists(text) else text]
            return [path]
        pattern = path if self.folder == Path() else os.path.join(glob.escape(str(self.folder)), text)
        found = sorted(_from(Path(), match) for match in glob.glob(pattern))
        if not found:
            there = f" in {printable(str(self.folder))}" if self.folder != Path() else ""
            raise FileError(
                f"{where}: expected a pattern that matches paths of bots, got {shown(text)}: none does{there}"
            )
        return found


class _BotTable(OwnTable, kw_only=True, forbid_unknown_fields=True):
    """A bot that is named with more than its path."""

    path: Annotated[str, Meta(pattern=r"\A[^\0]+\Z", extra=expected('a path such as "./mine"'))]
    name: Annotated[str, Meta(extra=expected(GRAMMAR))] | None = None
    args: Annotated[tuple[_Word, ...], Meta(extra=expected('a list such as ["--depth", "3"], without NUL in it'))] = ()


_OwnTable = Annotated[OwnTable, Meta(extra=expected('a table such as [bot.hunter] with time = "1s/move"'))]
_Tables = Annotated[dict[str, Any], Meta(extra=expected("a table"))]


def find_config() -> Path | None:
    """The file of the current folder, if there is one. Raises `FileError` for one that somebody else has put there."""
    path = Path(FILE)
    if not os.path.lexists(path):
        path = Path(PROJECT)
        if not os.path.lexists(path) or _tool_table(read_toml(path)) is None:
            return None
    _refuse_strangers(path)
    return path


def _refuse_strangers(path: Path) -> None:
    """Raise `FileError` for a file of a user who neither runs this nor has the folder: it says which programs run."""
    try:
        owner, folder = os.stat(path), os.stat(path.parent)
    except OSError:
        return  # what is wrong is said when it is read
    if stat.S_ISREG(owner.st_mode) and hasattr(os, "geteuid") and owner.st_uid not in (os.geteuid(), 0, folder.st_uid):
        raise FileError(
            f"{path}: this file belongs to another user (number {owner.st_uid}), and it would say which programs run: "
            f"pass --config {path} if you trust it, or --no-config"
        )


def _tool_table(table: Mapping[str, Any]) -> object | None:
    inner: object = table
    for name in TOOL:
        inner = inner.get(name) if isinstance(inner, Mapping) else None
    return inner


def read_config(path: Path, commands: Keys) -> ConfigFile:
    """The settings in a file. Raises `FileError` with the file, the key, what was expected and what came."""
    where, prefix = printable(str(path)), ""
    table: object = read_toml(path)
    if path.name == PROJECT:
        table, prefix = _tool_table(structured(table, dict[str, Any], where)), ".".join(TOOL) + "."
        if table is None:
            raise FileError(f"{where}: expected a table [{'.'.join(TOOL)}], got none")
    reader = _Reader(path.parent, where, prefix, commands)
    content = structured(table, _Tables, f"{where}: [{prefix.rstrip('.')}]" if prefix else where)
    return reader.read(content)


def shared_keys(commands: Keys) -> dict[str, Key]:
    """The keys that all commands have, and that mean the same to each."""
    first, *others = commands.values()
    return {name: key for name, key in first.items() if all(other.get(name) == key for other in others)}


class _Reader:
    """Reads the tables of one file."""

    def __init__(self, folder: Path, where: str, prefix: str, commands: Keys) -> None:
        self._folder = folder
        self._where = where
        self._prefix = prefix
        self._commands = commands
        self._shared = shared_keys(commands)

    def read(self, table: Mapping[str, Any]) -> ConfigFile:
        top = self._values({key: value for key, value in table.items() if key not in (*self._commands, BOT)}, None)
        commands = {}
        for name in self._commands:
            inner = structured(table.get(name, {}), _Tables, f"{self._where}: [{self._prefix}{name}]")
            commands[name] = {**top, **self._values(inner, name)}
        tables = structured(table.get(BOT, {}), _Tables, f"{self._where}: [{self._prefix}{BOT}]")
        own = {}
        for name, said in tables.items():
            where = f"{self._where}: [{self._prefix}{BOT}.{printable(name, SHOWN)}]"
            own[name] = own_of(structured(said, _OwnTable, where), where)
        return ConfigFile(self._where, self._folder, self._prefix, commands, own)

    def _values(self, table: Mapping[str, Any], command: str | None) -> dict[str, Found]:
        """What stands in a command's table, or at the top."""
        keys = self._shared if command is None else self._commands[command]
        heading = f"[{self._prefix}{command}]" if command else f"[{self._prefix.rstrip('.')}]" if self._prefix else ""
        where = f"{self._where}: {heading}" if heading else self._where
        spelled: dict[str, Any] = {}
        for key, value in table.items():
            name = key.replace("_", "-")
            if name not in keys and name != BOTS:
                raise FileError(f"{where}: unknown key {shown(key)}; {self._hint(name, command)}")
            if name in spelled:
                raise FileError(f"{where}: {name} stands there twice, spelled with '-' and with '_'; expected it once")
            spelled[name] = value
        values = structured(spelled, _struct_of(keys), where)
        found = {}
        for name in spelled:
            value = getattr(values, name.replace("-", "_"))
            if name != BOTS:
                self._refuse_nul(value, f"{where}: {name}")
                value = self._as_word(value, keys[name].holds)
            found[name] = Found(value, f"{heading} {name}".lstrip(), command is None)
        return found

    def _refuse_nul(self, value: Any, where: str) -> None:
        """Raise `FileError` for what no command line can say."""
        words = value if isinstance(value, list) else [value]
        if any(isinstance(word, str) and "\0" in word for word in words):
            raise FileError(f"{where}: expected a string without NUL, got {shown(value)}")

    def _hint(self, name: str, command: str | None) -> str:
        """What may have been meant by a key that is unknown in a table, and where that belongs."""
        here = [*(self._commands[command] if command else (*self._shared, *self._commands, BOT)), BOTS]
        places = {key: self._places(key) for keys in self._commands.values() for key in keys if key not in here}
        if command:
            places[BOT] = "at the top"
        meant = name if name in places else next(iter(nearest(name, [*here, *places])), None)
        if meant in places:
            guess = "" if meant == name else f"did you mean {meant}? "
            return f"{guess}{meant} belongs {places[meant]}"
        return suggest(name, here)

    def _places(self, key: str) -> str:
        if key in self._shared:
            return "at the top"
        *others, last = (f"[{self._prefix}{name}]" for name, keys in self._commands.items() if key in keys)
        return f"in {', '.join(others)} or {last}" if others else f"in {last}"

    def _as_word(self, value: Any, holds: Holds) -> Any:
        """A value as the command line would have it."""
        relative: Callable[[str], str] = partial(_from, self._folder)
        match holds, value:
            case Holds.PATH, str():
                return relative(value)
            case Holds.PATH, list():
                return [relative(path) for path in value]
            case Holds.RULES, str():
                name, plus, switches = value.partition("+")
                return f"{relative(name)}{plus}{switches}" if name.endswith(SUFFIX) else value
            case Holds.NAMES, list():
                return ",".join(value)
        return value


def _from(folder: Path, path: str) -> str:
    """A path that is relative to a folder; it never looks like an option."""
    joined = path if folder == Path() else os.path.join(folder, path)
    return f"./{joined}" if joined.startswith("-") else joined


def _struct_of(keys: Mapping[str, Key]) -> type[msgspec.Struct]:
    """The type of a table with these keys, none of which need be there."""
    bots = Annotated[list[Any], Meta(extra=expected('a list such as ["bots/*", "./mine"]'))]
    kinds = {**{name: key.kind for name, key in keys.items()}, BOTS: bots}
    fields = [(name.replace("-", "_"), kind | None, None) for name, kind in kinds.items()]
    return msgspec.defstruct("Table", fields, rename=lambda name: name.replace("_", "-"), forbid_unknown_fields=True)
