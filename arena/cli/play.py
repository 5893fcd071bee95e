"""What `arena league` and `arena match` do: find the bots, play what is missing, print the table."""

import dataclasses
import hashlib
import os
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
import trio
from rich.text import Text

from arena.bots import BotSpec
from arena.bots.limits_file import load_limits
from arena.bots.sandbox.launch import host_fault
from arena.bots.sandbox.levels import AUTO, Level, choose, enter_scope
from arena.bots.sandbox.reaper import claim_all_orphans
from arena.bots.sandbox.rlimits import use_all_descriptors
from arena.bots.starting import Sandbox
from arena.cli.entrants import entrants, usual_limits
from arena.cli.exit_codes import FAILED, INTERRUPTED
from arena.cli.interrupts import StopRequests, Wish, unwinding
from arena.cli.options import DEFAULT_SEED, MOST_GAMES, PlayOptions, option_value
from arena.cli.streams import OutputError, flush_results, remark, result
from arena.cli.words import shell_line, this_command
from arena.errors import ArenaError, UsageError
from arena.game.record import GameRecord
from arena.game.spec import GameSpec, Player
from arena.game.time_control import parse_duration, parse_time
from arena.league.changes import note_versions
from arena.league.resume import stored_in
from arena.league.run import Session, play_missing
from arena.league.schedule import Settings, schedule
from arena.league.store import GameRow, Store
from arena.league.versions import Versions
from arena.play.runner import GameOptions
from arena.printable import printable
from arena.report.json import league_document
from arena.report.progress import LiveProgress, PlainProgress, Progress
from arena.report.standings import Roster, make_table
from arena.report.terminal import full_report, progress_console, results_console
from arena.rules.loading import load_ruleset

STDERR_LINES_SHOWN = 5
SWITCH_SECONDS = 0.0005
"""How long a thread (one that draws a table, say) may keep the games waiting at a time."""
LONGEST_NAME = 255 - len("-journal")
"""Bytes that a store's name may have: what file systems allow, less what SQLite adds for the file beside it."""

T = TypeVar("T")


@dataclass(frozen=True)
class _Plan:
    """What is to be played, and where it is kept. Which games there are is known when the store has been opened."""

    kind: str
    settings: Settings
    bots: tuple[BotSpec, ...]
    games: tuple[GameSpec, ...]
    jobs: int
    level: Level
    is_level_chosen: bool
    affinity: bool
    path: Path

    @property
    def players(self) -> tuple[Player, ...]:
        return tuple(bot.player for bot in self.bots)

    def rows(self, store: Store) -> list[GameRow]:
        """The games of the plan that are stored."""
        ids = {game.id for game in self.games}
        return [row for row in store.rows() if row.id in ids]

    def words(self, stored: int) -> Text:
        """What is about to be played, in three lines."""
        have = f", {stored} of them stored already" if stored else ""
        at_once = "1 game at a time" if self.jobs == 1 else f"{self.jobs} games at a time"
        rules = f"{self.settings.ruleset.name}, {self.settings.time.text}, {at_once}"
        number = "1 game" if len(self.games) == 1 else f"{len(self.games)} games"
        played = f"{self.kind} of {len(self.bots)} bots, {number}{have}; {rules}"
        held = level_line(self.level, self.is_level_chosen)
        return Text(printable(f"{played}\n{held}\nstore: {self.path}", lines=True))

    def places(self, confinement: Sandbox) -> list[GameOptions]:
        """What is played under in each of the places where a game goes on."""
        cpus = sorted(os.sched_getaffinity(0)) if self.affinity else []
        pinned = [frozenset({cpus[place % len(cpus)]}) if cpus else frozenset[int]() for place in range(self.jobs)]
        return [
            GameOptions(partial(confinement.start, cpus=cpu), self.settings.pondering, confinement.try_out)
            for cpu in pinned
        ]


