"""A league or a match as a service: find the bots, plan the games, play those that are missing.

It does not print, handle signals or exit. Remarks go to callables, a stop is requested by a `StopRequest`, and the
result is a `LeagueOutcome`.
"""

import contextlib
import os
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec
import trio

from arena.bots.entering import fingerprint
from arena.bots.starting import Sandbox
from arena.bots.trial import Run
from arena.errors import ArenaError, UsageError
from arena.game.game_spec import Player
from arena.league.entrants import note_versions
from arena.league.executor.local import local_executor
from arena.league.executor.task import Executor, PlaySettings
from arena.league.game_specs import Games
from arena.league.league_options import PLACING, PlayOptions
from arena.league.pairing.chosen import ChosenFormat
from arena.league.pairing.pairing import Pairing
from arena.league.pairing.placing import Placing
from arena.league.pairing.round_robin import RoundRobin
from arena.league.plan import LeagueEntry, Plan, planned
from arena.league.play_missing import LeagueOutcome, PlayState, Watch, Watcher, play_missing
from arena.league.settings import Settings, settings_in
from arena.league.stop import Say, StopRequest, Wish, run_games
from arena.league.store import DamagedError, GameRow, Groups, Store, StoreChangedError, StoreError, runs_of
from arena.league.store.document import CALIBRATION
from arena.league.stored_league import (
    GamesBetween,
    LineUp,
    StoredWalk,
    format_text,
    games_between,
    ladder_start,
    league_before,
    line_up,
    placing_of,
    stored_games,
)
from arena.play.machine import read_reference
from arena.system.concurrency import background
from arena.system.printable import counted as counted_text


@contextlib.contextmanager
def open_league(entry: LeagueEntry, options: PlayOptions, say: Say, run: Run = trio.run) -> Iterator["OpenLeague"]:
    """Prepare a league or match: bots found and built, the sandbox tried out, the store open and checked.

    `say` receives remarks, `run` runs async functions. Raises `UsageError`, `RulesetError` and other `ArenaError`.
    """
    with (
        planned(entry, options, say, run) as wanted,
        _sandbox_of(wanted) as held,
        Store(wanted.path, create=True) as store,
    ):
        run_games(run, held.try_out)
        plan = _calibrated(wanted, store)
        store.agree(plan.settings.described(plan.players), plan.players)
        settings = _with_older_times(plan.settings, store)
        before = None if entry.is_new else league_before(store, entry.format, settings)
        broken = {bot.player.digest for bot in plan.bots if bot.fault is not None}
        played = {player.digest for player in store.players()}
        lineup = line_up(entry.format, plan.players, broken, played, before)
        players = lineup.everybody(plan.players)
        games = Games(settings, store, lineup.former)
        format_, since = lineup.format, 0
        if isinstance(format_, ChosenFormat) and format_.goes_on:
            since = ladder_start(store, plan.players)
            known = games_between(players, store.each_row())
            format_ = format_.with_known([row for row in known if row.number <= since])
        pairing = partial(format_, games, plan.players, entry.rounds, entry.games)
        league = OpenLeague(plan, pairing, held, store, run, players=players)
        league.refuse_lost(lineup.counted)
        for line in (*note_versions(store, plan.bots, lineup.former), *league.remarks(lineup)):
            say(line)
        if isinstance(format_, ChosenFormat) and format_.goes_on:
            store.set_ladder_since([player.digest for player in plan.players], since)
        if _is_archived(entry):
            from arena.bots.archive import ARCHIVE, archive_of, keep_copies

            archive = archive_of(store.path)
            for line in keep_copies(archive, plan.bots):
                say(line)
            place = fingerprint(Path(os.path.realpath(archive)))
            store.set_places({ARCHIVE: place}, store.kept().places)
        store.keep(
            format=format_text(format_, plan.players, entry.rounds, lineup.former),
            entrants=players,
            planned=league.planned,
            meets_all=league.meets_all,
            sandbox=plan.level.value,
        )
        league.keep_what_counts()
        yield league


