"""Test whether results depend on what they should not depend on, such as the machine of a game.

Games are compared only with games of the same two bots with the same colours: within each such group there is a table
of machines by results, for which Pearson's chi-square with the factor (n - 1)/n is taken (Campbell, Statistics in
Medicine 26, 2007). Groups are independent, so that the sums are a chi-square with the degrees of freedom of all.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Homogeneity:
    """A test of homogeneity; `games` is the number of those that could be compared with another machine's."""

    chi_square: float
    degrees: int
    p: float
    games: int


def homogeneity(games: Iterable[tuple[Hashable, Hashable, Hashable]]) -> Homogeneity:
    """Test games, each given as its group (the players with their colours), its machine and its result."""
    groups: defaultdict[Hashable, Counter[tuple[Hashable, Hashable]]] = defaultdict(Counter)
    for group, machine, result in games:
        groups[group][machine, result] += 1
    total, degrees, compared = 0.0, 0, 0
    for cells in groups.values():
        chi_square, own, count = _of_group(cells)
        total += chi_square
        degrees += own
        compared += count
    return Homogeneity(total, degrees, chi_square_tail(total, degrees), compared)


def _of_group(cells: Counter[tuple[Hashable, Hashable]]) -> tuple[float, int, int]:
    machines: Counter[Hashable] = Counter()
    results: Counter[Hashable] = Counter()
    for (machine, result), count in cells.items():
        machines[machine] += count
        results[result] += count
    n = machines.total()
    if len(machines) < 2:
        return 0.0, 0, 0
    chi_square = sum(
        (cells[machine, result] - row * column / n) ** 2 / (row * column / n)
        for machine, row in machines.items()
        for result, column in results.items()
    )
    return chi_square * (n - 1) / n, (len(machines) - 1) * (len(results) - 1), n


def chi_square_tail(value: float, degrees: int) -> float:
    """Return the probability that a chi-square is this large or larger: Q(degrees/2, value/2).

    Q(a + 1, x) = Q(a, x) + x^a e^-x / Gamma(a + 1), from Q(1/2, x) = erfc(sqrt(x)), or from Q(0, x) = 0.
    """
    if degrees == 0 or value <= 0:
        return 1.0
    x, log_x = value / 2, math.log(value / 2)
    start = 0.5 if degrees % 2 else 0.0
    steps = (start + step for step in range(degrees // 2))
    terms = math.fsum(math.exp(a * log_x - x - math.lgamma(a + 1)) for a in steps)
    return min(1.0, (math.erfc(math.sqrt(x)) if degrees % 2 else 0.0) + terms)