def play(
    paths: Sequence[str],
    options: PlayOptions,
    kind: str,
    rounds: int,
    games: int | None = None,
    *,
    strict: bool = True,
    follow_links: bool = True,
) -> int:
    """Play a league or a match and print its table. Returns the exit code; raises `ArenaError`.

    Unless it is `strict`, bots that cannot be started take part and forfeit their games. Unless links are to be
    followed, paths that are links are such bots.
    """
    with unwinding():
        plan = _plan(paths, options, kind, rounds, games, strict=strict, follow_links=follow_links)
        sys.setswitchinterval(SWITCH_SECONDS)
        use_all_descriptors()
        with (
            sandbox_of(plan.level, plan.bots, plan.settings, options.interpreters) as confinement,
            Store(plan.path, create=True) as store,
        ):
            trio.run(confinement.try_out)
            store.agree(plan.settings.described([bot.name for bot in plan.bots]))
            played = schedule(plan.settings, plan.players, rounds, stored_in(store))  # older ids count as well
            plan = dataclasses.replace(plan, games=tuple(played[:games]))
            for line in note_versions(store, plan.bots):
                remark(line)
            if options.store is None:
                _note_others(store, plan.players)
            store.set_entrants(plan.players)
            store.set_planned(len(plan.games))
            with StopRequests() as stop:
                return _play_and_tell(plan, confinement, store, stop, options.as_json)


def _note_others(store: Store, players: Sequence[Player]) -> None:
    """Say that a store which nobody has named holds games of bots that take no part now, if it does."""
    count = store.count_others(players)
    if count:
        games = "1 game" if count == 1 else f"{count} games"
        remark(
            f"the store holds {games} of other bots as well: 'arena standings' leaves them out (--all shows them); "
            "--store FILE keeps leagues apart"
        )


def _plan(
    paths: Sequence[str],
    options: PlayOptions,
    kind: str,
    rounds: int,
    games: int | None,
    *,
    strict: bool,
    follow_links: bool,
) -> _Plan:
    if options.affinity and not hasattr(os, "sched_setaffinity"):
        raise UsageError("--affinity: this system cannot pin programs to a CPU")
    level = level_of(options.sandbox)
    claim_all_orphans()  # before builds, which are run as bots are
    store = partial(store_of, options, kind)
    bots, path = entrants(paths, level, options, strict, follow_links=follow_links, store=store)
    settings = settings_of(options, bots)
    _check_number(len(bots), rounds)
    return _Plan(
        kind,
        settings,
        tuple(bots),
        (),
        options.jobs,
        level,
        options.sandbox == AUTO,
        options.affinity,
        apart_from_bots(path, bots),
    )


def apart_from_bots(store: Path, bots: Sequence[BotSpec]) -> Path:
    """The path of the store. Raises `UsageError` if it lies in a bot's folder, of which it would become a part."""
    full = Path(os.path.realpath(store))
    for bot in bots:
        if bot.path.is_dir() and bot.fault is None and full.is_relative_to(bot.folder):
            raise UsageError(
                f"{printable(str(store))}: the store would lie in the folder of {bot.name}, and each game would make "
                "that another version: name another place with --store"
            )
    return store


def _check_number(bots: int, rounds: int) -> None:
    """Raise `UsageError` if there are more games than a league may have."""
    a_round = bots * (bots - 1)
    if rounds * a_round > MOST_GAMES:
        raise UsageError(
            f"--rounds: expected at most {MOST_GAMES // a_round} with {bots} bots (a league has at most {MOST_GAMES} "
            f"games), got {rounds}"
        )


def _play_and_tell(plan: _Plan, confinement: Sandbox, store: Store, stop: StopRequests, as_json: bool) -> int:
    """Play what is missing and tell what came of it. Returns the exit code."""
    faults, versions, session = _Faults(), Versions(), Session()
    progress = _progress(plan, store)
    playing = partial(_play_until_stopped, progress=progress, faults=faults, versions=versions)
    try:
        run_games(partial(playing, plan, confinement, store, stop, session))
    except ArenaError as error:
        told = ArenaError("\n".join([str(error), *versions.errors(), _how_to_resume(plan, store, session)]))
        told.exit_code = error.exit_code
        raise told from error
    finally:
        stop.reporting()
        progress.finish()
    try:
        faults.tell(plan.path)
        for line in versions.remarks():
            remark(line)
        is_told = _print_results(plan, store, as_json)
        if len(plan.rows(store)) == len(plan.games):
            return 0 if is_told else FAILED
    except KeyboardInterrupt:
        pass  # nobody reads the results, and the user will not wait
    if versions.errors():
        raise ArenaError("\n".join([*versions.errors(), _how_to_play_the_new(plan, store)]))
    remark(_how_to_resume(plan, store, session))
    return INTERRUPTED


