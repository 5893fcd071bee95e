"""`arena export`: the games of a store as lines of JSON, whole or as a reader may see them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from arena.cli.completing import offer_games
from arena.cli.helping import ArenaCommand
from arena.cli.interrupts import unwinding
from arena.cli.shared_options import bot_name_option, reader_option, store_argument
from arena.cli.stores import warn_of_damage, warn_of_seed
from arena.cli.streams import remark, result_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arena.game.spec import Player
    from arena.league.readers import Reader
    from arena.league.store import Contents, Damage, GameRow, Store


STDOUT = "-"


@click.command(
    "export",
    cls=ArenaCommand,
    examples=(
        ("arena export league.sqlite -o games.jsonl", ""),
        ("arena export league.sqlite --view bot:warden", "its games, as it saw them"),
        ("arena export league.sqlite --view public", "what both sides were told"),
    ),
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
    help="Only this game, by number or start of its id; repeatable.",
)
@reader_option("--view", "All, or only what one side, both sides, or a bot in its own games may know.")
def export_command(
    store: Path, output: str, bot: str | None, games: tuple[str, ...], reader: str, *, force: bool, counted: bool
) -> int:
    """Write the games of STORE as lines of JSON, one game each: see docs/record.md."""
    from arena.cli.stores import open_to_read
    from arena.errors import UsageError
    from arena.league.exchange import export_lines
    from arena.league.readers import readable
    from arena.system.printable import printable
    from arena.system.user_files import refuse_existing, written_whole

    path = None if output == STDOUT else Path(output)
    with open_to_read(store) as opened:
        if path is not None and not force:
            refuse_existing(path)
        if path is not None and os.path.exists(path) and path.samefile(store):
            raise UsageError(f"--output {printable(output)}: this is the store itself")
        contents = opened.read(counted=counted)
        if counted:
            contents = contents._replace(rows=_of_table(contents))
        damage: list[Damage] = list(contents.damage)
        who = _reader(reader, store, contents)
        rows = readable(_chosen(opened, contents, bot, games), contents.settings, who)
        warn_of_seed(store, contents.settings, who)
        among = sum(row.number in contents.kept.numbers_not_counted for row in rows)
        if among:
            remark(f"{among} of these games do not count in the table of the last league; --counted excludes them")
        lines = export_lines(opened, [row.number for row in rows], who, damage.append)
        if path is None:
            for line in lines:
                result_bytes(line)
        else:
            with unwinding(), written_whole(path, replace=force) as file:
                written = _write(lines, file)
            remark(f"{printable(output)}: {'1 game' if written == 1 else f'{written} games'}")
    return warn_of_damage(store, tuple(dict.fromkeys(damage)))


def _write(lines: "Iterable[bytes]", file: BinaryIO) -> int:
    written = 0
    for line in lines:
        file.write(line)
        written += 1
    return written


def _of_table(contents: "Contents[list[GameRow]]") -> "list[GameRow]":
    """The games between the bots of the last league; all of them, where there was none."""
    from arena.league.stored_league import games_between

    return list(games_between(contents.entrants, contents.rows)) if contents.entrants else contents.rows


def _chosen(
    store: "Store", contents: "Contents[list[GameRow]]", bot: str | None, games: tuple[str, ...]
) -> "list[GameRow]":
    """The games that were asked for, in the order in which they were stored. Raises `UsageError`."""
    from arena.system.printable import printable

    rows = contents.rows
    if bot is not None:
        wanted = _called(bot, store.path, contents)
        rows = [row for row in rows if not wanted.isdisjoint(row.players)]
    if not games:
        return rows
    asked = {store.record(printable(game))[0] for game in games}
    return [row for row in rows if row.number in asked]


def _reader(text: str, store: Path, contents: "Contents[list[GameRow]]") -> "Reader":
    """Who is to read, as `--view` says it, with the players of the store that it means. Raises `UsageError`."""
    from dataclasses import replace

    from arena.league.option_values import option_value
    from arena.league.readers import Audience, reader_named

    reader = option_value("--view", reader_named, text)
    if reader.audience is not Audience.BOT:
        return reader
    return replace(reader, bots=frozenset(_called(reader.name, store, contents)))


def _called(name: str, store: Path, contents: "Contents[list[GameRow]]") -> "set[Player]":
    """The players of this name in a store. Raises `UsageError` if there are none."""
    from arena.errors import UsageError
    from arena.report.game_list import Roster, players_of

    try:
        return Roster(players_of(contents.rows, contents.entrants), contents.rows).called(name)
    except UsageError as error:
        raise UsageError(f"{store}: {error}") from None
