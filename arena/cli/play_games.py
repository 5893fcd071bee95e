"""The output of `arena league`, `arena match` and `arena compare`: the plan, progress, results, and errors."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from arena.cli.exit_codes import FAILED, INTERRUPTED
from arena.cli.installation import arena_line
from arena.cli.interrupts import StopRequests, unwinding
from arena.cli.process_setup import level_line, run_unwinding, same_command, stopped_by
from arena.cli.shared_options import OutputForm
from arena.cli.streams import Detail, complain, detail, flush_results, remark, result, try_to_print
from arena.errors import ArenaError
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import GUESSED, PlayOptions
from arena.league.plan import LeagueEntry, Plan
from arena.league.play_missing import LeagueOutcome, Watcher
from arena.league.stop import StopRequest
from arena.league.store import StoreChangedError, StoreError
from arena.play.machine import reference_text
from arena.report.game_list import Roster
from arena.report.placings import placing_entry, placing_report
from arena.report.progress import GameLines, LiveProgress, PlainProgress, Progress
from arena.report.standings import handicap_text, make_table, table_note, with_declared
from arena.report.terminal import full_report, standings_grid
from arena.sandbox.levels import AUTO
from arena.sandbox.rlimits import use_all_descriptors
from arena.system.printable import counted, printable
from arena.system.terminal_text import colored, fitted, for_stream, is_dumb, print_blocks, width_of

if TYPE_CHECKING:
    from arena.cli.serving import PagesServed

STDERR_LINES_SHOWN = 5


def play(entry: LeagueEntry, options: PlayOptions, form: OutputForm, pages: "PagesServed | None" = None) -> int:
    """Play a league or a match, serve its pages if requested, and print its table. Returns the exit code."""

    def play_opened(league: OpenLeague, stop: StopRequests) -> int:
        if pages:
            pages.refuse_to_give_away(league.plan.level)
        progress = progress_of(league)
        with pages.beside(league, progress) if pages else nullcontext((progress, None)) as (progress, watch):
            play_games, print_results = partial(league.play, watch=watch), partial(_print_results, league, form)
            return play_and_print(league, stop, progress, play_games, print_results, form=form)

    return play_as(entry, options, play_opened)


def play_as(entry: LeagueEntry, options: PlayOptions, play_opened: Callable[[OpenLeague, StopRequests], int]) -> int:
    with unwinding():
        use_all_descriptors()
        with open_league(entry, options, remark, run_unwinding) as league:
            count = 0 if options.store else league.store.count_others(league.plan.players)
            if count:
                remark(
                    f"the store also has {counted(count, 'game')} of other bots: 'arena standings --all' shows them; "
                    "--store FILE keeps leagues apart"
                )
            with StopRequests() as stop:
                return play_opened(league, stop)


def play_and_print(
    league: OpenLeague,
    stop: StopRequests,
    progress: Progress,
    play_games: Callable[[StopRequest, Watcher], LeagueOutcome],
    print_results: Callable[[], None],
    *,
    form: OutputForm,
    code: Callable[[], int] = lambda: 0,
    failed: int = FAILED,
) -> int:
    """Play, show `progress` and print the results. Returns `code`, or `failed` if the results could not be printed."""
    lines = None
    if form is OutputForm.LINES:

        def print_line(line: str) -> None:
            result(line)
            flush_results()

        progress = lines = GameLines(progress, print_line, Roster(league.players, league.count()).names)

    def print_all() -> None:
        if lines:
            lines.close()
        print_results()

    try:
        outcome = play_games(stop, progress)
    finally:
        stop.reporting()
        progress.finish()
    if outcome.repeated:
        name, count = outcome.repeated
        remark(
            f"{name} took part in each of the {count} games that were played again; a bot can cause that by signals at "
            "the basic level of --sandbox, or by overloading the machine"
        )
    resume = _how_to_resume(league, outcome)
    if outcome.error:
        raise stopped_by(outcome.error, *outcome.changed, resume) from outcome.error
    try:
        _print_forfeits(league.plan, outcome)
        for line in outcome.remarks:
            remark(line)
        is_printed = try_to_print(print_all, league.plan.path)
        if outcome.is_complete:
            return code() if is_printed else failed
    except KeyboardInterrupt:
        pass  # the results have no reader, and the user will not wait
    if outcome.changed:
        new = (
            f"later games were not played, and those under way are not stored; {_stored(league)}\n"
            f"the same command again plays the new version: {same_command()}"
        )
        raise ArenaError("\n".join([*outcome.changed, new]))
    complain(resume)
    return INTERRUPTED


def progress_of(
    league: OpenLeague,
    what: str | None = None,
    *,
    note: Callable[[], str] = lambda: "",
    live_note: Callable[[], str] | None = None,
) -> Progress:
    """Print the plan, and return progress with a note in each line, or below the live table."""
    if detail() is Detail.QUIET:
        return Progress()
    plan, stored = league.plan, league.known
    if what is None:
        at_most = "the games follow from the results" if league.at_most is None else f"at most {league.at_most} games"
        games = at_most if league.planned is None else counted(league.planned, "game")
        what = f"{f'{plan.format} {plan.entry.kind.value}'.lstrip()} of {len(plan.bots)} bots, {games}"
    for line in fitted(_plan_text(plan, what, stored), sys.stderr).split("\n"):
        print(for_stream(colored(line, "dim"), sys.stderr), file=sys.stderr)
    if detail() is Detail.VERBOSE:
        return PlainProgress(sys.stderr, stored, league.planned, note)
    if not is_dumb(sys.stderr):
        return LiveProgress(sys.stderr, league.players, league.rows(), league.planned, live_note, broken=plan.faults)
    return PlainProgress(sys.stderr, stored, league.planned, note, tells_games=sys.stderr.isatty())


def _plan_text(plan: Plan, what: str, stored: int) -> str:
    have = f", {stored} of them stored already" if stored else ""
    at_once = f"{counted(plan.options.jobs, 'game')} at a time"
    if plan.cluster is not None:
        at_once = f"on cluster {plan.cluster.name}"
        if plan.cluster.reference_us is not None:
            at_once += f", calibrated ({reference_text(plan.cluster.reference_us)})"
    own = dict(plan.settings.bot_times)
    times = {bot.name: own[bot.player.digest].text for bot in plan.bots if bot.player.digest in own}
    usual = plan.settings.time.text
    handicap = handicap_text(usual, times, [bot.name for bot in plan.bots])
    rules = f"{plan.settings.variant.full_name}, {f'{handicap};' if handicap else f'{usual},'} {at_once}"
    lines = [f"{what}{have}; {rules}"]
    if plan.chosen and plan.chosen.settings:
        lines.append(f"format: {', '.join(plan.chosen.settings)}")
    if plan.options.openings is not None:
        lines.append(f"openings: {printable(str(plan.options.openings))} ({len(plan.settings.openings)})")
    if plan.settings.variant.kind.has_chance:
        guess = ", which can be guessed: so can all that is hidden; without --seed a random one is drawn"
        lines.append(f"seed: {plan.settings.seed}{guess if plan.settings.seed < GUESSED else ', kept by the store'}")
    lines += [level_line(plan.level, plan.options.sandbox == AUTO), f"store: {plan.path}"]
    return printable("\n".join(lines), lines=True)


def _print_results(league: OpenLeague, form: OutputForm) -> None:
    plan, rows = league.plan, [] if form is OutputForm.TEXT else league.rows()
    games = rows or league.count()
    table = make_table(league.players, games, league.planned, meets_all=league.meets_all)
    settings, places = league.store.settings(), league.placing()
    placing = placing_entry(places, table.names) if places else None
    if form is not OutputForm.TEXT:
        table = with_declared(table, rows, league.store)

        from arena.report.documents import league_json

        as_line = form is OutputForm.LINES
        result(league_json(plan.path, settings, table, rows, plan.faults, placing=placing, as_line=as_line))
        return
    width = width_of(sys.stdout)
    if detail() is Detail.QUIET:
        print_blocks([standings_grid(table.lines, width, plan.faults)])
    else:
        print_blocks(full_report(table, width, table_note(table.lines, settings), plan.faults))
    print_blocks(placing_report(placing))


def _print_forfeits(plan: Plan, outcome: LeagueOutcome) -> None:
    """Print the first forfeit of each bot and reason, with the last lines of the bot's standard error."""
    for forfeits in outcome.forfeits:
        if forfeits.name in plan.faults:
            continue
        remark(forfeits.text)
        lines = forfeits.stderr.strip().splitlines()
        for line in lines[-STDERR_LINES_SHOWN:]:
            remark(f"    {forfeits.name} stderr: {line}")
        if len(lines) > STDERR_LINES_SHOWN:
            show = arena_line("show", str(plan.path), str(forfeits.first.number), game=plan.settings.variant.game)
            remark(f"    (all of it: {show})")


