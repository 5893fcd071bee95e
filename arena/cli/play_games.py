"""What `arena league` and `arena match` print: what is to be played, progress, the table, and what went wrong."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.text import Text

from arena.cli.exit_codes import FAILED, INTERRUPTED
from arena.cli.installation import shell_line, this_command
from arena.cli.interrupts import StopRequests, unwinding
from arena.cli.process_setup import level_line, own_process, run_unwinding, same_command, stopped_by
from arena.cli.serving import ServedAt, ServeOptions, listening_for, pages_beside, refuse_to_give_away
from arena.cli.shared_options import OutputForm
from arena.cli.streams import Detail, OutputError, complain, detail, flush_results, remark, result
from arena.errors import ArenaError
from arena.game.record import GameRecord
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import PlayOptions
from arena.league.outcome import Forfeits, LeagueOutcome, Watcher
from arena.league.plan import LeagueEntry, Plan
from arena.league.stop import StopRequest
from arena.league.store import GameRow, StoreChangedError, StoreError
from arena.play.machine import reference_text
from arena.report.consoles import progress_console, results_console
from arena.report.documents import league_json
from arena.report.game_list import Roster
from arena.report.placings import placing_report
from arena.report.progress import GameLines, LiveProgress, PlainProgress, Progress, Silence
from arena.report.standings import declared_last, handicap_text, make_table, table_note
from arena.report.terminal import full_report, standings_grid
from arena.system.printable import counted, printable

STDERR_LINES_SHOWN = 5


def play(entry: LeagueEntry, options: PlayOptions, form: OutputForm, serve: ServeOptions | None = None) -> int:
    """Play a league or a match and print its table, with its pages served meanwhile if that is asked for.

    Returns the exit code; raises `ArenaError`.
    """
    with listening_for(serve) as listening:
        return play_as(entry, options, partial(_play_and_tell, form=form, listening=listening))


def play_as(entry: LeagueEntry, options: PlayOptions, play_opened: Callable[[OpenLeague, StopRequests], int]) -> int:
    """Prepare what is to be played, and have it played. Returns the exit code; raises `ArenaError`."""
    with unwinding():
        own_process(options.sandbox)
        with open_league(entry, options, remark, run_unwinding) as league:
            if options.store is None:
                _note_others(league)
            with StopRequests() as stop:
                return play_opened(league, stop)


def _note_others(league: OpenLeague) -> None:
    """Say that a store which nobody has named holds games of bots that take no part now, if it does."""
    count = league.store.count_others(league.plan.players)
    if count:
        remark(
            f"the store holds {counted(count, 'game')} of other bots as well: 'arena standings' leaves them out "
            "(--all shows them); --store FILE keeps leagues apart"
        )


class _Watcher:
    """Passes on what happens in the games to what shows it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def finished(self, row: GameRow, record: GameRecord) -> None:
        self._progress.finished(row, record)

    def remark(self, text: str) -> None:
        self._progress.remark(text)

    def closing(self, under_way: int) -> None:
        games = "the game" if under_way == 1 else f"{under_way} games"
        self._progress.remark(f"finishing {games} under way; Ctrl-C again to stop at once")


def _play_and_tell(league: OpenLeague, stop: StopRequests, form: OutputForm, listening: ServedAt | None) -> int:
    """Play what is missing and tell what came of it. Returns the exit code."""
    refuse_to_give_away(league.plan, listening)
    progress, lines = progress_of(league), None
    if form is OutputForm.LINES:
        progress = lines = lines_of(league, progress)
    print_results = partial(_print_results, league, form, lines)
    with pages_beside(league, progress, listening) as (watched, watch):
        return play_and_tell(league, stop, watched, partial(league.play, watch=watch), print_results)


def lines_of(league: OpenLeague, progress: Progress) -> GameLines:
    """Progress that prints each game as a line of JSON, too."""

    def write(line: str) -> None:
        result(line)
        flush_results()

    return GameLines(progress, write, Roster(league.players, league.rows()).names)


