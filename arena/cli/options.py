"""The options that `arena league` and `arena match` share, and how they become settings."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

S = TypeVar("S")
T = TypeVar("T")

DEFAULT_TIME = "100ms"
DEFAULT_SEED = 1
SANDBOXES = ("default", "bwrap", "cgroup", "auto")
LARGEST_SEED = 2**64 - 1
MOST_JOBS = 4096
"""Games at a time; each takes two processes and a dozen descriptors."""
MOST_GAMES = 1_000_000
"""Games of a league: its list of games takes some seconds and a gigabyte then."""


@dataclass(frozen=True)
class PlayOptions:
    """What was asked for on the command line, not yet checked beyond its form."""

    rules: str
    time: str
    start_time: str
    setup_time: str
    margin: str
    seed: int
    jobs: int
    sandbox: str
    memory: str
    processes: int
    tmp: str
    limits: Path | None
    interpreters: tuple[str, ...]
    build_time: str
    build_memory: str
    build_disk: str
    build_network: bool
    pondering: bool
    affinity: bool
    store: Path | None
    as_json: bool


def refuse_windows() -> None:
    """Raise `UsageError` where bots cannot be run: the arena waits for their pipes as only Unix can."""
    if sys.platform == "win32":
        from arena.errors import UsageError

        raise UsageError(
            "bots run on Linux and macOS; on Windows run arena in WSL 2, where all of it works "
            "(stores can be read here: arena standings, games, show)"
        )


def usable_cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS = (
    click.option(
        "--rules",
        default="isf",
        show_default=True,
        metavar="NAME[+SWITCH...]",
        help="The ruleset, with switches if you like, or a TOML file of your own; 'arena rules' lists them.",
    ),
    click.option(
        "--time",
        default=DEFAULT_TIME,
        show_default=True,
        metavar="TIME",
        help="100ms or 1s/move: for each move. 60+0.6: a bank of 60 s and 0.6 s more for each move. "
        "60+0.6,1s/move: both.",
    ),
    click.option("--start-time", default="10s", show_default=True, metavar="TIME", help="To start and say 'ready'."),
    click.option("--setup-time", default="5s", show_default=True, metavar="TIME", help="To set up."),
    click.option(
        "--margin", default="50ms", show_default=True, metavar="TIME", help="Forgiven on top of every limit; 0ms: none."
    ),
    click.option(
        "--seed",
        default=DEFAULT_SEED,
        show_default=True,
        type=click.IntRange(0, LARGEST_SEED),
        help="The seed of all random numbers.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, MOST_JOBS),
        default=usable_cpus,
        show_default="the usable CPUs",
        help="Games at a time.",
    ),
    click.option(
        "--sandbox",
        type=click.Choice(SANDBOXES),
        default="default",
        show_default=True,
        help="How bots are held; 'arena doctor' shows what works here, auto takes the strongest of it.",
    ),
    click.option("--memory", default="512M", show_default=True, metavar="SIZE", help="Memory of each bot."),
    click.option(
        "--processes",
        default=64,
        show_default=True,
        type=click.IntRange(min=1),
        help="Processes and threads of each bot.",
    ),
    click.option(
        "--tmp", default="16M", show_default=True, metavar="SIZE", help="Each bot's /tmp, and its largest file."
    ),
    click.option(
        "--limits",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="A TOML file with other limits for some bots.",
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
        "--build-time", default="10m", show_default=True, metavar="TIME", help="What the build of a bot may take."
    ),
    click.option(
        "--build-memory", default="2G", show_default=True, metavar="SIZE", help="Memory of a build in a sandbox."
    ),
    click.option(
        "--build-disk",
        default="2G",
        show_default=True,
        metavar="SIZE",
        help="Files of a build in a sandbox, in the bot's folder and as many again in /tmp.",
    ),
    click.option("--build-network", is_flag=True, help="Let builds in a sandbox use the network."),
    click.option(
        "--pondering/--no-pondering",
        default=True,
        help="Whether a bot may go on thinking in its opponent's time (default: it may).",
    ),
    click.option("--affinity", is_flag=True, help="Pin the bots of each game to a CPU of its own."),
    click.option(
        "--store",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Where the games are kept (default: a file in this folder, named after the rules and the time).",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the results as JSON."),
)


def collect(values: dict[str, Any]) -> PlayOptions:
    """The shared options out of a command's arguments."""
    return PlayOptions(**values)


def option_value(name: str, parse: Callable[[S], T], value: S) -> T:
    """An option's value; the error names the option. Raises `UsageError`."""
    from arena.errors import UsageError

    try:
        return parse(value)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None
