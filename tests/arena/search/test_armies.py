"""Armies are drawn uniformly, or by weights, from exactly those that there are: small cases are counted in full."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from math import prod
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import UsageError
from arena.search import Armies, NoArmyError, WeightedArmies
from protocol.notation import RANK_BY_LETTER, Rank

F, B, S, SCOUT, MARSHAL = Rank.FLAG, Rank.BOMB, Rank.SPY, Rank.SCOUT, Rank.MARSHAL
RANKS = (F, B, S, SCOUT, MARSHAL)


def ranks(letters: str) -> frozenset[Rank]:
    return frozenset(RANK_BY_LETTER[letter] for letter in letters)


def every_army(possible: Sequence[frozenset[Rank]], left: dict[Rank, int]) -> set[tuple[Rank, ...]]:
    """All armies, by trying each order of the ranks."""
    tokens = [rank for rank, count in left.items() for _ in range(count)]
    return {
        army
        for army in set(permutations(tokens))
        if all(rank in allowed for rank, allowed in zip(army, possible, strict=True))
    }


def is_as_expected(found: Counter[tuple[Rank, ...]], shares: dict[tuple[Rank, ...], float], draws: int) -> bool:
    """A chi-square test, whose bound a true sampler passes but once in far more than a million times."""
    chi = sum((found[army] - draws * share) ** 2 / (draws * share) for army, share in shares.items())
    freedom = len(shares) - 1
    return set(found) <= set(shares) and chi <= freedom + 6 * (2 * freedom) ** 0.5 + 20


SMALL = st.lists(st.sampled_from(RANKS), min_size=1, max_size=6).flatmap(
    lambda tokens: st.tuples(
        st.just(tokens),
        st.lists(st.sets(st.sampled_from(RANKS), min_size=1), min_size=len(tokens), max_size=len(tokens)),
    )
)


@given(SMALL)
@settings(max_examples=50, deadline=None)
def test_counts_and_chances_are_those_of_all_armies(case: tuple[list[Rank], list[set[Rank]]]) -> None:
    tokens, sets = case
    possible, left = [frozenset(one) for one in sets], dict(Counter(tokens))
    all_armies = every_army(possible, left)
    if not all_armies:
        with pytest.raises(NoArmyError):
            Armies(possible, left)
        return
    armies = Armies(possible, left)
    assert armies.count == len(all_armies)
    for place, chances in enumerate(armies.chances):
        shares = Counter(army[place] for army in all_armies)
        assert chances == pytest.approx({rank: count / len(all_armies) for rank, count in shares.items()})
    assert armies.sample(Random(1)) in all_armies


CASES = (
    (("FB2S", "2S", "2SM", "FB2SM", "2M"), "FB2SM"),
    (("FB2", "FB2", "2S", "2S", "2SB", "F2S"), "FBB22S"),
    (("2S", "SM", "M2"), "2SM"),  # two armies, and no exchange of two pieces leads from one to the other
    (("FBS2M",) * 5, "FB22M"),
)


@pytest.mark.parametrize(("sets", "tokens"), CASES)
def test_each_army_is_drawn_as_often_as_any_other(sets: tuple[str, ...], tokens: str) -> None:
    possible, left = [ranks(letters) for letters in sets], dict(Counter(RANK_BY_LETTER[t] for t in tokens))
    all_armies = every_army(possible, left)
    armies, rng, draws = Armies(possible, left), Random(5), 12_000
    found = Counter(armies.sample(rng) for _ in range(draws))
    assert is_as_expected(found, dict.fromkeys(all_armies, 1 / len(all_armies)), draws)


@pytest.mark.parametrize(("sets", "tokens"), CASES)
def test_an_army_is_drawn_as_often_as_the_product_of_its_weights_says(sets: tuple[str, ...], tokens: str) -> None:
    possible, left = [ranks(letters) for letters in sets], dict(Counter(RANK_BY_LETTER[t] for t in tokens))
    rng = Random(3)
    weights = [{rank: rng.choice((0.2, 1.0, 3.0)) for rank in RANKS} for _ in possible]
    products = {
        army: prod(row[rank] for row, rank in zip(weights, army, strict=True)) for army in every_army(possible, left)
    }
    shares = {army: product / sum(products.values()) for army, product in products.items()}
    sampler, draws = WeightedArmies(Armies(possible, left), weights, sweeps=12), 4_000
    found = Counter(sampler.sample(rng) for _ in range(draws))
    assert is_as_expected(found, shares, draws)


def test_a_rank_without_weight_is_given_only_where_nothing_else_is_possible() -> None:
    armies = Armies([ranks("2M"), ranks("2M")], {SCOUT: 1, MARSHAL: 1})
    sampler = WeightedArmies(armies, [{SCOUT: 0.0, MARSHAL: 2.0}, {SCOUT: 1.0}])
    assert {sampler.sample(Random(seed)) for seed in range(50)} == {(MARSHAL, SCOUT)}
    must = WeightedArmies(Armies([ranks("2")], {SCOUT: 1}), [{}])
    assert must.sample(Random(1)) == (SCOUT,)


def test_conditions_hold_in_every_army() -> None:
    class FirstIsNoScout:
        def holds(self, army: Sequence[Rank]) -> bool:
            return army[0] is not SCOUT

    armies = Armies([ranks("2SM")] * 3, {SCOUT: 1, S: 1, MARSHAL: 1}, [FirstIsNoScout()])
    rng = Random(2)
    assert {armies.sample(rng)[0] for _ in range(60)} == {S, MARSHAL}
    weighted = WeightedArmies(armies, [{SCOUT: 9.0, S: 1.0, MARSHAL: 1.0}, {}, {}])
    assert {weighted.sample(rng)[0] for _ in range(60)} == {S, MARSHAL}


def test_many_sets_that_lie_in_one_another_are_counted_quickly() -> None:
    """As under silent defence: each piece has beaten another attacker, and some of them have moved."""
    army = {F: 1, B: 6, S: 1, SCOUT: 8, **dict.fromkeys(list(Rank)[4:12], 3)}
    strong = [frozenset(rank for rank in Rank if SCOUT + step < rank <= MARSHAL) for step in range(7)]
    sets = [*(one | {B} for one in strong), *strong, *[ranks("FBS23456789M")] * (sum(army.values()) - 14)]
    armies = Armies(sets, army)
    drawn = armies.sample(Random(1))
    assert all(rank in allowed for rank, allowed in zip(drawn, sets, strict=True))
    assert Counter(drawn) == Counter(army)


def test_hidden_pieces_that_no_army_fits_are_an_error_that_names_both() -> None:
    with pytest.raises(NoArmyError, match=r"2 hidden pieces .* got 2:1 B:1|got B:1 2:1"):
        Armies([ranks("2"), ranks("2")], {SCOUT: 1, B: 1})


def test_the_first_sample_follows_the_weights_where_exchanges_alone_would_not_get_there() -> None:
    """Three pieces of two ranks each, in a ring: no exchange of two leads from one of the two armies to the other."""
    possible = [ranks("2M"), ranks("MS"), ranks("S2")]
    armies, random = Armies(possible, {SCOUT: 1, MARSHAL: 1, S: 1}), Random(1)
    weights = [{SCOUT: 0.99, MARSHAL: 0.01}, {MARSHAL: 1.0, S: 1.0}, {S: 1.0, SCOUT: 1.0}]
    found = Counter(WeightedArmies(armies, weights).sample(random)[0] for _ in range(500))
    assert found[SCOUT] >= 480


def test_the_first_sample_finds_the_one_piece_that_is_surely_the_flag() -> None:
    possible, left = [ranks("FB2")] * 30, {F: 1, B: 9, SCOUT: 20}
    weights = [{F: 1.0 if place == 7 else 1e-4, B: 1.0, SCOUT: 1.0} for place in range(30)]
    armies, random = Armies(possible, left), Random(1)
    found = Counter(WeightedArmies(armies, weights).sample(random).index(F) for _ in range(100))
    assert found[7] >= 95


def test_what_is_no_weight_no_rank_or_no_sweep_is_refused_with_what_came() -> None:
    armies = Armies([ranks("2")], {SCOUT: 1})
    with pytest.raises(
        UsageError, match=r"expected ranks such as Rank\.SCOUT as keys of the weights of piece 0, got '2'"
    ):
        WeightedArmies(armies, [{"2": 1.0}])  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="expected a weight from 0 up for rank 2 of piece 0, got None"):
        WeightedArmies(armies, [{SCOUT: None}])  # type: ignore[dict-item]
    for sweeps in (0, -1, float("inf")):
        with pytest.raises(UsageError, match="expected sweeps above 0"):
            WeightedArmies(armies, [{}], sweeps)


def test_possible_ranks_may_be_any_sets() -> None:
    assert Armies([{SCOUT, MARSHAL}, {SCOUT}], {SCOUT: 1, MARSHAL: 1}).count == 1
