"""What `arena league` and `arena match` do: find the bots, play what is missing, print the table."""

import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import msgspec
import trio
from rich.text import Text

from arena.bots import BotSpec
from arena.cli.entrants import entrants
from arena.cli.options import DEFAULT_SEED, PlayOptions, option_value
from arena.confine.custody import claim_all_orphans
from arena.confine.launch import host_fault
from arena.confine.levels import AUTO, Confinement, Level, choose, enter_scope
from arena.confine.limits_file import load_limits
from arena.confine.rlimits import use_all_descriptors
from arena.league.changes import note_versions
from arena.league.run import play_missing
from arena.league.schedule import Settings, schedule
from arena.limits import Limits, parse_memory, parse_size
from arena.match import Conditions
from arena.model import ArenaError, GameRecord, GameSpec, Player, UsageError, parse_duration, parse_time
from arena.report.document import league_document
from arena.report.progress import LiveProgress, PlainProgress, Progress
from arena.report.standings import make_table
from arena.report.text import full_report, progress_console, results_console
from arena.rules.loading import load_ruleset
from arena.store import GameRow, Store

INTERRUPTED = 130
STDERR_LINES_SHOWN = 5
STOP_SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
SWITCH_SECONDS = 0.0005
"""How long a thread (one that draws a table, say) may keep the games waiting at a time."""


@dataclass(frozen=True)
class _Plan:
    """What is to be played, and where it is kept."""

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
        """What is about to be played, in two lines."""
        have = f", {stored} of them stored already" if stored else ""
        at_once = "1 game at a time" if self.jobs == 1 else f"{self.jobs} games at a time"
        rules = f"{self.settings.ruleset.name}, {self.settings.time.text}, {at_once}"
        played = f"{self.kind} of {len(self.bots)} bots, {len(self.games)} games{have}; {rules}"
        chosen = " (the strongest that works here: arena doctor)" if self.is_level_chosen else ""
        return Text(f"{played}\nsandbox: {self.level.value}{chosen}\nstore: {self.path}")

    def places(self, confinement: Confinement) -> list[Conditions]:
        """What is played under in each of the places where a game goes on."""
        cpus = sorted(os.sched_getaffinity(0)) if self.affinity else []
        pinned = [frozenset({cpus[place % len(cpus)]}) if cpus else frozenset[int]() for place in range(self.jobs)]
        return [
            Conditions(partial(confinement.start, cpus=cpu), self.settings.pondering, confinement.try_out)
            for cpu in pinned
        ]


