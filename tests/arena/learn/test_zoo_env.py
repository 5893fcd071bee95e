"""The environments of PettingZoo: its own tests, the phases of a game, and what an agent may see."""

import contextlib
import io
import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

import needs_learn  # noqa: F401  (before all that needs it)
import numpy as np
import pytest
from learn_twins import CASES, twins
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)

import arena.learn
from arena.errors import UsageError
from arena.learn.action_codes import STRAIGHT_COUNT
from arena.learn.observation import ENTERED, LATEST, OWN, PLY, observe
from arena.learn.one_game import SQUARE_PIXELS, Observed
from arena.learn.placement import CHOICES, Setups, random_setups, setup_rows
from arena.stratego.rules.rulesets import as_ruleset
from arena.stratego.seat_view import begun_view
from protocol.notation import BOARD_SIZE, Color, Rank

ENVIRONMENTS = pytest.mark.parametrize("make", [arena.learn.env, arena.learn.parallel_env])
WARNINGS = pytest.mark.filterwarnings(
    "ignore:We recommend agents to be named",
    "ignore:Observation is not a NumPy array",
    "ignore:Observation space for each agent probably",
)


def rows(setups: Setups) -> dict[str, Any]:
    return {color.word: setup_rows(setups[0, color]) for color in Color}


def same(first: Observed, second: Observed) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[key], second[key]) for key in first)


def some_code(seen: Observed, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(seen["action_mask"])))


# --- tests of PettingZoo ----------------------------------------------------------------------------------------------


@WARNINGS
@pytest.mark.parametrize(
    ("rules", "options"),
    [("barrage", {}), ("barrage", {"facts": False}), ("barrage", {"setup": "random"}), ("vintage/lightning", {})],
)
def test_the_api_is_that_of_pettingzoo(rules: str, options: dict[str, Any]) -> None:
    api_test(arena.learn.env(rules, **options), num_cycles=300)
    parallel_api_test(arena.learn.parallel_env(rules, **options), num_cycles=200)


def test_a_seed_gives_the_same_game() -> None:
    seed_test(partial(arena.learn.env, "isf"), num_cycles=100)
    seed_test(partial(arena.learn.env, "vintage/lightning", setup="random"), num_cycles=100)
    parallel_seed_test(partial(arena.learn.parallel_env, "barrage", illegal="random"), num_cycles=100)


def test_a_game_is_cut_off_after_so_many_cycles() -> None:
    options: dict[str, Any] = {"illegal": "random"}  # this test plays without the mask
    env, parallel = (partial(make, "barrage", **options) for make in (arena.learn.env, arena.learn.parallel_env))
    max_cycles_test(SimpleNamespace(env=env, parallel_env=parallel))


def test_every_mode_renders() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        render_test(partial(arena.learn.env, "isf"))
    assert "to act: red and blue" in printed.getvalue()


# --- the game ---------------------------------------------------------------------------------------------------------


def test_a_game_from_the_first_square_to_its_end() -> None:
    env = arena.learn.env("barrage")
    env.reset(seed=3)
    rng, rewards, actions = np.random.default_rng(3), dict.fromkeys(env.possible_agents, 0.0), []
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        rewards[agent] += reward
        actions.append(agent)
        env.step(None if terminated or truncated else some_code(seen, rng))
    assert actions[:80] == ["red", "blue"] * 40
    assert actions[80] == "red"
    assert info["reason"] in {"flag", "no-move", "no-attacker", "quiet-cap", "ply-cap"}
    expected = {None: 0.0, "red": 1.0, "blue": -1.0}[info["winner"]]
    assert rewards == {"red": expected, "blue": -expected}


def test_the_set_up_is_what_the_agents_placed() -> None:
    env = arena.learn.env("barrage")
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    placed: dict[str, list[int]] = {"red": [], "blue": []}
    for square in range(40):
        for agent in ("red", "blue"):
            seen = env.observe(agent)
            assert not seen["action_mask"][CHOICES:].any()
            assert seen["facts"][PLY] == square - 40
            assert seen["observation"][LATEST].flat[square] == ENTERED
            placed[agent].append(some_code(seen, rng))
            env.step(placed[agent][-1])
    ruleset = as_ruleset("barrage")
    enemies = {
        color: [i for i, cell in enumerate(env.game.cells()) if cell[0] == color.opponent.word[0]] for color in Color
    }
    for color in Color:
        squares = tuple(f"{'abcdefghij'[i % 10]}{i // 10 + 1}" for i in enemies[color])
        expected = observe(begun_view(ruleset, color, setup_rows(placed[color.word]), squares))
        seen = env.observe(color.word)
        assert np.array_equal(seen["observation"], expected.planes)
        assert np.array_equal(seen["facts"], expected.facts)


def test_both_fill_a_square_in_a_step_of_the_parallel_environment() -> None:
    env = arena.learn.parallel_env("barrage")
    seen, _ = env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(40):
        seen, *_ = env.step({agent: some_code(seen[agent], rng) for agent in env.agents})
    assert seen["red"]["action_mask"].any()
    assert not seen["blue"]["action_mask"].any()
    with pytest.raises(UsageError, match="red: expected an action"):
        env.step({})
    seen, _, ended, cut, _ = env.step({"red": some_code(seen["red"], rng)})
    assert seen["blue"]["action_mask"].any()
    assert not any(ended.values())
    assert not any(cut.values())


