"""`arena resume`: resume an interrupted game."""

from pathlib import Path

import click

from arena.cli.helping import Whole, command
from arena.cli.shared_options import (
    FILE,
    bot_path_option,
    form_of,
    interpreter_option,
    json_option,
    known_game_option,
    lines_option,
    sandbox_option,
)


@command(
    ("arena resume game.json", ""),
    ("arena resume game.json --sandbox auto", "a file from somebody else"),
    runs_bots=True,
)
@click.argument("file", type=FILE)
@click.option("--pause-after", type=Whole(min=1), help="Save the game again after N plies in all.")
@sandbox_option(None, "Isolation level (default: that of FILE or its store, if stronger than basic).")
@bot_path_option
@known_game_option
@interpreter_option
@json_option
@lines_option
def resume_command(
    file: Path,
    pause_after: int | None,
    sandbox: str | None,
    *,
    paths: tuple[str, ...],
    interpreters: tuple[str, ...],
    as_json: bool,
    as_lines: bool,
) -> int:
    """Resume the game that 'arena match --pause' saved in FILE.

    The bots are started again, receive their set-ups and all earlier messages, and the clocks continue. Ctrl-C saves
    the game in FILE again. The result goes to the store of the match. Without a sandbox only sample bots run, bots
    that have played in that store from the same place, and bots named by --bot.
    """
    from arena.cli.saved_play import resume
    from arena.league.resumed import ResumeOptions

    return resume(
        file,
        pause_after,
        paths=paths,
        options=ResumeOptions(sandbox, {}, interpreters),
        form=form_of(as_json=as_json, as_lines=as_lines),
    )
