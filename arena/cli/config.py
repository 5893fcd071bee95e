"""Commands whose options and bots can stand in a file (`arena.cli.config_file`), by click's map of defaults.

The keys of the file are the options of the commands, so that a new option is a key at once. An error that is found
later and names an option is told by the key that set it.

The trap: a command line has to be able to undo what a file has switched on, so each switch gets a `--no-` form.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from arena.cli.helping import ArenaCommand, long_name
from arena.cli.streams import remark, result

if TYPE_CHECKING:
    from arena.bots.asked import AskedBot, Own, OwnByName
    from arena.cli.config_file import ConfigFile, FileValue
    from arena.errors import ArenaError

META = "arena.settings"
"""The key of a command's `Configured` in the context."""
CONFIGURED = ("league", "match", "compare")
"""The commands that read a file."""
NAMED, LONGEST_NAMED = 4, 200
"""Bots, and characters of their paths, that an error quotes where their number is wrong."""
FROM_FILE, FROM_LINE = "file", "command line"
SOURCES = {ParameterSource.COMMANDLINE: FROM_LINE, ParameterSource.DEFAULT_MAP: FROM_FILE}
COLUMN = 36
"""The column of the comment on where a setting comes from, if the setting is not longer."""


@dataclass
class Configured:
    """The settings of a file for one command; empty where there is no file."""

    shows: bool = False
    reads_none: bool = False
    file: "ConfigFile | None" = None
    values: "dict[str, FileValue]" = field(default_factory=dict)
    """The values of the file by the names of the parameters."""
    bots: "list[AskedBot] | None" = None
    """The bots of the file; None if the bots are on the command line."""
    bots_from: "FileValue | None" = None

    @property
    def own(self) -> "OwnByName | None":
        """The limits of single bots. A bot with limits must take part if the bots of all commands play."""
        from arena.bots.asked import OwnByName
        from arena.cli.config_file import BOT

        if self.file is None or not self.file.own:
            return None
        is_strict = self.bots_from is not None and self.bots_from.is_shared
        return OwnByName(self.file.where, self.file.own, is_strict, self.file.folder, f"{self.file.prefix}{BOT}.")


