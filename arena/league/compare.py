"""Test with a sequential test whether a new bot is better than an old one.

All state is in the store: a test resumes in any store with games of the two bots under the same settings.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from arena.errors import ArenaError, UsageError
from arena.league.league import OpenLeague
from arena.league.league_options import MOST_GAMES, Kind
from arena.league.pairing.sequential import SequentialState, SequentialTest
from arena.league.plan import LeagueEntry
from arena.league.play_missing import LeagueOutcome, Watch, Watcher
from arena.league.ratings.pair import PairDifference
from arena.league.ratings.sequential_test import Decision, Hypotheses, estimate, expected_pairs_left
from arena.league.stop import StopRequest
from arena.league.store import GameRow

MOST_ELO = 1000
LEAST_ERROR = 1e-6
PAIRS_AHEAD = 8
"""Pairs per parallel game that may be begun before an earlier one is over, as single games may take long."""


def hypotheses_of(elo0: float, elo1: float, alpha: float, beta: float) -> Hypotheses:
    for name, value in (("elo0", elo0), ("elo1", elo1)):
        if not abs(value) <= MOST_ELO:
            raise UsageError(f"--{name}: expected Elo from -{MOST_ELO} to {MOST_ELO}, got {value:g}")
    if not elo0 < elo1:
        raise UsageError(f"--elo0: expected less than --elo1, which is {elo1:g}, got {elo0:g}")
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not LEAST_ERROR <= value < 1:
            raise UsageError(f"--{name}: expected a share from {LEAST_ERROR:g} to below 1, such as 0.05, got {value:g}")
    if not alpha + beta < 1:
        raise UsageError(f"--alpha and --beta: expected a sum below 1, got {alpha:g} and {beta:g}")
    return Hypotheses(elo0, elo1, alpha, beta)


def comparison_entry(
    new: str, old: str, hypotheses: Hypotheses, games: int, jobs: int, *, times: Sequence[str | None] = ()
) -> LeagueEntry:
    if not 2 <= games <= MOST_GAMES or games % 2:
        raise UsageError(
            f"--games: expected an even number from 2 to {MOST_GAMES}, as games are played in pairs, got {games}"
        )
    ahead = PAIRS_AHEAD * max(jobs, 1)
    return LeagueEntry(
        [new, old],
        Kind.COMPARE,
        games // 2,
        distinct=True,
        times=times,
        format=partial(SequentialTest, hypotheses=hypotheses, ahead=ahead),
    )


class Comparison:
    """A test that is ready to be played, or decided by stored games: a league with a `comparison_entry`."""

    def __init__(self, league: OpenLeague) -> None:
        self.league = league
        test = league.new_pairing()
        assert isinstance(test, SequentialTest), "a league with a `comparison_entry`"
        self._test = test
        self._test.tell(league.store.rows())
        if self.state.is_over:
            league.keep_as_whole(2 * self.state.over)

    @property
    def state(self) -> SequentialState:
        return self._test.state

    @property
    def names(self) -> tuple[str, str]:
        new, old = self.league.plan.players
        return new.name, old.name

    def refuse_unstarted(self) -> None:
        """Raise `ArenaError` if the test is over and a bot could not be started in any game: that is no verdict."""
        if self.state.is_over:
            games = 2 * self.state.over
            lines = [
                f"{name} could not be started in any of its first {games} games, so the test has no verdict"
                for name, never in zip(self.names, self.state.never_started, strict=True)
                if never
            ]
            if lines:
                raise ArenaError("\n".join(lines))

    def later_games(self) -> int:
        """Return how many stored games of the two do not count, as they came after the last pair that does."""
        digests = {player.digest for player in self.league.plan.players}
        return self.league.store.count_between(digests) - 2 * self.state.over

    def play(self, stop: StopRequest, watcher: Watcher, watch: Watch | None = None) -> LeagueOutcome:
        """Play until the test is over or `stop` is requested. Games under way at the decision are stopped."""
        if self.state.is_over:
            return LeagueOutcome(error=None, is_complete=True)

        def decides(row: GameRow) -> bool:
            self._test.tell((row,))
            return self.state.decision is not Decision.UNDECIDED

        outcome = self.league.play(stop, watcher, watch, decides)
        if self.state.is_over and outcome.error is None:
            self.league.keep_as_whole(2 * self.state.over)
        return replace(outcome, is_complete=self.state.is_over)


def difference_of(state: SequentialState) -> PairDifference | None:
    return estimate(state.hypotheses, state.counts) if state.pairs else None


def games_left(state: SequentialState) -> int | None:
    """Return the number of games that the test is expected to take, within the budget; None before any pair."""
    if state.is_over:
        return 0
    pairs = expected_pairs_left(state.hypotheses, state.counts)
    return None if pairs is None else 2 * min(max(1, round(pairs)), state.budget - state.over)