def run_games(play_them: Callable[[], Awaitable[T]]) -> T:
    """Run the task that plays games, to its end. Raises `ArenaError` for what the store or the machine lacks."""
    try:
        return trio.run(play_them)
    except ArenaError:
        raise
    except Exception as error:
        fault = host_fault(error)
        if fault is None:
            raise
        raise fault from error


def _progress(plan: _Plan, store: Store) -> Progress:
    console = progress_console()
    rows = plan.rows(store)
    console.print(plan.words(len(rows)), style="dim", soft_wrap=not console.is_terminal)
    if sys.stderr.isatty() and not console.is_dumb_terminal:
        return LiveProgress(console, plan.players, rows, len(plan.games))
    return PlainProgress(console, len(rows), len(plan.games))


def _print_results(plan: _Plan, store: Store, as_json: bool) -> bool:
    """Print the table, which is that of what has been played so far. Returns whether that could be done."""
    rows = plan.rows(store)
    table = make_table(plan.players, rows, len(plan.games))
    try:
        if as_json:
            broken = {bot.name: bot.fault for bot in plan.bots if bot.fault is not None}
            names = Roster(plan.players, rows).names
            result(league_document(plan.path, store.settings(), table, rows, broken, names=names))
        else:
            console = results_console()
            console.print(full_report(table, console.width))
            for bot in plan.bots:
                if bot.fault is not None:
                    result(f"{bot.name} is broken and was not started: {bot.fault.splitlines()[0]}")
        flush_results()
    except OutputError as error:
        error.tell(f"; the games are stored in {plan.path}")
        return False
    return True


def level_line(level: Level, is_chosen: bool) -> str:
    """How bots are held, in a line that is printed before they are started; `is_chosen`: by `auto`."""
    chosen = " (the strongest that works here: arena doctor)" if is_chosen else ""
    return f"sandbox: {level.value}{chosen}{_what_bots_may_do() if level is Level.DEFAULT else ''}"


def _what_bots_may_do() -> str:
    """What a host should know of the default level. Only the first sandbox is tried, which takes some milliseconds."""
    stronger = "; safer: --sandbox bwrap" if Level.BWRAP.why_not() is None else ""
    return f" (bots can use your files and network{stronger})"


def level_of(asked: str) -> Level:
    """The level of confinement that was asked for; this may start the command again in a scope. Raises `UsageError`."""
    enter_scope(asked)
    return choose(asked)


def sandbox_of(level: Level, bots: Sequence[BotSpec], settings: Settings, interpreters: Sequence[str]) -> Sandbox:
    """How the bots are to be started."""
    return Sandbox(level, bots, settings.limits, dict(settings.bot_limits), interpreters)


def settings_of(options: PlayOptions, bots: Sequence[BotSpec]) -> Settings:
    """The settings that were asked for. Raises `UsageError` or `RulesetError`."""
    time = msgspec.structs.replace(
        option_value("--time", parse_time, options.time),
        start_ms=option_value("--start-time", parse_duration, options.start_time),
        setup_ms=option_value("--setup-time", parse_duration, options.setup_time),
        margin_ms=0 if options.margin in ("0", "0ms") else option_value("--margin", parse_duration, options.margin),
    )
    usual = usual_limits(options)
    own = load_limits(options.limits, usual, [bot.name for bot in bots]) if options.limits else {}
    return Settings(
        load_ruleset(options.rules), time, options.seed, usual, tuple(sorted(own.items())), options.pondering
    )


def store_of(options: PlayOptions, kind: str, bots: Sequence[BotSpec]) -> Path:
    """The file that the games are kept in. Raises `UsageError` or `RulesetError`."""
    if options.store is not None:
        return options.store
    return Path(default_store(kind, bots, settings_of(dataclasses.replace(options, limits=None), bots)))


