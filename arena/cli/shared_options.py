"""The options that commands share: those that run bots, those for the form of results, and `--bot NAME=PATH`."""

import enum
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from arena.cli.config import configured
from arena.cli.helping import Decorator, Whole, with_options
from arena.cli.streams import Detail, detail, set_detail
from arena.errors import UsageError
from arena.league.league_options import (
    LARGEST_SEED,
    MOST_JOBS,
    OPPONENTS,
    SANDBOXES,
    USUAL,
    PlayOptions,
    usable_cpus,
)
from arena.system.printable import printable, shown
from protocol.notation import Color

HELP_GROUPS = {
    "Rules and time": (
        *("rules", "time", "start-time", "setup-time", "margin", "seed"),
        *("openings", "opponents", "pondering", "keep-bots"),
    ),
    "The machine": ("jobs", "affinity"),
    "Limits of bots": ("sandbox", "memory", "processes", "tmp", "limits", "interpreter"),
    "Builds of bots": ("build-time", "build-memory", "build-disk", "build-network"),
    "Results": ("store", "json", "jsonl", "quiet", "verbose", "color"),
    "Settings from a file": ("config", "no-config", "show-config"),
}
"""Where `--help-all` has the shared options."""


def _named(options: Sequence[Decorator], names: Collection[str]) -> list[Decorator]:
    """Those of the options whose parameters have one of these names."""
    found = {option: option(lambda: None).__click_params__[0].name for option in options}  # type: ignore[attr-defined]
    return [option for option, name in found.items() if name in names]


PLAY_OPTIONS = (
    click.option(
        "--rules",
        default=USUAL.rules,
        show_default=True,
        metavar="NAME[+SWITCH...]",
        help="The ruleset: a name, with switches if you like, or a TOML file of your own; 'arena rules' lists them.",
    ),
    click.option(
        "--time",
        default=USUAL.time,
        show_default=True,
        metavar="TIME",
        help="Such as 1s/move or 60+0.6 (a bank of 60 s for the game, and 0.6 s more after each move), or both as in "
        "60+0.6,1s/move.",
    ),
    click.option(
        "--start-time", default=USUAL.start_time, show_default=True, metavar="TIME", help="To start and say 'ready'."
    ),
    click.option("--setup-time", default=USUAL.setup_time, show_default=True, metavar="TIME", help="To set up."),
    click.option(
        "--margin",
        default=USUAL.margin,
        show_default=True,
        metavar="TIME",
        help="Forgiven on top of every limit; 0ms: none.",
    ),
    click.option(
        "--seed",
        default=USUAL.seed,
        show_default=True,
        type=Whole(0, LARGEST_SEED),
        help="The seed of all random numbers.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=Whole(1, MOST_JOBS),
        default=usable_cpus,
        show_default="the usable CPUs",
        help="Games at a time.",
    ),
    click.option(
        "--sandbox",
        type=click.Choice(SANDBOXES),
        default=USUAL.sandbox,
        show_default=True,
        metavar="LEVEL",
        help="How bots are held; 'arena doctor' shows what works here, auto takes the strongest of it.",
    ),
    click.option("--memory", default=USUAL.memory, show_default=True, metavar="SIZE", help="Memory of each bot."),
    click.option(
        "--processes",
        default=USUAL.processes,
        show_default=True,
        type=Whole(min=1),
        help="Processes and threads of each bot.",
    ),
    click.option(
        "--tmp", default=USUAL.tmp, show_default=True, metavar="SIZE", help="Each bot's /tmp, and its largest file."
    ),
    click.option(
        "--limits",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="A TOML file with other limits, and another time, for some bots.",
    ),
    click.option(
        "--interpreter",
        "interpreters",
        multiple=True,
        metavar="PATH",
        help="A program outside the system that bots may be run by or built with, such as a Python or a compiler, or "
        "the folder it is installed in; can be given again.",
    ),
    click.option(
        "--build-time",
        default=USUAL.build_time,
        show_default=True,
        metavar="TIME",
        help="What the build of a bot may take.",
    ),
    click.option(
        "--build-memory",
        default=USUAL.build_memory,
        show_default=True,
        metavar="SIZE",
        help="Memory of a build in a sandbox.",
    ),
    click.option(
        "--build-disk",
        default=USUAL.build_disk,
        show_default=True,
        metavar="SIZE",
        help="Files of a build in a sandbox, in the bot's folder and as many again in /tmp.",
    ),
    click.option("--build-network", is_flag=True, help="Let builds in a sandbox use the network."),
    click.option(
        "--pondering/--no-pondering",
        default=USUAL.pondering,
        help="Whether a bot may go on thinking in its opponent's time (default: it may).",
    ),
    click.option(
        "--keep-bots",
        is_flag=True,
        help="Play the two games of a pair in the same two processes: a bot may remember the first in the second.",
    ),
    click.option(
        "--openings",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="A file of set-ups that games begin with; each bot plays either side of each.",
    ),
    click.option(
        "--opponents",
        type=click.Choice(OPPONENTS),
        default=USUAL.opponents,
        show_default=True,
        help="Whether each bot is told the name of its opponent.",
    ),
    click.option(
        "--affinity/--no-affinity",
        default=None,
        help="Pin each worker process and its bots to a CPU of its own (default: with at least as many games as CPUs).",
    ),
    click.option(
        "--store",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Where the games are kept (default: a file in this folder, named after the rules and the time).",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the results as JSON."),
)


