"""Games, matches and tests of two bots in one call: `arena.play`, `arena.match` and `arena.compare`."""

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar, Unpack

from arena.api.keywords import (
    AnyPath,
    GameKeywords,
    LeagueKeywords,
    Rules,
    Times,
    bot_word,
    check_callback,
    match_times,
    path_of,
    plain_errors,
    play_options,
)
from arena.api.shown_results import Result, result_of
from arena.api.threads import BackgroundCall, EventQueue, OnEvent, in_thread
from arena.errors import ArenaError, UsageError
from arena.game.faults import GameResult
from arena.game.record import GameRecord
from arena.league.compare import Comparison, comparison_entry, difference_of, hypotheses_of
from arena.league.league import OpenLeague, open_league
from arena.league.league_options import MOST_GAMES, USUAL, USUAL_MATCH_GAMES, USUAL_MOST_COMPARED, Kind, PlayOptions
from arena.league.plan import LeagueEntry
from arena.league.play_missing import LeagueOutcome, Watch, Watcher
from arena.league.ratings.pair import PairDifference, difference
from arena.league.ratings.sequential_test import Decision, PairCounts
from arena.league.stop import StopRequest
from arena.league.store import GameRow
from arena.report.comparison import verdict_text
from protocol.seats import Color

T = TypeVar("T")
OnResult = Callable[[Result], object]
PlayGames = Callable[[OpenLeague, StopRequest, Watcher, Watch | None], LeagueOutcome]


@dataclass(frozen=True)
class MatchResult:
    """The result of a match. All counts are those of the first bot; a game that both lost counts as lost.

    `records` are all games, in the order of the schedule: the first bot has Red in every other one, beginning with the
    first. `numbers` are those in the store, in the order in which games ended. `difference` is how many Elo the first
    is above the second, with the ends of the 95% interval (infinite if the games do not bound it); None without a
    decisive game.
    """

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    records: tuple[GameRecord, ...] = field(repr=False)
    numbers: tuple[int, ...] = field(repr=False)
    difference: PairDifference | None

    @property
    def games(self) -> int:
        """The number of games played."""
        return len(self.records)

    @property
    def score(self) -> float:
        """The points of the first bot per game, from 0 to 1: a draw is half a point."""
        return (self.wins + self.draws / 2) / self.games

    def __repr__(self) -> str:
        return (
            f"MatchResult({self.first!r}, {self.second!r}, games={self.games}, wins={self.wins}, draws={self.draws}, "
            f"losses={self.losses}, score={self.score:.3f})"
        )

    def __str__(self) -> str:
        return (
            f"{self.first} - {self.second}: +{self.wins} ={self.draws} -{self.losses} of {self.games}, {self.score:.1%}"
        )


def play(
    first: AnyPath,
    second: AnyPath,
    *,
    rules: Rules = "",
    time: Times = "100ms",
    store: AnyPath | None = None,
    on_event: OnEvent | None = None,
    **options: Unpack[GameKeywords],
) -> GameRecord:
    """Play one game, in which the first bot has Red, and return its record.

    A bot is a path as on the command line. `time` is for moves (`100ms`, `1s/move`, `60+0.6`); two of them are a
    handicap, the first bot's and the second's. Without a `store` (an SQLite file) the game is not kept; a game that is
    in the store is not played again. `on_event` is called with the events of the game, in the calling thread. Waits
    until the game is over; see docs/api.md for where this may be called, and for the events. Raises `UsageError` for
    wrong arguments and for bots that cannot be started, and other `ArenaError`.
    """
    usual, times = match_times(time)
    entry = _match_entry(first, second, 1, times)
    with place_of(store) as path:
        chosen = play_options(GameKeywords, options, play, rules=rules, time=usual, store=path, jobs=1)
        (record,) = play_league(
            entry, chosen, lambda league: _records(league, league.rows()), on_event=on_event, tells_forfeits=False
        )
    return record


