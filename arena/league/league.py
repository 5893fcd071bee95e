"""A league or a match as a service: find the bots, plan the games, play those that are missing.

It does not print, handle signals or exit. Remarks go to callables, a stop is requested by a `StopRequest`, and the
result is a `LeagueOutcome`.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import trio

from arena.bots.entering import fingerprint
from arena.errors import ArenaError, UsageError
from arena.game.game_spec import Player
from arena.league.executor.local import local_executor
from arena.league.executor.task import Executor
from arena.league.game_ids import Games
from arena.league.league_options import PLACING, PlayOptions
from arena.league.pairing.pairing import Pairing, Placing
from arena.league.pairing.round_robin import RoundRobin
from arena.league.plan import LeagueEntry, Plan, planned
from arena.league.play_missing import LeagueOutcome, LeagueRun, Watch, Watcher
from arena.league.settings import settings_in
from arena.league.stop import Say, StopRequest, Wish, run_games
from arena.league.store import DamagedError, GameRow, Groups, Store, StoreChangedError, StoreError, runs_of
from arena.league.store.document import Setting
from arena.league.stored_league import (
    GamesBetween,
    LineUp,
    StoredWalk,
    format_text,
    known_to_ladder,
    league_before,
    line_up,
    placing_of,
)
from arena.league.versions import note_versions
from arena.play.machine import read_reference
from arena.processes.runnable import PlaySettings
from arena.system.concurrency import Run, background
from arena.system.printable import counted


@contextlib.contextmanager
def open_league(entry: LeagueEntry, options: PlayOptions, say: Say, run: Run = trio.run) -> Iterator["OpenLeague"]:
    """Prepare a league or match: bots found, built and tried in the sandbox, the store open and checked.

    `say` receives remarks, `run` runs async functions. Raises `UsageError`, `RulesetError` and other `ArenaError`.
    """
    with contextlib.ExitStack() as stack:
        plan = stack.enter_context(planned(entry, options, say, run))
        store = stack.enter_context(Store(plan.path, create=True))
        plan = _calibrated(plan, store)
        store.agree(plan.settings.described(plan.players), plan.players)
        # The times of all bots that have played with one of their own identify games of older versions.
        times = dict(settings_in(store.settings()).bot_times) | dict(plan.settings.bot_times)
        settings = msgspec.structs.replace(plan.settings, bot_times=tuple(times.items()))
        lineup = LineUp(entry.format)
        if plan.chosen:
            broken = {bot.player.digest for bot in plan.bots if bot.fault is not None}
            before = None if entry.is_new else league_before(store, plan.chosen, settings)
            lineup = line_up(plan.chosen, plan.players, broken, {player.digest for player in store.players()}, before)
        players = lineup.everybody(plan.players)
        since: int | None = None
        if lineup.chosen and lineup.chosen.goes_on:
            since = store.ladder_since([player.digest for player in plan.players])
            since = store.last_number() if since is None else since  # a resumed ladder continues in the same way
            lineup = replace(lineup, format=replace(lineup.chosen, known=known_to_ladder(store, players, since)))
        pairing = partial(lineup.format, Games(settings, store, lineup.former), plan.players, entry.rounds, entry.games)
        league = OpenLeague(plan, pairing, store, run, players=players)
        league.refuse_lost(lineup.counted)
        for line in (*note_versions(store, plan.bots, lineup.former), *league.remarks(lineup)):
            say(line)
        if since is not None:
            store.set_ladder_since([player.digest for player in plan.players], since)
        keeps_copies = plan.chosen is not None and plan.chosen.options.name in PLACING
        if keeps_copies if entry.archive is None else entry.archive:
            from arena.bots.archive import ARCHIVE, archive_of, keep_copies

            archive = archive_of(store.path)
            for line in keep_copies(archive, plan.bots):
                say(line)
            store.set_places({ARCHIVE: fingerprint(Path(os.path.realpath(archive)))})
        store.keep(
            format=format_text(lineup, plan.players, entry.rounds),
            entrants=players,
            planned=league.planned,
            meets_all=league.meets_all,
            sandbox=plan.level.value,
        )
        league.keep_what_counts()
        yield league


def _calibrated(plan: Plan, store: Store) -> Plan:
    cluster = plan.cluster
    if cluster is None or not cluster.is_calibrated:
        return plan
    from arena.league.executor.cluster.cluster_protocol import reference_us

    reference = read_reference(store.settings().get(Setting.CALIBRATION, "")) or reference_us()
    return replace(
        plan,
        settings=msgspec.structs.replace(plan.settings, reference_us=reference),
        cluster=replace(cluster, reference_us=reference),
    )


class OpenLeague:
    """A league or match that is ready to be played.

    `players` are the participants, followed by older versions with games that count for them. `planned` is the number
    of games, None while it depends on results; `at_most` is its upper bound, if known. If it `meets_all`, all bots meet
    equally often, so that a table can show missing games.
    """

    def __init__(
        self,
        plan: Plan,
        pairing: Callable[[], Pairing],
        store: Store,
        run: Run,
        *,
        players: tuple[Player, ...],
    ) -> None:
        self.plan, self.players, self.store = plan, players, store
        self.new_pairing = pairing
        fresh = pairing()
        self.planned = fresh.planned
        self.at_most = fresh.at_most
        self.meets_all = isinstance(fresh, RoundRobin) and not plan.faults
        self._run = run
        self._walk: StoredWalk | None = self._walked()
        """The walk through the stored games, for the first call of `play`, as it takes long in a large league."""
        self._numbers = set(self._walk.numbers)

    @property
    def known(self) -> int:
        """The number of the league's games found in the store or stored since, even if they are gone from it."""
        return len(self._numbers)

    def _walked(self) -> StoredWalk:
        return StoredWalk(self.new_pairing(), GamesBetween(self.store, self.players))

    def count(self) -> Groups:
        """Count the games of the store that the league does not exclude. Raises `DamagedError`."""
        contents = self.store.count(counted=True)
        if contents.damage:
            raise DamagedError(self.store.path, contents.damage)
        return contents.rows

    def rows(self) -> list[GameRow]:
        """Return the stored games of the league, in the order in which they were stored, all in memory."""
        return [row for row in self.store.rows() if row.number in self._numbers]

    def rows_in_order(self) -> list[GameRow]:
        """Return the stored games of the league in the order in which they are to be played."""
        places = {number: place for place, number in enumerate(self._walked().numbers)}
        return sorted(
            (row for row in self.store.each_row() if row.number in places), key=lambda row: places[row.number]
        )

    def placing(self) -> Placing | None:
        """Return the places by the format's own rules; None where the table shows all."""
        return placing_of(self.new_pairing(), GamesBetween(self.store, self.players))

    def refuse_lost(self, counted_before: Sequence[int]) -> None:
        lost = sum(number not in self._numbers for number in counted_before)
        if lost:
            raise UsageError(
                f"{self.store.path}: {lost} of the {counted(len(counted_before), 'game')} that this {self.plan.format} "
                "league has played would not count any more, as it began with other bots, seeds or options; give the "
                "command as before, or start again with --new-league"
            )

    def remarks(self, lineup: LineUp) -> Iterator[str]:
        """Yield a line for each bot that comes after the draw, and one if new versions come after the end."""
        for player in lineup.late:
            yield f"{player.name}: not in the draw of this knockout, so it plays no game; --new-league makes a new draw"
        new = [player.name for player in self.plan.players if player.digest in lineup.former]
        placing = self.placing() if new else None
        if placing and placing.stage and placing.stage.is_over:
            yield (
                f"this {self.plan.format} league is over, and its results stay as they are; --new-league plays "
                f"it again with {', '.join(new)} as of now"
            )

    def keep_as_whole(self, first: int | None = None) -> None:
        """Declare the games so far, or the first `first` in the order of play, to be all, and exclude others."""
        if first is not None:
            self._numbers = set(self._walked().numbers[:first])
            self.keep_what_counts()
        self.planned = self.known
        self.store.keep(planned=self.planned)

    def keep_what_counts(self) -> None:
        """Store for all tables which games between these players do not count, and who is disqualified."""
        digests = {player.digest for player in self.players}
        has_others = self.store.count_between(digests) > self.known
        numbers = self.store.numbers_between(digests) if has_others else ()
        limit = self.plan.chosen.options.disqualify if self.plan.chosen else None
        placing = self.placing() if limit is not None else None
        disqualified = placing.disqualified if placing else ()
        games = Counter(player.digest for row in (self.rows() if disqualified else ()) for player in row.players)
        self.store.keep(
            not_counted=runs_of(number for number in numbers if number not in self._numbers),
            disqualified=tuple(msgspec.structs.replace(one, counted=games[one.player.digest]) for one in disqualified),
        )

    def play(
        self,
        stop: StopRequest,
        watcher: Watcher,
        watch: Watch | None = None,
        decides: Callable[[GameRow], bool] = lambda row: False,
    ) -> LeagueOutcome:
        """Play what is missing, until all is played, `stop` is requested, or a game `decides`.

        Neither `watcher` nor `watch` may wait.
        """
        others = GamesBetween(self.store, self.players).left - self.known
        walk, self._walk = self._walk or self._walked(), None
        bots = {bot.player: bot for bot in self.plan.bots}
        run = LeagueRun(walk, bots, self.store, watcher, watch, keep_bots=self.plan.settings.keep_bots)
        error = None
        try:
            run_games(self._run, self._play_until_stopped, stop, run, decides)
            self.store.refuse_changed()
        except ArenaError as caught:
            error = caught
        finally:
            self._numbers |= run.numbers
        run.is_complete = run.is_complete and not isinstance(error, StoreChangedError)
        if not isinstance(error, StoreError):
            try:
                if others:  # the pairing may have come to games of an earlier league
                    self._numbers = set(self._walked().numbers)
                if run.is_complete and self.planned is None:
                    self.keep_as_whole()
                self.keep_what_counts()
            except StoreError as caught:
                error = error or caught
        return run.outcome(error)

    async def _play_until_stopped(self, stop: StopRequest, run: LeagueRun, decides: Callable[[GameRow], bool]) -> None:
        def end(playing: trio.CancelScope) -> None:
            run.close()  # a game that is stored at this moment is followed by no other
            playing.cancel()

        async def stop_when_asked(playing: trio.CancelScope) -> None:
            if await stop.wait_beyond(Wish.GO_ON) is Wish.STOP_SOON:
                run.close()
                if run.under_way:
                    run.watcher.closing(run.under_way)
                await stop.wait_beyond(Wish.STOP_SOON)
            end(playing)

        async with background() as nursery:
            run.on_stored = lambda row: end(nursery.cancel_scope) if decides(row) else None
            nursery.start_soon(stop_when_asked, nursery.cancel_scope)
            await self._play_games(run)

    async def _play_games(self, run: LeagueRun) -> None:
        plan, jobs = self.plan, self.plan.options.jobs
        if self.planned is not None:
            jobs = min(jobs, self.planned - self.known)
        elif run.walk.is_complete:
            jobs = 0
        if not jobs:
            run.is_complete = True
            return
        settings = replace(
            plan.play_settings(plan.settings), is_pinned=plan.is_pinned, is_watched=run.watch is not None
        )
        async with self._executor(settings, jobs) as executor:
            await run.play(executor)

    def _executor(self, settings: PlaySettings, jobs: int) -> AbstractAsyncContextManager[Executor]:
        if self.plan.cluster is None:
            return local_executor(settings, jobs)
        from arena.league.executor.cluster.client import cluster_executor  # a league without a cluster loads none of it

        return cluster_executor(settings, self.plan.cluster)