def default_store(kind: str, bots: Sequence[BotSpec], settings: Settings) -> str:
    """The file that the games are kept in where none is named: separated by what they are.

    A name that is too long for a file is cut, and ends in a fingerprint of the whole.
    """
    who = [bot.name for bot in bots] if kind == "match" else []
    seed = [f"seed{settings.seed}"] if settings.seed != DEFAULT_SEED else []
    name = re.sub(r"[^\w.+-]", "_", "-".join([kind, *who, settings.ruleset.name, settings.time.text, *seed]))
    suffix = ".sqlite"
    if len(os.fsencode(name + suffix)) > LONGEST_NAME:
        suffix = f"-{hashlib.sha256(name.encode()).hexdigest()[:16]}{suffix}"
        name = os.fsencode(name)[: LONGEST_NAME - len(suffix)].decode(errors="ignore")
    return name + suffix


async def _play_until_stopped(
    plan: _Plan,
    confinement: Sandbox,
    store: Store,
    stop: StopRequests,
    session: Session,
    *,
    progress: Progress,
    faults: "_Faults",
    versions: Versions,
) -> None:
    """Play until all is played or the user has stopped it."""
    failure: ArenaError | None = None

    def finished(row: GameRow, record: GameRecord) -> None:
        progress.finished(row, record)
        faults.note(row, record)

    async def heed(playing: trio.CancelScope) -> None:
        if await stop.wait_beyond(Wish.GO_ON) is Wish.STOP_SOON:
            session.close()
            if session.under_way:
                games = "the game" if session.under_way == 1 else f"{session.under_way} games"
                progress.remark(f"finishing {games} under way; Ctrl-C again to stop at once")
            await stop.wait_beyond(Wish.STOP_SOON)
        session.close()  # one that is stored at this moment is followed by no other
        playing.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(heed, nursery.cancel_scope)
        try:
            bots = {bot.player: bot for bot in plan.bots}
            places = plan.places(confinement)
            await play_missing(
                plan.games, bots, store, places, finished, versions=versions, say=progress.remark, session=session
            )
        except ArenaError as error:
            failure = error  # raised below: out of a nursery it would come wrapped in a group
        nursery.cancel_scope.cancel()
    if failure:
        raise failure


class _Faults:
    """What went wrong with bots, to be told after the table: the first game of each bot and reason."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], tuple[GameRow, str]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def note(self, row: GameRow, record: GameRecord) -> None:
        if not row.reason.is_forfeit:
            return
        for player, stderr in zip(row.players, record.stderr, strict=True):
            winner = row.result.winner
            if winner is None or row.players[winner] != player:
                key = (player.name, row.reason.value)
                self._first.setdefault(key, (row, stderr))
                self._counts[key] = self._counts.get(key, 0) + 1

    def tell(self, store: Path) -> None:
        for (name, reason), (row, stderr) in self._first.items():
            count = self._counts[name, reason]
            games = "1 game" if count == 1 else f"{count} games"
            remark(f"{name} forfeited {games} ({reason}); the first, game {row.number}: {row.detail}")
            lines = stderr.strip().splitlines()
            for line in lines[-STDERR_LINES_SHOWN:]:
                remark(f"    {name} stderr: {line}")
            if len(lines) > STDERR_LINES_SHOWN:
                remark(f"    (all of it: {shell_line(this_command(), 'show', str(store), str(row.number))})")


def _how_to_resume(plan: _Plan, store: Store, session: Session) -> str:
    stored = _stored(plan, store)
    if not plan.path.exists():
        stored = f"there is no store at {plan.path} any more, so all games are to be played again"
    games = "the game under way was" if session.dropped == 1 else f"the {session.dropped} games under way were"
    dropped = f"; {games} dropped" if session.dropped else ""
    return f"stopped: {stored}{dropped}\nresume with: {shell_line(this_command(), *sys.argv[1:])}"


def _how_to_play_the_new(plan: _Plan, store: Store) -> str:
    return (
        "games from then on were not played, and those that were under way are not stored; "
        f"{_stored(plan, store)}\nthe same command again plays the new version: "
        f"{shell_line(this_command(), *sys.argv[1:])}"
    )


def _stored(plan: _Plan, store: Store) -> str:
    return f"{len(plan.rows(store))} of {len(plan.games)} games are stored in {plan.path}"
