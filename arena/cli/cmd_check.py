"""`arena check`: whether a bot is ready for a league."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.helping import command, exclusive
from arena.cli.shared_options import (
    HELP_GROUPS,
    PLAY_OPTIONS,
    bot_options,
    color_option,
    json_option,
    offer_bots,
    rules_metavar,
)
from arena.cli.stores import open_to_read
from arena.cli.streams import paint_for, remark, result
from arena.system.printable import printable
from protocol.seats import COLOR_BY_WORD

if TYPE_CHECKING:
    from arena.check.service import Begins


@command(
    ("arena check mine.py", ""),
    ("arena check mine.py --rules barrage", "one ruleset"),
    ("arena check mine.py --replay league.sqlite 3 --side red", "a stored game"),
    usual=("game", "rules", "quick", "all", "replay", "sandbox", "time", "json"),
    groups={"Checks": ("rules", "quick", "all", "only", "replay", "side"), **HELP_GROUPS},
    runs_bots=True,
)
@click.argument("bot", metavar="BOT", shell_complete=offer_bots)
@PLAY_OPTIONS["game"]
@click.option("--rules", multiple=True, **rules_metavar, help="Rules to check; repeatable (default: all).")
@click.option("--quick", is_flag=True, help="Check the first rules only, and briefly.")
@click.option("--all", "is_all", is_flag=True, help="Play under all rules, as both sides and to the end.")
@click.option("--only", multiple=True, metavar="KEY", help="Try only this situation, by its key in --json; repeatable.")
@click.option(
    "--replay",
    nargs=2,
    type=(click.Path(path_type=Path, dir_okay=False), str),
    metavar="STORE GAME",
    help="Replay a stored game; report different answers.",
)
@click.option("--side", type=click.Choice(list(COLOR_BY_WORD)), help="The bot's side in the game of --replay.")
@bot_options
@click.option("-v", "--verbose", "is_verbose", is_flag=True, help="Print the checklist of a ready bot, too.")
@json_option
@color_option
def check_command(
    bot: str,
    *,
    rules: tuple[str, ...],
    quick: bool,
    is_all: bool,
    only: tuple[str, ...],
    replay: tuple[Path, str] | None,
    side: str | None,
    is_verbose: bool,
    as_json: bool,
    color: str,
    **options: Any,
) -> int:
    """Check whether BOT is ready for a league: which rules work, what failed, and what to do about it.

    The bot plays short games on both sides, under the conditions of a league; its times and memory are measured. Exits
    with 0 only if the bot is ready for all rules checked.
    """
    if replay is not None and (rules or quick or is_all or only):
        raise click.UsageError("--replay cannot be used together with --rules, --quick, --all or --only")
    if replay is None and side is not None:
        raise click.UsageError("--side: expected --replay STORE GAME with it")
    exclusive(quick=quick, all=is_all)
    from arena.check.service import CheckOptions, check_bot, replay_bot
    from arena.check.situations import Extent
    from arena.check.stored_game import StoredGame
    from arena.cli.interrupts import unwinding
    from arena.cli.process_setup import level_line, run_unwinding
    from arena.league.league_options import PlayOptions
    from arena.report.checklist import check_json, check_text, replay_json, replay_text
    from arena.sandbox.levels import AUTO, choose
    from arena.sandbox.rlimits import use_all_descriptors

    asked, stored = PlayOptions(**options, jobs=1), None
    if replay is not None:
        with open_to_read(replay[0]) as opened:
            stored = StoredGame(*opened.record(printable(replay[1])), None if side is None else COLOR_BY_WORD[side])
    with unwinding():
        use_all_descriptors()
        remark(level_line(choose(asked.sandbox), asked.sandbox == AUTO))
        if stored is not None:
            done = replay_bot(bot, asked, stored, remark, run_unwinding)
            text = replay_json(done) if as_json else replay_text(done, paint_for(color))
            is_good = done.is_same
        else:
            extent = Extent.QUICK if quick else Extent.ALL if is_all else Extent.USUAL
            with _progress() as begins:
                checked = check_bot(
                    bot, CheckOptions(asked, rules, extent, frozenset(only)), remark, begins, run_unwinding
                )
            text = check_json(checked) if as_json else check_text(checked, paint_for(color), is_verbose=is_verbose)
            is_good = checked.is_accepted
    result(text)
    return DONE if is_good else FOUND


@contextmanager
def _progress() -> "Iterator[Begins]":
    from arena.report.progress import Frame
    from arena.system.terminal_text import is_dumb

    if is_dumb(sys.stderr):
        yield lambda number, total, situation: None
        return
    with Frame(sys.stderr) as frame:
        yield lambda number, total, situation: frame.draw(f"{number + 1} of {total}: {situation.title}")
