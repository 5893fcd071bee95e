"""`arena games`: the games of a store, a line each."""

from pathlib import Path

import click

from arena.cli.damage import warn_of_damage
from arena.cli.streams import result


@click.command("games")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--bot", metavar="NAME", help="Only the games of this bot; NAME@DIGEST of one version of it.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def games_command(store: Path, bot: str | None, as_json: bool) -> int:
    """List the games in STORE."""
    from arena.cli.stores import open_to_read
    from arena.errors import UsageError
    from arena.report.json import games_json
    from arena.report.standings import Roster, players_of
    from arena.report.terminal import game_line

    with open_to_read(store) as opened:
        contents = opened.count()
        roster = Roster(players_of(contents.rows, contents.entrants), contents.rows)
        names, wanted = roster.names, None
        if bot is not None:
            try:
                wanted = roster.called(bot)
            except UsageError as error:
                raise UsageError(f"{store}: {error}") from None
        rows = opened.each_row(wanted)
        if as_json:
            result(games_json(list(rows), names))
        else:
            for row in rows:
                result(game_line(row, names) + (f"\n    {row.detail}" if row.reason.is_forfeit else ""))
    return warn_of_damage(store, contents.damage)
