"""The environments of Gymnasium: one agent against an opponent, and many games on the kernel."""

import contextlib
import io
import pickle
import signal
import threading
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import needs_learn  # noqa: F401  (before all that needs it)
import numpy as np
import psutil
import pytest
from gymnasium import make, make_vec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from learn_twins import CASES, twins

import arena.learn
from arena.errors import ArenaError, UsageError
from arena.learn.gym_env import StrategoEnv
from arena.learn.kernel_tables import UnsupportedRuleError
from arena.learn.one_game import Observed
from arena.learn.placement import Setups, setup_numbers, setup_rows
from arena.learn.vector_env import StrategoVectorEnv
from protocol.notation import Color

BOTS = Path(__file__).parents[3] / "bots"
BASIC = {"sandbox": "basic"}
SHORT = """
from protocol.bot import Bot, run
class Short(Bot):
    last = "none"
    def move(self, view):
        {move}
    def end(self, view, end):
        Short.last = end.result.value
run(Short)
"""
IMMOBILE = "S222222223/333344445F/55566677M6/BB89BB78BB"
"""Bombs where no lake is in front: the side to move first has lost."""


def first_code(seen: Observed) -> Any:
    """The first legal code, or those of a batch."""
    return seen["action_mask"].argmax(axis=-1)


def random_codes(seen: Observed, rng: np.random.Generator) -> Any:
    mask = seen["action_mask"]
    return (rng.random(mask.shape) * mask).argmax(axis=-1)


def short_bot(folder: Path, move: str) -> Path:
    path = folder / "short.py"
    path.write_text(SHORT.format(move=move))
    return path


def ends(env: StrategoEnv, seed: int) -> tuple[float, dict[str, Any]]:
    """Play a game at random."""
    rng = np.random.default_rng(seed)
    seen, _ = env.reset(seed=seed)
    over = False
    while not over:
        seen, reward, over, _, info = env.step(int(random_codes(seen, rng)))
    return reward, info


