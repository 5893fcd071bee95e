"""`arena match`: two bots, a number of games."""

from pathlib import Path
from typing import Any

import click

from arena.cli.config import ConfiguredCommand
from arena.cli.helping import Whole, with_options
from arena.cli.installation import refuse_windows
from arena.cli.shared_options import HELP_GROUPS, PLAY_OPTIONS, collect, detail_options, form_of, lines_option
from arena.league.league_options import MOST_GAMES, USUAL_MATCH_GAMES, Kind


@click.command(
    "match",
    cls=ConfiguredCommand,
    bots="two bots",
    takes=2,
    usual=("games", "rules", "time", "jobs", "sandbox", "store", "pause", "json"),
    groups={"The match": ("games", "pause", "pause-after"), **HELP_GROUPS},
    examples=(
        ("arena match mine.py warden --games 20", ""),
        ("arena match mine.py mine-old.py --time 60+0.6 --rules barrage", ""),
        ("arena match mine.py raider --pause game.json --pause-after 30", ""),
    ),
)
@click.argument("paths", nargs=-1, metavar="BOT BOT")
@click.option(
    "--games", type=Whole(1, MOST_GAMES), help=f"How many games (default: {USUAL_MATCH_GAMES}; with --pause: 1)."
)
@click.option(
    "--pause",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Play one game, which Ctrl-C saves in FILE; 'arena resume FILE' goes on with it.",
)
@click.option("--pause-after", type=Whole(min=1), metavar="N", help="Save it after N plies.")
@with_options(PLAY_OPTIONS)
@lines_option
@detail_options
def match_command(
    paths: tuple[str, ...],
    games: int | None,
    pause: Path | None,
    pause_after: int | None,
    *,
    as_json: bool,
    as_lines: bool,
    **options: Any,
) -> int:
    """Play a match between two bots, changing colours after each game.

    A BOT is an executable file, a .py file, a folder with a bot.toml or the name of a sample bot: drifter, forager,
    raider, skirmisher, warden, scholar, tactician, strategist. Games that the store holds are not played again.
    """
    refuse_windows()
    from arena.cli.paused_games import begin
    from arena.cli.play_games import play
    from arena.league.plan import LeagueEntry

    form = form_of(as_json=as_json, as_lines=as_lines)
    if pause is not None:
        if games not in (None, 1):
            raise click.UsageError("--pause saves one game: expected --games 1 or no --games with it")
        if options["keep_bots"]:
            raise click.UsageError("--pause saves one game, and --keep-bots is about two: expected one of them")
        return begin(paths, collect(options), pause, pause_after, form)
    if pause_after is not None:
        raise click.UsageError("--pause-after N needs --pause FILE, the file to save the game in")
    games = games or USUAL_MATCH_GAMES
    entry = LeagueEntry(list(paths), Kind.MATCH, (games + 1) // 2, games)
    return play(entry, collect(options), form)
