"""`arena log`: what the arena and both bots of a game said to each other."""

from pathlib import Path

import click

from arena.cli.helping import ArenaCommand
from arena.cli.pager import print_pages
from arena.cli.streams import result
from protocol.notation import COLOR_BY_WORD


@click.command(
    "log",
    cls=ArenaCommand,
    examples=(
        ("arena log league.sqlite 3", ""),
        ("arena log league.sqlite 3 --side red", "only the dialogue with Red's bot"),
    ),
)
@click.argument("store", type=click.Path(path_type=Path))
@click.argument("game")
@click.option("--side", type=click.Choice(list(COLOR_BY_WORD)), help="Only the dialogue with this side's bot.")
@click.option("--times/--no-times", default=True, help="With or without what each answer took (default: with).")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, one object a line.")
def log_command(store: Path, game: str, side: str | None, *, times: bool, as_json: bool) -> None:
    """Print every line that was said in a game of STORE. GAME is its number or the start of its id.

    The lines are worked out from the record by the code that spoke them; what the record does not say is named.
    """
    from arena.cli.stores import open_to_read
    from arena.league.game_specs import was_followed
    from arena.report.game_list import Roster
    from arena.report.log import log_json, log_text
    from arena.system.printable import printable

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
    print_pages((f"{line}\n" for line in lines), color="never")
