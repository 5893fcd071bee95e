"""`arena bots`: the bots of a store, and their versions."""

import sys
from pathlib import Path

from arena.cli.helping import command
from arena.cli.shared_options import bot_name_option, json_option, known_game_option, store_argument
from arena.cli.stores import called, open_to_read, warn_of_damage
from arena.cli.streams import result


@command(
    ("arena bots league.sqlite", ""),
    ("arena bots league.sqlite --bot warden", "the versions of one bot"),
)
@store_argument
@bot_name_option
@known_game_option
@json_option
def bots_command(store: Path, bot: str | None, as_json: bool) -> int:
    """List the bots in STORE, with each version that has played there, and its changes."""
    from arena.report.bot_versions import VersionCount, bots_report
    from arena.report.game_list import Roster, players_of
    from arena.system.terminal_text import print_blocks, to_json, width_of

    with open_to_read(store, needs_game=False) as opened:
        contents = opened.count()
        players = dict.fromkeys([*players_of(contents.rows, contents.entrants), *contents.entrants])
        roster = Roster(players, contents.rows)
        wanted = None if bot is None else called(bot, roster, store)
        count = VersionCount(roster)
        for row in opened.each_row():
            count.add(row)
        versions = count.versions(opened, contents)
    if wanted is not None:
        shown = {roster.names[player] for player in wanted}
        versions = [one for one in versions if one.shown in shown]
    if as_json:
        result(to_json(versions))
    else:
        print_blocks(bots_report(versions, width_of(sys.stdout)))
    return warn_of_damage(store, contents.damage)
