"""`arena serve`: the pages of stores, served and kept up to date."""

from pathlib import Path

import click

from arena.cli.helping import command
from arena.cli.shared_options import PORT, known_game_option, names_of, names_options, reader_option, title_option
from arena.cli.stores import open_to_read, warn_of_seed
from arena.cli.streams import flush_results, remark, result
from arena.system.printable import printable


@command(
    ("arena serve league.sqlite", "open http://127.0.0.1:8000/"),
    ("arena serve league.sqlite --for public", "no hidden rank"),
    ("arena serve *.sqlite --listen 127.0.0.1:0", "all, at any free port"),
    usual=("listen", "for", "known-as", "title"),
)
@click.argument("stores", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="STORE...")
@click.option(
    "--listen",
    "where",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST:PORT",
    help=f"Address to listen on; the default port is {PORT}, and 0 any free one.",
)
@reader_option("--for", "Readers of the pages: the host, one side, everybody, or a bot's author.")
@click.option("--known-as", multiple=True, metavar="NAME", help="Further host name, such as a proxy's; repeatable.")
@title_option
@known_game_option
@names_options
def serve_command(
    stores: tuple[Path, ...],
    *,
    where: str,
    reader: str,
    known_as: tuple[str, ...],
    title: str,
    ranks: str,
    language: str,
) -> int:
    """Serve the standings and games of each STORE as web pages, updated as games are added.

    Prints the address. Writes nothing; a league may be running with the store. Ctrl-C ends it.
    """
    from arena.cli.installation import SERVING, needs
    from arena.league.option_values import option_value
    from arena.league.readers import reader_named

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
    plan = SitePlan(reads, title=printable(title), names=names_of(ranks, language))

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
