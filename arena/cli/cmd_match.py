"""`arena match`: two bots, a number of games."""

from pathlib import Path
from typing import Any

import click

from arena.cli.config import ConfiguredCommand, collect
from arena.cli.helping import Whole, command, exclusive
from arena.cli.shared_options import FILE, HELP_GROUPS, detail_options, form_of, lines_option, offer_bots, play_options
from arena.league.league_options import MOST_GAMES, USUAL_MATCH_GAMES, Kind


@command(
    ("arena match mine.py warden --games 20", ""),
    ("arena match mine.py mine-old.py --time 60+0.6 --rules barrage", ""),
    ("arena match mine.py raider --pause game.json --pause-after 30", ""),
    cls=ConfiguredCommand,
    bots="two bots",
    takes=2,
    usual=("games", "rules", "time", "jobs", "sandbox", "store", "pause", "json"),
    groups={"The match": ("games", "pause", "pause-after"), **HELP_GROUPS},
    runs_bots=True,
)
@click.argument("paths", nargs=-1, metavar="BOT BOT", shell_complete=offer_bots)
@click.option(
    "--games", type=Whole(1, MOST_GAMES), help=f"Number of games (default: {USUAL_MATCH_GAMES}; with --pause: 1)."
)
@click.option("--pause", type=FILE, metavar="FILE", help="Play one game; Ctrl-C saves it for 'arena resume'.")
@click.option("--pause-after", type=Whole(min=1), help="With --pause: save the game after N plies.")
@play_options
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

    A BOT is an executable file, a .py file, a folder with a bot.toml, or a sample bot: drifter, forager, raider,
    skirmisher, warden, scholar, tactician, strategist. Stored games are not played again.
    """
    from arena.cli.play_games import play
    from arena.cli.saved_play import begin
    from arena.league.plan import LeagueEntry

    form = form_of(as_json=as_json, as_lines=as_lines)
    if pause is not None:
        if games not in (None, 1):
            raise click.UsageError("--pause saves one game: expected --games 1")
        exclusive(pause=pause, keep_bots=options["keep_bots"])
        return begin(paths, collect(options), pause, pause_after, form)
    if pause_after is not None:
        raise click.UsageError("--pause-after: expected --pause FILE with it")
    games = games or USUAL_MATCH_GAMES
    entry = LeagueEntry(list(paths), Kind.MATCH, (games + 1) // 2, games)
    return play(entry, collect(options), form)
