"""`arena check`: whether a bot is ready for a league."""

from typing import Any

import click

from arena.cli.exit_codes import DONE, FOUND
from arena.cli.looking import color_option, paint_for
from arena.cli.options import bot_options, refuse_windows
from arena.cli.streams import remark, result


@click.command("check")
@click.argument("bot", metavar="BOT")
@click.option(
    "--rules",
    multiple=True,
    metavar="NAME[+SWITCH...]",
    help="A ruleset that it is for; can be given again. Default: isf, and all others as well.",
)
@click.option("--quick", is_flag=True, help="Try only the first ruleset, for a second at most in each situation.")
@click.option("--all", "is_all", is_flag=True, help="Play all rulesets as both sides and to the end.")
@click.option(
    "--only", multiple=True, metavar="KEY", help="Try only this situation, by its key in --json; can be given again."
)
@bot_options
@click.option("--json", "as_json", is_flag=True, help="Print the checklist as JSON.")
@color_option
def check_command(
    bot: str,
    *,
    rules: tuple[str, ...],
    quick: bool,
    is_all: bool,
    only: tuple[str, ...],
    as_json: bool,
    color: str,
    **options: Any,
) -> int:
    """Try BOT as a league would, and print a checklist: what passed, what failed, and what to do about it.

    BOT is what it is for 'arena match'. It is started and held as a league does, plays both sides of short games in
    many situations, and its times and memory are measured. Exits with 0 only if a league would accept it.
    """
    refuse_windows()
    from arena.bots.sandbox.levels import AUTO, choose
    from arena.check.service import CheckOptions, check_bot
    from arena.check.situations import Extent
    from arena.cli.checking import progress
    from arena.cli.interrupts import unwinding
    from arena.cli.playing import level_line, own_process
    from arena.league.options import PlayOptions
    from arena.report.check import check_json, check_text

    if quick and is_all:
        raise click.UsageError("--quick and --all are two extents: expected one of them")
    extent = Extent.QUICK if quick else Extent.ALL if is_all else Extent.USUAL
    asked = CheckOptions(PlayOptions(**options, jobs=1), rules, extent, frozenset(only))
    with unwinding():
        own_process(asked.play.sandbox)
        remark(level_line(choose(asked.play.sandbox), asked.play.sandbox == AUTO))
        with progress() as begins:
            checked = check_bot(bot, asked, remark, begins)
    result(check_json(checked) if as_json else check_text(checked, paint_for(color)))
    return DONE if checked.is_accepted else FOUND
