"""`arena match`: two bots, a number of games."""

from pathlib import Path
from typing import Any

import click

from arena.cli.options import MOST_GAMES, collect, play_options, refuse_windows


@click.command("match")
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option("--games", type=click.IntRange(1, MOST_GAMES), help="How many games (default: 2; with --pause: 1).")
@click.option(
    "--pause",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Play one game; on Ctrl-C save it there, for 'arena resume FILE'.",
)
@click.option("--pause-after", type=click.IntRange(min=1), metavar="N", help="Save it after N plies.")
@play_options
def match_command(
    first: str, second: str, games: int | None, pause: Path | None, pause_after: int | None, **options: Any
) -> int:
    """Play a match between two bots, changing colours after each game.

    A BOT is an executable file, a .py file or a folder with a bot.toml; or, where there is no such file, the name of
    a sample bot: drifter, raider, warden, scholar, tactician (the strongest). Games that the store already holds are
    not played again.
    """
    refuse_windows()
    from arena.cli.pausable import begin
    from arena.cli.play import play

    if pause is not None:
        if games not in (None, 1):
            raise click.UsageError("--pause saves one game: expected --games 1 or no --games with it")
        return begin([first, second], collect(options), pause, pause_after)
    if pause_after is not None:
        raise click.UsageError("--pause-after N needs --pause FILE, the file to save the game in")
    games = games or 2
    return play([first, second], collect(options), kind="match", rounds=(games + 1) // 2, games=games)
