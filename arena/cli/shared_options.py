"""Options of several commands, and their completions in a shell: an error there is silent, and offers nothing."""

import enum
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from arena.cli.helping import Decorator, Whole, exclusive, with_options
from arena.cli.streams import Detail, detail, set_detail
from arena.errors import UsageError
from arena.league.league_options import LARGEST_SEED, MOST_JOBS, OPPONENTS, SANDBOXES, USUAL, usable_cpus
from arena.system.printable import printable, shown
from protocol.seats import Color

PORT = 8000
"""The usual port of pages."""
MOST_GAMES = 50
OF_BOT = "bot:"
PATH_STARTS = (".", "/", "~")


def offer_bots(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.bots.samples import SAMPLES

    samples = [CompletionItem(name, help="a sample bot") for name in SAMPLES if name.startswith(incomplete)]
    return [CompletionItem(incomplete, type="file"), *samples]


def offer_languages(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.bots.languages import LANGUAGES

    return [CompletionItem(each.name, help=each.title) for each in LANGUAGES if each.name.startswith(incomplete)]


def offer_rulesets(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer variants of the game on the line: for Stratego rulesets, and after a plus the remaining switches."""
    from arena.game.registry import load_game

    if incomplete.startswith(PATH_STARTS):
        return [CompletionItem(incomplete, type="file")]
    game = load_game(ctx.params.get("game") or "")
    return [CompletionItem(name, help=title or None) for name, title in game.offered_variants(incomplete)]


def offer_game_kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.game.registry import installed_games

    files = CompletionItem(incomplete, type="file")
    return [files, *(CompletionItem(name) for name in installed_games() if name.startswith(incomplete))]


def offer_games(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.league.peek import peek_games

    return [
        CompletionItem(str(game.number), help=f"{game.red} - {game.blue}, {game.result}, {game.plies} plies")
        for game in peek_games(_store(ctx), incomplete, MOST_GAMES)
    ]


def offer_reasons(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.league.peek import peek_reasons

    return [CompletionItem(word) for word in ["forfeit", *peek_reasons(_store(ctx))] if word.startswith(incomplete)]


def offer_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from arena.league.peek import peek_names

    return [CompletionItem(name) for name in peek_names(_store(ctx), incomplete)]


def offer_readers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    if incomplete.startswith(OF_BOT):
        names = offer_names(ctx, param, incomplete.removeprefix(OF_BOT))
        return [CompletionItem(f"{OF_BOT}{name.value}") for name in names]
    return [CompletionItem(word) for word in ("all", "red", "blue", "public", OF_BOT) if word.startswith(incomplete)]


def _store(ctx: click.Context) -> str:
    return str(ctx.params.get("store") or next(iter(ctx.args), ""))


HELP_GROUPS = {
    "Rules and time": (
        *("game", "rules", "time", "start-time", "setup-time", "margin", "seed"),
        *("openings", "opponents", "pondering", "keep-bots"),
    ),
    "Machine": ("jobs", "affinity"),
    "Limits of bots": ("sandbox", "memory", "processes", "tmp", "limits", "interpreter"),
    "Builds of bots": ("build-time", "build-memory", "build-disk", "build-network"),
    "Results": ("store", "json", "jsonl", "quiet", "verbose", "color"),
    "Settings from a file": ("config", "no-config", "show-config"),
}
"""Headings in `--help-all`, and the shared options below each."""

FILE = click.Path(path_type=Path, dir_okay=False)


def _usual(name: str, **settings: Any) -> Decorator:
    return click.option(f"--{name}", default=getattr(USUAL, name.replace("-", "_")), show_default=True, **settings)


def _load_game(ctx: click.Context, _: click.Parameter, value: str | None) -> str:
    if value and not ctx.resilient_parsing:
        from arena.game.registry import load_game

        load_game(value)
    return value or ""


def without_game_files(ctx: click.Context, param: click.Parameter, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Load the games of the Python files among these values, and return the others: games of a store."""
    files = [value for value in values if str(value).endswith(".py")]
    for file in files:
        _load_game(ctx, param, file)
    return tuple(value for value in values if value not in files)


_GAME_WORDS: dict[str, Any] = {
    "metavar": "GAME",
    "callback": _load_game,
    "default": "",
    "shell_complete": offer_game_kinds,
}
known_game_option = click.option(
    *("--game", "game_file"), **_GAME_WORDS, expose_value=False, help="Python file of the game, if it is not installed."
)
rules_metavar: dict[str, Any] = {"metavar": "NAME[+SWITCH...]", "shell_complete": offer_rulesets}
store_argument = click.argument("store", type=click.Path(path_type=Path))
game_argument = click.argument("game", shell_complete=offer_games)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
lines_option = click.option("--jsonl", "as_lines", is_flag=True, help="Print JSON, one object per line, as games end.")
interpreter_option = click.option(
    "--interpreter",
    "interpreters",
    multiple=True,
    type=click.Path(),
    metavar="PATH",
    help="Program or folder outside the system that bots need; repeatable.",
)
bot_name_option = click.option(
    "--bot", metavar="NAME", shell_complete=offer_names, help="Only this bot; NAME@DIGEST: only one version of it."
)
bot_path_option = click.option(
    "--bot",
    "paths",
    multiple=True,
    metavar="NAME=PATH",
    shell_complete=offer_names,
    help="Path of a bot. NAME: the bot's name, red or blue.",
)
color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    metavar="WHEN",
    help="Colours; auto: on a terminal that has them, unless NO_COLOR is set.",
)
title_option = click.option("--title", default="", help="Title of all pages (default: the store's name).")


def reader_option(name: str, words: str) -> Decorator:
    """Return an option that names a reader of games (`arena.league.readers`), the parameter `reader`."""
    return click.option(
        name,
        "reader",
        default="all",
        show_default=True,
        metavar="all|red|blue|public|bot:NAME",
        shell_complete=offer_readers,
        help=words,
    )


def sandbox_option(default: str | None, words: str) -> Decorator:
    return click.option(
        "--sandbox",
        type=click.Choice(SANDBOXES),
        metavar="LEVEL",
        default=default,
        show_default=default is not None,
        help=words,
    )


PLAY_OPTIONS: dict[str, Decorator] = {
    "game": click.option("--game", **_GAME_WORDS, help="Game: a name, or a Python file (default: Stratego)."),
    "rules": click.option(
        "--rules", **rules_metavar, default="", help="Rules of the game; see 'arena rules' (default: isf)."
    ),
    "time": _usual("time", metavar="TIME", help="Time control: 1s/move or 60+0.6."),
    "start-time": _usual("start-time", metavar="TIME", help="Limit to start and say 'ready'."),
    "setup-time": _usual("setup-time", metavar="TIME", help="Limit to set up."),
    "margin": _usual("margin", metavar="TIME", help="Lag allowance on top of every limit."),
    "seed": _usual("seed", type=Whole(0, LARGEST_SEED), help="Seed of all random numbers."),
    "jobs": click.option(
        *("-j", "--jobs"),
        type=Whole(1, MOST_JOBS),
        default=usable_cpus,
        show_default="the usable CPUs",
        help="Parallel games.",
    ),
    "sandbox": sandbox_option(USUAL.sandbox, "Isolation; see 'arena doctor'."),
    "memory": _usual("memory", metavar="SIZE", help="Memory limit of each bot."),
    "processes": _usual("processes", type=Whole(min=1), help="Limit of processes and threads of each bot."),
    "tmp": _usual("tmp", metavar="SIZE", help="Size of each bot's /tmp, and of its largest file."),
    "limits": click.option(
        "--limits", type=FILE, metavar="FILE", help="TOML file with limits and times of single bots."
    ),
    "interpreter": interpreter_option,
    "build-time": _usual("build-time", metavar="TIME", help="Time limit of a build."),
    "build-memory": _usual("build-memory", metavar="SIZE", help="Memory limit of a build in a sandbox."),
    "build-disk": _usual("build-disk", metavar="SIZE", help="Disk limit of a build in a sandbox, and of its /tmp."),
    "build-network": click.option("--build-network", is_flag=True, help="Allow network access to builds in a sandbox."),
    "pondering": click.option(
        "--pondering/--no-pondering",
        default=USUAL.pondering,
        show_default=True,
        help="Whether bots may think in their opponent's time.",
    ),
    "keep-bots": click.option("--keep-bots", is_flag=True, help="Play both games of a pair in the same processes."),
    "openings": click.option(
        "--openings",
        type=FILE,
        metavar="FILE",
        help="File of openings; each bot plays both sides of each.",
    ),
    "opponents": _usual("opponents", type=click.Choice(OPPONENTS), help="Whether bots are told their opponent's name."),
    "affinity": click.option(
        "--affinity/--no-affinity",
        default=None,
        help="Pin each worker and its bots to a CPU (default: if --jobs is at least the number of CPUs).",
    ),
    "store": click.option("--store", type=FILE, metavar="FILE", help="Store (default: named after rules and time)."),
    "json": json_option,
}

_LIMITS = (
    *("time", "start-time", "setup-time", "margin", "memory", "processes", "tmp", "interpreter"),
    *("build-time", "build-memory", "build-disk", "build-network"),
)
play_options = with_options(tuple(PLAY_OPTIONS.values()))
bot_options = with_options(
    [
        *(PLAY_OPTIONS[name] for name in (*_LIMITS, "seed")),
        sandbox_option("auto", "Isolation level (leagues: basic)."),
    ]
)
person_options = with_options(
    [
        *(
            PLAY_OPTIONS[name]
            for name in (*_LIMITS, "game", "rules", "sandbox", "limits", "pondering", "opponents", "store")
        ),
        click.option("--seed", type=Whole(0, LARGEST_SEED), help="Seed of all random numbers (default: a new one)."),
    ]
)
RANKS = ("european", "american")
LANGUAGES = ("en", "fr", "de", "nl", "da", "sv", "it")

names_options = with_options(
    [
        click.option(
            "--ranks",
            type=click.Choice(RANKS),
            default=RANKS[0],
            show_default=True,
            metavar="KIND",
            help="Numbers of ranks; the marshal is 10 (european) or 1 (american).",
        ),
        click.option(
            "--names",
            "language",
            type=click.Choice(LANGUAGES),
            default=LANGUAGES[0],
            show_default=True,
            metavar="LANGUAGE",
            help="Language of piece names.",
        ),
    ]
)


def names_of(ranks: str, language: str) -> dict[str, str]:
    """Return what `names_options` say besides the usual, for a game to understand."""
    asked = {"names": language, "ranks": ranks}
    return {name: value for name, value in asked.items() if value not in (LANGUAGES[0], RANKS[0])}


class OutputForm(enum.Enum):
    TEXT = enum.auto()
    JSON = enum.auto()
    LINES = enum.auto()


def form_of(*, as_json: bool, as_lines: bool) -> OutputForm:
    exclusive(json=as_json, jsonl=as_lines)
    return OutputForm.JSON if as_json else OutputForm.LINES if as_lines else OutputForm.TEXT


def detail_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for short, name, asked, words in (
        ("-q", "--quiet", Detail.QUIET, "Print only the table."),
        ("-v", "--verbose", Detail.VERBOSE, "Print a line for each game when it is over."),
    ):
        function = click.option(
            short, name, is_flag=True, expose_value=False, callback=partial(_set_detail, asked), help=words
        )(function)
    return function


def _set_detail(asked: Detail, ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        if detail() not in (Detail.USUAL, asked):
            raise click.UsageError("--quiet and --verbose cannot be used together", ctx)
        set_detail(asked)


def by_color(
    option: str, values: Sequence[str], names: Sequence[frozenset[str]], what: str = "PATH"
) -> dict[Color, str]:
    """Return the values of an option NAME=`what` by colour; `names` are the names of Red, and those of Blue."""
    found: dict[Color, str] = {}
    calls = {color.word: color for color in Color}  # which a bot's own name comes before
    calls |= {name: color for color in Color for name in names[color] - names[color.opponent]}
    for text in values:
        name = max((name for name in calls if text.startswith(f"{name}=")), key=len, default=None)
        if name is None:
            known = printable(", ".join(calls))
            raise UsageError(f"{option}: expected NAME={what} with one of {known}; got {shown(text)}")
        if calls[name] in found:
            raise UsageError(f"{option}: expected it once for {calls[name].word}, got it twice")
        found[calls[name]] = text[len(name) + 1 :]
    return found
