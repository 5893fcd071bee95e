"""The options that `arena league` and `arena match` share, and those of the formats of leagues."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from arena.cli.config import configured
from arena.cli.numbers import Decimal, Whole
from arena.errors import UsageError
from arena.league.cluster import USUAL_WAIT, ClusterOptions
from arena.league.formats import USUAL_CONFIDENCE, USUAL_EXTRA_PAIRS, USUAL_ROUNDS, FormatName, FormatOptions
from arena.league.options import (
    LARGEST_SEED,
    MOST_GAMES,
    MOST_JOBS,
    OPPONENTS,
    SANDBOXES,
    USUAL,
    PlayOptions,
    usable_cpus,
)

HELP_GROUPS = {
    "Rules and time": (
        *("rules", "time", "start-time", "setup-time", "margin", "seed"),
        *("openings", "opponents", "pondering", "keep-bots"),
    ),
    "The machine": ("jobs", "affinity"),
    "Limits of bots": ("sandbox", "memory", "processes", "tmp", "limits", "interpreter"),
    "Builds of bots": ("build-time", "build-memory", "build-disk", "build-network"),
    "Results": ("store", "json", "jsonl", "color"),
    "Settings from a file": ("config", "no-config", "show-config"),
}
"""Where `--help-all` has the shared options."""
FORMAT_GROUP = (
    *("format", "rounds", "challengers", "seeds", "best-of", "extra-pairs", "confidence", "games", "disqualify"),
)
"""The options of the formats, by the names that they have on the command line."""
CLUSTER_GROUP = ("cluster", "cluster-wait", "calibrate", "tls-ca", "tls-cert", "tls-key")
"""The options of `arena league` for a cluster, by their names."""


def refuse_windows() -> None:
    """Raise `UsageError` where bots cannot be run: the arena waits for their pipes as only Unix can."""
    if sys.platform == "win32":
        from arena.errors import UsageError

        raise UsageError(
            "bots run on Linux and macOS; on Windows run arena in WSL 2, where all of it works "
            "(stores can be read here: arena standings, games, show)"
        )


def play_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


_OPTIONS = (
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
    click.option("--affinity", is_flag=True, help="Pin each worker process and its bots to a CPU of its own."),
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
    for option in reversed(_OPTIONS):
        (parameter,) = option(lambda: None).__click_params__  # type: ignore[attr-defined]
        if parameter.name in _OF_BOTS:
            function = option(function)
    words = "How it is held: auto takes the strongest level that works here, default is that of leagues without one."
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
    for option in reversed(_OPTIONS):
        (parameter,) = option(lambda: None).__click_params__  # type: ignore[attr-defined]
        if parameter.name in _OF_PERSONS:
            function = option(function)
    words = "The seed of all random numbers (default: other ones in each game)."
    return click.option("--seed", type=Whole(0, LARGEST_SEED), metavar="N", help=words)(function)


def collect(values: dict[str, Any]) -> PlayOptions:
    """The shared options out of a command's arguments."""
    said = configured()
    return PlayOptions(**values, asked=tuple(said.bots or ()), own=said.own)


def format_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the formats to a command."""
    for option in reversed(_FORMAT_OPTIONS):
        function = option(function)
    return function


_FORMAT_OPTIONS = (
    click.option(
        "--format",
        default=FormatName.ROUND_ROBIN.value,
        show_default=True,
        type=click.Choice([name.value for name in FormatName]),
        metavar="NAME",
        help="Who meets whom.",
    ),
    click.option(
        "--rounds",
        show_default=f"{USUAL_ROUNDS}; swiss: log2 of the bots",
        type=Whole(min=1),
        help="Rounds; in each, every pair meets twice (single-round-robin: once; swiss: each bot meets one other).",
    ),
    click.option(
        "--challengers",
        type=Whole(min=1),
        metavar="N",
        help="How many bots, the first that are named, each meet all others in a gauntlet.",
    ),
    click.option(
        "--seeds",
        metavar="NAME,...",
        help="The bots from the first seed on, for swiss and knockout; the others follow in the order of the command.",
    ),
    click.option(
        "--best-of",
        type=Whole(min=1),
        metavar="N",
        show_default="1",
        help="Pairs of games of a match, in a knockout.",
    ),
    click.option(
        "--extra-pairs",
        type=Whole(min=0),
        metavar="N",
        show_default=str(USUAL_EXTRA_PAIRS),
        help="Further pairs of a match that is level, in a knockout; after them the better seed goes on.",
    ),
    click.option(
        "--confidence",
        type=Decimal(),
        metavar="P",
        show_default=f"{USUAL_CONFIDENCE}, without --games",
        help="End a ladder when each bot is stronger than the next one with this likelihood.",
    ),
    click.option(
        "--games",
        type=Whole(1, MOST_GAMES),
        metavar="N",
        help="End a ladder after so many games (default: 500 for each bot).",
    ),
    click.option(
        "--disqualify",
        type=Whole(1, MOST_GAMES),
        metavar="N",
        help="A bot that has lost N games by its own fault plays no more.",
    ),
)


def collect_format(values: dict[str, Any]) -> FormatOptions:
    """The options of the formats out of a command's arguments, which are taken out of these."""
    seeds = values.pop("seeds")
    names = tuple(name.strip() for name in seeds.split(",")) if seeds else ()
    others = ("rounds", "challengers", "best_of", "extra_pairs", "confidence", "games", "disqualify")
    asked = {name: values.pop(name) for name in others}
    return FormatOptions(FormatName(values.pop("format")), seeds=names, **asked)


def cluster_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for a cluster to a command."""
    for option in reversed(_CLUSTER_OPTIONS):
        function = option(function)
    return function


_CLUSTER_OPTIONS = (
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Play on the workers of the dask scheduler there (tcp://HOST:PORT or tls://HOST:PORT), or local:N on N of "
        "this machine.",
    ),
    click.option(
        "--cluster-wait",
        default=USUAL_WAIT,
        show_default=True,
        metavar="TIME",
        help="How long a scheduler may be out of reach, and a worker be missing or silent.",
    ),
    click.option(
        "--calibrate",
        is_flag=True,
        help="Scale clocks to each machine of a cluster: on one that is half as fast, twice the time.",
    ),
    *(
        click.option(name, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help=words)
        for name, words in (
            ("--tls-ca", "Who signs the certificates of a cluster, in PEM."),
            ("--tls-cert", "The certificate of this arena for a cluster, in PEM."),
            ("--tls-key", "The key of that certificate, in PEM."),
        )
    ),
)


def collect_cluster(values: dict[str, Any]) -> ClusterOptions | None:
    """The options for a cluster out of a command's arguments, which are taken out of these. Raises `UsageError`."""
    cluster, wait = values.pop("cluster"), values.pop("cluster_wait")
    files = {name: values.pop(f"tls_{name}") for name in ("ca", "cert", "key")}
    calibrate = values.pop("calibrate")
    if cluster is None:
        if calibrate:
            raise UsageError("--calibrate: expected --cluster with it: on one machine all bots have the same clocks")
        given = next((name for name, file in files.items() if file is not None), None)
        if given:
            raise UsageError(f"--tls-{given}: expected --cluster tls://HOST:PORT with it")
        return None
    from arena.cli.extras import needs

    source = click.get_current_context().get_parameter_source("jobs")
    is_usual = source in (click.core.ParameterSource.DEFAULT, None)
    options = ClusterOptions(cluster, wait, **files, jobs=None if is_usual else values["jobs"], calibrate=calibrate)
    options.check()
    needs(["distributed", "cryptography"], "cluster", "arena league --cluster")
    return options