def play(
    paths: Sequence[str], options: PlayOptions, kind: str, rounds: int, games: int | None = None, *, strict: bool = True
) -> int:
    """Play a league or a match and print its table. Returns the exit code; raises `ArenaError`.

    Unless it is `strict`, bots that cannot be started take part and forfeit their games.
    """
    if options.affinity and not hasattr(os, "sched_setaffinity"):
        raise UsageError("--affinity: this system cannot pin programs to a CPU")
    level = level_of(options.sandbox)
    bots = entrants(paths, level, options, strict)
    settings = settings_of(options, bots)
    planned = schedule(settings, [bot.player for bot in bots], rounds)[:games]
    path = options.store or Path(default_store(kind, bots, settings))
    plan = _Plan(
        kind,
        settings,
        tuple(bots),
        tuple(planned),
        options.jobs,
        level,
        options.sandbox == AUTO,
        options.affinity,
        path,
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    use_all_descriptors()
    with (
        confinement_of(level, bots, settings, options.interpreters) as confinement,
        Store(path, create=True) as store,
    ):
        trio.run(confinement.try_out)
        claim_all_orphans()
        store.agree(settings.described([bot.name for bot in bots]))
        for line in note_versions(store, bots):
            click.echo(line, err=True)
        store.set_entrants(plan.players)
        store.set_planned(len(plan.games))
        faults = _Faults()
        try:
            stopped = trio.run(_play_until_stopped, plan, confinement, store, _progress(plan, store), faults)
        except ArenaError as error:
            raise _stopped(plan, store, error) from error
        except Exception as error:
            fault = host_fault(error)
            if fault is None:
                raise
            raise _stopped(plan, store, fault) from error
        faults.tell(path)
        if stopped:
            click.echo(_how_to_resume(plan, store), err=True)
            return INTERRUPTED
        _print_results(plan, store, options.as_json)
    return 0


def _progress(plan: _Plan, store: Store) -> Progress:
    console = progress_console()
    rows = plan.rows(store)
    console.print(plan.words(len(rows)), style="dim")
    if console.is_terminal:
        return LiveProgress(console, plan.players, rows, len(plan.games))
    return PlainProgress(console, len(rows), len(plan.games))


def _print_results(plan: _Plan, store: Store, as_json: bool) -> None:
    rows = plan.rows(store)
    table = make_table(plan.players, rows, len(plan.games))
    if as_json:
        broken = {bot.name: bot.fault for bot in plan.bots if bot.fault is not None}
        click.echo(league_document(plan.path, store.settings(), table, rows, broken))
    else:
        console = results_console()
        console.print(full_report(table, console.width))
        for bot in plan.bots:
            if bot.fault is not None:
                click.echo(f"{bot.name} is broken and was not started: {bot.fault.splitlines()[0]}")


def level_of(asked: str) -> Level:
    """The level of confinement that was asked for; this may start the command again in a scope. Raises `UsageError`."""
    enter_scope(asked)
    return choose(asked)


def confinement_of(
    level: Level, bots: Sequence[BotSpec], settings: Settings, interpreters: Sequence[str]
) -> Confinement:
    """How the bots are to be started."""
    return Confinement(level, bots, settings.limits, dict(settings.bot_limits), interpreters)


def settings_of(options: PlayOptions, bots: Sequence[BotSpec]) -> Settings:
    """The settings that were asked for. Raises `UsageError` or `RulesetError`."""
    time = msgspec.structs.replace(
        parse_time(options.time),
        start_ms=parse_duration(options.start_time),
        setup_ms=parse_duration(options.setup_time),
        margin_ms=0 if options.margin in ("0", "0ms") else parse_duration(options.margin),
    )
    usual = Limits(
        option_value("--memory", parse_memory, options.memory),
        options.processes,
        option_value("--tmp", parse_size, options.tmp),
    )
    own = load_limits(options.limits, usual, [bot.name for bot in bots]) if options.limits else {}
    return Settings(
        load_ruleset(options.rules), time, options.seed, usual, tuple(sorted(own.items())), options.pondering
    )


def default_store(kind: str, bots: Sequence[BotSpec], settings: Settings) -> str:
    """The file that the games are kept in where none is named: told apart by what they are."""
    who = [bot.name for bot in bots] if kind == "match" else []
    seed = [f"seed{settings.seed}"] if settings.seed != DEFAULT_SEED else []
    return (
        re.sub(r"[^\w.+-]", "_", "-".join([kind, *who, settings.ruleset.name, settings.time.text, *seed])) + ".sqlite"
    )


async def _play_until_stopped(
    plan: _Plan, confinement: Confinement, store: Store, progress: Progress, faults: "_Faults"
) -> bool:
    """Play; returns whether a signal (Ctrl-C, a closed terminal) stopped it before the end."""
    stopped = False
    failure: ArenaError | None = None

    def finished(row: GameRow, record: GameRecord) -> None:
        progress.finished(row, record)
        faults.note(row, record)

    async def listen(playing: trio.CancelScope) -> None:
        nonlocal stopped
        async for _ in signals:
            stopped = True
            playing.cancel()

    with trio.open_signal_receiver(*STOP_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen, nursery.cancel_scope)
            nursery.start_soon(progress.run)
            try:
                bots = {bot.player: bot for bot in plan.bots}
                await play_missing(plan.games, bots, store, plan.places(confinement), finished, say=progress.say)
            except ArenaError as error:
                failure = error  # raised below: out of a nursery it would come wrapped in a group
            nursery.cancel_scope.cancel()
    if failure:
        raise failure
    return stopped


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
            click.echo(f"{name} forfeited {games} ({reason}); the first, game {row.number}: {row.detail}", err=True)
            lines = stderr.strip().splitlines()
            for line in lines[-STDERR_LINES_SHOWN:]:
                click.echo(f"    {name} stderr: {line}", err=True)
            if len(lines) > STDERR_LINES_SHOWN:
                click.echo(f"    (all of it: arena show {shlex.quote(str(store))} {row.number})", err=True)


def _stopped(plan: _Plan, store: Store, error: ArenaError) -> ArenaError:
    """What stopped the league, with what is stored and how to go on."""
    told = ArenaError(f"{error}\n{_how_to_resume(plan, store)}")
    told.exit_code = error.exit_code
    return told


def _how_to_resume(plan: _Plan, store: Store) -> str:
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    stored = f"{len(plan.rows(store))} of {len(plan.games)} games are stored in {plan.path}"
    return f"stopped: {stored}; the games under way were dropped\nresume with: {command}"
