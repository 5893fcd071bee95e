"""A file with the settings of the command line: `arena.toml`, or the table `[tool.arena]` of a pyproject.toml.

    rules = "barrage"
    bots = ["bots/*", { path = "./mine", args = ["--depth", "3"] }]
    [league]
    rounds = 4
    [bot.mine]
    time = "1s"

The keys are the options of the commands, and click's types check their values. An option that means the same to all
commands stands at the top, and in a command's table where it is to differ; any other stands in its command's table.
Paths are relative to the file.

The trap: a file of the current folder decides which programs run. So no other folder is searched for it, and it has to
belong to the user who runs the arena, or to the owner of the folder.
"""

import glob
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import click
from msgspec import Meta

from arena.bots.asked import AskedBot, Own
from arena.bots.limits_file import OwnTable, own_of
from arena.bots.names import GRAMMAR, expected_name, name_fault
from arena.bots.old_bots import split_prefix
from arena.bots.samples import SAMPLES, sample_file
from arena.cli.helping import Whole
from arena.errors import nearest, suggest
from arena.system.printable import SHOWN, printable, shown
from arena.system.schema import expected, structured
from arena.system.user_files import FileError, read_toml

FILE = "arena.toml"
PROJECT = "pyproject.toml"
TOOL = ("tool", "arena")
"""The tables of a pyproject.toml that the settings are in."""
BOTS, BOT = "bots", "bot"
SUFFIX = ".toml"
LIST = 'a list such as ["bots/*", "./mine"]'

Options = Mapping[str, click.Option]
"""The options of a command by key."""


class _BotTable(OwnTable, kw_only=True, forbid_unknown_fields=True):
    """A bot that is named with more than its path."""

    path: Annotated[str, Meta(pattern=r"\A[^\0]+\Z", extra=expected('a path such as "./mine"'))]
    name: Annotated[str, Meta(extra=expected(GRAMMAR))] | None = None
    args: Annotated[
        tuple[Annotated[str, Meta(pattern=r"\A[^\0]*\Z")], ...],
        Meta(extra=expected('a list such as ["--depth", "3"], without NUL in it')),
    ] = ()


_OwnTable = Annotated[OwnTable, Meta(extra=expected('a table such as [bot.hunter] with time = "1s/move"'))]
_Tables = Annotated[dict[str, Any], Meta(extra=expected("a table"))]


@dataclass(frozen=True)
class FileValue:
    """A value in the file, as the command line would take it, and its key: `[league] rounds`.

    `is_shared`: whether it stands at the top, for all commands.
    """

    value: Any
    key: str
    is_shared: bool = True


@dataclass(frozen=True)
class ConfigFile:
    """A file whose keys and values have been checked, but for its bots.

    `own` are the limits of single bots (`arena.bots.limits_file`); `prefix` begins the names of all tables.
    """

    where: str
    folder: Path
    prefix: str
    commands: Mapping[str, Mapping[str, FileValue]]
    own: Mapping[str, Own]

    def settings(self, command: str) -> dict[str, FileValue]:
        """Return the settings for a command by key, without its bots."""
        return {name: found for name, found in self.commands[command].items() if name != BOTS}

    def bots(self, command: str) -> tuple[list[AskedBot], FileValue] | None:
        """Return the bots for a command and their key; None if it names none. Raises `FileError`."""
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
        is_there = os.path.lexists(_from(self.folder, table.path))  # then it has no prefix
        prefix, text = ("", table.path) if is_there else split_prefix(table.path)
        for path in self._paths(text, where):
            yield AskedBot(f"{prefix}{path}", table.name, table.args, own)

    def _paths(self, text: str, where: str) -> list[str]:
        """The paths that a pattern matches, as in a shell, or the one that is written."""
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


def find_config() -> Path | None:
    """Return the file of the current folder, if there is one. Raises `FileError` if it is another user's."""
    path = Path(FILE)
    if not os.path.lexists(path):
        path = Path(PROJECT)
        if not os.path.lexists(path) or _tool_table(read_toml(path)) is None:
            return None
    try:
        file, folder = os.stat(path), os.stat(path.parent)
    except OSError:
        return path  # reading it will say what is wrong
    if stat.S_ISREG(file.st_mode) and hasattr(os, "geteuid") and file.st_uid not in (os.geteuid(), 0, folder.st_uid):
        raise FileError(
            f"{path}: this file belongs to another user (number {file.st_uid}), and it would say which programs run: "
            f"pass --config {path} if you trust it, or --no-config"
        )
    return path


def _tool_table(table: Mapping[str, Any]) -> object | None:
    inner: object = table
    for name in TOOL:
        inner = inner.get(name) if isinstance(inner, Mapping) else None
    return inner


def shared_keys(commands: Collection[Options]) -> Collection[str]:
    """Return the keys that all commands have, and that mean the same to each."""

    def meaning(option: click.Option | None) -> object:
        return option and (option.help, option.multiple)

    first, *others = commands
    return {key for key in first if all(meaning(other.get(key)) == meaning(first[key]) for other in others)}


