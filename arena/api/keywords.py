"""The keywords of the API, checked like the options of the commands, and errors in terms of them."""

import contextlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol, TypedDict, get_type_hints

from arena.errors import UsageError, suggest
from arena.game import Game
from arena.game.registry import installed_games, load_game
from arena.game.time_control import TimeControl, parse_time
from arena.league.league_options import USUAL, FormatName, FormatOptions, PlayOptions
from arena.league.option_values import option_value
from arena.league.pairing.chosen import ChosenFormat, format_of
from arena.sandbox.launch import known_fault

AnyPath = str | os.PathLike[str]
GameWord = AnyPath | Game | type[Game]


class NamedRules(Protocol):
    """Rules as an object, such as a `Ruleset` of Stratego."""

    @property
    def name(self) -> str: ...


Rules = str | NamedRules
"""The name of a variant, or rules of the game as an object; an empty text: the usual ones."""
Times = str | tuple[str, str]
"""A time control such as `100ms`, `1s/move` or `60+0.6`; or one for each bot."""


class BotKeywords(TypedDict, total=False):
    """Isolation and limits of bots. Sizes are strings with a unit (`512M`), and so are times (`10m`).

    `sandbox` is `basic`, `bwrap`, `cgroup` or `auto`. `interpreters` are programs outside the system that may run bots,
    or their installation folders.
    """

    sandbox: str
    memory: str
    processes: int
    tmp: str
    interpreters: Sequence[str]
    build_time: str
    build_memory: str
    build_disk: str
    build_network: bool


class GameKeywords(BotKeywords, total=False):
    """Options of games, with the defaults of the command line.

    `game` is the name of an installed game, a Python file that defines one as `GAME`, or a game of such a file, as
    object or class (default: Stratego).
    `start_time`, `setup_time` and `margin` are as in docs/cli.md. `seed` is from 0 to 2**64 - 1. `limits` is a TOML
    file with other limits, and another time, for some bots. `keep_bots` plays the two games of a pair, with colours
    swapped, in the same processes. `openings` is a file of set-ups that games begin with. `opponents` is `hidden`, or
    `named`: then each bot receives the name of its opponent.
    """

    game: GameWord
    start_time: str
    setup_time: str
    margin: str
    seed: int
    limits: AnyPath | None
    pondering: bool
    keep_bots: bool
    openings: AnyPath | None
    opponents: str


class LeagueKeywords(GameKeywords, total=False):
    """Options of several games: the number of simultaneous games in `jobs` (default: the usable CPUs), and `affinity`,
    which pins them to CPUs (default: with at least as many games as CPUs).
    """

    jobs: int
    affinity: bool


_USUAL = {field.name: getattr(USUAL, field.name) for field in fields(PlayOptions)}
_EXPECTED = {str: "a string such as {!r}", int: "a whole number", bool: "True or False"}


def play_options(
    allowed: type[BotKeywords], options: Mapping[str, Any], call: Callable[..., object], **fixed: object
) -> PlayOptions:
    """Return the `allowed` keywords of a call as options, with `fixed` ones that the caller may not choose.

    Raises `UsageError` for an unknown keyword and for a value of another type.
    """
    refuse_unknown(options, allowed, call)
    values: dict[str, Any] = {}
    for name, value in {**options, **fixed}.items():
        if name in ("limits", "openings", "store"):
            values[name] = None if value is None else path_of(value, name)
        elif name == "rules":
            values[name] = value  # which the game judges
        elif name == "game":
            values[name] = _game_word(value)
        elif name == "interpreters":
            if isinstance(value, str) or not isinstance(value, Sequence):
                raise UsageError(f"interpreters: expected a list of paths, got {value!r}")
            values[name] = tuple(os.fspath(path) for path in value)
        else:
            check_type(name, value, bool if name == "affinity" else type(_USUAL[name]))
            values[name] = value
    return PlayOptions(**values)


def _game_word(game: object) -> str:
    """Return the name of a game, or its file, by which other processes find it, too. Raises `UsageError`."""
    if isinstance(game, str | os.PathLike):
        return str(path_of(game, "game")) if game else ""
    kind = game if isinstance(game, type) else type(game)
    if not issubclass(kind, Game):
        raise UsageError(
            f"game: expected the name of a game, its Python file, or a game (arena.game.Game), got {game!r}"
        )
    if kind.name in installed_games() and type(load_game(kind.name)) is kind:
        return kind.name
    module = sys.modules.get(kind.__module__)
    file = None if kind.__module__ == "__main__" else getattr(module, "__file__", None)
    if file is None or load_game(file).name != kind.name:
        raise UsageError(
            f"game: expected {kind.name} in a Python file of its own that defines it as GAME, as other processes play "
            f"it, got one of {kind.__module__}"
        )
    return str(file)


