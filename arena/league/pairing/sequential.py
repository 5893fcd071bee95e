"""Pairs of games of two players for a sequential test, until it is decided.

Only the run of completed pairs from the first one on counts, in the order in which they were given out: otherwise a
player that wins quickly and loses slowly would win the test while its lost games are still being played.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.game.game_spec import GameSpec, Player
from arena.league.game_ids import Games, contents_of
from arena.league.pairing.pairing import Pairing, faults, half_points
from arena.league.ratings.sequential_test import NO_PAIRS, Decision, Hypotheses, PairCounts, log_likelihood_ratio
from arena.league.store import GameRow
from protocol.seats import Color, Reason

WIN, DRAW, LOSS = 2, 1, 0
MOST_IN_VAIN = 10
"""Pairs after which a test ends if all were void, or if one of the two could not be started in any game."""


@dataclass(frozen=True, slots=True)
class SequentialState:
    """The state of a test; counts are those of the first player.

    `budget` is the most pairs. A pair with a game that both have lost by a fault is `void`: it uses up the budget and
    is no evidence. `forfeits` and `no_starts`, the games that each has lost so, include those of void pairs.
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
        return sum(self.counts)

    @property
    def over(self) -> int:
        return self.pairs + self.void

    @property
    def never_started(self) -> tuple[bool, bool]:
        """Whether the first and the second could not be started in any of their games."""
        first, second = (0 < 2 * self.over == count for count in self.no_starts)
        return first, second

    @property
    def is_over(self) -> bool:
        """Whether the test is decided, the budget is used up, or its first `MOST_IN_VAIN` pairs were in vain."""
        in_vain = self.over >= MOST_IN_VAIN and (not self.pairs or any(self.never_started))
        return self.decision is not Decision.UNDECIDED or self.over >= self.budget or in_vain


class SequentialTest(Pairing):
    """Gives out at most `rounds` pairs, one in each batch, and at most `ahead` of them beyond the last that counts."""

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
        self._over: dict[str, GameRow] = {}
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
        """Count the games of the two players, also those that were not given out here; call it once for each."""
        both = contents_of((self._first, self._second))
        for row in results:
            if contents_of(row.players) == both:
                self._over[row.id] = row
        while not self.state.is_over and all(game.id in self._over for game in self._due):
            one, other = (self._over.pop(game.id) for game in self._due)
            self.state = _counted(self.state, one, other)
            self._due = self._pair(self.state.over)

    def _pair(self, number: int) -> tuple[GameSpec, GameSpec]:
        one = self._games.game(self._first, self._second, number)
        return one, self._games.game(self._second, self._first, number)


def _counted(state: SequentialState, one: GameRow, other: GameRow) -> SequentialState:
    forfeits, no_starts, points = list(state.forfeits), list(state.no_starts), list[int]()
    for row, first in ((one, Color.RED), (other, Color.BLUE)):
        lost = faults(row)
        for side, color in enumerate((first, first.opponent)):
            forfeits[side] += lost[color]
            no_starts[side] += lost[color] and row.reason is Reason.NO_START
        points.append(half_points(row)[first])
    state = replace(state, forfeits=(forfeits[0], forfeits[1]), no_starts=(no_starts[0], no_starts[1]))
    if all(faults(one)) or all(faults(other)):
        return replace(state, void=state.void + 1)
    counts = list(state.counts)
    counts[sum(points)] += 1
    five = (counts[0], counts[1], counts[2], counts[3], counts[4])
    llr = log_likelihood_ratio(state.hypotheses, five)
    return replace(
        state,
        counts=five,
        wins=state.wins + points.count(WIN),
        draws=state.draws + points.count(DRAW),
        losses=state.losses + points.count(LOSS),
        llr=llr,
        decision=state.hypotheses.decision(llr),
    )
