"""`arena export`: the games of a store as lines of JSON, whole or as one side may see them."""

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from arena.cli.damage import warn_of_damage
from arena.cli.helping import ArenaCommand
from arena.cli.interrupts import unwinding
from arena.cli.streams import remark, result_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arena.league.store import Contents, Damage, GameRow, Store

STDOUT = "-"


@click.command(
    "export",
    cls=ArenaCommand,
    examples=(
        ("arena export league.sqlite -o games.jsonl", ""),
        ("arena export league.sqlite --game 3 --view red", "what Red may know"),
    ),
)
@click.argument("store", type=click.Path(path_type=Path))
@click.option("-o", "--output", default=STDOUT, metavar="FILE", help="A new file to write (default: standard output).")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@click.option("--bot", metavar="NAME", help="Only the games of this bot; NAME@DIGEST of one version of it.")
@click.option(
    "--game", "games", multiple=True, metavar="GAME", help="Only this game, by its number or the start of its id."
)
@click.option(
    "--view",
    type=click.Choice(["all", "red", "blue"]),
    default="all",
    show_default=True,
    help="All there is, or only what one side may know.",
)
def export_command(store: Path, output: str, bot: str | None, games: tuple[str, ...], view: str, *, force: bool) -> int:
    """Write the games of STORE as lines of JSON, one game each: see docs/record.md."""
    from arena.cli.stores import open_to_read
    from arena.errors import UsageError
    from arena.hostfile import refuse_existing, written_whole
    from arena.league.exchange import export_lines
    from arena.printable import printable
    from protocol.notation import COLOR_BY_WORD

    path = None if output == STDOUT else Path(output)
    with open_to_read(store) as opened:
        if path is not None and not force:
            refuse_existing(path)
        if path is not None and path.exists() and path.samefile(store):
            raise UsageError(f"--output {printable(output)}: this is the store itself")
        contents = opened.read()
        damage: list[Damage] = list(contents.damage)
        lines = export_lines(opened, _numbers(opened, contents, bot, games), COLOR_BY_WORD.get(view), damage.append)
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


def _numbers(store: "Store", contents: "Contents[GameRow]", bot: str | None, games: tuple[str, ...]) -> list[int]:
    """The numbers of the games that were asked for, in the order in which they were stored. Raises `UsageError`."""
    from arena.errors import UsageError
    from arena.printable import printable
    from arena.report.roster import Roster, players_of

    rows = contents.rows
    if bot is not None:
        try:
            wanted = Roster(players_of(rows, contents.entrants), rows).called(bot)
        except UsageError as error:
            raise UsageError(f"{store.path}: {error}") from None
        rows = [row for row in rows if not wanted.isdisjoint(row.players)]
    if not games:
        return [row.number for row in rows]
    asked = {store.record(printable(game))[0] for game in games}
    return [row.number for row in rows if row.number in asked]
