"""`arena compare`: is a new bot better than an old one?"""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from arena.cli.config import ConfiguredCommand, collect
from arena.cli.exit_codes import DONE, NO_VERDICT, NOT_BETTER, UNDECIDED
from arena.cli.helping import Whole, command
from arena.cli.shared_options import (
    HELP_GROUPS,
    OutputForm,
    detail_options,
    form_of,
    lines_option,
    offer_bots,
    play_options,
)
from arena.cli.streams import remark, result, try_to_print
from arena.league.league_options import USUAL_MOST_COMPARED

if TYPE_CHECKING:
    from arena.cli.interrupts import StopRequests
    from arena.league.compare import Comparison
    from arena.league.league import OpenLeague


@command(
    ("arena compare mine.py mine-old.py --games 2000", "is mine.py better?"),
    cls=ConfiguredCommand,
    usual=("elo0", "elo1", "games", "rules", "time", "jobs", "store", "json"),
    groups={"The test": ("elo0", "elo1", "alpha", "beta", "games"), **HELP_GROUPS},
    bots="two bots, the new one and the old one",
    takes=2,
    runs_bots=True,
)
@click.argument("paths", nargs=-1, metavar="NEW OLD", shell_complete=offer_bots)
@click.option("--elo0", type=float, default=0.0, show_default="0", metavar="ELO", help="Null-hypothesis Elo gain.")
@click.option("--elo1", type=float, default=10.0, show_default="10", metavar="ELO", help="Alternative Elo gain.")
@click.option("--alpha", type=float, default=0.05, show_default=True, metavar="P", help="Risk of a wrong 'better'.")
@click.option("--beta", type=float, default=0.05, show_default=True, metavar="P", help="Risk of a wrong 'not better'.")
@click.option("--games", type=Whole(), default=USUAL_MOST_COMPARED, show_default=True, help="Maximum games (even).")
@play_options
@lines_option
@detail_options
def compare_command(
    paths: tuple[str, str],
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
    """Test whether bot NEW is better than OLD, with a sequential test.

    The test ends as soon as the games favour --elo1 or --elo0. Exits with 0 if NEW is better, 1 if not, 3 if undecided.
    The same command resumes a test that was stopped.
    """
    from arena.cli.play_games import play_as
    from arena.league.compare import comparison_entry, hypotheses_of

    form = form_of(as_json=as_json, as_lines=as_lines)
    asked = collect(options)
    entry = comparison_entry(*paths, hypotheses_of(elo0, elo1, alpha, beta), games, asked.jobs)
    return play_as(entry, asked, partial(_play_and_tell, form=form))


def _play_and_tell(league: "OpenLeague", stop: "StopRequests", *, form: OutputForm) -> int:
    from arena.cli.play_games import play_and_print, progress_of
    from arena.league.compare import Comparison
    from arena.report.comparison import live_text, note_text

    comparison = Comparison(league)
    code, print_results = partial(_code, comparison), partial(_print_results, comparison, form)
    if comparison.state.is_over:
        stop.reporting()
        remark(f"no more games to play; store: {league.plan.path}")
        return code() if try_to_print(print_results, league.plan.path) else NO_VERDICT
    progress = progress_of(
        league,
        f"{' against '.join(comparison.names)}, at most {2 * comparison.state.budget} games",
        note=lambda: note_text(comparison.state),
        live_note=lambda: live_text(comparison.names, comparison.state),
    )
    play = partial(play_and_print, form=form, code=code, failed=NO_VERDICT)
    return play(league, stop, progress, comparison.play, print_results)


def _code(comparison: "Comparison") -> int:
    from arena.league.ratings.sequential_test import Decision

    codes = {Decision.BETTER: DONE, Decision.NOT_BETTER: NOT_BETTER, Decision.UNDECIDED: UNDECIDED}
    return codes[comparison.state.decision]


def _print_results(comparison: "Comparison", form: OutputForm) -> None:
    from arena.report.comparison import comparison_json, comparison_text

    comparison.refuse_unstarted()
    names, state, later = comparison.names, comparison.state, comparison.later_games()
    if form is OutputForm.TEXT:
        result(comparison_text(names, state, later))
    else:
        path, settings = comparison.league.plan.path, comparison.league.store.settings()
        result(comparison_json(path, settings, names, state, later, as_line=form is OutputForm.LINES))