class ConfiguredCommand(ArenaCommand):
    """A command that also takes its options and its bots, the argument `paths`, from a file."""

    def __init__(self, *arguments: Any, bots: str, takes: int | None = None, **options: Any) -> None:
        """`bots` are the bots that the command expects, in words; it `takes` so many, or any number."""
        super().__init__(*arguments, **options)
        self._bots, self._takes = bots, takes
        for option in options_in_file(self).values():
            if option.is_flag and not option.secondary_opts:
                option.secondary_opts = [f"--no-{long_name(option)}"]
        self.params += _own_options()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        state = ctx.meta[META] = Configured()
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            ctx.params["paths"] = self._paths(ctx, state)
        return rest

    def _paths(self, ctx: click.Context, state: Configured) -> tuple[str, ...]:
        """The bots of the command line, or else those of the file."""
        named: tuple[str, ...] = ctx.params["paths"]
        found = state.file.bots(ctx.info_name or "") if state.file and not named else None
        if found is not None and state.file is not None:
            state.bots, state.bots_from = found
            if self._takes not in (None, len(state.bots)):
                from arena.errors import UsageError

                where = f"{state.file.where}: {state.bots_from.key}"
                raise UsageError(
                    f"{where}: expected {self._takes} bots for arena {ctx.info_name}, got {len(state.bots)}; name them "
                    f"on the command line, or as bots in [{ctx.info_name}]"
                )
            return tuple(bot.path for bot in state.bots)
        if self._takes in (None, len(named)) if named else state.shows:
            return named
        from arena.system.printable import printable

        words = printable(", ".join(named[:NAMED]), LONGEST_NAMED) + (", ..." if len(named) > NAMED else "")
        got = f"{len(named)}: {words}" if len(named) > 1 else f"only {words}" if named else "none"
        raise click.UsageError(f"Expected {self._bots}, got {got}. For example: {self.examples[0][0]}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        state = configured()
        run = self._show if state.shows else super().invoke
        if state.file is None:
            return run(ctx)
        from arena.errors import UsageError
        from arena.rules.ruleset import RulesetError

        if not state.shows:
            remark(f"settings from {state.file.where}")
        try:
            return run(ctx)
        except (UsageError, RulesetError) as error:
            told = _told_by_key(error, state)
            if told is error:
                raise
            raise told from error

    def _show(self, ctx: click.Context) -> int:
        """Print the settings in force. Raises `UsageError` or `RulesetError` for settings that cannot be played."""
        from arena.league.league_options import PlayOptions
        from arena.league.option_values import check_values

        check_values(
            PlayOptions(**{each.name: ctx.params[each.name] for each in fields(PlayOptions) if each.name in ctx.params})
        )
        result(_as_json(ctx, configured()) if ctx.params.get("as_json") else "\n".join(_as_toml(ctx, configured())))
        return 0


def configured() -> Configured:
    """The settings of a file for the command that runs."""
    ctx = click.get_current_context(silent=True)
    state = ctx.meta.get(META) if ctx else None
    return state if isinstance(state, Configured) else Configured()


def options_in_file(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command that can stand in a file, by key."""
    options = [param for param in command.params if isinstance(param, click.Option)]
    return {long_name(option): option for option in options if option.expose_value}


# --- reading ----------------------------------------------------------------------------------------------------------


def _own_options() -> list[click.Parameter]:
    words = "The file with settings (default: arena.toml in this folder, or [tool.arena] in its pyproject.toml)."
    shows = "Show the settings in force, and where each comes from; play nothing."
    own: dict[str, Any] = {"expose_value": False}
    return [
        click.Option(["--config"], **own, is_eager=True, callback=_read, metavar="FILE", help=words),
        click.Option(
            ["--no-config"], **own, is_eager=True, is_flag=True, callback=_no_file, help="Read no file with settings."
        ),
        click.Option(["--show-config"], **own, is_flag=True, callback=_shown, help=shows),
    ]


def _no_file(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """The callback of `--no-config`. Click calls those of given options first, in the order of the command line."""
    state: Configured = ctx.meta[META]
    state.reads_none = value
    if value and state.file is not None:
        raise _two_wishes(ctx)


def _shown(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[META].shows = value


def _read(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    """The callback of `--config`: read the file, if there is one, and make it the defaults of the command."""
    state: Configured = ctx.meta[META]
    if ctx.resilient_parsing or (state.reads_none and value is None):
        return
    if state.reads_none:
        raise _two_wishes(ctx)
    from arena.cli.config_file import find_config, read_config

    path = find_config() if value is None else Path(value)
    if path is None:
        return
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    commands = {name: group.get_command(ctx, name) for name in CONFIGURED}
    state.file = read_config(path, {name: options_in_file(each) for name, each in commands.items() if each}, ctx)
    options = options_in_file(ctx.command)
    found = {options[key].name or "": value for key, value in state.file.settings(ctx.info_name or "").items()}
    state.values = found
    ctx.default_map = {name: value.value for name, value in found.items()}


def _two_wishes(ctx: click.Context) -> click.UsageError:
    return click.UsageError("--config names a file and --no-config reads none: expected one of them", ctx)


def _told_by_key(error: "ArenaError | ValueError", state: Configured) -> Exception:
    """Return an error about an option that the file has set with its key; any other error as it is."""
    from arena.errors import UsageError
    from arena.rules.ruleset import RulesetError

    ctx = click.get_current_context()
    assert state.file is not None
    text = told = str(error)
    for key, option in options_in_file(ctx.command).items():
        name = option.name or ""
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
            continue
        where = f"{state.file.where}: {state.values[name].key}"
        if key == "rules" and isinstance(error, RulesetError):
            told = f"{where}: {text}"
        elif text.startswith((f"--{key}:", f"--{key} ")):
            told = f"{where}{told.removeprefix(f'--{key}')}"
        elif re.search(rf"--{re.escape(key)}(?![\w-])", text):
            told += f"\n--{key} is set by {where}"
    return error if told == text else UsageError(told)


# --- showing ----------------------------------------------------------------------------------------------------------


def _as_toml(ctx: click.Context, state: Configured) -> Iterator[str]:
    """The settings as the lines of a file, with where each comes from in comments."""
    from arena.cli.config_file import BOT, BOTS, shared_keys

    file = state.file.where if state.file else None
    yield f"# arena {ctx.info_name}: the settings in force"
    bots = _bots(ctx, state)
    if bots:
        yield _commented(f"{BOTS} = [", f"{file}: {state.bots_from.key}" if state.bots_from else FROM_LINE)
        for bot in bots:
            yield f"    {_toml(bot['path'] if len(bot) == 1 else bot)},"
        yield "]"
    else:
        yield "# no bots are named"
    shared: list[str] = []
    single: list[str] = []
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    commands = [group.get_command(ctx, name) for name in CONFIGURED]
    common = shared_keys([options_in_file(command) for command in commands if command])
    for key, option in options_in_file(ctx.command).items():
        value, source, at = _setting(ctx, option, state)
        said = f"# {key} is not set" if value is None else f"{key} = {_toml(value)}"
        (shared if key in common else single).append(_commented(said, f"{file}: {at}" if at else source))
    yield from shared
    if single:
        yield from ("", f"[{ctx.info_name}]", *single)
    for name, own in (state.file.own if state.file else {}).items():
        yield from ("", _commented(f"[{BOT}.{_toml(name)}]", str(file)))
        yield from (f"{key} = {_toml(value)}" for key, value in _own_values(own).items())


def _as_json(ctx: click.Context, state: Configured) -> str:
    import json

    from arena.cli.config_file import BOT, BOTS

    source, key = (FROM_FILE, state.bots_from.key) if state.bots_from else (FROM_LINE, None)
    settings = {}
    for name, option in options_in_file(ctx.command).items():
        value, from_, at = _setting(ctx, option, state)
        settings[name] = {"source": from_, "key": at, "value": value}
    document = {
        "command": ctx.info_name,
        "file": state.file.where if state.file else None,
        BOTS: {"source": source, "key": key, "value": _bots(ctx, state)},
        "settings": settings,
        BOT: {name: _own_values(said) for name, said in (state.file.own if state.file else {}).items()},
    }
    return json.dumps(document, indent=2)


def _setting(ctx: click.Context, option: click.Option, state: Configured) -> tuple[Any, str, str | None]:
    """The value of an option, what it comes from in words, and its key in the file if it is from there."""
    from arena.system.printable import printable

    name = option.name or ""
    value = ctx.params[name]
    if isinstance(value, tuple):
        value = list(value)
    elif isinstance(value, Path):
        value = printable(str(value))
    usual = f"default: {option.show_default}" if isinstance(option.show_default, str) else "default"
    source = ctx.get_parameter_source(name)
    key = state.values[name].key if source is ParameterSource.DEFAULT_MAP else None
    return value, SOURCES.get(source, usual) if source else usual, key


def _bots(ctx: click.Context, state: Configured) -> list[dict[str, Any]]:
    if state.bots is None:
        return [{"path": path} for path in ctx.params["paths"]]
    named = [{"path": bot.path, "name": bot.name, "args": list(bot.arguments) or None} for bot in state.bots]
    return [
        {**{key: value for key, value in said.items() if value is not None}, **_own_values(bot.own)}
        for said, bot in zip(named, state.bots, strict=True)
    ]


def _own_values(own: "Own") -> dict[str, Any]:
    from arena.bots.limits import size_text

    said = {
        "memory": None if own.memory is None else size_text(own.memory),
        "processes": own.processes,
        "tmp": None if own.tmp is None else size_text(own.tmp),
        "time": None if own.time is None else own.time.text,
    }
    return {key: value for key, value in said.items() if value is not None}


def _commented(text: str, source: str) -> str:
    return f"{text:{COLUMN}}  # {source}"


def _toml(value: Any) -> str:
    """Return a value in TOML, whose strings, numbers and lists are written as in JSON."""
    import json

    from arena.system.printable import printable

    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    return json.dumps(printable(value) if isinstance(value, str) else value, ensure_ascii=False)
