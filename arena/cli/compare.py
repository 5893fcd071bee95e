"""`arena compare`: is a new bot better than an old one?"""

from typing import Any

import click

from arena.cli.config import ConfiguredCommand
from arena.cli.forms import detail_options, form_of, lines_option
from arena.cli.numbers import Decimal, Whole
from arena.cli.options import HELP_GROUPS, collect, play_options
from arena.cli.windows import refuse_windows
from arena.league.options import USUAL_MOST_COMPARED


@click.command(
    "compare",
    cls=ConfiguredCommand,
    usual=("elo0", "elo1", "games", "rules", "time", "jobs", "store", "json"),
    groups={"The test": ("elo0", "elo1", "alpha", "beta", "games"), **HELP_GROUPS},
    examples=(("arena compare mine.py mine-old.py --games 2000", "is mine.py better?"),),
    bots="two bots, the new one and the old one",
    example="arena compare mine.py mine-old.py",
)
@click.argument("new", metavar="NEW")
@click.argument("old", metavar="OLD")
@click.option(
    "--elo0",
    type=Decimal(),
    default=0.0,
    show_default="0",
    metavar="ELO",
    help="NEW is no more above OLD than this.",
)
@click.option(
    "--elo1",
    type=Decimal(),
    default=10.0,
    show_default="10",
    metavar="ELO",
    help="NEW is as much above OLD as this.",
)
@click.option(
    "--alpha", type=Decimal(), default=0.05, show_default=True, metavar="SHARE", help="How often 'better' may be wrong."
)
@click.option(
    "--beta",
    type=Decimal(),
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="How often 'not better' may be wrong.",
)
@click.option(
    "--games",
    type=Whole(),
    default=USUAL_MOST_COMPARED,
    show_default=True,
    metavar="N",
    help="Games at most, an even number.",
)
@play_options
@lines_option
@detail_options
def compare_command(
    new: str,
    old: str,
    *,
    elo0: float,
    elo1: float,
    alpha: float,
    beta: float,
    games: int,
    as_json: bool,
    as_lines: bool,
    **options: Any,
) -> int:
    """Test whether bot NEW is better than OLD, in no more games than that takes.

    It ends as soon as the games speak for a difference of --elo1 rather than --elo0, or the other way round, and exits
    with 0 if NEW is better, 1 if not, 3 if undecided. The same command goes on with a test that was stopped.
    """
    refuse_windows()
    from arena.cli.comparing import compare
    from arena.league.compare import hypotheses_of

    form = form_of(as_json=as_json, as_lines=as_lines)
    return compare(new, old, hypotheses_of(elo0, elo1, alpha, beta), games, collect(options), form=form)