def _is_archived(entry: LeagueEntry) -> bool:
    """Return whether the files of bots are kept, by default in formats where new versions replace old ones."""
    if entry.archive is None:
        return isinstance(entry.format, ChosenFormat) and entry.format.options.name in PLACING
    return entry.archive


def _with_older_times(settings: Settings, store: Store) -> Settings:
    """Add the time controls of all bots that have played with one of their own, which identify games of older
    versions.
    """
    times = dict(settings_in(store.settings()).bot_times) | dict(settings.bot_times)
    return msgspec.structs.replace(settings, bot_times=tuple(times.items()))


def _sandbox_of(plan: Plan) -> Sandbox:
    return Sandbox(
        plan.level, plan.bots, plan.settings.limits, dict(plan.settings.bot_limits), interpreters=plan.interpreters
    )


def _calibrated(plan: Plan, store: Store) -> Plan:
    cluster = plan.cluster
    if cluster is None or not cluster.is_calibrated:
        return plan
    from arena.league.executor.cluster.calibration import reference_us

    reference = read_reference(store.settings().get(CALIBRATION, "")) or reference_us()
    return replace(
        plan,
        settings=msgspec.structs.replace(plan.settings, reference_us=reference),
        cluster=replace(cluster, reference_us=reference),
    )


class OpenLeague:
    """A league or match that is ready to be played; see `open_league`.

    `planned` is the number of games, None while it depends on results; `at_most` is its upper bound, if known.
    `new_pairing` makes a new pairing of the league. `meets_all`: all bots meet equally often, so that a table can show
    missing games. `players` are the participants, followed by older versions with games that count for them.
    """

    def __init__(
        self,
        plan: Plan,
        pairing: Callable[[], Pairing],
        held: Sandbox,
        store: Store,
        run: Run,
        *,
        players: tuple[Player, ...],
    ) -> None:
        self.plan = plan
        self.players = players
        self.store = store
        fresh = pairing()
        self.planned = fresh.planned
        self.at_most: int | None = getattr(fresh, "at_most", self.planned)  # a format that can end early has it
        self.meets_all = isinstance(fresh, RoundRobin) and not plan.faults
        self.new_pairing = pairing
        self._held = held
        self._run = run
        self._walk: StoredWalk | None = self._walked()
        """The walk through the stored games, for the first call of `play`, as it takes long in a large league."""
        self._numbers = self._walk.numbers
        """The numbers of the league's stored games."""

    @property
    def known(self) -> int:
        """The number of the league's games found in the store or stored since, even if they are gone from it."""
        return len(self._numbers)

    def _walked(self) -> StoredWalk:
        return StoredWalk(self.new_pairing(), self._between())

    def count(self) -> Groups:
        """Count the games of the store that the league does not exclude; see `make_table` for those of its players.

        Raises `DamagedError`.
        """
        contents = self.store.count(counted=True)
        if contents.damage:
            raise DamagedError(self.store.path, contents.damage)
        return contents.rows

    def rows(self) -> list[GameRow]:
        """Return the stored games of the league, in the order in which they were stored, all in memory."""
        return [row for row in self.store.rows() if row.number in self._numbers]

    def rows_in_order(self) -> Iterator[GameRow]:
        """Yield the stored games of the league in the order in which they are to be played."""
        return stored_games(self.new_pairing(), self._between())

    def _between(self) -> GamesBetween:
        return GamesBetween(self.store, self.players)

    def placing(self) -> Placing | None:
        """Return the places by the format's own rules; None where the table shows all."""
        return placing_of(self.new_pairing(), self._between())

    def refuse_lost(self, counted: Collection[int]) -> None:
        """Raise `UsageError` if the league no longer counts some of these games, by number."""
        lost = sum(number not in self._numbers for number in counted)
        if lost:
            raise UsageError(
                f"{self.store.path}: {lost} of the {counted_text(len(counted), 'game')} that this {self.plan.format} "
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
            self._numbers = {row.number for row in islice(self.rows_in_order(), first)}
            self.keep_what_counts()
        self.planned = self.known
        self.store.keep(planned=self.planned)

    def keep_what_counts(self) -> None:
        """Store which games between these players do not count, and who is disqualified, for all tables of the
        store.
        """
        digests = {player.digest for player in self.players}
        if self.store.count_between(digests) > self.known:
            numbers = self.store.numbers_between(digests)
            self.store.keep(not_counted=runs_of(number for number in numbers if number not in self._numbers))
        else:
            self.store.keep(not_counted=())
        placing = self.placing() if self.plan.disqualifies else None
        disqualified = placing.disqualified if placing else ()
        games = Counter(player.digest for row in (self.rows() if disqualified else ()) for player in row.players)
        counted = (msgspec.structs.replace(one, counted=games[one.player.digest]) for one in disqualified)
        self.store.keep(disqualified=tuple(counted))

    def play(self, stop: StopRequest, watcher: Watcher, watch: Watch | None = None) -> LeagueOutcome:
        """Play what is missing, until all is played or `stop` is requested.

        `watch` receives the events of the games; like the `watcher`, it must not wait.
        """
        others = self._between().left - self.known
        state = PlayState(watcher, watch, self._numbers)
        error = None
        try:
            run_games(self._run, self._play_until_stopped, stop, state)
            self.store.refuse_changed()
        except ArenaError as caught:
            error = caught
        is_complete = state.session.is_complete and not isinstance(error, StoreChangedError)
        if not isinstance(error, StoreError):
            try:
                if others:  # the pairing may have come to games of an earlier league
                    self._numbers = self._walked().numbers
                if is_complete and self.planned is None:
                    self.keep_as_whole()
                self.keep_what_counts()
            except StoreError as caught:
                error = error or caught
        return LeagueOutcome(
            error=error,
            is_complete=is_complete,
            changed=tuple(state.versions.errors()),
            remarks=tuple(state.versions.remarks()),
            forfeits=state.forfeits(),
            dropped=state.session.dropped,
            unstored=state.session.unstored,
            repeated=state.session.in_all_repeats(),
        )

    async def _play_until_stopped(self, stop: StopRequest, state: PlayState) -> None:
        session = state.session

        async def stop_when_asked(playing: trio.CancelScope) -> None:
            if await stop.wait_beyond(Wish.GO_ON) is Wish.STOP_SOON:
                session.close()
                if session.under_way:
                    state.watcher.closing(session.under_way)
                await stop.wait_beyond(Wish.STOP_SOON)
            session.close()  # one that is stored at this moment is followed by no other
            playing.cancel()

        async with background() as nursery:
            nursery.start_soon(stop_when_asked, nursery.cancel_scope)
            await self._play_games(state)

    @asynccontextmanager
    async def _executor(self, settings: PlaySettings, jobs: int) -> AsyncGenerator[Executor, None]:
        cluster = self.plan.cluster
        if cluster is None:
            async with local_executor(settings, jobs) as local:
                yield local
            return
        from arena.league.executor.cluster.client import cluster_executor  # a league without a cluster loads none of it

        async with cluster_executor(settings, cluster) as remote:
            yield remote

    async def _play_games(self, state: PlayState) -> None:
        plan, jobs = self.plan, self.plan.jobs
        walk, self._walk = self._walk or self._walked(), None
        if self.planned is not None:
            jobs = min(jobs, self.planned - self.known)
        elif walk.is_complete:
            jobs = 0
        if not jobs:
            state.session.is_complete = True
            return
        settings = replace(plan.play_settings, is_watched=state.watch is not None)
        async with self._executor(settings, jobs) as executor:
            await play_missing(
                walk.pairing,
                {bot.player: bot for bot in plan.bots},
                self.store,
                executor,
                state.finished,
                versions=state.versions,
                say=state.watcher.remark,
                session=state.session,
                keep_bots=plan.settings.keep_bots,
                watch=state.watch or (lambda event: None),
                stored=walk.stored,
                missing=walk.missing,
            )
