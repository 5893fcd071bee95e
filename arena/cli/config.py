"""Commands whose options can stand in a file (`arena.league.config_file`), by click's own map of defaults.

The keys of the file are the options of the commands, so that a new option is a key at once. What stands in the file is
checked there, under its key; an error that is found later and names an option is told by the key that set it.

The trap: a command line has to be able to undo what a file has switched on, so each switch gets a `--no-` form.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.config_keys import keys_of, options_in_file
from arena.cli.helping import ArenaCommand, long_name
from arena.cli.streams import remark, result

if TYPE_CHECKING:
    from arena.bots.asked import AskedBot, OwnByName
    from arena.errors import ArenaError
    from arena.league.config_file import ConfigFile, Found
    from arena.report.config import Setting

META = "arena.settings"
"""Where the context of a command has its `Configured`."""
NOBODY = "-"
"""What stands for bots that nobody has named, where settings are only shown."""
NAMED, LONGEST_NAMED = 4, 200
"""Bots, and characters of them, that an error names where their number is wrong."""
FROM_FILE = "file"
WORDS = {
    click.core.ParameterSource.COMMANDLINE: "command line",
    click.core.ParameterSource.ENVIRONMENT: "environment",
    click.core.ParameterSource.DEFAULT_MAP: FROM_FILE,
}


@dataclass
class Configured:
    """What a file says to one command; empty where there is none."""

    shows: bool = False
    file: "ConfigFile | None" = None
    found: "dict[str, Found]" = field(default_factory=dict)
    """By the name of the parameter."""
    bots: "list[AskedBot] | None" = None
    """The bots of the file, if they play; None if they are on the command line."""
    bots_key: str = ""
    are_bots_shared: bool = False
    """Whether these are the bots of all commands."""
    is_nobody: bool = False

    @property
    def own(self) -> "OwnByName | None":
        """What the file says of single bots. Each has to be there where those play that it names for all commands."""
        from arena.bots.asked import OwnByName
        from arena.league.config_file import BOT

        if self.file is None or not self.file.own:
            return None
        return OwnByName(
            self.file.where, self.file.own, self.are_bots_shared, self.file.folder, f"{self.file.prefix}{BOT}."
        )


class ConfiguredCommand(ArenaCommand):
    """A command that also takes its options and its bots from a file."""

    def __init__(self, *arguments: Any, bots: str, example: str, **options: Any) -> None:
        """`bots` says in words which bots the command expects; `example` is a command line that has them."""
        super().__init__(*arguments, **options)
        self._bots_words, self._example = bots, example
        for param in options_in_file(self):
            if param.is_flag and not param.secondary_opts:
                param.secondary_opts = [f"--no-{long_name(param)}"]
        self.params += _own_options()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments are looked at twice: what is named there says which file is read, and whether bots are."""
        state = ctx.meta[META] = Configured()
        if not ctx.resilient_parsing:
            with self.options_read(ctx):
                given, more, _ = self.make_parser(ctx).parse_args(args=list(args))
            if not self.asks_for_help(ctx, given):
                args = [*args, *self._configure(ctx, state, given, more)]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        state = configured()
        if state.file is None:
            return self._show(ctx, state) if state.shows else super().invoke(ctx)
        from arena.errors import UsageError
        from arena.rules.ruleset import RulesetError

        if not state.shows:
            remark(f"settings from {state.file.where}")
        try:
            return self._show(ctx, state) if state.shows else super().invoke(ctx)
        except (UsageError, RulesetError) as error:
            told = told_by_key(error, self, state)
            if told is error:
                raise
            raise told from error

    def _show(self, ctx: click.Context, state: Configured) -> int:
        """Print what is in force. Raises `UsageError` or `RulesetError` for what could not be played under."""
        from arena.bots.asked import AskedBot
        from arena.league.config_file import BOTS
        from arena.league.options import PlayOptions
        from arena.league.settings import check_values
        from arena.report.config import Setting, Settings, config_json, config_text

        check_values(
            PlayOptions(**{each.name: ctx.params[each.name] for each in fields(PlayOptions) if each.name in ctx.params})
        )
        shared = _shared(ctx, self)
        settings = [_setting(ctx, option, state, name in shared) for name, option in _by_key(self).items()]
        words = [word for param in self.params if isinstance(param, click.Argument) for word in _words(ctx, param)]
        bots = state.bots if state.bots is not None else [] if state.is_nobody else [AskedBot(word) for word in words]
        source = FROM_FILE if state.bots is not None else WORDS[click.core.ParameterSource.COMMANDLINE]
        config = Settings(
            ctx.info_name or "",
            state.file.where if state.file else None,
            Setting(BOTS, bots, source, state.bots_key or None),
            settings,
            state.file.own if state.file else {},
        )
        result(config_json(config) if ctx.params.get("as_json") else config_text(config))
        return 0

    def _configure(
        self, ctx: click.Context, state: Configured, given: "dict[str, Any]", more: "list[str]"
    ) -> list[str]:
        """Read the file, if there is one to be read. Returns the words for bots that are not on the command line.

        `more` are words of the command line that there is no argument for.
        """
        state.shows = given.get("show_config") is True
        wanted = given.get("config")
        path = Path(wanted) if isinstance(wanted, str) else None
        if given.get("no_config") is True:
            if path:
                raise click.UsageError("--config names a file and --no-config reads none: expected one of them", ctx)
        else:
            from arena.league.config_file import find_config

            path = path or find_config()
        if path:
            self._read(ctx, state, path)
        arguments = [param for param in self.params if isinstance(param, click.Argument)]
        takes = None if arguments[0].nargs == -1 else len(arguments)
        named = [word for param in arguments for word in _given(given.get(param.name or ""))] + more
        if named:
            if takes is not None and len(named) != takes:
                raise self._other_number(ctx, named)
            return []
        bots = state.file.bots(ctx.info_name or "") if state.file else None
        if bots is None:
            if not state.shows:
                raise self._other_number(ctx, named)
            state.is_nobody = True
            return [NOBODY] * len(arguments)
        return self._bots(ctx, state, *bots, takes=takes)

    def _other_number(self, ctx: click.Context, named: "list[str]") -> click.UsageError:
        """What to say where not as many bots are named as the command takes."""
        from arena.printable import printable

        words = printable(", ".join(named[:NAMED]), LONGEST_NAMED) + (", ..." if len(named) > NAMED else "")
        got = f"{len(named)}: {words}" if len(named) > 1 else f"only {words}" if named else "none"
        return click.UsageError(f"Expected {self._bots_words}, got {got}. For example: {self._example}", ctx)

    def _bots(
        self, ctx: click.Context, state: Configured, asked: "list[AskedBot]", key: "Found", takes: int | None
    ) -> list[str]:
        if takes is not None and len(asked) != takes:
            from arena.errors import UsageError

            where = state.file.where if state.file else ""
            raise UsageError(
                f"{where}: {key.key}: expected {takes} bots for arena {ctx.info_name}, got {len(asked)}; name them on "
                f"the command line, or as bots in [{ctx.info_name}]"
            )
        state.bots, state.bots_key = asked, key.key
        state.are_bots_shared = key.is_shared
        return [bot.path for bot in asked]

    def _read(self, ctx: click.Context, state: Configured, path: Path) -> None:
        from arena.league.config_file import read_config

        commands = {name: keys_of(command) for name, command in _commands(ctx, self)}
        state.file = read_config(path, commands)
        options = _by_key(self)
        for name, written in state.file.settings(ctx.info_name or "").items():
            param = options[name]
            is_alone = param.multiple and isinstance(written.value, str)  # one of them needs no list
            found = replace(written, value=[written.value]) if is_alone else written
            _check(ctx, param, found, state.file.where)
            state.found[param.name or ""] = found
        ctx.default_map = {name: found.value for name, found in state.found.items()}