def refuse_unknown(options: Mapping[str, object], allowed: object, call: Callable[..., object]) -> None:
    named = (one.name for one in inspect.signature(call).parameters.values() if one.default is not one.empty)
    known = [*get_type_hints(allowed), *named]
    for name in options:
        if name not in known:
            raise UsageError(f"{name}: unknown option; {suggest(name, sorted(known))}")


def check_type(name: str, value: object, expected: type) -> None:
    if type(value) is not expected:
        raise UsageError(f"{name}: expected {_EXPECTED[expected].format(_USUAL.get(name))}, got {value!r}")


def match_times(time: Times) -> tuple[str, tuple[str, ...]]:
    if isinstance(time, str):
        return time, ()
    if not isinstance(time, tuple | list) or len(time) != 2:
        raise UsageError(f"time: expected a string such as {USUAL.time!r}, or one for each bot, got {time!r}")
    first, second = map(check_time_word, time)
    return (time[0], ()) if first == second else (USUAL.time, tuple(time))


def check_time_word(time: str) -> TimeControl:
    check_type("time", time, str)
    return option_value("time", parse_time, time)


def path_of(value: object, what: str = "bot") -> Path:
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise UsageError(f"{what}: expected a path, got {value!r}")
    return Path(value)


def bot_word(path: AnyPath) -> str:
    """Return a bot as named by the caller: `warden` may be a sample bot, `./warden` may not. Raises `UsageError`."""
    path_of(path)
    return os.fspath(path)


def check_callback(name: str, call: object) -> None:
    """Raise `UsageError` for a callback that cannot be called, or is async, as it would not be awaited."""
    if call is not None and not callable(call):
        raise UsageError(f"{name}: expected a function, got {call!r}")
    if any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in (call, type(call).__call__)):
        raise UsageError(f"{name}: expected a plain function, got an async one, which would not be awaited: {call!r}")


_OPTION = re.compile(r"('arena [^']*')|(?<![\w-])--([a-z][a-z0-9-]*)")
"""A command in an error, or an option outside of one, which is a keyword here."""


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Raise all errors that a user can act on as `ArenaError`, with keywords in place of options."""
    try:
        yield
    except UsageError as error:
        text = _OPTION.sub(lambda found: found[1] or found[2].replace("-", "_"), str(error))
        if type(error) is not UsageError or text == str(error):
            raise
        raise UsageError(text) from None
    except Exception as error:
        fault = known_fault(error)
        if fault is None or fault is error:
            raise
        raise fault from error


class FormatKeywords(TypedDict, total=False):
    """Options of a league's format; each format has only some of them.

    `format` is `round-robin` (the default), `single-round-robin`, `gauntlet`, `swiss`, `knockout` or `ladder`. `seeds`
    are names of bots, from the first seed on. `games` are those of a ladder. See docs/formats.md for all.
    """

    format: str
    challengers: int | None
    seeds: Sequence[str]
    best_of: int | None
    extra_pairs: int | None
    confidence: float | None
    games: int | None
    disqualify: int | None


def chosen_format(rounds: int | None, options: Mapping[str, Any], call: Callable[..., object]) -> ChosenFormat:
    """Return the format of the keywords of a call. Raises `UsageError` for those that the format does not have."""
    refuse_unknown(options, FormatKeywords, call)
    asked = dict(options)
    word, known = asked.pop("format", FormatName.ROUND_ROBIN.value), [name.value for name in FormatName]
    if word not in known:
        raise UsageError(f"format: unknown format {word!r}; {suggest(str(word), known)}")
    seeds = asked.pop("seeds", ())
    if isinstance(seeds, str) or not isinstance(seeds, Sequence) or not all(isinstance(one, str) for one in seeds):
        raise UsageError(f"seeds: expected a list of names of bots, got {seeds!r}")
    for field, value in {"rounds": rounds, **asked}.items():
        if field == "confidence" and type(value) not in (int, float, type(None)):
            raise UsageError(f"{field}: expected a likelihood such as 0.95, got {value!r}")
        if field != "confidence" and type(value) not in (int, type(None)):
            raise UsageError(f"{field}: expected a whole number, got {value!r}")
    return format_of(FormatOptions(FormatName(word), rounds, seeds=tuple(seeds), **asked))
