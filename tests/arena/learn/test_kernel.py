"""The kernel plays as the engine's referee does, and tells each seat what the referee tells it."""

import pickle
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import needs_numba  # noqa: F401  (before all that needs it)
import numpy as np
import pytest
from kernel_games import MANNERS, SUPPORTED, Manner, chasing, compare, is_supported, shortened
from random_rules import made_ruleset, random_ruleset

from arena.errors import UsageError
from arena.learn.kernel import Kernel
from arena.learn.kernel_tables import REASONS, UnsupportedRuleError, rule_numbers
from arena.learn.observation import FACT_COUNT, FACTS, PLANE_COUNT, PLANES
from arena.learn.placement import Placement, random_setups, setup_rows
from arena.stratego.rules.ruleset import Chase, Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.rules.setup import check_setup
from protocol.notation import Color

ARMIES = ("F1 B2 S1 22 31 61 91 M1 I1", "F1 B3 S2 22 32 41 63 M1 I2", "F1 B1 S1 22 31 62 M1", "F1 21 31", "F1 M1")


def begun(name: str, games: int, seed: int = 1, *, observes: bool = True) -> Kernel:
    kernel = Kernel(name, games, observes=observes)
    kernel.reset(random_setups(kernel.ruleset, games, np.random.default_rng(seed)))
    return kernel


def supported_rules(rng: Random) -> Ruleset:
    """A random ruleset that the kernel has."""
    while True:
        ruleset = random_ruleset(rng, ARMIES)
        if is_supported(ruleset) and (ruleset.max_plies or ruleset.max_quiet_plies):
            return ruleset


@pytest.mark.parametrize("name", SUPPORTED)
def test_kernel_and_engine_agree_under_every_ruleset_that_the_kernel_has(name: str) -> None:
    for manner in MANNERS:
        assert compare(shortened(load_ruleset(name), 300), 1, 11, manner, every=50).plies > 20


@pytest.mark.parametrize("manner", MANNERS, ids=lambda manner: manner.__name__)
def test_kernel_and_engine_agree_on_the_first_20_plies_of_ten_thousand_games(manner: Manner) -> None:
    games = 10_000 // len(MANNERS) // len(SUPPORTED) + 1
    for seed, name in enumerate(SUPPORTED):
        compare(shortened(load_ruleset(name), 20), games, seed, manner, every=0)


def test_kernel_and_engine_agree_under_random_rules_and_in_every_kind_of_ending() -> None:
    reasons: set[str] = set()
    for seed in range(60):
        rng = Random(seed)
        every = 50 if seed % 2 else 0
        reasons |= compare(supported_rules(rng), 4, seed, MANNERS[seed % len(MANNERS)], every=every).reasons
    assert reasons == {reason.value for reason in REASONS if reason}


@pytest.mark.parametrize("name", ["barrage", "vintage/barrage"])
@pytest.mark.parametrize("lacking", ["chase", "two_squares"])
def test_the_comparison_notices_a_kernel_without_a_rule_on_repetition(
    name: str, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = rule_numbers(load_ruleset(name)).copy()
    numbers[lacking] = 0
    numbers.setflags(write=False)  # as it is without this change: else all would be compiled once more
    monkeypatch.setattr("arena.learn.kernel.rule_numbers", lambda _: numbers)
    with pytest.raises(AssertionError):
        compare(load_ruleset(name), 12, 3, chasing, every=0)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("tek", "spy diagonal"),
        ("lattaque", "attacks facing"),
        ("isf+rescue", "rescues 2"),
        ("jumbo-81320/infiltrator", "infiltration yes"),
        ("isf+mobile-flag", "flag mobile"),
        ("isf+mobile-bombs", "bombs mobile"),
    ],
)
def test_a_rule_that_the_kernel_does_not_have_is_named(name: str, rule: str) -> None:
    with pytest.raises(UnsupportedRuleError, match=rule):
        Kernel(name, 1)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"two_squares": 256}, "two-squares 256"),
        ({"chase": Chase.ISF, "max_plies": None, "max_quiet_plies": None}, "chase isf"),
    ],
)
def test_a_number_that_the_kernel_cannot_hold_is_named(rules: dict[str, object], named: str) -> None:
    with pytest.raises(UnsupportedRuleError, match=named):
        Kernel(made_ruleset("F1 M1", rules), 1)


def test_every_plane_and_every_fact_is_described_once() -> None:
    for described, count in ((PLANES, PLANE_COUNT), (FACTS, FACT_COUNT)):
        assert len({each.name for each in described}) == len(described) == count
        assert all(each.meaning and each.source for each in described)


def test_a_game_that_is_over_stays_as_it_is_and_others_begin_anew_alone() -> None:
    kernel, rng = begun("barrage", 50), np.random.default_rng(4)
    while kernel.is_over.sum() < 5:
        kernel.step(kernel.sample(rng))
    over = np.flatnonzero(kernel.is_over)
    before = kernel.games.copy()
    kernel.step(kernel.sample(rng))
    assert (kernel.games[over] == before[over]).all()
    assert not kernel.mask[over].any()
    assert all(kernel.outcome(int(number)) for number in over)
    kept = np.setdiff1d(np.arange(50), over)
    before, planes, mask = kernel.games.copy(), kernel.planes.copy(), kernel.mask.copy()
    kernel.reset(random_setups(kernel.ruleset, len(over), rng), over)
    assert (kernel.games[kept] == before[kept]).all()
    assert np.array_equal(kernel.planes[kept], planes[kept])
    assert np.array_equal(kernel.mask[kept], mask[kept])
    assert (kernel.ply[over] == 0).all()
    assert np.array_equal(kernel.planes, kernel.observe(kernel.to_move).planes)