# --- one game ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"illegal": "lose"},
        {"illegal": "random", "setup": "random"},
        {"illegal": "lose", "facts": False, "seat": "blue"},
        {"ruleset": "vintage/lightning", "illegal": "random"},
    ],
)
def test_gymnasium_finds_no_fault(options: dict[str, Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        check_env(make("arena/Stratego-v0", **options).unwrapped)


@pytest.mark.parametrize("setup", ["place", "random"])
def test_a_policy_is_asked_for_its_own_seat(setup: str) -> None:
    seen_masks = []

    def policy(seen: Observed) -> int:
        seen_masks.append(seen["action_mask"].sum())
        return int(first_code(seen))

    env = StrategoEnv("barrage", policy, seat="red", setup=setup)
    reward, info = ends(env, 4)
    assert min(seen_masks) > 0
    assert reward == {"red": 1.0, "blue": -1.0, None: 0.0}[info["winner"]]
    assert env.game.is_over
    with pytest.raises(UsageError, match="the game is over"):
        env.step(0)


@pytest.fixture(scope="module", params=["barrage", "vintage/lightning"])
def against_drifter(request: pytest.FixtureRequest) -> Iterator[StrategoEnv]:
    env = StrategoEnv(request.param, BOTS / "drifter.py", bot_options=BASIC)
    yield env
    env.close()


def test_a_bot_plays_one_game_after_another(against_drifter: StrategoEnv) -> None:
    results = [ends(against_drifter, seed) for seed in range(3)]
    for reward, info in results:
        assert reward == (0.0 if info["winner"] is None else 1.0 if info["winner"] == info["seat"] else -1.0)
    assert {info["seat"] for _, info in results} == {"red", "blue"}


def test_a_game_that_is_given_up_is_followed_by_another(against_drifter: StrategoEnv) -> None:
    seen, _ = against_drifter.reset(seed=1)
    for _ in range(42):
        seen, *_ = against_drifter.step(int(first_code(seen)))
    assert ends(against_drifter, 2) == ends(against_drifter, 2)


def test_the_mask_is_there_as_sb3_contrib_asks_for_it() -> None:
    env = make("arena/Stratego-v0")
    seen, _ = env.reset(seed=1)
    assert np.array_equal(env.get_wrapper_attr("action_masks")(), seen["action_mask"].astype(np.bool_))


def test_a_bot_makes_its_own_set_up(against_drifter: StrategoEnv) -> None:
    pair = twins(against_drifter.ruleset.name, Color.RED, 0, 1)
    with pytest.raises(UsageError, match="a bot makes its own set-up"):
        against_drifter.reset(options={"setups": {color.word: setup_rows(pair.setups[0][0, color]) for color in Color}})


@pytest.mark.parametrize(
    ("move", "reason"), [('return "resign"', "resign"), ('return "a1-a1"', "illegal-action")], ids=["resigns", "cheats"]
)
def test_a_bot_that_resigns_or_cheats_loses(tmp_path: Path, move: str, reason: str) -> None:
    env = StrategoEnv("barrage", short_bot(tmp_path, move), seat="red", setup="random", bot_options=BASIC)
    seen, _ = env.reset(seed=1)
    _, reward, over, _, info = env.step(int(first_code(seen)))
    env.close()
    assert (reward, over, info["winner"], info["reason"]) == (1.0, True, "red", reason)


def test_a_bot_that_fails_is_named(tmp_path: Path) -> None:
    path = tmp_path / "short.py"
    path.write_text("raise SystemExit('no engine')\n")
    with pytest.raises(ArenaError, match="no engine"):
        StrategoEnv("barrage", path, bot_options=BASIC)
    path.write_text("__import__('time').sleep(99)\n")
    with pytest.raises(ArenaError, match=r"sent no message within 0\.5 s"):
        StrategoEnv("barrage", path, bot_options={**BASIC, "seconds": 0.5})
    with pytest.raises(ArenaError, match="missing"):
        StrategoEnv("barrage", tmp_path / "missing.py", bot_options=BASIC)


def test_a_bot_that_lost_is_told_so(tmp_path: Path) -> None:
    path = short_bot(tmp_path, 'return "resign" if Short.last in ("none", "loss") else "a1-a1"')
    env = StrategoEnv("barrage", path, seat="red", setup="random", bot_options=BASIC)
    assert [ends(env, seed)[1]["reason"] for seed in range(2)] == ["resign", "resign"]
    env.close()


@pytest.mark.parametrize(
    ("move", "fault"), [("raise SystemExit(3)", "exited with code 3"), ("__import__('time').sleep(99)", "no message")]
)
def test_a_bot_that_fails_in_a_game_leaves_no_process_and_is_started_again(
    tmp_path: Path, move: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its path was relative to the folder that was current when the environment was made."""
    children = psutil.Process().children(recursive=True)
    path = short_bot(tmp_path, f"if view.ply > 3: {move}\n        return view.legal[0]")
    monkeypatch.chdir(tmp_path)
    env = StrategoEnv("barrage", path.name, seat="red", setup="random", bot_options={**BASIC, "seconds": 2.0})
    with pytest.raises(ArenaError, match=fault):
        ends(env, 1)
    assert psutil.Process().children(recursive=True) == children
    with pytest.raises(UsageError, match="Call reset"):
        env.step(0)
    monkeypatch.chdir("/")
    seen, _ = env.reset()
    env.step(int(first_code(seen)))
    env.close()
    env.close()
    assert psutil.Process().children(recursive=True) == children


def test_an_interrupted_or_deleted_environment_leaves_no_process(tmp_path: Path) -> None:
    children = psutil.Process().children(recursive=True)
    path = short_bot(tmp_path, "__import__('time').sleep(99)")
    env = StrategoEnv("barrage", path, seat="red", setup="random", bot_options={**BASIC, "seconds": 60.0})
    seen, _ = env.reset(seed=1)
    threading.Timer(0.2, signal.pthread_kill, [threading.get_ident(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        env.step(int(first_code(seen)))
    assert psutil.Process().children(recursive=True) == children
    seen, _ = env.reset(seed=1)
    env.close()
    with pytest.raises(UsageError, match="Call reset first"):
        env.step(int(first_code(seen)))
    env.reset(seed=1)
    del env
    assert psutil.Process().children(recursive=True) == children


def test_a_step_before_the_first_reset_is_refused() -> None:
    with pytest.raises(UsageError, match="Call reset first"):
        StrategoEnv("barrage").step(0)
    with pytest.raises(UsageError, match="Call reset first"):
        StrategoVectorEnv("barrage", 1).step(np.array([0]))


def test_a_bot_is_no_opponent_of_a_batch() -> None:
    with pytest.raises(UsageError, match="opponent: expected a function, got 'drifter'"):
        make_vec("arena/Stratego-v0", num_envs=2, opponent="drifter")


def test_games_that_always_end_before_the_first_turn_are_refused(tmp_path: Path) -> None:
    blue_turn = "the agent's first turn"
    resigns = StrategoEnv("barrage", short_bot(tmp_path, 'return "resign"'), seat="blue", setup="random")
    with contextlib.closing(resigns), pytest.raises(UsageError, match=blue_turn):
        resigns.reset()
    rows = dict.fromkeys(("red", "blue"), IMMOBILE)
    with pytest.raises(UsageError, match=blue_turn):
        StrategoEnv("isf").reset(options={"setups": rows})
    setups = np.array([[setup_numbers(IMMOBILE.split("/"))] * 2])
    with pytest.raises(UsageError, match=blue_turn):
        StrategoVectorEnv("isf", 1, setups=lambda *_: setups).reset()


@pytest.mark.parametrize("copied", [deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_an_environment_plays_on(copied: Any) -> None:
    env = StrategoEnv("barrage", setup="random", seat="red")
    seen, _ = env.reset(seed=1)
    other = copied(env)
    for _ in range(10):
        code: Any = np.asarray(first_code(seen))  # without dimensions, as some libraries give it
        seen, *_ = env.step(code)
        again, *_ = other.step(int(code))
        assert all(np.array_equal(seen[key], again[key]) for key in seen)


@pytest.mark.parametrize("kind", [StrategoEnv, StrategoVectorEnv, arena.learn.env, arena.learn.parallel_env])
def test_rules_that_the_kernel_has_not_are_refused_at_once(kind: Any) -> None:
    with pytest.raises(UnsupportedRuleError, match="spy diagonal"):
        kind("tek")


@pytest.mark.parametrize("kind", [StrategoEnv, StrategoVectorEnv])
def test_a_wrong_seat_is_named(kind: Any) -> None:
    with pytest.raises(UsageError, match="seat: expected one of None, red, blue, got 'green'"):
        kind("barrage", seat="green")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponent": 5}, "opponent: expected a function, a bot's path or name, or None, got 5"),
        ({"bot_options": BASIC}, "bot_options: expected a bot's path or name as opponent, got None"),
        ({"opponent": "drifter", "bot_options": {"seconds": "a"}}, "seconds: expected a number of seconds above 0"),
        ({"facts": 3}, "facts: expected one of True, False, got 3"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make("arena/Stratego-v0", **options)


@pytest.mark.parametrize("options", [{"setup": {}}, "random"])
@pytest.mark.parametrize("kind", [StrategoEnv, StrategoVectorEnv])
def test_a_wrong_option_of_a_reset_is_named(kind: Any, options: Any) -> None:
    with pytest.raises(UsageError, match="options: expected None or a dictionary with "):
        kind("barrage").reset(options=options)


# --- many games -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seat": "red"}, "seat: expected an opponent for the other seat"),
        ({"num_envs": 0}, "num_envs: expected a whole number from 1, got 0"),
        ({"setups": 5}, "setups: expected a function, got 5"),
        ({"facts": 3}, "facts: expected one of True, False, got 3"),
    ],
)
def test_a_wrong_option_of_a_batch_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        StrategoVectorEnv("barrage", **options)


def test_an_opponent_that_forgets_its_answer_is_named() -> None:
    nothing: Any = lambda _: None  # noqa: E731
    with pytest.raises(UsageError, match="opponent: expected a code for each game, got None"):
        StrategoVectorEnv("barrage", 1, nothing, seat="blue").reset()


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("rules", ["barrage", "vintage/lightning"])
@pytest.mark.parametrize("itself", [True, False])
def test_games_end_and_begin_as_in_gymnasium(mode: AutoresetMode, rules: str, itself: bool) -> None:
    rng = np.random.default_rng(1)
    env = StrategoVectorEnv(rules, 32, None if itself else lambda seen: random_codes(seen, rng), autoreset_mode=mode)
    seen, infos = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    before, ended = np.zeros(32, np.bool_), 0
    while ended <= 10:
        if mode is AutoresetMode.DISABLED and before.any():
            kept = seen["observation"].copy()
            seen, infos = env.reset(options={"reset_mask": before})
            assert np.array_equal(seen["observation"][~before], kept[~before])
        seats = infos["seat"].copy()
        seen, rewards, done, cut, infos = env.step(random_codes(seen, rng))
        assert env.observation_space.contains(seen)
        assert not cut.any()
        assert not rewards[~done].any()
        ended += done.sum()
        if mode is AutoresetMode.NEXT_STEP:
            assert not (before & done).any()
            assert (seen["facts"][before, 0] <= 1).all()
        if done.any():
            final = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
            expected = np.where(final["winner"] == seats, 1.0, np.where(final["winner"] == 2, 0.0, -1.0))
            assert (rewards[done] == expected[done]).all()
            assert all(final["reason"][done])
        if mode is AutoresetMode.SAME_STEP and done.any():
            assert (infos["_final_obs"] == done).all()
            assert all(not infos["final_obs"][number]["action_mask"].any() for number in np.flatnonzero(done))
            assert seen["action_mask"].any(axis=1).all()
        else:
            assert (seen["action_mask"].any(axis=1) == ~done).all()
        before = done


def test_games_that_wait_are_not_played_without_a_reset() -> None:
    env = StrategoVectorEnv("barrage", 4, autoreset_mode=AutoresetMode.DISABLED)
    seen, _ = env.reset(seed=2)
    done = np.zeros(4, np.bool_)
    rng = np.random.default_rng(2)
    while not done.any():
        seen, _, done, *_ = env.step(random_codes(seen, rng))
    with pytest.raises(UsageError, match=r"it is over\. Call reset with a reset_mask first"):
        env.step(random_codes(seen, rng))
    with pytest.raises(UsageError, match="reset_mask: expected 4 of True and False"):
        env.reset(options={"reset_mask": np.zeros(4, np.bool_)})


def test_a_seed_gives_the_same_games_and_copies_stay_as_they_are() -> None:
    played = []
    for _ in range(2):
        rng = np.random.default_rng(5)
        env = StrategoVectorEnv("barrage", 8, partial(random_codes, rng=rng))
        steps = [env.reset(seed=7)[0]]
        for _ in range(60):
            steps.append(env.step(random_codes(steps[-1], rng))[0])
        played.append(steps)
    for first, second in zip(*played, strict=True):
        assert all(np.array_equal(first[key], second[key]) for key in first)
    assert not np.array_equal(played[0][0]["observation"], played[0][-1]["observation"])


@pytest.mark.parametrize(("ruleset", "seat", "plies", "seed"), CASES)
def test_games_of_a_batch_that_a_seat_may_not_tell_apart_look_the_same_to_it(
    ruleset: str, seat: Color, plies: int, seed: int
) -> None:
    pair = twins(ruleset, seat, plies, seed)

    def given(*_: object) -> Setups:
        return np.concatenate(pair.setups)

    env = StrategoVectorEnv(ruleset, 2, setups=given)
    seen, infos = env.reset()
    compared = 0
    for code in (*pair.codes, None):
        if infos["seat"][0] == seat:
            assert all(np.array_equal(*array) for array in seen.values())
            compared += 1
        if code is not None:
            seen, _, _, _, infos = env.step(np.array([code, code]))
    assert compared >= plies // 2
