"""`arena resume`: take an interrupted game up again."""

from pathlib import Path

import click

from arena.cli.helping import ArenaCommand, Whole
from arena.cli.installation import refuse_windows
from arena.cli.shared_options import form_of, lines_option
from arena.league.league_options import SANDBOXES


@click.command(
    "resume",
    cls=ArenaCommand,
    examples=(
        ("arena resume game.json", ""),
        ("arena resume game.json --sandbox auto", "a file from somebody else"),
    ),
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--pause-after", type=Whole(min=1), metavar="N", help="Save it again after N plies in all.")
@click.option(
    "--sandbox",
    type=click.Choice(SANDBOXES),
    metavar="LEVEL",
    help="How the bots are held (default: as FILE or its store say, if that is stronger than the usual level).",
)
@click.option(
    "--bot",
    "paths",
    multiple=True,
    metavar="NAME=PATH",
    help="Where a bot of the game is now; NAME is its name, red or blue; can be given for both.",
)
@click.option(
    "--interpreter",
    "interpreters",
    multiple=True,
    metavar="PATH",
    help="A program outside the system that bots may be run by, as for arena match; can be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the game, or that it is saved again, as JSON.")
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
    """Go on with the game that 'arena match --pause' saved in FILE.

    The bots are started again, each is told its set-up and what it had been told, and the clocks stand where they
    stood. On Ctrl-C the game is saved in FILE again. Its result goes to the store that the match had. Without a sandbox
    only bots run that have played in that store from where they are, sample bots, and those that --bot names.
    """
    refuse_windows()
    from arena.cli.paused_games import SaidOfGame, resume

    form = form_of(as_json=as_json, as_lines=as_lines)
    return resume(file, pause_after, SaidOfGame(sandbox, paths, interpreters), form)