def match(
    first: AnyPath,
    second: AnyPath,
    *,
    games: int = USUAL_MATCH_GAMES,
    rules: Rules = "",
    time: Times = "100ms",
    store: AnyPath | None = None,
    on_result: OnResult | None = None,
    on_event: OnEvent | None = None,
    **options: Unpack[LeagueKeywords],
) -> MatchResult:
    """Play a match, several games in parallel, the bots changing colours after each game.

    `on_result` is called with each game as soon as it is stored, `on_event` with the events of the games, both in the
    calling thread; an exception in them stops the match. `time`, `store`, `rules` and errors are as for `arena.play`:
    with two times each bot keeps its own in both colours.
    """
    usual, times = match_times(time)
    entry = _match_entry(first, second, games, times)
    with place_of(store) as path:
        chosen = play_options(LeagueKeywords, options, match, rules=rules, time=usual, store=path)
        return play_league(entry, chosen, _match_result, on_result=on_result, on_event=on_event)


def _match_entry(first: AnyPath, second: AnyPath, games: int, times: tuple[str, ...]) -> LeagueEntry:
    if type(games) is not int or not 1 <= games <= MOST_GAMES:
        raise UsageError(f"games: expected a whole number from 1 to {MOST_GAMES}, got {games!r}")
    paths = [bot_word(path) for path in (first, second)]
    return LeagueEntry(paths, Kind.MATCH, (games + 1) // 2, games, times=times)


@contextlib.contextmanager
def place_of(store: AnyPath | None) -> Iterator[Path]:
    if store is not None:
        yield path_of(store, "store")
        return
    with tempfile.TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder:
        yield Path(folder, "games.sqlite")


class _Watcher(Watcher):
    def __init__(self, call: BackgroundCall[T], on_result: OnResult | None) -> None:
        self._call = call
        self._on_result = on_result

    def finished(self, row: GameRow, record: GameRecord) -> None:
        if self._on_result:
            self._call.tell(partial(self._on_result, result_of(row, {})))

    def remark(self, text: str) -> None:
        self._call.remark(text)


def play_league(
    entry: LeagueEntry,
    options: PlayOptions,
    collect: Callable[[OpenLeague], T],
    *,
    on_result: OnResult | None = None,
    on_event: OnEvent | None = None,
    tells_forfeits: bool = True,
    play_games: PlayGames = OpenLeague.play,
) -> T:
    """Play all missing games and return the result of `collect`. Raises `ArenaError` if a game failed."""
    check_callback("on_result", on_result)
    check_callback("on_event", on_event)

    def work(call: BackgroundCall[T]) -> T:
        with open_league(entry, options, call.remark, call.run) as league:
            events = EventQueue(call, on_event) if on_event else None
            outcome = play_games(league, call.stop, _Watcher(call, on_result), events.put if events else None)
            if events:
                events.finish()
            if outcome.error:
                raise outcome.error
            if outcome.changed:
                raise ArenaError("\n".join(outcome.changed))
            for line in outcome.remarks:
                call.remark(line)
            for forfeits in outcome.forfeits if tells_forfeits else ():
                call.remark(forfeits.text)
            return collect(league)

    return in_thread(work)


def _records(league: OpenLeague, rows: Iterable[GameRow]) -> tuple[GameRecord, ...]:
    return tuple(league.store.record(row.id)[1] for row in rows)


def _match_result(league: OpenLeague) -> MatchResult:
    first, second = league.plan.players
    rows = list(league.rows_in_order())
    records = _records(league, rows)
    wins, draws, beaten = 0, 0, 0
    for record in records:
        result = record.verdict.result
        won = None if result.winner is None else record.players[Color(result.winner)]
        wins += won == first
        beaten += won == second
        draws += result is GameResult.DRAW
    return MatchResult(
        first=first.name,
        second=second.name,
        wins=wins,
        draws=draws,
        losses=len(records) - wins - draws,
        records=records,
        numbers=tuple(row.number for row in rows),
        difference=difference(wins, draws, beaten) if wins + draws + beaten else None,
    )


@dataclass(frozen=True)
class CompareResult:
    """The result of a test. All counts are those of `new`, over the pairs of games that count. `str()` is a sentence.

    `pairs` counts the pairs by points: 0, ½, 1, 1½ and 2. Pairs with a game that both lost by a fault do not count:
    `void` is their number. `forfeits` are the games that `new` and `old` lost by a fault of their own, in void pairs as
    well. `llr` is the logarithm of the likelihood ratio, which decides at `lower` (not better) and `upper` (better).
    `difference` is how many Elo `new` is above `old`, with the ends of the 95% interval (infinite if the games do not
    bound it).
    """

    new: str
    old: str
    decision: Decision
    pairs: PairCounts
    wins: int
    draws: int
    losses: int
    forfeits: tuple[int, int]
    llr: float
    lower: float
    upper: float
    difference: PairDifference | None
    verdict: str
    """The result as a sentence."""
    void: int = 0

    @property
    def games(self) -> int:
        """The number of games that count."""
        return 2 * sum(self.pairs)

    @property
    def is_better(self) -> bool | None:
        """Whether `new` is better than `old`; None if the games did not decide."""
        return {Decision.BETTER: True, Decision.NOT_BETTER: False}.get(self.decision)

    def __str__(self) -> str:
        return self.verdict


def compare(
    new: AnyPath,
    old: AnyPath,
    *,
    elo0: float = 0.0,
    elo1: float = 10.0,
    alpha: float = 0.05,
    beta: float = 0.05,
    games: int = USUAL_MOST_COMPARED,
    rules: Rules = "",
    time: Times = USUAL.time,
    store: AnyPath | None = None,
    on_result: OnResult | None = None,
    on_event: OnEvent | None = None,
    **options: Unpack[LeagueKeywords],
) -> CompareResult:
    """Test whether one bot is better than another, with as few games as possible, and `games` at most.

    The test decides for `elo1` (better) against `elo0` (not better); `alpha` is the risk of a wrong "better", `beta`
    that of a wrong "not better". `on_result` is called with each game as soon as it is stored, `on_event` with the
    events of the games, both in the calling thread; an exception in them stops the test. `time`, `store`, `rules` and
    errors are as for `arena.play`: with two times each bot keeps its own in both colours.
    """
    numbers = {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta}
    for name, value in numbers.items():
        if type(value) not in (int, float):
            raise UsageError(f"{name}: expected a number, got {value!r}")
    if type(games) is not int:
        raise UsageError(f"games: expected a whole number, got {games!r}")
    with plain_errors():
        hypotheses = hypotheses_of(**numbers)
    usual, times = match_times(time)
    with place_of(store) as path:
        chosen = play_options(LeagueKeywords, options, compare, rules=rules, time=usual, store=path)
        with plain_errors():
            entry = comparison_entry(bot_word(new), bot_word(old), hypotheses, games, chosen.jobs, times=times)

        def play_games(league: OpenLeague, stop: StopRequest, watcher: Watcher, watch: Watch | None) -> LeagueOutcome:
            return Comparison(league).play(stop, watcher, watch)

        return play_league(
            entry, chosen, _compare_result, on_result=on_result, on_event=on_event, play_games=play_games
        )


def _compare_result(league: OpenLeague) -> CompareResult:
    comparison = Comparison(league)
    comparison.refuse_unstarted()
    state, (new, old) = comparison.state, comparison.names
    return CompareResult(
        new=new,
        old=old,
        decision=state.decision,
        pairs=state.counts,
        wins=state.wins,
        draws=state.draws,
        losses=state.losses,
        forfeits=state.forfeits,
        llr=state.llr,
        lower=state.hypotheses.lower,
        upper=state.hypotheses.upper,
        difference=difference_of(state),
        verdict=verdict_text((new, old), state),
        void=state.void,
    )
