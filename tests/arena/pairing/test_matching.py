"""A perfect matching is found if there is one, and is still one after pairs were taken out."""

from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from arena.league.pairing.matching import Matching

Edges = frozenset[frozenset[int]]


def can_be_matched(players: frozenset[int], edges: Edges) -> bool:
    """The same, by trying all."""
    if not players:
        return True
    first = min(players)
    return any(
        can_be_matched(players - {first, other}, edges) for other in players - {first} if {first, other} in edges
    )


@given(st.integers(1, 5), st.floats(0.1, 0.9), st.integers(0, 10_000))
@hypothesis_settings(deadline=None, max_examples=150)
def test_it_agrees_with_trying_all(half: int, density: float, seed: int) -> None:
    rng, players = Random(seed), range(2 * half)
    edges = frozenset(frozenset(pair) for pair in combinations(players, 2) if rng.random() < density)
    matching = Matching(players, lambda one, other: frozenset((one, other)) in edges)
    assert matching.complete() == can_be_matched(frozenset(players), edges)
    if not can_be_matched(frozenset(players), edges):
        return
    left = set(players)
    while left:
        one = min(left)
        taken = None
        for other in sorted(left - {one}):
            possible = {one, other} in edges and can_be_matched(frozenset(left - {one, other}), edges)
            assert matching.take(one, other) == possible
            if possible:
                taken = other
                break
        assert taken is not None, "it stays perfect"
        left -= {one, taken}
        assert all({player, partner} in edges for player, partner in matching.partner.items())
