"""`arena verify`: whether a store or a file of records is undamaged, and its games are possible."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.helping import ArenaCommand
from arena.cli.shared_options import json_option, known_game_option
from arena.cli.stores import open_to_read
from arena.cli.streams import NowAndThen, remark, result
from arena.errors import UsageError
from arena.system.printable import counted, printable

if TYPE_CHECKING:
    from arena.league.exchange import LineFault
    from arena.league.store import Damage


Finding = TypeVar("Finding", "Damage", "LineFault")


@click.command(
    "verify",
    cls=ArenaCommand,
    examples=(
        ("arena verify league.sqlite", ""),
        ("arena verify league.sqlite --salvage whole.sqlite", "copy what is sound"),
    ),
)
@click.argument("store", metavar="STORE|FILE", type=click.Path(path_type=Path))
@click.option("--salvage", type=click.Path(path_type=Path), metavar="NEW", help="Copy the sound games to a new store.")
@known_game_option
@json_option
def verify_command(store: Path, salvage: Path | None, as_json: bool) -> int:
    """Check STORE, or a FILE made by `arena export`: replay every game and compare the result with the record.

    Each line names a game and its fault. Exits with 0 if there is none, with 1 otherwise.
    """
    from arena.league.exchange import verify_file
    from arena.league.store import Store, is_record_file, refuse_other_files
    from arena.league.verify import salvage as copy_sound_games
    from arena.league.verify import verify

    games, said = 0, NowAndThen()

    def progress(done: int, of: int) -> None:
        nonlocal games
        games = of
        said.remark(f"checked {done} of {of} games")

    refuse_other_files(store)
    if is_record_file(store):
        if salvage is not None:
            raise UsageError(f"--salvage: expected a store to copy games from, got {store}, a file of records")
        faults = list(_printed(verify_file(store, progress), quiet=as_json))
        found = [{"line": line, "text": text} for line, text in faults]
        _print_summary(store, games, found, len({fault.line for fault in faults}), "file" if as_json else "")
        return FOUND if faults else DONE
    if salvage is not None and os.path.lexists(salvage):
        raise UsageError(f"--salvage {salvage}: expected a file that does not exist yet")
    with open_to_read(store, is_doubtful=True) as opened:
        findings = list(_printed(verify(opened, progress), quiet=as_json))
        found = [{"game": game, "text": text} for game, text in findings]
        wrong = len({finding.game for finding in findings} - {None})
        _print_summary(store, games, found, wrong, "store" if as_json else "")
        if salvage is not None:
            with Store(salvage, create=True) as new:
                copied = copy_sound_games(opened, new)
            remark(printable(f"{copied} of {counted(games, 'game')} were copied to {salvage}", lines=True))
    return FOUND if findings else DONE


def _printed(findings: Iterable[Finding], *, quiet: bool) -> Iterator[Finding]:
    """Yield findings and print them unless `quiet`: the first of each text, and at the end the number of the others."""
    from arena.league.exchange import LONGEST_FAULT

    repeated = Counter[str]()
    for finding in findings:
        if finding.text not in repeated and not quiet:
            result(printable(str(finding), LONGEST_FAULT))
        repeated[finding.text] += 1
        yield finding
    for text, times in repeated.items():
        if times > 1 and not quiet:
            result(f"... and {times - 1} more: {printable(text, LONGEST_FAULT)}")


def _print_summary(path: Path, games: int, found: list[dict[str, Any]], wrong: int, json_kind: str) -> None:
    if json_kind:
        from arena.report.layout import to_json

        result(to_json({json_kind: printable(str(path)), "games": games, "findings": found}))
        return
    if found:
        words = f"{counted(games, 'game')}{f', {wrong} of them not sound' if wrong else '; the store is damaged'}"
    elif games:
        words = f"{counted(games, 'game')}, all sound: played again, each gives the verdict that is stored"
    else:
        words = "no games yet, and the store is sound"
    result(printable(f"{path}: {words}"))
