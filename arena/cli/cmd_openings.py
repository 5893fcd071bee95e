"""`arena openings`: statistics of the set-ups that games began with."""

from pathlib import Path
from typing import Any

import click

from arena.cli.helping import Whole, command
from arena.cli.shared_options import json_option
from arena.cli.streams import remark_some, result


@command(("arena openings league.sqlite --top 5", "the set-ups of a league"))
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--top", type=Whole(0), default=10, show_default=True, help="How many of the most frequent set-ups.")
@json_option
def openings_command(files: tuple[Path, ...], top: int, as_json: bool) -> None:
    """Print which pieces stand where at the start of the games of FILEs: stores, exports, archives of Gravon.

    A set-up counts once a game, for either side as its owner sees it.
    """
    from arena.game import STRATEGO, displayed, game_named
    from arena.system.terminal_text import to_json

    count_openings: Any = displayed(game_named(STRATEGO).displays.openings, None)
    document, text = count_openings(files, top)
    remark_some("left out", document["left_out"])
    result(to_json(document) if as_json else text)