def play_and_tell(
    league: OpenLeague,
    stop: StopRequests,
    progress: Progress,
    play_games: Callable[[StopRequest, Watcher], LeagueOutcome],
    print_results: Callable[[], bool],
    *,
    code: Callable[[], int] = lambda: 0,
    failed: int = FAILED,
) -> int:
    """Play, show `progress`, print the results and what else there is to tell. Returns the exit code.

    The exit code is `code` if all games were played, and `failed` if the results could not be printed, which
    `print_results` returns.
    """
    try:
        outcome = play_games(stop, _Watcher(progress))
    finally:
        stop.reporting()
        progress.finish()
    if outcome.repeated:
        _tell_repeated(*outcome.repeated)
    if outcome.error:
        raise stopped_by(
            outcome.error, *outcome.changed, *outcome.left_out, _how_to_resume(league, outcome)
        ) from outcome.error
    plan = league.plan
    try:
        for forfeits in outcome.forfeits:
            if forfeits.name not in plan.faults:
                _tell_forfeits(forfeits, plan.path)
        for line in outcome.remarks:
            remark(line)
        is_told = print_results()
        if outcome.is_complete:
            return code() if is_told else failed
    except KeyboardInterrupt:
        pass  # nobody reads the results, and the user will not wait
    if outcome.changed:
        raise ArenaError("\n".join([*outcome.changed, *outcome.left_out, _how_to_play_the_new(league)]))
    if outcome.left_out:
        raise ArenaError("\n".join([*outcome.left_out, _how_to_resume(league, outcome)]))
    complain(_how_to_resume(league, outcome))
    return INTERRUPTED


def progress_of(
    league: OpenLeague,
    what: str | None = None,
    *,
    note: Callable[[], str] = lambda: "",
    live_note: Callable[[], str] | None = None,
) -> Progress:
    """Say what is to be played, and begin to show how far it is: with a note in each line, or below the live table.
    A file or a pipe, and a command that is quiet, get no lines on games.

    `what` says who plays how many games, if there is more to say than their number.
    """
    if detail() is Detail.QUIET:
        return Silence()
    console = progress_console()
    plan, rows = league.plan, league.rows()
    kind = f"{plan.format} {plan.kind.value}".lstrip()
    what = what or f"{kind} of {len(plan.bots)} bots, {_number_text(league.planned, league.at_most)}"
    text = _plan_text(plan, what, len(rows))
    console.print(text, style="dim", soft_wrap=not console.is_terminal)
    if detail() is Detail.VERBOSE:
        return PlainProgress(console, len(rows), league.planned, note)
    if sys.stderr.isatty() and not console.is_dumb_terminal:
        return LiveProgress(console, league.players, rows, league.planned, live_note, broken=plan.faults)
    return PlainProgress(console, len(rows), league.planned, note, tells_games=sys.stderr.isatty())


def _number_text(planned: int | None, at_most: int | None) -> str:
    if planned is None:
        return "as many games as it takes" if at_most is None else f"at most {at_most} games"
    return counted(planned, "game")


def _plan_text(plan: Plan, what: str, stored: int) -> Text:
    """What is about to be played, in three lines, and two more for a format with settings and for openings."""
    have = f", {stored} of them stored already" if stored else ""
    at_once = f"{counted(plan.jobs, 'game')} at a time"
    if plan.cluster is not None:
        at_once = f"on cluster {plan.cluster.name}"
        if plan.cluster.reference_us is not None:
            at_once += f", calibrated ({reference_text(plan.cluster.reference_us)})"
    own = dict(plan.settings.bot_times)
    times = {bot.name: own[bot.player.digest].text for bot in plan.bots if bot.player.digest in own}
    usual = plan.settings.time.text
    handicap = handicap_text(usual, times, [bot.name for bot in plan.bots])
    rules = f"{plan.settings.ruleset.name}, {f'{handicap};' if handicap else f'{usual},'} {at_once}"
    lines = [f"{what}{have}; {rules}"]
    if plan.format_settings:
        lines.append(f"format: {', '.join(plan.format_settings)}")
    if plan.openings is not None:
        count = len(plan.settings.openings)
        lines.append(f"openings: {printable(str(plan.openings))} ({count})")
    lines += [level_line(plan.level, plan.is_level_chosen), f"store: {plan.path}"]
    return Text(printable("\n".join(lines), lines=True))


