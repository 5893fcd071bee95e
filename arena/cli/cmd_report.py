"""`arena report`: the games of a store as a folder of web pages."""

from pathlib import Path
from typing import Any

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.helping import Whole, command
from arena.cli.shared_options import (
    json_option,
    names_of,
    names_options,
    reader_option,
    store_argument,
    title_option,
    without_game_files,
)
from arena.cli.stores import open_to_read, warn_of_damage, warn_of_seed
from arena.cli.streams import remark, result
from arena.system.printable import printable

MOST_FAULTS = 10


class NumberOrGame(Whole):
    """The number of a stored game, or the path of a Python file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if str(value).endswith(".py") else super().convert(value, param, ctx)


@command(
    ("arena report league.sqlite --out site", "open site/index.html"),
    ("arena report league.sqlite --out site --games 100", "the newest only"),
    ("arena report league.sqlite --out site --for public", "no hidden rank"),
    ("arena report league.sqlite --out site --for bot:warden", "for its author"),
    usual=("out", "for", "games", "game", "title"),
)
@store_argument
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER", help="Folder for the pages.")
@reader_option("--for", "Readers of the pages: the host, one side, everybody, or a bot's author.")
@click.option("--games", "newest", type=Whole(min=0), help="Pages for the newest N games only.")
@click.option(
    *("--game", "numbers"),
    type=NumberOrGame(),
    multiple=True,
    callback=without_game_files,
    help="Add a page for game N; repeatable. A Python file: the store's game, if it is not installed.",
)
@click.option(
    "--dialogue/--no-dialogue",
    "dialogues",
    default=None,
    help="With all messages of the games (default: with up to 1000 games).",
)
@title_option
@names_options
@json_option
def report_command(
    store: Path,
    *,
    out: Path,
    reader: str,
    newest: int | None,
    numbers: tuple[int, ...],
    dialogues: bool | None,
    title: str,
    ranks: str,
    language: str,
    as_json: bool,
) -> int:
    """Write the standings and the games of STORE as web pages."""
    from arena.cli.installation import needs
    from arena.cli.interrupts import unwinding
    from arena.league.option_values import option_value
    from arena.league.readers import reader_named
    from arena.system.terminal_text import to_json

    needs(["jinja2"], "web", "arena report")
    from arena.report.site.site_contents import SitePlan
    from arena.report.site.write_site import write_site

    reads = option_value("--for", reader_named, reader)
    plan = SitePlan(reads, newest, numbers, printable(title), names_of(ranks, language), dialogues)
    with open_to_read(store) as opened, unwinding():
        written, contents = write_site(opened, out, plan)
    warn_of_seed(store, contents.game_pages.settings, reads)
    for number, why in list(written.faults.items())[:MOST_FAULTS]:
        remark(f"game {number} has no page: {why}")
    if len(written.faults) > MOST_FAULTS:
        remark(f"and {len(written.faults) - MOST_FAULTS} more")
    if as_json:
        result(to_json(written))
    else:
        size = f"{written.size / 1e6:.1f} MB"
        result(f"{written.index}: {written.games} games, {written.pages} with pages, {size}")
    return max(warn_of_damage(store, contents.damage), FOUND if written.faults else DONE)
