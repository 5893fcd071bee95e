"""Is a new bot better? `arena.compare`: a sequential test in one call."""

from dataclasses import dataclass
from typing import Unpack

from arena.api.games import MATCH_KEYWORDS, OnResult, place_of, play_league
from arena.api.settings import AnyPath, LeagueOptions, Times, bot_word, match_times, plain_errors, play_options
from arena.api.watching import OnEvent
from arena.errors import UsageError
from arena.league.compare import Comparison, comparison_entry, difference_of, hypotheses_of
from arena.league.league import OpenLeague
from arena.league.options import USUAL, USUAL_MOST_COMPARED
from arena.league.outcome import Outcome, Watcher
from arena.league.ratings import Difference
from arena.league.ratings.sequential_test import Decision, PairCounts
from arena.league.run import Watch
from arena.league.stop import Stop
from arena.report.comparison import verdict_text
from arena.rules.ruleset import Ruleset

COMPARE_KEYWORDS = (*MATCH_KEYWORDS, "elo0", "elo1", "alpha", "beta")


@dataclass(frozen=True)
class CompareResult:
    """What came of a test. All counts are those of `new`, over the pairs of games that count. `str()` is a sentence.

    `pairs` are how many pairs brought 0, ½, 1, 1½ and 2 points. Pairs with a game that both lost by a fault do not
    count: `void` says how many these are. `forfeits` are the games that `new` and `old` lost by a fault of their own,
    in void pairs as well. `llr` is the logarithm of the likelihood ratio, which decides at `lower` (not better) and
    `upper` (better). `difference` is how many Elo `new` is above `old`, with the ends of the 95% interval (infinite
    where the games do not bound it).
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
    difference: Difference | None
    verdict: str
    """In a sentence."""
    void: int = 0

    @property
    def games(self) -> int:
        """How many games count."""
        return 2 * sum(self.pairs)

    @property
    def is_better(self) -> bool | None:
        """Whether `new` is better than `old`; None if the games were not enough to tell."""
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
    rules: str | Ruleset = "isf",
    time: Times = USUAL.time,
    store: AnyPath | None = None,
    on_result: OnResult | None = None,
    on_event: OnEvent | None = None,
    **options: Unpack[LeagueOptions],
) -> CompareResult:
    """Test whether one bot is better than another, with no more games than that takes, and `games` at most.

    It is decided for `elo1` (better) against `elo0` (not better); `alpha` is how often the former may be wrong, `beta`
    how often the latter. `on_result` is called with each game as soon as it is stored, `on_event` with what happens in
    the games, both in the thread that has called this; what they raise stops the test. `time`, `store`,
    `rules` and errors are as for `arena.play`: with two times each bot keeps its own, whatever its colour.
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
        chosen = play_options(LeagueOptions, options, COMPARE_KEYWORDS, rules=rules, time=usual, store=path)
        entry = comparison_entry(bot_word(new), bot_word(old), hypotheses, games, chosen.jobs, times=times)
        return play_league(entry, chosen, _result, on_result=on_result, on_event=on_event, play_games=_play)


def _play(league: OpenLeague, stop: Stop, watcher: Watcher, watch: Watch | None) -> Outcome:
    return Comparison(league).play(stop, watcher, watch)


def _result(league: OpenLeague) -> CompareResult:
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
