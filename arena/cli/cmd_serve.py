"""`arena serve`: the pages of stores, served and kept up to date."""

from pathlib import Path

import click

from arena.cli.cmd_rules import NAMES_OPTIONS
from arena.cli.helping import ArenaCommand, with_options
from arena.cli.serving import PORT
from arena.cli.stores import warn_of_seed
from arena.cli.streams import flush_results, remark, result
from arena.report.piece_names import Names, Numbering, PieceLanguage


@click.command(
    "serve",
    cls=ArenaCommand,
    examples=(
        ("arena serve league.sqlite", "open http://127.0.0.1:8000/"),
        ("arena serve league.sqlite --for public", "no hidden rank"),
        ("arena serve *.sqlite --listen 127.0.0.1:0", "all, at any free port"),
    ),
    usual=("listen", "for", "known-as", "title"),
)
@click.argument("stores", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="STORE...")
@click.option(
    "--listen",
    "where",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST:PORT",
    help=f"Where to listen; the port is {PORT} unless it is named, and 0 is any that is free.",
)
@click.option(
    "--for",
    "reader",
    default="all",
    show_default=True,
    metavar="all|red|blue|public|bot:NAME",
    help="Who reads the pages: the host, one side, everybody, or a bot's author.",
)
@click.option(
    "--known-as", multiple=True, metavar="NAME", help="A further name that is answered to, such as that of a proxy."
)
@click.option("--title", default="", help="What is to stand above all pages.  [default: the store's name]")
@with_options(NAMES_OPTIONS)
def serve_command(
    stores: tuple[Path, ...],
    *,
    where: str,
    reader: str,
    known_as: tuple[str, ...],
    title: str,
    ranks: Numbering,
    language: PieceLanguage,
) -> int:
    """Serve the standings and the games of each STORE as web pages, which change as games are added.

    The address is printed. Nothing is written; a league may be playing with the store. Ctrl-C ends it.
    """
    from arena.cli.installation import SERVING, needs
    from arena.cli.stores import open_to_read
    from arena.league.option_values import option_value
    from arena.league.readers import reader_named
    from arena.system.printable import printable

    needs(SERVING, "web", "arena serve")
    from arena.report.site.site_contents import SitePlan
    from arena.web.address import exposure_text, parse_address, parse_host
    from arena.web.store_server import serve_stores

    address = option_value("--listen", lambda text: parse_address(text, PORT), where)
    reads = option_value("--for", reader_named, reader)
    for path in stores:
        with open_to_read(path) as store:
            warn_of_seed(path, store.settings(), reads)
    known = [option_value("--known-as", parse_host, name) for name in known_as]
    plan = SitePlan(reads, title=printable(title), names=Names(language, ranks))

    def ready(url: str) -> None:
        if exposure_text(address):
            remark(exposure_text(address))
        result(url)
        flush_results()
        remark("Ctrl-C ends it")

    serve_stores(
        stores,
        address,
        plan,
        known_as=known,
        ready=ready,
        complain=lambda text: remark(f"arena: {text}"),
    )
    return 0