_OF_BOTS = (
    *("time", "start_time", "setup_time", "margin", "seed", "memory", "processes", "tmp", "interpreters"),
    *("build_time", "build_memory", "build_disk", "build_network"),
)
"""Those of the shared options, but for the sandbox, that say how one bot is held, and how long it may take."""


def bot_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add those of the shared options to a command, with a `--sandbox` of its own: the strongest that works here."""
    function = with_options(_named(PLAY_OPTIONS, _OF_BOTS))(function)
    words = "How it is held: auto takes the strongest level that works here; leagues use basic."
    return click.option(
        "--sandbox", type=click.Choice(SANDBOXES), metavar="LEVEL", default=SANDBOXES[-1], show_default=True, help=words
    )(function)


_OF_PERSONS = (
    *("rules", "time", "start_time", "setup_time", "margin", "sandbox", "memory", "processes", "tmp", "limits"),
    *("interpreters", "build_time", "build_memory", "build_disk", "build_network", "pondering", "opponents", "store"),
)
"""Those of the shared options that are for a game with a person in it."""


def person_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add those of the shared options to a command, and a `--seed` that may be left out."""
    function = with_options(_named(PLAY_OPTIONS, _OF_PERSONS))(function)
    words = "The seed of all random numbers (default: other ones in each game)."
    return click.option("--seed", type=Whole(0, LARGEST_SEED), metavar="N", help=words)(function)


def collect(values: dict[str, Any]) -> PlayOptions:
    """The shared options out of a command's arguments."""
    said = configured()
    return PlayOptions(**values, asked=tuple(said.bots or ()), own=said.own)


class OutputForm(enum.Enum):
    """How results are printed."""

    TEXT = enum.auto()
    JSON = enum.auto()
    LINES = enum.auto()


def lines_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--jsonl` to a command that plays games, which gets it as `as_lines`."""
    words = "Print JSON, one object a line: each game when it is over, and at the end the results."
    return click.option("--jsonl", "as_lines", is_flag=True, help=words)(function)


def detail_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--quiet` and `--verbose` to a command. They set what `arena.cli.streams.detail` returns."""
    for short, name, asked, words in (
        ("-q", "--quiet", Detail.QUIET, "Print the table alone."),
        ("-v", "--verbose", Detail.VERBOSE, "Print a line for each game when it is over."),
    ):
        function = click.option(
            short, name, is_flag=True, expose_value=False, callback=partial(_say, asked), help=words
        )(function)
    return function


def _say(asked: Detail, ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        if detail() not in (Detail.USUAL, asked):
            raise click.UsageError("--quiet and --verbose: expected one of them", ctx)
        set_detail(asked)


def form_of(*, as_json: bool, as_lines: bool) -> OutputForm:
    """The form that the options ask for. Raises `click.UsageError` if that is two."""
    if as_json and as_lines:
        raise click.UsageError("--json and --jsonl are two forms of output: expected one of them")
    return OutputForm.JSON if as_json else OutputForm.LINES if as_lines else OutputForm.TEXT


def by_color(
    option: str, values: Sequence[str], names: Sequence[frozenset[str]], what: str = "PATH"
) -> dict[Color, str]:
    """Return the values of an option NAME=`what` by the colour of the bot that each names. Raises `UsageError`.

    `names` are the names of Red, and those of Blue.
    """
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
