"""Linear equations of a large league in which each has met only those near it, as in a ladder or in a few match days.

Conjugate gradients carry what a game says one opponent further in each step, so where it is a long way from one player
to another they take many. But then the players can be put into an order in which opponents are near each other, and of
Cholesky's factor only the envelope is not 0: in each row the places from the first opponent on. Where the order leaves
much of the matrix within, as after a round robin, there is no such factor; there conjugate gradients take few steps.

Sources: E. Cuthill & J. McKee, Proceedings of the 24th ACM National Conference (1969) 157-172, for the order, which is
reversed; A. Jennings, Computer Journal 9 (1966) 281-285, for the factor.
"""

import math
from collections.abc import Sequence
from operator import mul
from typing import Self

from arena.league.ratings.linear import Sparse, Vector

WORTH = 2
"""So many times the numbers of the matrix the envelope may have: to solve by it then takes as long as four steps of
conjugate gradients, which take 3 steps where players met at random, and 20 to 30 in a ladder or in some match days."""
VECTORS = 10
"""What a step does beside the matrix, in passes over all players."""


class Envelope:
    """The factor of a matrix. `solve` gives the x with matrix x = right."""

    def __init__(self, order: Sequence[int], first: Sequence[int], rows: list[Vector]) -> None:
        self._order = order
        self._first = first
        self._rows = rows
        """Row i of the factor has the columns from `first[i]` to i, in the order."""

    @classmethod
    def of(cls, matrix: Sparse, columns: Sequence[Sequence[int]], taken: Sequence[Vector]) -> Self | None:
        """The factor of a positive definite matrix, whose rows have their `taken` numbers in these columns; None where
        it is no gain."""
        order = near_each_other(columns)
        place = [0] * len(order)
        for at, row in enumerate(order):
            place[row] = at
        first = [
            min(at, *(place[column] for column in columns[row])) if columns[row] else at for at, row in enumerate(order)
        ]
        numbers = sum(map(len, columns)) + VECTORS * len(order)
        if sum(at - start for at, start in enumerate(first)) > WORTH * numbers:
            return None
        rows: list[Vector] = []
        for at, (row, start) in enumerate(zip(order, first, strict=True)):
            entries = [0.0] * (at - start)
            for column, number in zip(columns[row], taken[row], strict=True):
                if place[column] < at:
                    entries[place[column] - start] = -number
            rows.append(_row(entries, matrix.diagonal[row], start, rows, first))
        return cls(order, first, rows)

    def solve(self, right: Sequence[float]) -> Vector:
        """As the matrix's own rows are ordered."""
        values: Vector = []
        for row, start, entries in zip(self._order, self._first, self._rows, strict=True):
            values.append((right[row] - sum(map(mul, entries, values[start:]))) / entries[-1])  # map ends with values
        for at in reversed(range(len(values))):
            start, entries = self._first[at], self._rows[at]
            value = values[at] = values[at] / entries[-1]
            rest = zip(values[start:at], entries, strict=False)
            values[start:at] = [other - entry * value for other, entry in rest]
        found = [0.0] * len(values)
        for row, value in zip(self._order, values, strict=True):
            found[row] = value
        return found


def _row(entries: Vector, diagonal: float, start: int, rows: Sequence[Vector], first: Sequence[int]) -> Vector:
    """A row of the factor, from the columns `start` to its own."""
    found: Vector = []
    for column, entry in enumerate(entries, start):
        above, begin = rows[column], first[column]
        if begin <= start:
            known = sum(map(mul, found, above[start - begin :]))  # map ends with found
        else:
            known = sum(map(mul, found[begin - start :], above))
        found.append((entry - known) / above[-1])
    found.append(math.sqrt(diagonal - sum(map(mul, found, found))))
    return found


def near_each_other(columns: Sequence[Sequence[int]]) -> list[int]:
    """An order of all rows in which those that are in each other's columns are near each other."""
    order: list[int] = []
    seen = [False] * len(columns)
    for row in sorted(range(len(columns)), key=lambda row: len(columns[row])):
        if not seen[row]:
            part = _outwards(_outwards(row, columns)[-1], columns)
            for each in part:
                seen[each] = True
            order += part
    order.reverse()
    return order


def _outwards(row: int, columns: Sequence[Sequence[int]]) -> list[int]:
    """All rows that can be reached from one, the nearest first; of equally near ones those with few columns."""
    reached, order = {row}, [row]
    for each in order:  # which grows
        new = sorted((column for column in columns[each] if column not in reached), key=lambda row: len(columns[row]))
        reached.update(new)
        order += new
    return order
