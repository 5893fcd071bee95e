"""`arena resume`: take an interrupted game up again."""

from pathlib import Path

import click

from arena.cli.options import refuse_windows
from arena.league.options import SANDBOXES


@click.command("resume")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--pause-after", type=click.IntRange(min=1), metavar="N", help="Save it again after N plies in all.")
@click.option(
    "--sandbox",
    type=click.Choice(SANDBOXES),
    help="How the bots are held, whatever the match had (default: what FILE says).",
)
def resume_command(file: Path, pause_after: int | None, sandbox: str | None) -> int:
    """Go on with the game that 'arena match --pause' saved in FILE.

    The bots are started again, each is told its set-up and what it had been told, and the clocks stand where they
    stood. On Ctrl-C the game is saved in FILE again. Its result goes to the store that the match had.
    """
    refuse_windows()
    from arena.cli.pausable import resume

    return resume(file, pause_after, sandbox)
