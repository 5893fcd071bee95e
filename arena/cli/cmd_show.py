"""`arena show`: one game, move by move."""

from pathlib import Path

import click

from arena.cli.helping import command
from arena.cli.shared_options import (
    color_option,
    game_argument,
    json_option,
    known_game_option,
    names_of,
    names_options,
    store_argument,
)
from arena.cli.stores import open_to_read
from arena.cli.streams import paint_for, print_text, result
from arena.system.printable import printable


@command(
    ("arena show league.sqlite 3", ""),
    ("arena show league.sqlite 3 --view red --ply 20", "what Red knew then"),
    ("arena show league.sqlite 3 --moves", "no boards"),
)
@store_argument
@game_argument
@click.option(
    "--view",
    type=click.Choice(["all", "red", "blue"]),
    default="all",
    show_default=True,
    help="All ranks, or only what one side knows.",
)
@click.option("--ply", metavar="PLIES", help="Only these plies, such as 12, 30-60 or 0,90- (0: the set-ups).")
@click.option("--moves", is_flag=True, help="Only the moves, no boards.")
@click.option("--times/--no-times", default=None, help="Show times and resource use (default: without --moves).")
@known_game_option
@json_option
@color_option
@names_options
def show_command(
    store: Path,
    game: str,
    *,
    view: str,
    ply: str | None,
    moves: bool,
    times: bool | None,
    as_json: bool,
    color: str,
    ranks: str,
    language: str,
) -> None:
    """Print a game of STORE move by move, as boards. GAME is a number or the start of an id."""
    from arena.report.game_list import Roster
    from arena.report.game_text import ALL_PLIES, GameStyle, game_text, parse_plies, show_json
    from arena.report.shown import SeenBy

    plies = ALL_PLIES if ply is None else parse_plies(ply)
    with open_to_read(store) as opened:
        number, record = opened.record(printable(game))
        shown = Roster(opened.players_as_now_called(), [record]).names
    look = GameStyle(
        view=SeenBy(view),
        plies=plies,
        boards=not moves,
        times=not moves if times is None else times,
        names=names_of(ranks, language),
        players=shown,
        paint=paint_for(color),
    )
    if as_json:
        result(show_json(number, record, look))
    else:
        print_text("".join(game_text(number, record, look)), color=color)
