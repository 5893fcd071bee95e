"""`arena show`: one game, move by move."""

import sys
from pathlib import Path

import click

from arena.cli.interrupts import unwinding
from arena.cli.rules import names_options
from arena.cli.streams import result
from arena.report.names import Language, Names, Numbering


@click.command("show")
@click.argument("store", type=click.Path(path_type=Path))
@click.argument("game")
@click.option(
    "--view",
    type=click.Choice(["all", "red", "blue"]),
    default="all",
    show_default=True,
    help="All ranks, or only what one side knows.",
)
@click.option("--ply", type=click.IntRange(min=0), help="Only the position after this ply (0: the set-ups).")
@click.option("--moves", is_flag=True, help="Only the moves, no boards.")
@names_options
def show_command(
    store: Path, game: str, view: str, ply: int | None, moves: bool, *, ranks: Numbering, language: Language
) -> None:
    """Print a game of STORE move by move, as boards. GAME is its number or the start of its id."""
    from arena.cli.stores import open_to_read
    from arena.printable import printable
    from arena.report.replay import game_pages
    from arena.report.standings import Roster

    with open_to_read(store) as opened:
        number, record = opened.record(printable(game))
        shown = Roster(opened.players_as_now_called(), [record]).names
    names = Names(language, ranks)
    pages = game_pages(number, record, view, ply, boards=not moves, names=names, players=shown)
    if sys.stdout.isatty() and ply is None:
        with unwinding():  # the pager is there until the terminal is in order again
            click.echo_via_pager(pages)
    else:
        for page in list(pages):  # if there is no such ply, nothing is printed
            result(page, end="")
