"""The settings in force for a command, and where each comes from. What is printed for people is such a file again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.bots.asked import AskedBot, Own
from arena.bots.limits import size_text
from arena.league.config_file import BOT, BOTS
from arena.printable import printable

COLUMN = 36
"""Where it stands what a setting comes from, if the setting leaves room for it."""


@dataclass(frozen=True)
class Setting:
    """One setting: `source` says in words where it comes from, `key` under which key of the file, if it is from there.

    `is_shared`: whether all commands have it.
    """

    name: str
    value: Any
    source: str
    key: str | None = None
    is_shared: bool = True


@dataclass(frozen=True)
class Settings:
    """All that is in force for a command. `bots` is a setting with a list of `AskedBot`; `own` is by name of bot."""

    command: str
    file: str | None
    bots: Setting
    settings: Sequence[Setting]
    own: Mapping[str, Own]


def config_text(config: Settings) -> str:
    """The settings as the text of a file, with where each comes from in comments."""
    lines = [f"# arena {config.command}: the settings in force", *_bots_lines(config)]
    lines += [_line(setting, config) for setting in config.settings if setting.is_shared]
    others = [_line(setting, config) for setting in config.settings if not setting.is_shared]
    if others:
        lines += ["", f"[{config.command}]", *others]
    for name, own in config.own.items():
        said = [f"{key} = {_toml(value)}" for key, value in _own_values(own).items()]
        lines += ["", _beside(f"[{BOT}.{_toml(name)}]", str(config.file)), *said]
    return "\n".join(lines)


def config_json(config: Settings) -> str:
    """The same as one JSON document."""
    bots = {**_origin(config.bots), "value": [_bot_values(bot) for bot in config.bots.value]}
    settings = {each.name: {**_origin(each), "value": _plain(each.value)} for each in config.settings}
    own = {name: _own_values(said) for name, said in config.own.items()}
    document = {"command": config.command, "file": config.file, BOTS: bots, "settings": settings, BOT: own}
    return json.dumps(document, indent=2)


def _origin(setting: Setting) -> dict[str, Any]:
    return {"source": setting.source, "key": setting.key}


def _from(setting: Setting, config: Settings) -> str:
    return setting.source if setting.key is None else f"{config.file}: {setting.key}"


def _line(setting: Setting, config: Settings) -> str:
    value = _plain(setting.value)
    said = f"# {setting.name} is not set" if value is None else f"{setting.name} = {_toml(value)}"
    return _beside(said, _from(setting, config))


def _bots_lines(config: Settings) -> Iterator[str]:
    if not config.bots.value:
        yield "# no bots are named"
        return
    yield _beside(f"{BOTS} = [", _from(config.bots, config))
    for bot in config.bots.value:
        values = _bot_values(bot)
        yield f"    {_toml(bot.path if values == {'path': bot.path} else values)},"
    yield "]"


def _beside(text: str, source: str) -> str:
    return f"{text:{COLUMN}}  # {source}"


def _bot_values(bot: AskedBot) -> dict[str, Any]:
    said = {"path": bot.path, "name": bot.name, "args": list(bot.arguments) or None, **_own_values(bot.own)}
    return {key: value for key, value in said.items() if value is not None}


def _own_values(own: Own) -> dict[str, Any]:
    said = {
        "memory": None if own.memory is None else size_text(own.memory),
        "processes": own.processes,
        "tmp": None if own.tmp is None else size_text(own.tmp),
        "time": None if own.time is None else own.time.text,
    }
    return {key: value for key, value in said.items() if value is not None}


def _plain(value: Any) -> Any:
    """A value of an option as JSON and TOML have it."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return printable(str(value)) if isinstance(value, Path) else value


def _toml(value: Any) -> str:
    """A value as it is written in TOML, whose strings, numbers and lists are written as those of JSON."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    return json.dumps(printable(value) if isinstance(value, str) else value, ensure_ascii=False)