def configured() -> Configured:
    """What a file says to the command that is under way."""
    ctx = click.get_current_context(silent=True)
    state = ctx.meta.get(META) if ctx else None
    return state if isinstance(state, Configured) else Configured()


def told_by_key(error: "ArenaError | ValueError", command: click.Command, state: Configured) -> Exception:
    """An error about an option that the file has set, by its key; any other as it is."""
    from arena.errors import UsageError
    from arena.rules.ruleset import RulesetError

    if state.file is None:
        return error
    text = str(error)
    names = {long_name(param): param.name or "" for param in options_in_file(command)}
    found = {f"--{key}": state.found[name] for key, name in names.items() if configured_by_file(name)}
    told = text
    for option, value in found.items():
        where = f"{state.file.where}: {value.key}"
        if text.startswith((f"{option}:", f"{option} ")):
            told = f"{where}{told.removeprefix(option)}"
        elif re.search(rf"{re.escape(option)}(?![\w-])", text):
            told += f"\n{option} is set by {where}"
    if isinstance(error, RulesetError) and "--rules" in found:
        told = f"{state.file.where}: {found['--rules'].key}: {text}"
    return error if told == text else UsageError(told)


def configured_by_file(name: str) -> bool:
    """Whether a parameter of the command under way has the value of the file."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.DEFAULT_MAP


def _own_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--config"],
            metavar="FILE",
            expose_value=False,
            help="The file with settings (default: arena.toml in this folder, or [tool.arena] in its pyproject.toml).",
        ),
        click.Option(["--no-config"], is_flag=True, expose_value=False, help="Read no file with settings."),
        click.Option(
            ["--show-config"],
            is_flag=True,
            expose_value=False,
            help="Show the settings in force, and where each comes from; play nothing.",
        ),
    ]


def _commands(ctx: click.Context, own: click.Command) -> Iterator[tuple[str, click.Command]]:
    """All commands that a file can speak to, by name."""
    root = ctx.find_root().command
    group = root.commands if isinstance(root, click.Group) else {ctx.info_name or "": own}
    return ((name, command) for name, command in group.items() if isinstance(command, ConfiguredCommand))


def _by_key(command: click.Command) -> dict[str, click.Option]:
    return {long_name(option): option for option in options_in_file(command)}


def _given(value: object) -> list[str]:
    """The words that there are for an argument on the command line."""
    return [value] if isinstance(value, str) else list(value) if isinstance(value, tuple | list) else []


def _words(ctx: click.Context, argument: click.Argument) -> tuple[str, ...]:
    value = ctx.params[argument.name or ""]
    return (value,) if isinstance(value, str) else tuple(value)


def _setting(ctx: click.Context, option: click.Option, state: Configured, is_shared: bool) -> "Setting":
    from arena.report.config import Setting

    name = option.name or ""
    source = ctx.get_parameter_source(name)
    key = state.found[name].key if source is click.core.ParameterSource.DEFAULT_MAP else None
    usual = f"default: {option.show_default}" if isinstance(option.show_default, str) else "default"
    words = WORDS.get(source, usual) if source else usual
    return Setting(long_name(option), ctx.params[name], words, key, is_shared)


def _shared(ctx: click.Context, command: click.Command) -> "Collection[str]":
    """The keys that all commands have."""
    from arena.league.config_file import shared_keys

    return shared_keys({name: keys_of(each) for name, each in _commands(ctx, command)})


def _check(ctx: click.Context, param: click.Option, found: "Found", where: str) -> None:
    """Raise `UsageError` for a value of the file that the option does not take."""
    from arena.errors import UsageError
    from arena.printable import printable

    try:
        param.type_cast_value(ctx, found.value)
    except click.BadParameter as error:
        raise UsageError(printable(f"{where}: {found.key}: {error.message}")) from None
