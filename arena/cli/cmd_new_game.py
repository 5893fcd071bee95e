"""`arena new-game`: a package with a small game, its tests and two bots."""

from pathlib import Path

import click

from arena.cli.helping import command
from arena.cli.installation import arena_line
from arena.cli.shared_options import json_option
from arena.cli.streams import result
from arena.system.printable import printable


@command(
    ("arena new-game nim", ""),
    ("arena new-game kuhn-poker --json", ""),
)
@click.argument("path", metavar="NAME", type=click.Path(path_type=Path))
@json_option
def new_game_command(path: Path, as_json: bool) -> None:
    """Write a game of your own into a new folder NAME: a Python package that the arena can play at once.

    It has the rules of a small game to be changed, with chance and something hidden; tests of what a game must promise;
    two bots; and a page with the protocol. Nothing is overwritten.
    """
    from arena.bots.new import write_game
    from arena.system.terminal_text import to_json

    game = write_game(path)
    if as_json:
        words = {"name": game.name, "folder": printable(str(game.folder)), "source": game.source, "files": game.files}
        result(to_json(words))
        return
    match = arena_line("match", "bots/greedy.py", "bots/chance.py", "--game", f"./{game.source}")
    lines = [
        f"{printable(str(path))}: a game, which can be played at once. Its rules are in",
        f"    {printable(str(path / game.source))}",
        "",
        "in that folder, test what it promises:",
        "    python3 -m unittest",
        "play two games of its bots:",
        f"    {match} --games 2",
        "then change the rules; docs/new-game.md shows the way. To play it by its name, without --game FILE:",
        "    pip install .",
    ]
    result("\n".join(lines))
