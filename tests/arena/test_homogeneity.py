"""Whether results depend on the machine: the test against independent ways to the same numbers."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from arena.league.ratings.homogeneity import chi_square_tail, homogeneity

Game = tuple[str, str, str]


def random_games(random: Random, groups: int, games: int, red: dict[str, float]) -> list[Game]:
    """Games of which each machine has Red win as often as is said of it."""
    machines = sorted(red)
    found = []
    for group in range(groups):
        for _ in range(games):
            machine = random.choice(machines)
            draw = random.random()
            found.append((f"{group}", machine, "red" if draw < red[machine] else "blue" if draw < 0.95 else "draw"))
    return found


@given(st.floats(1e-6, 1e4), st.integers(1, 5000))
@settings(max_examples=100, deadline=None)
def test_the_tail_is_that_of_another_implementation(value: float, degrees: int) -> None:
    assert chi_square_tail(value, degrees) == pytest.approx(stats.chi2.sf(value, degrees), rel=1e-7, abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=2, max_size=60))
@settings(max_examples=50, deadline=None)
def test_of_one_group_chi_square_is_that_of_another_implementation(games: list[tuple[str, str]]) -> None:
    cells = Counter(games)
    machines, results = sorted({a for a, _ in cells}), sorted({b for _, b in cells})
    found = homogeneity(("g", machine, result) for machine, result in games)
    if len(machines) < 2 or len(results) < 2:
        assert (found.degrees, found.p) == (0, 1.0)
        return
    table = [[cells[machine, result] for result in results] for machine in machines]
    expected = stats.chi2_contingency(table, correction=False)
    assert found.chi_square == pytest.approx(expected.statistic * (len(games) - 1) / len(games))
    assert found.degrees == expected.dof


def test_where_nothing_depends_on_the_machine_p_is_that_of_shuffled_machines() -> None:
    random = Random(5)
    for _ in range(5):
        games = random_games(random, 12, 14, {"a": 0.5, "b": 0.5, "c": 0.5})
        found = homogeneity(games)
        reached = 0
        for _ in range(300):
            shuffled = []
            for group in {group for group, _, _ in games}:
                own = [game for game in games if game[0] == group]
                machines = [machine for _, machine, _ in own]
                random.shuffle(machines)
                shuffled += [(group, machine, game[2]) for machine, game in zip(machines, own, strict=True)]
            reached += homogeneity(shuffled).chi_square >= found.chi_square - 1e-9
        assert found.p == pytest.approx(reached / 300, abs=0.12)


def test_a_machine_on_which_red_wins_less_is_found() -> None:
    assert homogeneity(random_games(Random(7), 10, 60, {"a": 0.6, "b": 0.6, "slow": 0.2})).p < 1e-4


def test_games_of_different_bots_are_never_compared() -> None:
    games = [("1", "a", "red")] * 50 + [("2", "b", "blue")] * 50
    assert homogeneity(games) == homogeneity([])
    assert homogeneity(games).p == 1.0