@ENVIRONMENTS
def test_a_game_begins_with_given_set_ups(make: Any) -> None:
    given = twins("isf", Color.RED, 0, 1).setups[0]
    env = make("isf", render_mode="rgb_array")
    env.reset(options={"setups": rows(given)})
    own = env.observe("blue")["observation"][OWN : OWN + CHOICES - 1].reshape(CHOICES - 1, -1)
    assert (own.argmax(axis=0)[:40] + 1 == given[0, Color.BLUE]).all()
    image = env.render()
    assert image.shape == (BOARD_SIZE * SQUARE_PIXELS, BOARD_SIZE * SQUARE_PIXELS, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"setups": {"red": "."}}, "setups: expected a dictionary with red and blue"),
        ({"setups": {"red": "M/./.", "blue": ""}}, "setups: red: expected 4 rows of 10 squares, got 3 rows"),
    ],
)
def test_wrong_set_ups_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        arena.learn.env("isf").reset(options=options)


@pytest.mark.parametrize("missing", ["pettingzoo", "numba"])
def test_a_missing_library_is_named_with_the_extra_that_has_it(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for name in ("zoo_env", "one_game", "kernel", "compiled"):
        monkeypatch.delitem(sys.modules, f"arena.learn.{name}", raising=False)
        monkeypatch.delattr(arena.learn, name, raising=False)
    with pytest.raises(ImportError, match=f"{missing}.*: install stratego-arena with its extra 'learn'"):
        arena.learn.env("isf")


@ENVIRONMENTS
@pytest.mark.parametrize("option", ["setup", "facts", "illegal", "render_mode"])
def test_wrong_words_are_named(make: Any, option: str) -> None:
    with pytest.raises(UsageError, match=f"{option}: expected one of .*, got 'wrong'"):
        make("isf", **{option: "wrong"})


@ENVIRONMENTS
@pytest.mark.parametrize("cycles", [0, -1, "3"])
def test_a_wrong_number_of_cycles_is_named(make: Any, cycles: Any) -> None:
    with pytest.raises(UsageError, match=f"max_cycles: expected a whole number from 1, got {cycles!r}"):
        make("isf", max_cycles=cycles)


def test_an_illegal_action_does_what_was_chosen() -> None:
    flag = int(Rank.FLAG)
    for illegal in ("error", "lose", "random"):
        env = arena.learn.env("isf", illegal=illegal)
        env.reset(seed=1)
        env.step(flag)
        env.step(flag)
        if illegal == "error":
            with pytest.raises(UsageError, match=f"red: expected a legal code .*, got {flag}"):
                env.step(flag)
            continue
        env.step(flag)
        assert env.terminations == dict.fromkeys(("red", "blue"), illegal == "lose")
        if illegal == "lose":
            assert env.rewards == {"red": -1.0, "blue": 1.0}
            assert env.infos["red"] == {"action": -1, "winner": "blue", "reason": "illegal-action"}
        else:
            assert env.infos["red"]["action"] not in (flag, -1)


@ENVIRONMENTS
def test_a_step_before_the_first_reset_is_refused(make: Any) -> None:
    with pytest.raises(UsageError, match="Call reset first"):
        make("isf").step({"red": 0, "blue": 0})


def test_the_next_turn_is_asked_for_only_during_a_game() -> None:
    env = arena.learn.env("barrage", max_cycles=1)
    with pytest.raises(UsageError, match="Call reset first"):
        env.last()
    env.reset(seed=1)
    for _ in env.agent_iter():
        seen, _, _, cut, _ = env.last()
        env.step(None if cut else some_code(seen, np.random.default_rng(1)))
    for call in (env.last, partial(env.step, None)):
        with pytest.raises(UsageError, match="Call reset first"):
            call()


@pytest.mark.parametrize("code", [-1, STRAIGHT_COUNT, 1.5, "a4-a5"])
def test_an_action_that_is_no_code_is_an_error(code: Any) -> None:
    env = arena.learn.env("isf", setup="random")
    env.reset(seed=1)
    with pytest.raises(UsageError, match="red: expected a legal code"):
        env.step(code)


# --- what an agent may see --------------------------------------------------------------------------------------------


@ENVIRONMENTS
@pytest.mark.parametrize(("ruleset", "seat", "plies", "seed"), CASES)
def test_games_that_differ_in_what_a_seat_may_not_know_look_the_same_to_it(
    make: Any, ruleset: str, seat: Color, plies: int, seed: int
) -> None:
    pair = twins(ruleset, seat, plies, seed)
    envs = [make(ruleset) for _ in pair.setups]
    for env, setups in zip(envs, pair.setups, strict=True):
        env.reset(options={"setups": rows(setups)})
    differs = False
    for code in (*pair.codes, None):
        first, second = (env.observe(seat.word) for env in envs)
        assert same(first, second)
        differs |= not same(*(env.observe(seat.opponent.word) for env in envs))
        for env in envs:
            if code is not None:
                acting = env.game.acting[0].word
                env.step(code if make is arena.learn.env else {acting: code})
    assert differs


@ENVIRONMENTS
def test_a_seat_learns_nothing_of_the_other_in_the_set_up_phase(make: Any) -> None:
    first = random_setups(as_ruleset("barrage"), 1, np.random.default_rng(5))
    second = random_setups(as_ruleset("barrage"), 1, np.random.default_rng(6))
    second[0, Color.BLUE] = first[0, Color.BLUE]
    envs = [make("barrage") for _ in range(2)]
    for env in envs:
        env.reset()
    for square in range(40):
        assert same(*(env.observe("blue") for env in envs))
        for env, setups in zip(envs, (first, second), strict=True):
            red, blue = setups[0, :, square].tolist()
            if make is arena.learn.parallel_env:
                env.step({"red": red, "blue": blue})
            else:
                alone = env.observe("blue")
                env.step(red)
                assert same(alone, env.observe("blue"))
                env.step(blue)
    assert not same(*(env.observe("blue") for env in envs))  # the squares of the pieces are public now
