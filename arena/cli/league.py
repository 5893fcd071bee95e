"""`arena league`: a league between bots, in one of several formats."""

from dataclasses import replace
from typing import Any

import click

from arena.cli.cluster_options import CLUSTER_GROUP, cluster_options, collect_cluster
from arena.cli.config import ConfiguredCommand
from arena.cli.format_options import FORMAT_GROUP, collect_format, format_options
from arena.cli.forms import detail_options, form_of, lines_option
from arena.cli.options import HELP_GROUPS, collect, play_options
from arena.cli.serving import SERVE_GROUP, collect_serve, serve_options
from arena.cli.windows import refuse_windows


@click.command(
    "league",
    cls=ConfiguredCommand,
    bots="the bots that are to play",
    example="arena league bots/*",
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
@click.argument("paths", nargs=-1, required=True, metavar="BOT...")
@format_options
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
@cluster_options
@serve_options
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
    """Play a league: in each round every pair of bots meets once with each colour, unless --format says otherwise.

    A BOT is an executable file, a .py file, a folder with a bot.toml or a sample bot: drifter, forager, raider,
    skirmisher, warden, scholar, tactician, strategist. The same command goes on, also with more bots or rounds.
    """
    refuse_windows()
    from arena.cli.play import play
    from arena.league.formats import USUAL_ROUNDS
    from arena.league.options import Kind
    from arena.league.pairing.chosen import format_of
    from arena.league.plan import Entry

    if strict and skip_broken:
        raise click.UsageError("--strict refuses broken bots and --skip-broken leaves them out: expected one of them")
    cluster = collect_cluster(options)
    form = form_of(as_json=as_json, as_lines=as_lines)
    asked, serve = collect_format(options), collect_serve(options)
    entry = Entry(
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
