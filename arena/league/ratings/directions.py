"""How all parameters of a fit move, to first order, as one combination of the ratings is held 1 higher.

For the combination c of the ratings this is inverse(I) c, scaled so that c changes by 1, where I is the information at
the peak. It is the tangent of the path on which the profile likelihood lies, and says how precise c is.

In a large league I is never inverted. A player's own part of the solution is its first two terms in powers of the
weights that tie it to others, which fall with the number of its opponents; where they do not tell enough (few
opponents each), conjugate gradients go on from there, or the equations are solved by their envelope
(`arena.league.ratings.envelope`). What all players share (the field's mean, the advantage, the
draws) is solved for once.
"""

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from arena.league.ratings.envelope import Envelope
from arena.league.ratings.linear import Vector, combined, dot, iterated, solve_by
from arena.league.ratings.strengths import Fit

SHARED_PRECISION = 1e-6
OWN_PRECISION = 3e-3
"""Of a variance in a large league: widths of intervals are right to half of that."""


class Direction(NamedTuple):
    """How far each log strength, the advantage and the log of the readiness to draw move; the variance of c."""

    moves: Vector
    advantage: float
    tie: float
    variance: float


class Directions:
    """The directions of one fit."""

    def __init__(self, fit: Fit) -> None:
        self._fit = fit
        self._players = len(fit.players)
        self._references: dict[frozenset[int], Vector] = {}
        self._rows: dict[int, Vector] = {}
        if fit.factor is None:
            self._prepare()

    def of_player(self, player: int, reference: frozenset[int]) -> Direction:
        """That in which the player rises relative to the mean of the reference."""
        combination = {member: -1 / len(reference) for member in reference}
        combination[player] = combination.get(player, 0.0) + 1
        if self._fit.factor is not None:
            return self._exact(combination)
        return self._through_border(combination, 0.0, combined(self._own(player), -1.0, self._mean_of(reference)))

    def of_advantage(self) -> Direction:
        """That in which the advantage of the first player rises."""
        if self._fit.factor is not None:
            return self._exact({}, 1.0)
        return self._through_border({}, 1.0, [0.0] * self._players)

    def covariances(self, one: int, other: int) -> tuple[float, float, float]:
        """The variances of two log strengths, and their covariance, up to the same number added to all three."""
        if self._fit.factor is not None:
            first, second = self._row(one), self._row(other)
            return first[one], second[other], first[other]
        first_variance, second_variance = self._variance(one), self._variance(other)
        return first_variance, second_variance, self._weight(one, other) * first_variance * second_variance

    def _row(self, player: int) -> Vector:
        """The player's row of the inverse."""
        if player not in self._rows:
            assert self._fit.factor is not None
            right = [0.0] * len(self._fit.factor)
            right[player] = 1.0
            self._rows[player] = solve_by(self._fit.factor, right)
        return self._rows[player]

    def _variance(self, player: int) -> float:
        """That relative to the mean of all."""
        if player not in self._rows:
            self._rows[player] = [self.of_player(player, frozenset(range(self._players))).variance]
        return self._rows[player][0]

    def _weight(self, one: int, other: int) -> float:
        """How much information there is on the difference of the two in their own games."""
        opponents = self._fit.players[one].opponents
        place = bisect_left(opponents, other)
        met = place < len(opponents) and opponents[place] == other
        return self._fit.slopes.taken[one][place] if met else 0.0

    def _exact(self, combination: Mapping[int, float], advantage: float = 0.0) -> Direction:
        assert self._fit.factor is not None
        right = [0.0] * len(self._fit.factor)
        for player, part in combination.items():
            right[player] = part
        right[self._players] = advantage
        moved = solve_by(self._fit.factor, right)
        has_draws = len(moved) > self._players + 1
        return _scaled(right, moved[: self._players], moved[self._players], moved[-1] if has_draws else 0.0)

    # --- large leagues ----------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        slopes = self._fit.slopes
        matrix, (first, drawn, (firsts, both, ties)) = slopes.matrix, slopes.border
        even = [1 / self._players] * self._players
        inverse = [1 / number for number in matrix.diagonal]
        scaled = [part * weight for part, weight in zip(even, inverse, strict=True)]
        self._inverse = inverse
        # W D^-1 1/n, where the matrix is D - W
        self._spread = [
            number * value - image for number, value, image in zip(matrix.diagonal, scaled, matrix(scaled), strict=True)
        ]
        columns = [first, drawn] if self._fit.point.tie else [first]
        self._shared = [iterated(matrix, matrix.diagonal, column, SHARED_PRECISION) for column in columns]
        self._columns = columns
        corner = [[firsts, both], [both, ties]]
        size = range(len(columns))
        self._corner = [[corner[i][j] - dot(columns[i], self._shared[j]) for j in size] for i in size]

    def _own(self, player: int) -> Vector:
        """inverse(matrix) (e_player - 1/n), up to the same number added to all."""
        fit, inverse, share = self._fit, self._inverse, 1 / self._players
        residual = [-value for value in self._spread]
        own = inverse[player]
        for opponent, weight in zip(fit.players[player].opponents, fit.slopes.taken[player], strict=True):
            residual[opponent] += weight * own
        found = [weight * (value - share) for weight, value in zip(inverse, residual, strict=True)]
        found[player] += own
        error = sum(weight * value * value for weight, value in zip(inverse, residual, strict=True))
        if error <= OWN_PRECISION * own:
            return found
        right = [-share] * self._players
        right[player] += 1
        if self._envelope:
            return self._envelope.solve(right)
        mean = sum(found) * share
        start = [value - mean for value in found]
        return iterated(fit.slopes.matrix, fit.slopes.matrix.diagonal, right, OWN_PRECISION / 10, start)

    @cached_property
    def _envelope(self) -> Envelope | None:
        """What solves the equations of all players soonest, if that is not conjugate gradients."""
        slopes = self._fit.slopes
        return Envelope.of(slopes.matrix, [met.opponents for met in self._fit.players], slopes.taken)

    def _mean_of(self, reference: frozenset[int]) -> Vector:
        """inverse(matrix) (the mean of the reference - 1/n)."""
        if reference not in self._references:
            right = [-1 / self._players] * self._players
            for member in reference:
                right[member] += 1 / len(reference)
            matrix = self._fit.slopes.matrix
            self._references[reference] = (
                iterated(matrix, matrix.diagonal, right, SHARED_PRECISION)
                if len(reference) < self._players
                else [0.0] * self._players
            )
        return self._references[reference]

    def _through_border(self, combination: Mapping[int, float], advantage: float, inner: Vector) -> Direction:
        """Solves the whole matrix by its border, from the solution of the inner one."""
        ends = [advantage, 0.0][: len(self._columns)]
        rest = [end - dot(column, inner) for end, column in zip(ends, self._columns, strict=True)]
        if len(rest) == 1:
            moved = [rest[0] / self._corner[0][0]]
        else:
            (a, b), (_, d) = self._corner
            determinant = a * d - b * b
            moved = [(d * rest[0] - b * rest[1]) / determinant, (a * rest[1] - b * rest[0]) / determinant]
        for move, shared in zip(moved, self._shared, strict=True):
            inner = combined(inner, -move, shared)
        right = [0.0] * (self._players + 1)
        for player, part in combination.items():
            right[player] = part
        right[self._players] = advantage
        return _scaled(right, inner, moved[0], moved[1] if len(moved) > 1 else 0.0)


def _scaled(right: Vector, moves: Vector, advantage: float, tie: float) -> Direction:
    variance = dot(right, [*moves, advantage])
    return Direction([move / variance for move in moves], advantage / variance, tie / variance, variance)
