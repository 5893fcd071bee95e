"""Strengths as a ladder needs them: soon enough after each batch of games, and how sure the order of two players is.

The model is that of Bradley and Terry, with a draw as half a point: a player x logits above another expects to score
1 / (1 + e^-x) points a game. Each strength has a normal prior, which sends a new bot to the middle. What differs is the
cost: the strengths of the last batch are the start, and each is moved in turn to where its own games want it (Newton's
method by coordinates), which costs as much as there are pairs that have met, and not the cube of the players.

How sure an order is: the difference of two strengths is taken to be normal, with the sum of the two variances that they
would have if all others were known. For neighbours of a chain, where each has met the next ones only, that is exact;
where all have met all, it is on the safe side by one part in their number. Games that a player expects to win or lose
tell little, which the variances know: a game brings p (1 - p). Draws vary less than that, so it is on the safe side.
"""

import math
from collections.abc import Iterable
from typing import Self

from arena.league.ratings.pair import ELO_PER_LOGIT

PRIOR_PRECISION = (ELO_PER_LOGIT / 350) ** 2
"""Per square logit: bots are some 350 Elo around their mean. 2.0 games between equals say as much."""
SETTLED = 1e-3
"""Logits, 0.2 Elo: what is left to move where a search ends."""
MOST_SWEEPS = 30
LONGEST_STEP = 1.0
"""Logits at a time: a full step can overshoot."""


class Estimate:
    """The strengths of so many players, in logits, and what is known of each: the precision of its own strength."""

    def __init__(self, players: int) -> None:
        self.strengths = [0.0] * players
        self.precisions = [PRIOR_PRECISION] * players
        self.games = [0] * players
        self._met: list[dict[int, list[float]]] = [{} for _ in range(players)]
        """For each opponent, by its number: games, and points in them."""

    def add(self, one: int, other: int, half_points: Iterable[int], games: int) -> None:
        """Enter games of two players, with the half points of both."""
        for (player, opponent), gained in zip(((one, other), (other, one)), half_points, strict=True):
            entry = self._met[player].setdefault(opponent, [0.0, 0.0])
            entry[0] += games
            entry[1] += gained / 2
            self.games[player] += games

    def settle(self) -> None:
        """Fit the strengths to all games that were entered."""
        strengths, moved = self.strengths, set(range(len(self.strengths)))
        for _ in range(MOST_SWEEPS):
            again: set[int] = set()
            for player in sorted(moved):
                strength, slope, precision = strengths[player], -PRIOR_PRECISION * strengths[player], PRIOR_PRECISION
                for opponent, (games, points) in self._met[player].items():
                    expected = _expected_score(strength - strengths[opponent])
                    slope += points - games * expected
                    precision += games * expected * (1 - expected)
                self.precisions[player] = precision
                step = max(-LONGEST_STEP, min(LONGEST_STEP, slope / precision))
                strengths[player] += step
                if abs(step) > SETTLED:
                    again.add(player)
                    again.update(self._met[player])
            if not again:
                return
            moved = again

    def information(self, one: int, other: int) -> float:
        """What a game of these two brings to the precision of each."""
        expected = _expected_score(self.strengths[one] - self.strengths[other])
        return expected * (1 - expected)

    def doubt(self, one: int, other: int) -> float:
        """How likely it is that the weaker of two by these strengths is the stronger one."""
        variance = 1 / self.precisions[one] + 1 / self.precisions[other]
        return math.erfc(abs(self.strengths[one] - self.strengths[other]) / math.sqrt(2 * variance)) / 2

    def order(self, players: Iterable[int]) -> list[int]:
        """Players by strength, best first; those that differ by rounding only stand in the order of their numbers."""
        return sorted(players, key=lambda player: (-round(self.strengths[player], 6), player))

    def copy(self) -> Self:
        """The same, which games that are added to this one do not change."""
        copy = type(self)(len(self.strengths))
        copy.strengths, copy.precisions, copy.games = [*self.strengths], [*self.precisions], [*self.games]
        copy._met = [{opponent: [*entry] for opponent, entry in met.items()} for met in self._met]
        return copy


def _expected_score(logit: float) -> float:
    """The expected score of a game at this difference in strength."""
    odds = math.exp(-abs(logit))
    return (1 if logit >= 0 else odds) / (1 + odds)
