"""`arena log`: the messages between the arena and both bots of a game."""

from pathlib import Path

import click

from arena.cli.helping import command
from arena.cli.shared_options import game_argument, json_option, known_game_option, store_argument
from arena.cli.stores import open_to_read
from arena.cli.streams import print_text, result
from arena.system.printable import printable
from protocol.seats import COLOR_BY_WORD


@command(
    ("arena log league.sqlite 3", ""),
    ("arena log league.sqlite 3 --side red", "only Red's bot"),
)
@store_argument
@game_argument
@click.option("--side", type=click.Choice(list(COLOR_BY_WORD)), help="Only messages from and to this side.")
@click.option("--times/--no-times", default=True, show_default=True, help="Show the time of each answer.")
@known_game_option
@json_option
def log_command(store: Path, game: str, side: str | None, *, times: bool, as_json: bool) -> None:
    """Print all messages of a game of STORE. GAME is a number or the start of an id.

    The messages are recomputed from the record; what a record does not keep is marked.
    """
    from arena.league.game_ids import was_followed
    from arena.report.game_list import Roster
    from arena.report.log import log_json, log_text

    with open_to_read(store) as opened:
        number, record = opened.record(printable(game))
        is_followed = was_followed(record, opened)
        names = Roster(opened.players_as_now_called(), [record]).names
    color = None if side is None else COLOR_BY_WORD[side]
    if as_json:
        for line in list(log_json(record, color, is_followed=is_followed)):
            result(line)
        return
    lines = log_text(number, record, color, names=names, times=times, is_followed=is_followed)
    print_text("".join(f"{line}\n" for line in lines), color="never")
