"""`arena league`: a league between bots, in one of several formats."""

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from arena.cli.config import ConfiguredCommand, collect
from arena.cli.helping import Whole, command, exclusive
from arena.cli.installation import needs
from arena.cli.shared_options import FILE, HELP_GROUPS, detail_options, form_of, lines_option, offer_bots, play_options
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

if TYPE_CHECKING:
    from arena.cli.serving import PagesServed

SERVE_GROUP = ("serve", "serve-delay", "serve-show", "serve-for", "serve-as")


def _format(values: dict[str, Any]) -> FormatOptions:
    seeds = values.pop("seeds")
    names = tuple(name.strip() for name in seeds.split(",")) if seeds else ()
    others = ("rounds", "challengers", "best_of", "extra_pairs", "confidence", "games", "disqualify")
    asked = {name: values.pop(name) for name in others}
    return FormatOptions(FormatName(values.pop("format")), seeds=names, **asked)


def _cluster(values: dict[str, Any]) -> ClusterOptions | None:
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
    is_usual = click.get_current_context().get_parameter_source("jobs") is ParameterSource.DEFAULT
    options = ClusterOptions(cluster, wait, **files, jobs=None if is_usual else values["jobs"], calibrate=calibrate)
    options.check()
    needs(["distributed", "cryptography"], "cluster", "arena league --cluster")
    return options


def _pages(values: dict[str, Any]) -> "AbstractContextManager[PagesServed | None]":
    """Take the options for pages out of a command's arguments, and listen before any other work."""
    where, *others = (values.pop(name.replace("-", "_")) for name in SERVE_GROUP)
    if where is not None:
        from arena.cli.serving import PagesServed

        return closing(PagesServed(where, *others))
    if others != [None, "public", "all", ""]:
        raise UsageError("--serve-delay, --serve-show, --serve-for and --serve-as need --serve")
    return nullcontext()


@command(
    ("arena league bots/* --store league.sqlite", ""),
    ("arena league bots/* --format swiss --time 1s/move --store swiss.sqlite", ""),
    cls=ConfiguredCommand,
    bots="the bots that are to play",
    usual=("format", "rounds", "rules", "time", "jobs", "sandbox", "store", "json"),
    groups={
        "Format": (
            *("format", "rounds", "challengers", "seeds", "best-of", "extra-pairs", "confidence", "games"),
            *("disqualify", "new-league"),
        ),
        "Participants": ("strict", "skip-broken", "follow-links", "archive"),
        "Cluster": ("cluster", "cluster-wait", "calibrate", "tls-ca", "tls-cert", "tls-key"),
        "Pages": SERVE_GROUP,
        **HELP_GROUPS,
    },
    runs_bots=True,
)
@click.argument("paths", nargs=-1, metavar="BOT...", shell_complete=offer_bots)
@click.option(
    "--format",
    default=FormatName.ROUND_ROBIN.value,
    show_default=True,
    type=click.Choice([name.value for name in FormatName]),
    metavar="NAME",
    help="Pairing system.",
)
@click.option(
    "--rounds",
    show_default=f"{USUAL_ROUNDS}; swiss: log2 of the bots",
    type=Whole(min=1),
    help="Number of rounds (round-robin: two games of each pair).",
)
@click.option("--challengers", type=Whole(min=1), help="Gauntlet: number of bots that meet all others.")
@click.option("--seeds", metavar="NAME,...", help="Swiss and knockout: top seeds, in order.")
@click.option("--best-of", type=Whole(min=1), show_default="1", help="Knockout: pairs of games of a match.")
@click.option(
    "--extra-pairs",
    type=Whole(min=0),
    show_default=str(USUAL_EXTRA_PAIRS),
    help="Knockout: extra pairs of a tied match; then the better seed wins.",
)
@click.option(
    "--confidence",
    type=float,
    metavar="P",
    show_default=f"{USUAL_CONFIDENCE}, without --games",
    help="Ladder: end when each bot is stronger than the next one with this likelihood.",
)
@click.option("--games", type=Whole(1, MOST_GAMES), help="Ladder: number of games (default: at most 500 for each bot).")
@click.option("--disqualify", type=Whole(1, MOST_GAMES), help="Exclude a bot after N forfeits.")
@click.option("--strict", is_flag=True, help="Stop if any bot cannot be started.")
@click.option("--skip-broken", is_flag=True, help="Leave out bots that cannot be started.")
@click.option("--follow-links", is_flag=True, help="Follow a BOT that is a symbolic link.")
@click.option("--new-league", is_flag=True, help="Restart a swiss, knockout or ladder with the current bots.")
@click.option(
    "--archive/--no-archive",
    default=None,
    show_default="for swiss, knockout and ladder",
    help="Keep copies of the bots next to the store, for arena rerun.",
)
@click.option("--cluster", metavar="ADDRESS", help="dask scheduler (tcp://HOST:PORT or tls://HOST:PORT), or local:N.")
@click.option(
    "--cluster-wait",
    default=USUAL_WAIT,
    show_default=True,
    metavar="TIME",
    help="Time limit for an unreachable scheduler or a missing worker.",
)
@click.option("--calibrate", is_flag=True, help="Scale clocks to the speed of each machine of the cluster.")
@click.option("--tls-ca", type=FILE, metavar="FILE", help="CA of the cluster's certificates, in PEM.")
@click.option("--tls-cert", type=FILE, metavar="FILE", help="Certificate of this arena, in PEM.")
@click.option("--tls-key", type=FILE, metavar="FILE", help="Key of that certificate, in PEM.")
@click.option(
    "--serve",
    is_flag=False,
    flag_value="127.0.0.1:8000",
    default=None,
    metavar="[HOST:PORT]",
    help="Serve the league as web pages while it runs (default address: 127.0.0.1:8000).",
)
@click.option("--serve-delay", metavar="TIME", help="Delay of the moves of running games (default: none).")
@click.option(
    "--serve-show",
    type=click.Choice(["public", "all"]),
    default="public",
    show_default=True,
    help="Ranks shown in running games: those that both sides know, or all.",
)
@click.option(
    "--serve-for",
    default="all",
    show_default=True,
    metavar="all|public|...",
    help="Readers of finished games, as with arena report --for.",
)
@click.option("--serve-as", default="", metavar="NAME,...", help="Further host names, such as a proxy's.")
@play_options
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
    """Play a league: every pair of bots meets once with each colour in each round.

    A BOT is an executable file, a .py file, a folder with a bot.toml, or a sample bot: drifter, forager, raider,
    skirmisher, warden, scholar, tactician, strategist. The same command resumes the league.
    """
    from arena.cli.play_games import play
    from arena.league.pairing.chosen import format_of
    from arena.league.plan import LeagueEntry

    exclusive(strict=strict, skip_broken=skip_broken)
    cluster = _cluster(options)
    form = form_of(as_json=as_json, as_lines=as_lines)
    asked = _format(options)
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
    with _pages(options) as pages:
        return play(entry, replace(collect(options), cluster=cluster), form, pages)