def test_a_game_begun_anew_is_a_new_game() -> None:
    """Nothing of the game before is left, such as a run over a border or a chase."""
    used, rng = begun("duel", 20), np.random.default_rng(6)
    for _ in range(90):
        used.step(used.sample(rng))
    setups = random_setups(used.ruleset, 20, rng)
    new = Kernel("duel", 20)
    for kernel in (used, new):
        kernel.reset(setups)
    for _ in range(90):
        actions = new.sample(rng)
        for kernel in (used, new):
            kernel.step(actions)
        assert np.array_equal(used.mask, new.mask)
        assert np.array_equal(used.planes, new.planes)
        assert np.array_equal(used.facts, new.facts)


@pytest.mark.parametrize(
    ("name", "action"), [("barrage", -1), ("barrage", 1800), ("barrage", 0), ("vintage/lightning", 2600)]
)
def test_an_illegal_action_is_refused_before_anything_is_played(name: str, action: int) -> None:
    kernel = begun(name, 3)
    before = kernel.games.copy()
    actions = kernel.sample(np.random.default_rng(1))
    assert not kernel.mask[2, 0]
    actions[2] = action
    with pytest.raises(UsageError, match="game 2: expected one of its"):
        kernel.step(actions)
    assert (kernel.games == before).all()


def test_games_that_wait_stay_as_they_are() -> None:
    kernel = begun("barrage", 3)
    before = kernel.games[[0, 2]].copy()
    kernel.step(np.where([False, True, False], kernel.sample(np.random.default_rng(1)), -1), np.array([1, 0, 1]) > 0)
    assert (kernel.games[[0, 2]] == before).all()
    assert kernel.ply.tolist() == [0, 1, 0]
    with pytest.raises(UsageError, match="game 1: expected one of"):
        kernel.step([-1, -1, -1], np.array([True, False, True]))
    assert not kernel.is_over.any()


@pytest.mark.parametrize("copied", [Kernel.copy, deepcopy, lambda kernel: pickle.loads(pickle.dumps(kernel))])
def test_a_copy_goes_its_own_way(copied: Callable[[Kernel], Kernel]) -> None:
    kernel, rng = begun("isf", 2), np.random.default_rng(3)
    for _ in range(30):
        kernel.step(kernel.sample(rng))
    other, planes, codes = copied(kernel), kernel.planes.copy(), kernel.sample(rng)
    other.step(codes)
    assert np.array_equal(kernel.planes, planes)
    kernel.step(codes)
    arrays: list[Any] = [[each.games, each.mask, each.codes, each.planes, each.facts] for each in (kernel, other)]
    assert all(np.array_equal(*pair) for pair in zip(*arrays, strict=True))


@pytest.mark.parametrize("which", [[3], [-1], [False, True, False], [0.5]])
def test_games_that_are_none_are_refused(which: Any) -> None:
    kernel = begun("barrage", 3)
    with pytest.raises(UsageError, match="which: expected numbers of games from 0 to 2, got"):
        kernel.reset(random_setups(kernel.ruleset, len(which), np.random.default_rng(1)), which)
    with pytest.raises(UsageError, match="seats: expected 0 for red or 1 for blue, got 2"):
        kernel.observe([0, 1, 2])


def test_a_game_that_has_not_begun_has_no_outcome() -> None:
    assert Kernel("barrage", 1, observes=False).outcome(0) is None


def test_actions_and_set_ups_of_a_wrong_shape_or_army_are_refused() -> None:
    kernel = begun("barrage", 3)
    with pytest.raises(UsageError, match="actions: expected 3 whole numbers"):
        kernel.step([1, 2])
    with pytest.raises(UsageError, match="actions: expected 3 whole numbers"):
        kernel.step([0.5, 1, 2])
    setups = random_setups(kernel.ruleset, 3, np.random.default_rng(1))
    with pytest.raises(UsageError, match="setups: expected the shape"):
        kernel.reset(setups[:2])
    setups[1, 1][setups[1, 1] == 0] = 4
    with pytest.raises(UsageError, match="setups: game 1, blue: expected the numbers of the army"):
        kernel.reset(setups)


@pytest.mark.parametrize("name", ["barrage", "isf"])
def test_a_set_up_phase_leads_to_legal_set_ups_and_shows_no_seat_the_other_one(name: str) -> None:
    ruleset, rng = load_ruleset(name), np.random.default_rng(8)
    placement, twin = Placement(ruleset), Placement(ruleset)
    while not placement.is_over:
        red, blue = (int(rng.choice(np.flatnonzero(seat))) for seat in placement.mask)
        placement.place([red, blue])
        twin.place([red, int(rng.choice(np.flatnonzero(twin.mask[Color.BLUE])))])
        seen, other = placement.observe(Color.RED), twin.observe(Color.RED)
        assert np.array_equal(seen.planes, other.planes)
        assert np.array_equal(seen.facts, other.facts)
    for setup in placement.setups[0]:
        check_setup(ruleset, setup_rows(setup))
    kernel = Kernel(ruleset, 1)
    kernel.reset(placement.setups)
    for color in Color:
        assert np.array_equal(placement.observe(color).planes[:13], kernel.observe(color).planes[0, :13])
