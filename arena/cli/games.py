"""`arena games`: the games of a store, a line each."""

from pathlib import Path

import click

from arena.cli.damage import warn_of_damage
from arena.cli.streams import result


@click.command("games")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--bot", metavar="NAME", help="Only the games of this bot.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def games_command(store: Path, bot: str | None, as_json: bool) -> int:
    """List the games in STORE."""
    from arena.model import UsageError
    from arena.report.document import games_document
    from arena.report.text import game_line
    from arena.rules.loading import suggest
    from arena.store import Store

    with Store(store, create=False) as opened:
        contents = opened.read()
    rows = contents.rows
    names = sorted({player.name for row in rows for player in row.players})
    if bot is not None:
        if bot not in names:
            raise UsageError(f"{store}: no games of a bot {bot!r}; {suggest(bot, names) if names else 'it is empty'}")
        rows = [row for row in rows if bot in (player.name for player in row.players)]
    if as_json:
        result(games_document(rows))
    else:
        for row in rows:
            result(game_line(row) + (f"\n    {row.detail}" if row.reason.is_forfeit else ""))
    return warn_of_damage(store, contents.damage)
