"""What `arena compare` prints: how far the test is, its verdict, and what went wrong."""

from functools import partial

from arena.cli.exit_codes import NO_VERDICT, NOT_BETTER, UNDECIDED
from arena.cli.forms import Form
from arena.cli.interrupts import StopRequests
from arena.cli.play import lines_of, play_and_tell, play_as, progress_of
from arena.cli.streams import OutputError, flush_results, remark, result
from arena.league.compare import Comparison, comparison_entry
from arena.league.league import OpenLeague
from arena.league.options import PlayOptions
from arena.league.ratings.sequential_test import Decision, Hypotheses
from arena.report.comparison import comparison_json, comparison_text, live_text, note_text
from arena.report.lines import GameLines

CODES = {Decision.BETTER: 0, Decision.NOT_BETTER: NOT_BETTER, Decision.UNDECIDED: UNDECIDED}


def compare(new: str, old: str, hypotheses: Hypotheses, games: int, options: PlayOptions, *, form: Form) -> int:
    """Test whether one bot is better than another and print the verdict. Returns the exit code; raises `ArenaError`."""
    entry = comparison_entry(new, old, hypotheses, games, options.jobs)
    return play_as(entry, options, partial(_play_and_tell, form=form))


def _play_and_tell(league: OpenLeague, stop: StopRequests, *, form: Form) -> int:
    comparison = Comparison(league)
    if comparison.state.is_over:
        stop.reporting()
        remark(f"there is nothing more to play; store: {league.plan.path}")
        return _code(comparison) if _print_results(comparison, form, None) else NO_VERDICT
    lines = None
    progress = progress_of(
        league,
        f"{' against '.join(comparison.names)}, at most {2 * comparison.state.budget} games",
        note=lambda: note_text(comparison.state),
        live_note=lambda: live_text(comparison.names, comparison.state),
    )
    if form is Form.LINES:
        progress = lines = lines_of(league, progress)
    print_results = partial(_print_results, comparison, form, lines)
    code = partial(_code, comparison)
    return play_and_tell(league, stop, progress, comparison.play, print_results, code=code, failed=NO_VERDICT)


def _code(comparison: Comparison) -> int:
    return CODES[comparison.state.decision]


def _print_results(comparison: Comparison, form: Form, lines: GameLines | None) -> bool:
    """Print the verdict, which is `undecided` for a test that was stopped, after the `lines`.

    Returns whether that could be done.
    """
    comparison.refuse_unstarted()
    store = comparison.league.store
    path = comparison.league.plan.path
    state = comparison.state
    try:
        if lines:
            lines.close()
        if form is not Form.TEXT:
            settings, later = store.settings(), comparison.later_games()
            is_line = form is Form.LINES
            result(comparison_json(path, settings, comparison.names, state, later, as_line=is_line))
        else:
            result(comparison_text(comparison.names, state, comparison.later_games()))
        flush_results()
    except OutputError as error:
        error.tell(f"; the games are stored in {path}")
        return False
    return True
