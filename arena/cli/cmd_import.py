"""`arena import`: add games from files of records and other stores to a store."""

from pathlib import Path

import click

from arena.cli.exit_codes import DONE, FAILED
from arena.cli.helping import command
from arena.cli.shared_options import json_option, known_game_option
from arena.cli.streams import NowAndThen, remark_some, result
from arena.system.printable import counted, printable


@command(("arena import all.sqlite games.jsonl league.sqlite", "merge two sources"))
@click.argument("store", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--kind", default="", metavar="KIND", help="Of an archive only games of a kind: classic, barrage, ...")
@known_game_option
@json_option
def import_command(store: Path, files: tuple[Path, ...], kind: str, as_json: bool) -> int:
    """Add the games of each FILE, a store or an export, to STORE, which may be new.

    Every game is replayed first. If one is wrong, nothing is imported. FILE may also be an archive of Gravon: a zip, or
    a game as .xml or .gsn. Of these, games that cannot be replayed are left out. Exits with 1 if no game is left.
    """
    from arena.game import STRATEGO, displayed, game_named
    from arena.league.exchange import import_games
    from arena.system.terminal_text import to_json

    said = NowAndThen()
    archive = displayed(game_named(STRATEGO).displays.archive, None)
    imported = import_games(store, files, lambda done: said.remark(f"imported {done} games"), archive, kind)
    remark_some("left out", imported.left_out)
    if as_json:
        document: dict[str, object] = {
            "store": printable(str(store)),
            "imported": imported.new,
            "present": imported.present,
        }
        document |= {"left_out": list(imported.left_out)} if imported.left_out else {}
        result(to_json(document))
    else:
        games = counted(imported.new, "game was", "games were")
        present = f", {imported.present} were there already" if imported.present else ""
        left_out = f", {len(imported.left_out)} left out" if imported.left_out else ""
        result(printable(f"{store}: {games} imported{present}{left_out}"))
    return DONE if imported.new or imported.present else FAILED
