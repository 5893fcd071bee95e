"""`arena rerun`: a stored game played again."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.helping import ArenaCommand
from arena.cli.installation import refuse_windows
from arena.cli.shared_options import by_color
from arena.cli.streams import remark, result
from arena.league.league_options import SANDBOXES

if TYPE_CHECKING:
    from arena.game.record import GameRecord
    from arena.league.rerun import FirstDifference, Rerun


@click.command(
    "rerun",
    cls=ArenaCommand,
    examples=(
        ("arena rerun league.sqlite 3", ""),
        ("arena rerun league.sqlite 3 --bot warden=bots/warden.py", ""),
    ),
)
@click.argument("store", type=click.Path(path_type=Path))
@click.argument("game")
@click.option(
    "--bot",
    "paths",
    multiple=True,
    metavar="NAME=PATH",
    help="Where a bot of the game is; NAME is its name, red or blue; can be given for both.",
)
@click.option(
    "--arguments",
    "words",
    multiple=True,
    metavar="NAME=WORDS",
    help="With which arguments a bot is started, in one string as a shell takes them (default: those that STORE has).",
)
@click.option("--changed-bots", is_flag=True, help="Play with bots that have changed since, too.")
@click.option(
    "--sandbox",
    type=click.Choice(SANDBOXES),
    metavar="LEVEL",
    help="How the bots are held (default: what the record says; without a sandbox only bots that --bot names).",
)
@click.option(
    "--interpreter",
    "interpreters",
    multiple=True,
    metavar="PATH",
    help="A program outside the system that bots may be run by, as for arena league; can be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
def rerun_command(
    store: Path,
    game: str,
    *,
    paths: tuple[str, ...],
    words: tuple[str, ...],
    changed_bots: bool,
    sandbox: str | None,
    interpreters: tuple[str, ...],
    as_json: bool,
) -> int:
    """Play a game of STORE again, and say where it parts from the record. GAME is its number or the start of its id.

    Exits with 0 if it is the same to the end, and with 1 if not. Nothing is stored. Bots that --bot does not name are
    looked for by their content: among the sample bots, here, in bots/, beside STORE and in its archive.
    """
    refuse_windows()
    from arena.bots.archive import archive_of
    from arena.bots.sandbox.levels import AUTO
    from arena.cli.interrupts import unwinding
    from arena.cli.process_setup import level_line, own_process, run_unwinding
    from arena.cli.stores import open_to_read
    from arena.league.rerun import RerunOptions, chosen_level, rerun, sandbox_asked
    from arena.report.consoles import to_json
    from arena.report.game_list import Roster, shown_name
    from arena.system.printable import printable

    with open_to_read(store) as opened:
        number, record = opened.record(printable(game))
        shown = Roster(opened.players_as_now_called(), [record]).names
        kept, limits, last_sandbox = opened.claims(), opened.limits(), opened.kept().sandbox
    names = [frozenset({player.name, shown_name(player, shown)}) for player in record.players]
    options = RerunOptions(
        bots=by_color("--bot", paths, names),
        arguments={color: _split(text) for color, text in by_color("--arguments", words, names, "WORDS").items()},
        known_arguments=kept.arguments,
        archive=archive_of(store),
        near=list(dict.fromkeys([Path(), Path("bots"), store.parent])),
        places=kept.places,
        limits=limits,
        changed_bots=changed_bots,
        sandbox=sandbox,
        last_sandbox=last_sandbox,
        interpreters=interpreters,
    )
    with unwinding():
        own_process(sandbox_asked(record, options))
        remark(level_line(chosen_level(record, options), sandbox == AUTO))
        done = rerun(record, options, remark, run_unwinding)
    result(to_json(_document(number, done)) if as_json else rerun_text(number, done))
    return DONE if done.difference is None else FOUND


def _split(text: str) -> tuple[str, ...]:
    """The words of a string as a shell splits it. Raises `UsageError`."""
    import shlex

    from arena.errors import UsageError
    from arena.system.printable import shown

    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--arguments: expected words as a shell takes them, got {shown(text)}: {error}") from None


def _document(number: int, done: "Rerun") -> dict[str, Any]:
    """Return a rerun for JSON. `differs` is `set-up`, `action` or `end`, and null if both are the same to the end; then
    so are `ply` and `side`. `recorded` and `played` are the two set-ups or actions there, null where a game had ended.
    """

    def end(record: "GameRecord") -> dict[str, Any]:
        verdict = record.verdict
        return {
            "result": verdict.result.value,
            "reason": verdict.reason.value,
            "plies": verdict.plies,
            "detail": verdict.detail,
        }

    found = done.difference
    return {
        "number": number,
        "id": done.recorded.id,
        "same": found is None,
        "differs": found.part.value if found else None,
        "ply": found.ply if found else None,
        "side": found.color.word if found else None,
        "recorded": found.recorded if found else None,
        "played": found.played if found else None,
        "recorded_end": end(done.recorded),
        "played_end": end(done.played),
    }


def rerun_text(number: int, done: "Rerun") -> str:
    """Say in words whether a game was the same, and where it parts from the record."""
    from arena.system.printable import counted

    recorded, found = done.recorded.verdict, done.difference
    plies = counted(recorded.plies, "ply", "plies")
    if found is None:
        return f"game {number}: same to the end, {plies}: {recorded.detail}"
    lines = [f"game {number}: {_where(found)}", *_what(found)]
    lines.append(f"    the recorded game ended after {plies}: {recorded.detail}")
    now = done.played.verdict
    lines.append(f"    this one ended after {'1 ply' if now.plies == 1 else f'{now.plies} plies'}: {now.detail}")
    return "\n".join(lines)


def _where(found: "FirstDifference") -> str:
    from arena.league.rerun import Part

    if found.part is Part.SETUP:
        return f"parts from the record at the set-up of {found.color.word}"
    if found.ply == 0:
        return "parts from the record before the game"
    return f"parts from the record at ply {found.ply}, {found.color.word} to move"


def _what(found: "FirstDifference") -> list[str]:
    if found.recorded is None and found.played is None:
        return []
    from arena.league.rerun import Part

    nothing = "none" if found.part is Part.SETUP else "none, the game ended there"
    return [f"    recorded: {found.recorded or nothing}", f"    now:      {found.played or nothing}"]
