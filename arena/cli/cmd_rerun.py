"""`arena rerun`: a stored game played again."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.helping import command
from arena.cli.shared_options import (
    bot_path_option,
    by_color,
    game_argument,
    interpreter_option,
    json_option,
    known_game_option,
    offer_names,
    sandbox_option,
    store_argument,
)
from arena.cli.stores import open_to_read
from arena.cli.streams import remark, result
from arena.errors import UsageError
from arena.system.printable import counted, printable, shown

if TYPE_CHECKING:
    from arena.game.faults import Verdict
    from arena.league.rerun import Rerun


@command(
    ("arena rerun league.sqlite 3", ""),
    ("arena rerun league.sqlite 3 --bot warden=bots/warden.py", ""),
    usual=("bot", "arguments", "changed-bots", "sandbox", "json"),
    runs_bots=True,
)
@store_argument
@game_argument
@bot_path_option
@click.option(
    "--arguments",
    "words",
    multiple=True,
    metavar="NAME=WORDS",
    shell_complete=offer_names,
    help="Arguments of a bot, as one string for a shell (default: those in STORE).",
)
@click.option("--changed-bots", is_flag=True, help="Accept bots that have changed.")
@sandbox_option(None, "Isolation level (default: that of the record; basic only for bots named by --bot).")
@interpreter_option
@known_game_option
@json_option
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
    """Play a game of STORE again, and report where it differs from the record. GAME is a number or the start of an id.

    Exits with 0 if both games are equal, with 1 if not. Nothing is stored. Bots are found by their content: here, in
    bots/, next to STORE, in its archive, and among the sample bots.
    """
    from arena.bots.archive import archive_of
    from arena.cli.interrupts import unwinding
    from arena.cli.process_setup import level_line, run_unwinding
    from arena.league.rerun import RerunOptions, rerun
    from arena.report.game_list import Roster, shown_name
    from arena.sandbox.levels import AUTO
    from arena.sandbox.rlimits import use_all_descriptors
    from arena.system.terminal_text import to_json

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
        use_all_descriptors()
        done = rerun(record, options, remark, run_unwinding, lambda level: remark(level_line(level, sandbox == AUTO)))
    result(to_json(_document(number, done)) if as_json else rerun_text(number, done))
    return DONE if done.difference is None else FOUND


def _split(text: str) -> tuple[str, ...]:
    import shlex

    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--arguments: expected words as a shell takes them, got {shown(text)}: {error}") from None


def _document(number: int, done: "Rerun") -> dict[str, Any]:
    """Return a rerun for JSON; `recorded` and `played` are the two set-ups or actions at the difference."""

    def end(verdict: "Verdict") -> dict[str, Any]:
        words = {"result": verdict.result.value, "reason": verdict.reason.value}
        return {**words, "plies": verdict.plies, "detail": verdict.detail}

    found = done.difference
    return {
        "number": number,
        "id": done.recorded.id,
        "same": found is None,
        "differs": found and found.part.value,
        "ply": found and found.ply,
        "side": found and found.color.word,
        "recorded": found and found.recorded,
        "played": found and found.played,
        "recorded_end": end(done.recorded.verdict),
        "played_end": end(done.played.verdict),
    }


def rerun_text(number: int, done: "Rerun") -> str:
    from arena.league.rerun import Part

    recorded, played, found = done.recorded.verdict, done.played.verdict, done.difference
    plies = counted(recorded.plies, "ply", "plies")
    if found is None:
        return f"game {number}: same to the end, {plies}: {recorded.detail}"
    is_setup = found.part is Part.SETUP
    where = f"at ply {found.ply}, {found.color.word} to move" if found.ply else "before the game"
    if is_setup:
        where = f"at the setup of {found.color.word}"
    lines = [f"game {number}: differs from the record {where}"]
    if found.recorded is not None or found.played is not None:
        nothing = "none" if is_setup else "none, the game ended there"
        lines += [f"    recorded: {found.recorded or nothing}", f"    now:      {found.played or nothing}"]
    lines.append(f"    the recorded game ended after {plies}: {recorded.detail}")
    lines.append(f"    this one ended after {counted(played.plies, 'ply', 'plies')}: {played.detail}")
    return "\n".join(lines)