def read_config(path: Path, commands: Mapping[str, Options], ctx: click.Context | None = None) -> ConfigFile:
    """Read a file with settings for these commands.

    Raises `FileError` with the file, the key, what was expected and what came.
    """
    where, prefix = printable(str(path)), ""
    table: object = read_toml(path)
    if path.name == PROJECT:
        table, prefix = _tool_table(structured(table, dict[str, Any], where)), ".".join(TOOL) + "."
        if table is None:
            raise FileError(f"{where}: expected a table [{'.'.join(TOOL)}], got none")
    content = structured(table, _Tables, f"{where}: [{prefix.rstrip('.')}]" if prefix else where)
    first, common = next(iter(commands.values())), shared_keys(commands.values())
    shared = {key: option for key, option in first.items() if key in common}
    reader = _Reader(path.parent, where, prefix, commands, shared, ctx)
    top = reader.values({key: value for key, value in content.items() if key not in (*commands, BOT)}, None)
    settings = {}
    for name in commands:
        inner = structured(content.get(name, {}), _Tables, f"{where}: [{prefix}{name}]")
        settings[name] = {**top, **reader.values(inner, name)}
    own = {}
    for name, said in structured(content.get(BOT, {}), _Tables, f"{where}: [{prefix}{BOT}]").items():
        heading = f"{where}: [{prefix}{BOT}.{printable(name, SHOWN)}]"
        own[name] = own_of(structured(said, _OwnTable, heading), heading)
    return ConfigFile(where, path.parent, prefix, settings, own)


@dataclass(frozen=True)
class _Reader:
    """Reads the tables of one file."""

    folder: Path
    where: str
    prefix: str
    commands: Mapping[str, Options]
    shared: Options
    ctx: click.Context | None

    def values(self, table: Mapping[str, Any], command: str | None) -> dict[str, FileValue]:
        """Read a command's table, or the top."""
        keys = self.shared if command is None else self.commands[command]
        heading = f"[{self.prefix}{command}]" if command else f"[{self.prefix.rstrip('.')}]" if self.prefix else ""
        where = f"{self.where}: {heading}" if heading else self.where
        found: dict[str, FileValue] = {}
        for key, value in table.items():
            name = key.replace("_", "-")
            if name not in keys and name != BOTS:
                raise FileError(f"{where}: unknown key {shown(key)}; {self._hint(name, command)}")
            if name in found:
                raise FileError(f"{where}: {name} stands there twice, spelled with '-' and with '_'; expected it once")
            if name == BOTS and not isinstance(value, list):
                raise FileError(f"{where}: {BOTS}: expected {LIST}, got {shown(value)}")
            made = value if name == BOTS else self._value(keys[name], value, f"{where}: {name}")
            found[name] = FileValue(made, f"{heading} {name}".lstrip(), command is None)
        return found

    def _value(self, option: click.Option, value: Any, where: str) -> Any:
        """Return a value as the command line would have it. Raises `FileError` if the option does not take it."""
        kinds, words = _expected(option)
        metavar = option.metavar or ""
        is_names = metavar.endswith(",...")
        takes_list = option.multiple or is_names
        several = value if isinstance(value, list) and takes_list else [value]
        if any(type(each) not in kinds for each in several):
            words += ", or a list" if takes_list else ""
            raise FileError(f"{where}: expected {words}, got {shown(value)}")
        if any(isinstance(each, str) and "\0" in each for each in several):
            raise FileError(f"{where}: expected a string without NUL, got {shown(value)}")
        relative: Callable[[str], str] = partial(_from, self.folder)
        if isinstance(option.type, click.Path) or metavar in ("PATH", "FILE"):
            several = [relative(path) for path in several]
        elif option.name == "rules":
            name, plus, switches = several[0].partition("+")
            several = [f"{relative(name)}{plus}{switches}"] if name.endswith(SUFFIX) else several
        made = several if option.multiple else ",".join(several) if is_names else several[0]
        try:
            option.type_cast_value(self.ctx or click.Context(click.Command(None)), made)
        except click.BadParameter as error:
            raise FileError(printable(f"{where}: {error.message}")) from None
        return made

    def _hint(self, name: str, command: str | None) -> str:
        """What may have been meant by a key that is unknown in a table, and where that belongs."""
        here = [*(self.commands[command] if command else (*self.shared, *self.commands, BOT)), BOTS]
        places = {key: self._places(key) for keys in self.commands.values() for key in keys if key not in here}
        if command:
            places[BOT] = "at the top"
        meant = name if name in places else next(iter(nearest(name, [*here, *places])), None)
        if meant in places:
            guess = "" if meant == name else f"did you mean {meant}? "
            return f"{guess}{meant} belongs {places[meant]}"
        return suggest(name, here)

    def _places(self, key: str) -> str:
        if key in self.shared:
            return "at the top"
        *others, last = (f"[{self.prefix}{name}]" for name, keys in self.commands.items() if key in keys)
        return f"in {', '.join(others)} or {last}" if others else f"in {last}"


def _expected(option: click.Option) -> tuple[tuple[type, ...], str]:
    """The types that a value in the file may have for an option, and these in words."""
    match option.type:
        case _ if option.is_flag:
            return (bool,), "true or false"
        case Whole():
            return (int,), option.type.words
        case click.types.FloatParamType():
            return (int, float), "a number"
        case click.Choice(choices=choices):
            return (str,), f"one of {', '.join(choices)}"
    example = f' such as "{option.default}"' if isinstance(option.default, str) and option.default else ""
    return (str,), f"a string{example}"


def _from(folder: Path, path: str) -> str:
    """Return a path that is relative to a folder, so that it never looks like an option."""
    joined = path if folder == Path() else os.path.join(folder, path)
    return f"./{joined}" if joined.startswith("-") else joined
