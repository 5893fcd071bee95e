"""Armies drawn by weights: a Markov chain with armies in proportion to the product of their pieces' weights.

The product over pieces of a weight for the rank that each has is a permanent's term, and no quick way of drawing
independently by permanents is known (Jerrum, Sinclair and Vigoda 2004). So this walks: it exchanges the ranks of two
pieces, or takes a wholly new army, and accepts each step by the rule of Metropolis and Hastings (1953, 1970). All
constraints hold in every army; armies near each other in the walk resemble each other.
"""

from collections.abc import Mapping, Sequence
from math import exp, inf, log
from random import Random

from arena.errors import UsageError
from arena.stratego.search.armies import Armies, Army
from protocol.notation import Rank

LEAST = 1e-9
"""The least weight of a possible rank, as a part of the piece's greatest weight."""
FIRST_JUMPS = 12
FIRST_TRIES = 6
"""Mean number of tries for each two pieces before the first sample, enough to exchange two almost certain pieces."""


class WeightedArmies:
    """The armies of `armies`, with a chance in proportion to the product of `weights[piece][rank]` over the pieces.

    `weights` has a mapping for each hidden piece, in their order; a rank that is missing or has a weight of 0 counts
    1e-9 of the piece's greatest weight, so that a belief never rules out a possible rank. `sweeps` is the number of
    exchanges tried for each piece between two samples: more of them make samples less alike, and cost more. The first
    sample takes as long as some forty others, as the walk begins with an unweighted army. Raises `UsageError` for
    weights that are not finite, negative or of another number of pieces, for keys that are no ranks, and for `sweeps`
    that are not above 0.
    """

    def __init__(self, armies: Armies, weights: Sequence[Mapping[Rank, float]], sweeps: float = 2) -> None:
        if len(weights) != len(armies.possible):
            raise UsageError(f"expected weights for {len(armies.possible)} hidden pieces, got {len(weights)}")
        if not 0 < sweeps < inf:
            raise UsageError(f"expected sweeps above 0, got {sweeps!r}")
        self.armies = armies
        self.sweeps = sweeps
        rows = zip(weights, armies.possible, strict=True)
        self._weights = [_row(row, ranks, place) for place, (row, ranks) in enumerate(rows)]
        self._army: list[Rank] | None = None

    def sample(self, random: Random) -> Army:
        """Return the next army of the walk."""
        if self._army is None:
            self._army = list(self.armies.sample(random))
            for _ in range(FIRST_JUMPS):
                self._jump(random)
                self._walk(random, FIRST_TRIES * len(self._army) / (2 * FIRST_JUMPS))
        else:
            self._jump(random)
            self._walk(random, self.sweeps)
        return tuple(self._army)

    def _jump(self, random: Random) -> None:
        """Propose a new army: seldom accepted, but it makes every army reachable where exchanges alone do not."""
        assert self._army is not None
        other = self.armies.sample(random)
        gain = 0.0
        for row, new, old in zip(self._weights, other, self._army, strict=True):
            if new is not old:
                gain += log(row[new]) - log(row[old])
        if gain >= 0 or random.random() < exp(gain):
            self._army[:] = other

    def _walk(self, random: Random, sweeps: float) -> None:
        army, weights = self._army, self._weights
        assert army is not None
        count, number = len(army), random.random
        conditions = self.armies.conditions
        for _ in range(round(sweeps * count) if count > 1 else 0):
            one, two = int(number() * count), int(number() * count)
            first, second = army[one], army[two]
            if first is second:
                continue
            row_one, row_two = weights[one], weights[two]
            if row_one[second] * row_two[first] > number() * row_one[first] * row_two[second]:
                army[one], army[two] = second, first
                if conditions and not self.armies.holds(army):
                    army[one], army[two] = first, second


def _row(row: Mapping[Rank, float], possible: frozenset[Rank], place: int) -> list[float]:
    for rank, weight in row.items():
        if not isinstance(rank, Rank):
            raise UsageError(f"expected ranks such as Rank.SCOUT as keys of the weights of piece {place}, got {rank!r}")
        if not isinstance(weight, int | float) or not 0 <= weight < inf:
            raise UsageError(f"expected a weight from 0 up for rank {rank.letter} of piece {place}, got {weight!r}")
    most = max((row.get(rank, 0) for rank in possible), default=0) or 1
    found = [0.0] * (max(Rank) + 1)
    for rank in possible:
        found[rank] = max(row.get(rank, 0) / most, LEAST)
    return found
