"""Systems of linear equations with the symmetric, positive definite matrices of a fit: by Cholesky, or by conjugate
gradients where that would take too long.

The matrix of a league has a row for each player, and in it a number for each opponent it has met; two more rows, which
are full, are those of the first player's advantage and of the draws: the border.

Source of the iteration: M. R. Hestenes & E. Stiefel, Journal of Research of the National Bureau of Standards 49 (1952)
409-436, with the diagonal as preconditioner.
"""

import math
from collections.abc import Callable, Sequence
from operator import add, itemgetter, mul, sub
from typing import Any

Vector = list[float]
Triangle = list[Vector]
"""The lower half of a square matrix: row i has i + 1 numbers."""
MAX_STEPS = 2000  # tens are usual; the bound only keeps a mistake from running for ever


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """The inner product."""
    total: float = sum(map(mul, left, right))
    return total


def combined(left: Sequence[float], factor: float, right: Sequence[float]) -> Vector:
    """left + factor * right."""
    return [one + factor * other for one, other in zip(left, right, strict=True)]


def cholesky(matrix: Triangle) -> Triangle:
    """The lower triangle L with L L' = matrix, which has to be positive definite."""
    factor: Triangle = []
    for row, entries in enumerate(matrix):
        current: Vector = []
        for column in range(row):
            above = factor[column]
            current.append((entries[column] - sum(map(mul, current, above))) / above[column])  # map ends with current
        current.append(math.sqrt(entries[row] - sum(map(mul, current, current))))
        factor.append(current)
    return factor


def solve_by(factor: Triangle, right: Sequence[float]) -> Vector:
    """The x with L L' x = right."""
    remaining: Vector = []
    for entries, value in zip(factor, right, strict=True):
        remaining.append((value - sum(map(mul, entries, remaining))) / entries[-1])
    for row in reversed(range(len(factor))):
        entries = factor[row]
        value = remaining[row] = remaining[row] / entries[row]
        remaining[:row] = [rest - entry * value for rest, entry in zip(remaining, entries, strict=False)][:row]
    return remaining


class Sparse:
    """A symmetric matrix: its diagonal, and beside it for each row the columns and numbers that are taken away."""

    def __init__(self, diagonal: Vector, columns: Sequence[Sequence[int]], taken: Sequence[Vector]) -> None:
        self.diagonal = diagonal
        self._taken = taken
        self._pick: list[Callable[[Vector], Any]] = [_picker(each) for each in columns]

    def __call__(self, vector: Vector) -> Vector:
        """The matrix times a vector."""
        beside = [
            sum(map(mul, taken, pick(vector))) if taken else 0.0
            for taken, pick in zip(self._taken, self._pick, strict=True)
        ]
        return list(map(sub, map(mul, self.diagonal, vector), beside))


def _picker(columns: Sequence[int]) -> Callable[[Vector], Any]:
    """What takes these elements out of a vector; `itemgetter` does it at the speed of C, but one alone is no tuple."""
    if len(columns) == 1:
        return itemgetter(slice(columns[0], columns[0] + 1))
    return itemgetter(*columns) if columns else lambda _: ()


def iterated(
    matrix: Callable[[Vector], Vector],
    diagonal: Vector,
    right: Sequence[float],
    precision: float,
    start: Vector | None = None,
) -> Vector:
    """The x with matrix x = right, up to an error whose share of x'right is about `precision`, or less."""
    x = [0.0] * len(right) if start is None else start
    residual = list(right) if start is None else list(map(sub, right, matrix(x)))
    scaled = [value / number for value, number in zip(residual, diagonal, strict=True)]
    direction, size = scaled, dot(residual, scaled)
    for _ in range(MAX_STEPS):
        if size <= precision * abs(dot(x, right)) or size < 1e-300:
            return x
        image = matrix(direction)
        step = size / dot(direction, image)
        x = combined(x, step, direction)
        residual = combined(residual, -step, image)
        scaled = [value / number for value, number in zip(residual, diagonal, strict=True)]
        before, size = size, dot(residual, scaled)
        direction = list(map(add, scaled, [size / before * value for value in direction]))
    raise ArithmeticError(f"linear equations were not solved in {MAX_STEPS} steps")
