"""`arena import`: add games from files of records and other stores to a store."""

from pathlib import Path

import click

from arena.cli.helping import command
from arena.cli.shared_options import json_option, known_game_option
from arena.cli.streams import NowAndThen, result
from arena.system.printable import counted, printable


@command(("arena import all.sqlite games.jsonl league.sqlite", "merge two sources"))
@click.argument("store", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@known_game_option
@json_option
def import_command(store: Path, files: tuple[Path, ...], as_json: bool) -> None:
    """Add the games of each FILE, a store or an export, to STORE, which may be new.

    Every game is replayed first. If one is wrong, nothing is imported.
    """
    from arena.league.exchange import import_games
    from arena.report.layout import to_json

    said = NowAndThen()
    imported = import_games(store, files, lambda done: said.remark(f"imported {done} games"))
    if as_json:
        document = {"store": printable(str(store)), "imported": imported.new, "present": imported.present}
        result(to_json(document))
    else:
        games = counted(imported.new, "game was", "games were")
        present = f", {imported.present} were there already" if imported.present else ""
        result(printable(f"{store}: {games} imported{present}"))
