"""Equations of leagues in which opponents are near each other are solved as Cholesky's method solves them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.league.ratings import League, Results, Score
from arena.league.ratings.directions import Directions
from arena.league.ratings.envelope import Envelope, near_each_other
from arena.league.ratings.linear import Sparse, Vector, cholesky, solve_by

Edges = dict[tuple[int, int], float]
PRIOR = 0.03


def system(players: int, edges: Edges) -> tuple[Sparse, list[list[int]], list[Vector]]:
    """The matrix of a league in which these have met, as a fit makes it."""
    columns: list[list[int]] = [[] for _ in range(players)]
    taken: list[Vector] = [[] for _ in range(players)]
    diagonal = [PRIOR] * players
    for (one, other), weight in sorted(edges.items()):
        for row, column in ((one, other), (other, one)):
            columns[row].append(column)
            taken[row].append(weight)
            diagonal[row] += weight
    return Sparse(diagonal, columns, taken), columns, taken


def by_cholesky(players: int, edges: Edges, right: Vector) -> Vector:
    matrix, _, _ = system(players, edges)
    whole = [
        [-edges.get((column, row), 0.0) for column in range(row)] + [matrix.diagonal[row]] for row in range(players)
    ]
    return solve_by(cholesky(whole), right)


def chain(players: int, reach: int, seed: int) -> Edges:
    """Each has met those up to `reach` places away, in an order that the numbers do not show."""
    rng = random.Random(seed)
    order = rng.sample(range(players), players)
    pairs = (
        (order[at], order[at + step]) for at in range(players) for step in range(1, reach + 1) if at + step < players
    )
    return {(min(pair), max(pair)): rng.uniform(0.1, 5) for pair in pairs}


@given(players=st.integers(2, 40), reach=st.integers(1, 3), seed=st.integers(0, 10**6), parts=st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_it_solves_what_cholesky_solves(players: int, reach: int, seed: int, parts: int) -> None:
    edges = chain(players, reach, seed)
    for gone in list(edges)[:parts]:  # some leagues are in several parts, and some players have met nobody
        del edges[gone]
    rng = random.Random(seed)
    right = [rng.uniform(-1, 1) for _ in range(players)]
    matrix, columns, taken = system(players, edges)
    solver = Envelope.of(matrix, columns, taken)
    assert solver is not None
    found = solver.solve(right)
    assert found == pytest.approx(by_cholesky(players, edges, right), rel=1e-9, abs=1e-9)
    assert matrix(found) == pytest.approx(right, rel=1e-9, abs=1e-9)


@given(players=st.integers(1, 60), seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_a_chain_is_found_whatever_its_numbers(players: int, seed: int) -> None:
    _, columns, _ = system(players, chain(players, 1, seed))
    order = near_each_other(columns)
    assert sorted(order) == list(range(players))
    place = {row: at for at, row in enumerate(order)}
    assert all(abs(place[row] - place[column]) == 1 for row in order for column in columns[row])


def test_there_is_none_where_opponents_are_everywhere() -> None:
    rng = random.Random(1)
    edges = {tuple(sorted(rng.sample(range(400), 2))): 1.0 for _ in range(2000)}
    assert Envelope.of(*system(400, edges)) is None  # type: ignore[arg-type]
    near = chain(400, 5, 1)
    assert Envelope.of(*system(400, near)) is not None


def test_intervals_are_those_of_conjugate_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    results = Results([f"bot{number}" for number in range(80)])
    for one in range(80):
        for other in range(one + 1, min(one + 4, 80)):
            for pair in ((one, other), (other, one)):
                results.add(*pair, rng.choice([Score.FIRST, Score.DRAW, Score.SECOND]), 3)
    direct = League(results.names, results).ratings()
    assert isinstance(Directions(League(results.names, results)._fitted()[0])._envelope, Envelope)
    monkeypatch.setattr(Envelope, "of", lambda *_: None)
    iterated = League(results.names, results).ratings()
    for name, rating in direct.items():
        slower = iterated[name]
        assert rating is not None
        assert slower is not None
        assert rating.elo == pytest.approx(slower.elo)
        width = rating.high - rating.low
        assert (slower.low, slower.high) == pytest.approx((rating.low, rating.high), abs=width / 50)
