"""`arena verify`: whether a store or a file of records is undamaged, and its games are possible."""

import os
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.helping import command
from arena.cli.shared_options import json_option, known_game_option
from arena.cli.stores import open_to_read
from arena.cli.streams import NowAndThen, remark, result
from arena.errors import UsageError
from arena.system.printable import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arena.league.exchange import LineFault
    from arena.league.store import Damage


@command(
    ("arena verify league.sqlite", ""),
    ("arena verify league.sqlite --salvage whole.sqlite", "copy what is sound"),
)
@click.argument("store", metavar="STORE|FILE", type=click.Path(path_type=Path))
@click.option("--salvage", type=click.Path(path_type=Path), metavar="NEW", help="Copy the sound games to a new store.")
@known_game_option
@json_option
def verify_command(store: Path, salvage: Path | None, as_json: bool) -> int:
    """Check STORE, or a FILE made by `arena export`: replay every game and compare the result with the record.

    Each line names a game and its fault. Exits with 0 if there is none, with 1 otherwise.
    """
    from arena.league.exchange import LONGEST_FAULT, verify_file
    from arena.league.store import Store, is_record_file, refuse_other_files
    from arena.league.verify import salvage as copy_sound_games
    from arena.league.verify import verify
    from arena.system.terminal_text import to_json

    games, said = 0, NowAndThen()

    def progress(done: int, of: int) -> None:
        nonlocal games
        games = of
        said.remark(f"checked {done} of {of} games")

    refuse_other_files(store)
    is_file = is_record_file(store)
    if is_file and salvage is not None:
        raise UsageError(f"--salvage: expected a store to copy games from, got {store}, a file of records")
    if salvage is not None and os.path.lexists(salvage):
        raise UsageError(f"--salvage {salvage}: expected a file that does not exist yet")
    with nullcontext() if is_file else open_to_read(store, is_doubtful=True) as opened:
        found: list[dict[str, Any]] = []
        repeated = Counter[str]()
        findings: Iterable[LineFault | Damage] = verify(opened, progress) if opened else verify_file(store, progress)
        for finding in findings:
            found.append(finding._asdict())
            if finding.text not in repeated and not as_json:  # the first of each text
                result(printable(str(finding), LONGEST_FAULT))
            repeated[finding.text] += 1
        if as_json:
            kind = "file" if is_file else "store"
            result(to_json({kind: printable(str(store)), "games": games, "findings": found}))
        else:
            for text, times in repeated.items():
                if times > 1:
                    result(f"... and {times - 1} more: {printable(text, LONGEST_FAULT)}")
            wrong = len({one["line" if is_file else "game"] for one in found} - {None})
            result(printable(f"{store}: {_summary(games, len(found), wrong)}"))
        if opened and salvage is not None:
            with Store(salvage, create=True) as new:
                copied = copy_sound_games(opened, new)
            remark(printable(f"{copied} of {counted(games, 'game')} were copied to {salvage}", lines=True))
    return FOUND if found else DONE


def _summary(games: int, found: int, wrong: int) -> str:
    if found:
        return f"{counted(games, 'game')}{f', {wrong} of them not sound' if wrong else '; the store is damaged'}"
    if games:
        return f"{counted(games, 'game')}, all sound: played again, each gives the verdict that is stored"
    return "no games yet, and the store is sound"
