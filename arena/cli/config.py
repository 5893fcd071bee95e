"""Settings of commands from a file: `arena.toml`, or the table `[tool.arena]` of a pyproject.toml.

A file of the current folder decides which programs run: so no other folder is searched for it, and it has to belong to
the user who runs the arena, or to the owner of the folder.
"""

import glob
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.core import ParameterSource

from arena.cli.helping import ArenaCommand, Whole, exclusive, long_name
from arena.cli.shared_options import PLAY_OPTIONS
from arena.cli.streams import remark, result
from arena.errors import UsageError, nearest, suggest
from arena.system.printable import printable, shown

if TYPE_CHECKING:
    from arena.bots.asked import AskedBot, Own
    from arena.league.league_options import PlayOptions

FILE = "arena.toml"
PROJECT = "pyproject.toml"
PREFIX = "tool.arena"
BOTS, BOT = "bots", "bot"
CONFIGURED = ("league", "match", "compare")
SHARED = (*PLAY_OPTIONS, "jsonl")
META = "arena.settings"
NO_CONFIG = "arena.no-config"
LONGEST_NAMED = 200
"""Characters of the paths of bots that an error quotes if their number is wrong."""
SOURCES: dict[ParameterSource | None, str] = {
    ParameterSource.DEFAULT_MAP: "file",
    ParameterSource.COMMANDLINE: "command line",
}
COLUMN = 36

Options = Mapping[str, click.Option]


@dataclass
class FileSettings:
    """The settings of a file for one command; empty without one. `where` is the file."""

    where: str = ""
    folder: Path = Path()
    heading: str = ""
    """The table of all settings: `tool.arena` in a pyproject.toml."""
    values: dict[str, Any] = field(default_factory=dict)
    """Values by the names of parameters, as on the command line."""
    keys: dict[str, str] = field(default_factory=dict)
    """Keys in the file by the names of parameters, such as `[league] rounds`."""
    bots: "list[AskedBot] | None" = None
    own: "dict[str, Own]" = field(default_factory=dict)

    def table(self, *names: str) -> str:
        inner = ".".join(filter(None, (self.heading, *names)))
        return f"[{inner}]" if inner else ""