def _print_results(league: OpenLeague, form: OutputForm, lines: GameLines | None) -> bool:
    """Print the table, which is that of what has been played so far, after the `lines`.

    Returns whether that could be done.
    """
    plan, rows = league.plan, league.rows()
    table = make_table(league.players, rows, league.planned, meets_all=league.meets_all)
    settings, placing = league.store.settings(), league.placing()
    try:
        if lines:
            lines.close()
        if form is not OutputForm.TEXT:
            names = Roster(league.players, rows).names
            declared = declared_last(rows, lambda number: league.store.stored(number).sound)
            document = partial(league_json, plan.path, settings, table, names=names, placing=placing, declared=declared)
            result(document(rows, plan.faults, as_line=form is OutputForm.LINES))
        else:
            console = results_console()
            if detail() is Detail.QUIET:
                console.print(standings_grid(table.lines, console.width, plan.faults))
            else:
                console.print(full_report(table, console.width, table_note(table.lines, settings), plan.faults))
            if placing:
                console.print(placing_report(placing, Roster(league.players, rows).names))
        flush_results()
    except OutputError as error:
        error.tell(f"; the games are stored in {plan.path}")
        return False
    return True


def _tell_forfeits(forfeits: Forfeits, store: Path) -> None:
    """Tell what went wrong with a bot: the first game, and the end of what the bot had written."""
    name, first = forfeits.name, forfeits.first
    remark(forfeits.text)
    lines = forfeits.stderr.strip().splitlines()
    for line in lines[-STDERR_LINES_SHOWN:]:
        remark(f"    {name} stderr: {line}")
    if len(lines) > STDERR_LINES_SHOWN:
        remark(f"    (all of it: {shell_line(*this_command(), 'show', str(store), str(first.number))})")


def _tell_repeated(name: str, count: int) -> None:
    """A hint and no proof: who is about to lose gains by it that the arena's processes are killed or stopped."""
    remark(
        f"{name} alone took part each time that a game was played again ({count} times); a bot can bring that about: "
        "at the basic level of --sandbox by signals, at any level by what keeps the machine from running the arena"
    )


def _how_to_resume(league: OpenLeague, outcome: LeagueOutcome) -> str:
    path = league.plan.path
    if not path.exists():
        stored = f"there is no store at {path} any more, so all games are to be played again"
    elif isinstance(outcome.error, StoreChangedError):
        return (
            f"stopped: {league.known}{_of_all(league)} games had been stored before{_lost_text(outcome)}\n"
            f"what is at {path} now would be taken for the league: put the store with these games back there, or name "
            "another with --store, before you give the same command again"
        )
    else:
        stored = _stored(league)
    return f"stopped: {stored}{_lost_text(outcome)}\nresume with: {same_command()}"


def _lost_text(outcome: LeagueOutcome) -> str:
    """The games that were begun and are not stored: those that were over, and those that were not."""
    parts = []
    if outcome.unstored:
        games = counted(outcome.unstored, "finished game")
        parts.append(f"; {games} could not be stored")
    if outcome.dropped:
        games = "the game under way was" if outcome.dropped == 1 else f"the {outcome.dropped} games under way were"
        parts.append(f"; {games} dropped")
    return "".join(parts)


def _how_to_play_the_new(league: OpenLeague) -> str:
    return (
        "games from then on were not played, and those that were under way are not stored; "
        f"{_stored(league)}\nthe same command again plays the new version: {same_command()}"
    )


def _stored(league: OpenLeague) -> str:
    try:
        return f"{len(league.rows())}{_of_all(league)} games are stored in {league.plan.path}"
    except StoreError:
        return (
            f"{league.known}{_of_all(league)} games had been stored in {league.plan.path}, which cannot be read now "
            f"('{shell_line(*this_command(), 'verify', str(league.plan.path))}' tells what of it can)"
        )


def _of_all(league: OpenLeague) -> str:
    return "" if league.planned is None else f" of {league.planned}"