def _how_to_resume(league: OpenLeague, outcome: LeagueOutcome) -> str:
    path = league.plan.path
    lost = f"; {counted(outcome.unstored, 'finished game')} could not be stored" if outcome.unstored else ""
    if outcome.dropped:
        games = "the game under way was" if outcome.dropped == 1 else f"the {outcome.dropped} games under way were"
        lost += f"; {games} dropped"
    if not path.exists():
        return f"stopped: there is no store at {path} any more{lost}\nplay all games again with: {same_command()}"
    if isinstance(outcome.error, StoreChangedError):
        return (
            f"stopped: {league.known}{_of_all(league)} games had been stored before{lost}\n"
            f"{path} is another store now: put the store with these games back there, or name another with --store, "
            "before you give the same command again"
        )
    return f"stopped: {_stored(league)}{lost}\nresume with: {same_command()}"


def _stored(league: OpenLeague) -> str:
    plan = league.plan
    path = plan.path
    try:
        league.count()
        return f"{league.known}{_of_all(league)} games are stored in {path}"
    except StoreError:
        verify = arena_line("verify", str(path), game=plan.settings.variant.game)
        return f"{league.known}{_of_all(league)} games were stored in {path}, which cannot be read now (see '{verify}')"


def _of_all(league: OpenLeague) -> str:
    return "" if league.planned is None else f" of {league.planned}"
