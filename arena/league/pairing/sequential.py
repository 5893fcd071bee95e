"""Two players until it is known which is better: pairs of games, colours swapped and the same seeds, for a sequential
test.

What counts is the longest run of completed pairs from the first pair on, in the order in which they were given out, and
the test stops within that run at the first pair that takes the LLR to a bound. So the verdict follows from the pairs,
and never from which game ended first: a player that wins quickly and loses slowly would else win the test while its
lost games are still being played. With several games at a time some are played beyond the pair that decides; they never
count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.game.spec import GameSpec, Player
from arena.game.verdict import GameResult
from arena.league.game_ids import contents_of
from arena.league.game_specs import Games
from arena.league.ratings.sequential_test import NO_PAIRS, Decision, Hypotheses, PairCounts, log_likelihood_ratio
from arena.league.store import GameRow
from protocol.notation import Color, Reason

WIN, DRAW, LOSS = 2, 1, 0
"""Half points of a game."""
MOST_VOID = 10
"""Pairs that do not count, from the first one on, before nothing more is played."""


@dataclass(frozen=True, slots=True)
class SequentialState:
    """How far a test is. All counts are those of the first player, and of the pairs that count.

    `budget` is how many pairs there may be. A game that both have lost by a fault says nothing of who is better, so its
    pair is `void`: it uses up the budget and is no evidence. `forfeits` are the games that the first and the second
    have lost by a fault of their own, `no_starts` those of them in which it did not start; void pairs are included.
    """

    hypotheses: Hypotheses
    budget: int
    counts: PairCounts = NO_PAIRS
    wins: int = 0
    draws: int = 0
    losses: int = 0
    forfeits: tuple[int, int] = (0, 0)
    llr: float = 0.0
    decision: Decision = Decision.UNDECIDED
    void: int = 0
    no_starts: tuple[int, int] = (0, 0)

    @property
    def pairs(self) -> int:
        """How many pairs count."""
        return sum(self.counts)

    @property
    def over(self) -> int:
        """How many pairs are over, those that are void included: the run from the first one on."""
        return self.pairs + self.void

    @property
    def never_started(self) -> tuple[bool, bool]:
        """Whether the first and the second could not be started in any of their games."""
        first, second = (0 < 2 * self.over == count for count in self.no_starts)
        return first, second

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be played: it is decided, the budget is used up, or no pair counts of the first
        `MOST_VOID`."""
        is_void = self.void >= MOST_VOID and not self.pairs
        return self.decision is not Decision.UNDECIDED or self.over >= self.budget or is_void


@dataclass(frozen=True, slots=True)
class _Game:
    """A game that is over: its winner's colour, None for a draw, and who lost by a fault."""

    winner: Color | None
    at_fault: tuple[bool, bool]
    is_no_start: bool


class SequentialTest:
    """A pair at a time, `rounds` pairs at most, and no more than `ahead` of them beyond the last that counts.

    That limit is for a game that gets no result: the test cannot get past its pair, and would play all others in vain.
    """

    def __init__(
        self,
        games: Games,
        players: Sequence[Player],
        rounds: int,
        most: int | None = None,
        *,
        hypotheses: Hypotheses,
        ahead: int,
    ) -> None:
        self._games = games
        self._first, self._second = players
        self._ahead = ahead
        self._given = 0
        self._over: dict[str, _Game] = {}
        """The games that are over, of pairs that do not count yet, by their ids."""
        self.state = SequentialState(hypotheses, rounds if most is None else min(rounds, most // 2))
        self._due = self._pair(0)

    @property
    def planned(self) -> None:
        return None

    def next(self, results: Sequence[GameRow]) -> Sequence[GameSpec] | None:
        self.tell(results)
        if self.state.is_over or self._given >= self.state.budget:
            return None
        if self._given >= self.state.over + self._ahead:
            return ()
        self._given += 1
        return self._pair(self._given - 1)

    def tell(self, results: Iterable[GameRow]) -> None:
        """Count these games, whether they were given out here or not; each is told once. Games of others are none."""
        both = contents_of((self._first, self._second))
        for row in results:
            if contents_of(row.players) == both:
                lost = row.reason.is_forfeit
                at_fault = (lost and row.result is not GameResult.RED, lost and row.result is not GameResult.BLUE)
                self._over[row.id] = _Game(row.result.winner, at_fault, row.reason is Reason.NO_START)
        while not self.state.is_over and all(game.id in self._over for game in self._due):
            one, other = (self._over.pop(game.id) for game in self._due)
            self.state = _counted(self.state, one, other)
            self._due = self._pair(self.state.over)

    def _pair(self, number: int) -> tuple[GameSpec, GameSpec]:
        """The first player has Red in the first game of a pair."""
        one = self._games.game(self._first, self._second, number)
        return one, self._games.game(self._second, self._first, number)


def _counted(state: SequentialState, one: _Game, other: _Game) -> SequentialState:
    """Return the state after one more pair."""
    is_void = all(one.at_fault) or all(other.at_fault)
    if is_void:
        return replace(
            state,
            void=state.void + 1,
            forfeits=_faults(state.forfeits, one, other),
            no_starts=_no_starts(state.no_starts, one, other),
        )
    points = [_points(one, Color.RED), _points(other, Color.BLUE)]
    counts = list(state.counts)
    counts[sum(points)] += 1
    five = (counts[0], counts[1], counts[2], counts[3], counts[4])
    llr = log_likelihood_ratio(state.hypotheses, five)
    return SequentialState(
        state.hypotheses,
        state.budget,
        five,
        wins=state.wins + points.count(WIN),
        draws=state.draws + points.count(DRAW),
        losses=state.losses + points.count(LOSS),
        forfeits=_faults(state.forfeits, one, other),
        llr=llr,
        decision=state.hypotheses.decision(llr),
        void=state.void,
        no_starts=_no_starts(state.no_starts, one, other),
    )


def _faults(before: tuple[int, int], one: _Game, other: _Game) -> tuple[int, int]:
    """Count the games that each of the two has lost by a fault, after one more pair."""
    first, second = before
    return (
        first + one.at_fault[Color.RED] + other.at_fault[Color.BLUE],
        second + one.at_fault[Color.BLUE] + other.at_fault[Color.RED],
    )


def _no_starts(before: tuple[int, int], one: _Game, other: _Game) -> tuple[int, int]:
    """Count the games that each of the two has lost because it did not start, after one more pair."""
    neither = (False, False)
    return _faults(before, *(game if game.is_no_start else replace(game, at_fault=neither) for game in (one, other)))


def _points(game: _Game, color: Color) -> int:
    if game.winner is None:
        return DRAW
    return WIN if game.winner is color else LOSS
