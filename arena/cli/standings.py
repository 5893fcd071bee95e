"""`arena standings`: the table of a store."""

from pathlib import Path

import click

from arena.cli.damage import warn_of_damage
from arena.cli.streams import remark, result


@click.command("standings")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--all", "everyone", is_flag=True, help="Also bots (and old versions) that took no part the last time.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def standings_command(store: Path, everyone: bool, as_json: bool) -> int:
    """Print the table of the games in STORE."""
    from arena.cli.stores import open_to_read
    from arena.report.clocks import table_note
    from arena.report.json import league_json
    from arena.report.standings import Roster, make_table, players_of
    from arena.report.terminal import full_report, results_console

    with open_to_read(store) as opened:
        contents = opened.read()
        rows, entrants = contents.rows, contents.entrants
        players = players_of(rows, entrants) if everyone or not entrants else entrants
        table = make_table(players, rows, None if everyone else contents.planned)
        if as_json:
            names = Roster(players, rows).names
            kept = [row for row in rows if set(row.players) <= names.keys()]
            result(league_json(store, contents.settings, table, kept, names=names))
        else:
            console = results_console()
            console.print(full_report(table, console.width, table_note(table.lines, contents.settings)))
        left_out = len(rows) - table.games
    if left_out:
        remark(f"{left_out} games of other bots or versions are left out; --all shows them")
    return warn_of_damage(store, contents.damage)
