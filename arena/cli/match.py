"""`arena match`: two bots, a number of games."""

from typing import Any

import click

from arena.cli.options import collect, play_options


@click.command("match")
@click.argument("first", metavar="BOT")
@click.argument("second", metavar="BOT")
@click.option("--games", default=2, show_default=True, type=click.IntRange(min=1), help="How many games.")
@play_options
def match_command(first: str, second: str, games: int, **options: Any) -> int:
    """Play a match between two bots, changing colours after each game.

    A BOT is an executable file, a .py file or a folder with a bot.toml. Games that the store already holds are not
    played again.
    """
    from arena.cli.play import play

    return play([first, second], collect(options), kind="match", rounds=(games + 1) // 2, games=games)
