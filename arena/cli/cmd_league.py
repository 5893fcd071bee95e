"""`arena league`: a league between bots, in one of several formats."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from arena.cli.config import ConfiguredCommand
from arena.cli.helping import Decimal, Whole, with_options
from arena.cli.installation import needs, refuse_windows
from arena.cli.serving import SERVE_GROUP, SERVE_OPTIONS, collect_serve
from arena.cli.shared_options import HELP_GROUPS, PLAY_OPTIONS, collect, detail_options, form_of, lines_option
from arena.errors import UsageError
from arena.league.league_options import (
    MOST_GAMES,
    USUAL_CONFIDENCE,
    USUAL_EXTRA_PAIRS,
    USUAL_ROUNDS,
    USUAL_WAIT,
    ClusterOptions,
    FormatName,
    FormatOptions,
    Kind,
)

FORMAT_GROUP = (
    *("format", "rounds", "challengers", "seeds", "best-of", "extra-pairs", "confidence", "games", "disqualify"),
)
"""The options of the formats, by the names that they have on the command line."""


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


def _format(values: dict[str, Any]) -> FormatOptions:
    """The options of the formats out of a command's arguments, which are taken out of these."""
    seeds = values.pop("seeds")
    names = tuple(name.strip() for name in seeds.split(",")) if seeds else ()
    others = ("rounds", "challengers", "best_of", "extra_pairs", "confidence", "games", "disqualify")
    asked = {name: values.pop(name) for name in others}
    return FormatOptions(FormatName(values.pop("format")), seeds=names, **asked)


CLUSTER_GROUP = ("cluster", "cluster-wait", "calibrate", "tls-ca", "tls-cert", "tls-key")
"""The options of `arena league` for a cluster, by their names."""


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


def _cluster(values: dict[str, Any]) -> ClusterOptions | None:
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
    source = click.get_current_context().get_parameter_source("jobs")
    is_usual = source in (click.core.ParameterSource.DEFAULT, None)
    options = ClusterOptions(cluster, wait, **files, jobs=None if is_usual else values["jobs"], calibrate=calibrate)
    options.check()
    needs(["distributed", "cryptography"], "cluster", "arena league --cluster")
    return options


@click.command(
    "league",
    cls=ConfiguredCommand,
    bots="the bots that are to play",
    usual=("format", "rounds", "rules", "time", "jobs", "sandbox", "store", "json"),
    groups={
        "Who meets whom": (*FORMAT_GROUP, "new-league"),
        "Bots that take part": ("strict", "skip-broken", "follow-links", "archive"),
        "Many machines": CLUSTER_GROUP,
        "Pages": SERVE_GROUP,
        **HELP_GROUPS,
    },
    examples=(
        ("arena league bots/* --store league.sqlite", ""),
        ("arena league bots/* --format swiss --time 1s/move --store swiss.sqlite", ""),
    ),
)
@click.argument("paths", nargs=-1, metavar="BOT...")
@with_options(_FORMAT_OPTIONS)
@click.option("--strict", is_flag=True, help="Play nothing if any of the bots cannot be started.")
@click.option("--skip-broken", is_flag=True, help="Leave out bots that cannot be started.")
@click.option("--follow-links", is_flag=True, help="Take part with what a BOT that is a symbolic link leads to.")
@click.option(
    "--new-league", is_flag=True, help="Begin a swiss, knockout or ladder anew, with the bots as they are now."
)
@click.option(
    "--archive/--no-archive",
    default=None,
    show_default="for swiss, knockout and ladder",
    help="Keep copies of the bots beside the store, with which arena rerun plays.",
)
@with_options(_CLUSTER_OPTIONS)
@with_options(SERVE_OPTIONS)
@with_options(PLAY_OPTIONS)
@lines_option
@detail_options
def league_command(
    paths: tuple[str, ...],
    *,
    strict: bool,
    skip_broken: bool,
    follow_links: bool,
    new_league: bool,
    archive: bool | None,
    as_json: bool,
    as_lines: bool,
    **options: Any,
) -> int:
    """Play a league: in each round every pair of bots meets once with each colour, unless --format says otherwise.

    A BOT is an executable file, a .py file, a folder with a bot.toml or a sample bot: drifter, forager, raider,
    skirmisher, warden, scholar, tactician, strategist. The same command goes on, also with more bots or rounds.
    """
    refuse_windows()
    from arena.cli.play_games import play
    from arena.league.pairing.chosen import format_of
    from arena.league.plan import LeagueEntry

    if strict and skip_broken:
        raise click.UsageError("--strict refuses broken bots and --skip-broken leaves them out: expected one of them")
    cluster = _cluster(options)
    form = form_of(as_json=as_json, as_lines=as_lines)
    asked, serve = _format(options), collect_serve(options)
    entry = LeagueEntry(
        list(paths),
        Kind.LEAGUE,
        asked.rounds or USUAL_ROUNDS,
        strict=strict,
        skip_broken=skip_broken,
        follow_links=follow_links,
        format=format_of(asked),
        is_new=new_league,
        archive=archive,
    )
    return play(entry, replace(collect(options), cluster=cluster), form, serve)