class ConfiguredCommand(ArenaCommand):
    """A command that also takes its options and its bots, the argument `paths`, from a file."""

    def __init__(self, *arguments: Any, bots: str, takes: int | None = None, **options: Any) -> None:
        """`bots` describes the expected bots; `takes` is their number, or None for any."""
        super().__init__(*arguments, **options)
        self._bots, self._takes = bots, takes
        for option in options_in_file(self).values():
            if option.is_flag and not option.secondary_opts:  # a command line can undo what a file has switched on
                option.secondary_opts = [f"--no-{long_name(option)}"]
        self.params += [
            click.Option(
                ["--config"],
                is_eager=True,
                expose_value=False,
                callback=_read,
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="File with settings (default: arena.toml, or [tool.arena] in pyproject.toml).",
            ),
            click.Option(["--no-config"], is_flag=True, is_eager=True, expose_value=False, help="Read no settings."),
            click.Option(["--show-config"], is_flag=True, help="Show the settings and their sources; play nothing."),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[NO_CONFIG] = "--no-config" in args  # the order of options does not matter then
        try:
            rest = super().parse_args(ctx, args)
        except click.BadParameter as error:
            name = error.param.name if error.param and error.param.name else ""
            if ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP:
                state = configured(ctx)
                raise UsageError(printable(f"{state.where}: {state.keys[name]}: {error.message}")) from None
            raise
        if not ctx.resilient_parsing:
            ctx.params["paths"] = self._paths(ctx)
        return rest

    def _paths(self, ctx: click.Context) -> tuple[str, ...]:
        state = configured(ctx)
        named: tuple[str, ...] = ctx.params["paths"]
        if named:
            state.bots = None
        elif state.bots is not None:
            named = tuple(bot.path for bot in state.bots)
        elif ctx.params["show_config"]:
            return ()
        if len(named) == self._takes or (named and self._takes is None):
            return named
        where = f"{state.where}: {state.keys[BOTS]}: " if state.bots is not None else ""
        got = f"{len(named)}: {printable(', '.join(named), LONGEST_NAMED)}" if named else "none"
        words = f"{where}expected {self._bots}, got {got}. For example: {self.examples[0][0]}"
        raise UsageError(words) if where else click.UsageError(words, ctx)

    def invoke(self, ctx: click.Context) -> Any:
        if ctx.params.pop("show_config"):
            return self._show(ctx)
        if configured(ctx).where:
            remark(f"settings from {configured(ctx).where}")
        return super().invoke(ctx)

    def _show(self, ctx: click.Context) -> int:
        from arena.league.league_options import PlayOptions
        from arena.league.option_values import check_values

        check_values(
            PlayOptions(**{each.name: ctx.params[each.name] for each in fields(PlayOptions) if each.name in ctx.params})
        )
        shown_settings = _settings_in_force(ctx)
        if ctx.params.get("as_json"):
            result(json.dumps(shown_settings, indent=2))
        else:
            result("\n".join(_as_toml(shown_settings)))
        return 0


def configured(ctx: click.Context | None = None) -> FileSettings:
    """Return the settings of the file for a command, by default the running one."""
    ctx = ctx or click.get_current_context()
    state: FileSettings = ctx.meta.setdefault(META, FileSettings())
    return state


def collect(values: dict[str, Any]) -> "PlayOptions":
    """Return the options of a command that plays, with the file's settings of single bots."""
    from arena.bots.asked import OwnByName
    from arena.league.league_options import PlayOptions

    state = configured()
    own = None
    if state.own:  # those at the top of the file must be of bots that take part, if the bots are from there, too
        is_strict = state.bots is not None and state.keys[BOTS] == BOTS
        own = OwnByName(state.where, state.own, is_strict, state.folder, state.table(BOT).strip("[]") + ".")
    draws_seed = click.get_current_context().get_parameter_source("seed") is ParameterSource.DEFAULT
    return PlayOptions(**values, draws_seed=draws_seed, asked=tuple(state.bots or ()), own=own)


def options_in_file(command: click.Command) -> dict[str, click.Option]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    return {long_name(option): option for option in options if option.expose_value and option.name != "show_config"}


# --- reading ----------------------------------------------------------------------------------------------------------


def _read(ctx: click.Context, _: click.Parameter, value: Path | None) -> None:
    reads_none = ctx.meta[NO_CONFIG]
    exclusive(config=value, no_config=reads_none)
    path = None if ctx.resilient_parsing or reads_none else value or find_config()
    if path is None:
        return
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    commands = {name: group.get_command(ctx, name) for name in CONFIGURED}
    options = {name: options_in_file(command) for name, command in commands.items() if command}
    state = ctx.meta[META] = read_config(path, ctx.info_name or "", options)
    ctx.default_map = state.values


def find_config() -> Path | None:
    """Return the file of the current folder, if there is one. Raises `FileError` if it is another user's."""
    from arena.system.user_files import FileError, read_toml

    path = Path(FILE)
    if not path.exists():
        path = Path(PROJECT)
        if not path.exists() or _tool_table(read_toml(path)) is None:
            return None
    file, folder = os.stat(path), os.stat(path.parent)
    if stat.S_ISREG(file.st_mode) and hasattr(os, "geteuid") and file.st_uid not in (os.geteuid(), 0, folder.st_uid):
        raise FileError(
            f"{path}: this file belongs to another user (number {file.st_uid}), and it would say which programs run: "
            f"pass --config {path} if you trust it, or --no-config"
        )
    return path


def _tool_table(table: object) -> object | None:
    for name in PREFIX.split("."):
        table = table.get(name) if isinstance(table, Mapping) else None
    return table


def read_config(path: Path, command: str, commands: Mapping[str, Options]) -> FileSettings:
    """Read the settings for a command; `commands` are the options of all that read a file. Raises `FileError`."""
    from arena.bots.limits_file import OwnTable, own_of
    from arena.system.schema import structured
    from arena.system.user_files import FileError, read_toml

    state = FileSettings(printable(str(path)), path.parent, PREFIX if path.name == PROJECT else "")
    content: Any = read_toml(path)
    if state.heading and (content := _tool_table(content)) is None:
        raise FileError(f"{state.where}: expected a table {state.table()}, got none")

    def place(*names: str) -> str:
        heading = state.table(*names)
        return f"{state.where}: {heading}" if heading else state.where

    content = structured(content, dict[str, Any], place())
    top = {key: value for key, value in content.items() if key not in (*commands, BOT)}
    tables = {"": top} | {name: structured(content.get(name, {}), dict[str, Any], place(name)) for name in commands}
    keys = {"": SHARED, **commands}
    for name, table in tables.items():
        for written, value in table.items():
            key = written.replace("_", "-")
            if key not in keys[name] and key != BOTS:
                raise FileError(
                    f"{place(*filter(None, [name]))}: unknown key {shown(written)}; {_hint(key, name, keys)}"
                )
            if name in ("", command):
                at = f"{state.table(name)} {key}" if name else key
                where = f"{state.where}: {at}"
                if key == BOTS:
                    state.bots, state.keys[BOTS] = _bots(value, state.folder, where), at
                    continue
                option = commands[command][key]
                parameter = option.name or ""
                state.values[parameter], state.keys[parameter] = _value(option, value, state.folder, where), at
    for name, own in structured(content.get(BOT, {}), dict[str, Any], place(BOT)).items():
        heading = place(BOT, printable(name, LONGEST_NAMED))
        state.own[name] = own_of(structured(own, OwnTable, heading), heading)
    return state


def _hint(key: str, table: str, keys: Mapping[str, Any]) -> str:
    if place := _place(key, keys):
        return f"{key} belongs {place}"
    here = dict.fromkeys([*keys[table], BOTS, *(() if table else (*CONFIGURED, BOT))])
    near = nearest(key, here.keys() | {name for known in keys.values() for name in known})
    if not near:
        return suggest(key, here)
    return f"did you mean {' or '.join(name if name in here else f'{name} ({_place(name, keys)})' for name in near)}?"


def _place(key: str, keys: Mapping[str, Any]) -> str:
    """Return where a key belongs, or an empty string for an unknown one."""
    if key in keys[""]:
        return "at the top"
    tables = " or ".join(f"[{name}]" for name, known in keys.items() if key in known)
    return tables and f"in {tables}"


def _value(option: click.Option, value: Any, folder: Path, where: str) -> Any:
    """Return a value as on the command line. Raises `FileError` for one of a wrong type."""
    from arena.system.user_files import FileError

    kinds: tuple[type, ...] = (str,)
    words = "a string"
    if option.is_flag:
        kinds, words = (bool,), "true or false"
    elif isinstance(option.type, Whole):
        kinds, words = (int,), option.type.words
    elif isinstance(option.type, click.types.FloatParamType):
        kinds, words = (int, float), "a number"
    is_names = (option.metavar or "").endswith(",...")
    takes_list = option.multiple or is_names
    several = value if isinstance(value, list) and takes_list else [value]
    if any(type(each) not in kinds or "\0" in str(each) for each in several):
        raise FileError(f"{where}: expected {words}{', or a list' if takes_list else ''}, got {shown(value)}")
    if isinstance(option.type, click.Path):
        several = [_from(folder, path) for path in several]
    elif option.name == "rules":
        name, plus, switches = several[0].partition("+")
        several = [f"{_from(folder, name)}{plus}{switches}"] if name.endswith(".toml") else several
    elif option.name == "game":
        from arena.game.registry import is_file  # most files name no game

        several = [_from(folder, several[0])] if is_file(several[0]) else several
    return several if option.multiple else ",".join(several) if is_names else several[0]


def _bots(entries: object, folder: Path, where: str) -> "list[AskedBot]":
    from msgspec import Meta

    from arena.bots.asked import AskedBot
    from arena.bots.limits_file import OwnTable, own_of
    from arena.bots.names import GRAMMAR, expected_name, name_fault
    from arena.bots.samples import split_prefix
    from arena.system.schema import expected, structured
    from arena.system.user_files import FileError

    class BotTable(OwnTable, kw_only=True, forbid_unknown_fields=True):
        path: Annotated[str, Meta(pattern=r"\A[^\0]+\Z", extra=expected('a path such as "./mine"'))]
        name: Annotated[str, Meta(extra=expected(GRAMMAR))] | None = None
        args: Annotated[
            tuple[Annotated[str, Meta(pattern=r"\A[^\0]*\Z")], ...],
            Meta(extra=expected('a list such as ["--depth", "3"], without NUL in it')),
        ] = ()

    if not isinstance(entries, list) or not entries:
        raise FileError(f'{where}: expected a list such as ["bots/*", "./mine"], got {shown(entries)}')
    found = []
    for number, entry in enumerate(entries, 1):
        at = f"{where}: entry {number}"
        table = structured({"path": entry} if isinstance(entry, str) else entry, BotTable, at)
        if table.name is not None and (fault := name_fault(table.name)):
            raise FileError(f"{at}: name: {expected_name(table.name, fault)}")
        own = own_of(table, at)
        is_there = os.path.lexists(_from(folder, table.path))  # then it has no prefix
        prefix, text = ("", table.path) if is_there else split_prefix(table.path)
        found += [AskedBot(f"{prefix}{path}", table.name, table.args, own) for path in _matches(text, folder, at)]
    return found


def _matches(text: str, folder: Path, where: str) -> list[str]:
    """Return the paths that match a pattern, as in a shell, or a single path. Raises `FileError`."""
    from arena.bots.samples import SAMPLES, sample_file
    from arena.system.user_files import FileError

    path = _from(folder, text)
    if os.path.lexists(path) or not glob.has_magic(text):
        if text in SAMPLES and not os.path.lexists(path):
            return [str(sample_file(text)) if os.path.lexists(text) else text]
        return [path]
    found = sorted(_from(folder, match) for match in glob.glob(text, root_dir=folder))
    if not found:
        raise FileError(f"{where}: expected a pattern that matches paths of bots, got {shown(text)}: it matches none")
    return found


def _from(folder: Path, path: str) -> str:
    """Return a path relative to a folder that cannot be mistaken for an option."""
    joined = path if folder == Path() else os.path.join(folder, path)
    return f"./{joined}" if joined.startswith("-") else joined


# --- showing ----------------------------------------------------------------------------------------------------------


def _settings_in_force(ctx: click.Context) -> dict[str, Any]:
    state = configured(ctx)
    settings = {}
    for key, option in options_in_file(ctx.command).items():
        name = option.name or ""
        value = ctx.params[name]
        value = list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
        source = SOURCES.get(ctx.get_parameter_source(name), "default")
        settings[key] = {"source": source, "key": state.keys[name] if source == "file" else None, "value": value}
    asked = [
        {"path": bot.path, "name": bot.name, "args": list(bot.arguments) or None} | _own_values(bot.own)
        for bot in state.bots or ()
    ]
    bots = [{key: value for key, value in bot.items() if value is not None} for bot in asked]
    return {
        "command": ctx.info_name,
        "file": state.where or None,
        BOTS: {
            "source": "command line" if state.bots is None else "file",
            "key": None if state.bots is None else state.keys[BOTS],
            "value": [{"path": path} for path in ctx.params["paths"]] if state.bots is None else bots,
        },
        "settings": settings,
        BOT: {name: _own_values(own) for name, own in state.own.items()},
    }


def _own_values(own: "Own") -> dict[str, Any]:
    from arena.bots.limits import size_text

    values = {
        "memory": own.memory and size_text(own.memory),
        "processes": own.processes,
        "tmp": own.tmp and size_text(own.tmp),
        "time": own.time and own.time.text,
    }
    return {key: value for key, value in values.items() if value is not None}


def _as_toml(document: dict[str, Any]) -> Iterator[str]:
    def line(text: str, setting: dict[str, Any]) -> str:
        source = f"{document['file']}: {setting['key']}" if setting["key"] else setting["source"]
        return f"{text:{COLUMN}}  # {source}"

    yield f"# arena {document['command']}: the settings in force"
    if document[BOTS]["value"]:
        yield line(f"{BOTS} = [", document[BOTS])
        yield from (f"    {_toml(bot['path'] if len(bot) == 1 else bot)}," for bot in document[BOTS]["value"])
        yield "]"
    yield f"[{document['command']}]"
    for key, setting in document["settings"].items():
        is_set = setting["value"] is not None
        yield line(f"{key} = {_toml(setting['value'])}" if is_set else f"# {key} is not set", setting)
    for name, own in document[BOT].items():
        yield f"[{BOT}.{_toml(name)}]"
        yield from (f"{key} = {_toml(value)}" for key, value in own.items())


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    return json.dumps(printable(value) if isinstance(value, str) else value, ensure_ascii=False)
