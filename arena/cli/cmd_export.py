"""`arena export`: the games of a store as lines of JSON, whole or as a reader may see them."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.helping import command
from arena.cli.interrupts import unwinding
from arena.cli.shared_options import bot_name_option, offer_games, reader_option, store_argument, without_game_files
from arena.cli.stores import called, open_to_read, warn_of_damage, warn_of_seed
from arena.cli.streams import remark, result_bytes
from arena.errors import UsageError
from arena.system.printable import printable

if TYPE_CHECKING:
    from arena.league.store import Damage

STDOUT = "-"


@command(
    ("arena export league.sqlite -o games.jsonl", ""),
    ("arena export league.sqlite --view bot:warden", "its games, as it saw them"),
    ("arena export league.sqlite --view public", "what both sides were told"),
)
@store_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    default=STDOUT,
    metavar="FILE",
    help="New file to write (default: standard output).",
)
@click.option("--force", is_flag=True, help="Replace FILE.")
@click.option("--counted", is_flag=True, help="Only games that count in the table of the last league.")
@bot_name_option
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="GAME",
    shell_complete=offer_games,
    callback=without_game_files,
    help="Only this game, by number or start of its id; repeatable. A Python file: the store's game.",
)
@reader_option("--view", "All, or only what one side, both sides, or a bot in its own games may know.")
def export_command(
    store: Path, output: str, bot: str | None, games: tuple[str, ...], reader: str, *, force: bool, counted: bool
) -> int:
    """Write the games of STORE as lines of JSON, one game each: see docs/record.md."""
    from arena.league.exchange import export_lines
    from arena.league.option_values import option_value
    from arena.league.readers import Audience, readable, reader_named
    from arena.league.stored_league import games_between
    from arena.report.game_list import Roster, players_of
    from arena.system.user_files import refuse_existing, written_whole

    path = None if output == STDOUT else Path(output)
    if path is not None and not os.path.isdir(path.parent):
        raise UsageError(f"{printable(output)}: there is no folder {printable(str(path.parent))}")
    with open_to_read(store, needs_game=reader != "all") as opened:
        if path is not None and not force:
            refuse_existing(path)
        if path is not None and os.path.exists(path) and path.samefile(store):
            raise UsageError(f"--output {printable(output)}: this is the store itself")
        contents = opened.read(counted=counted)
        if counted and contents.entrants:
            contents = contents._replace(rows=list(games_between(contents.entrants, contents.rows)))
        damage: list[Damage] = list(contents.damage)
        roster = Roster(players_of(contents.rows, contents.entrants), contents.rows)
        who, chosen = option_value("--view", reader_named, reader), contents.rows
        if who.audience is Audience.BOT:
            who = replace(who, bots=frozenset(called(who.name, roster, store)))
        if bot is not None:
            wanted = called(bot, roster, store)
            chosen = [row for row in chosen if not wanted.isdisjoint(row.players)]
        if games:
            numbers = {opened.record(printable(game))[0] for game in games}
            chosen = [row for row in chosen if row.number in numbers]
        rows = readable(chosen, contents.settings, who)
        warn_of_seed(store, contents.settings, who)
        among = sum(contents.kept.leaves_out(row.number) for row in rows)
        if among:
            remark(f"{among} of these games do not count in the table of the last league; --counted excludes them")
        lines = export_lines(opened, [row.number for row in rows], who, damage.append)
        if path is None:
            for line in lines:
                result_bytes(line)
        else:
            written = 0
            with unwinding(), written_whole(path, replace=force) as file:
                for line in lines:
                    file.write(line)
                    written += 1
            remark(f"{printable(output)}: {'1 game' if written == 1 else f'{written} games'}")
    return warn_of_damage(store, tuple(dict.fromkeys(damage)))
