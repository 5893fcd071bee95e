"""The game for OpenSpiel: its own tests, and the sampler of states that a player cannot tell apart."""

from pathlib import Path
from random import Random
from typing import Any

import needs_openspiel  # noqa: F401  (before all that needs it)
import numpy as np
import pyspiel
import pytest
from absl import flags
from learn_twins import CASES, twins
from open_spiel.integration_tests import api_test
from open_spiel.python.algorithms.generate_playthrough import playthrough, replay
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from random_rules import made_ruleset

from arena.errors import UsageError
from arena.learn.action_codes import seat_square
from arena.learn.observation import observe
from arena.learn.placement import Setups
from arena.learn.spiel import GAME_NAME, StrategoGame
from protocol.notation import SQUARES, Color

BARRAGE, LIGHTNING = (f"{GAME_NAME}(ruleset={name})" for name in ("barrage", "vintage/lightning"))
SETUP_ACTIONS = 80


def moved(state: Any, random: Random, actions: int) -> Any:
    """Apply random actions, except the last one of a game."""
    for _ in range(actions):
        following = state.child(random.choice(state.legal_actions()))
        if following.is_terminal():
            break
        state = following
    return state


def state_of(ruleset: str, setups: Setups, codes: tuple[int, ...]) -> Any:
    state = pyspiel.load_game(f"{GAME_NAME}(ruleset={ruleset})").new_initial_state()
    for action in (*setups[0].T.flatten().tolist(), *codes):
        state.apply_action(action)
    return state


def seen(state: Any, player: int) -> tuple[Any, ...]:
    return (
        state.information_state_string(player),
        state.information_state_tensor(player),
        state.observation_string(player),
        state.observation_tensor(player),
    )


class TestOfOpenSpiel(api_test.EnforceAPIOnPartialTreeBase):  # type: ignore[misc]
    """OpenSpiel's tests of games, on 400 states."""

    game_name = BARRAGE
    game = pyspiel.load_game(BARRAGE)


class TestOfOpenSpielWithTurns(api_test.EnforceAPIOnPartialTreeBase):  # type: ignore[misc]
    game_name = LIGHTNING
    game = pyspiel.load_game(LIGHTNING)


@pytest.mark.parametrize("game", [BARRAGE, LIGHTNING])
def test_random_play_finds_no_fault(game: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(game), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("rules", ["barrage", "vintage/lightning"])
def test_a_playthrough_can_be_replayed(rules: str, tmp_path: Path) -> None:
    flags.FLAGS.mark_as_parsed()
    short, path = tmp_path / "short.toml", tmp_path / "playthrough.txt"
    short.write_text(f'extends = "{rules}"\nmax_plies = 20\n')
    path.write_text(playthrough(f"{GAME_NAME}(ruleset={short})", None, seed=1))
    original, again = replay(path)
    assert original == again
    assert "InformationStateTensor" in original


def test_a_clone_and_a_read_state_go_their_own_way() -> None:
    game = pyspiel.load_game(BARRAGE)
    random = Random(1)
    state = moved(game.new_initial_state(), random, SETUP_ACTIONS + 20)
    copied, read = state.clone(), game.deserialize_state(state.serialize())
    before = seen(state, 0)
    assert seen(copied, 0) == seen(read, 0) == before
    copied.apply_action(random.choice(copied.legal_actions()))
    assert seen(state, 0) == before != seen(copied, 0)


@pytest.mark.parametrize("game", [BARRAGE, LIGHTNING])
def test_the_observation_is_what_a_bot_would_make_of_its_view(game: str) -> None:
    state = moved(pyspiel.load_game(game).new_initial_state(), Random(2), SETUP_ACTIONS + 60)
    for color in Color:
        planes, facts = observe(state.play.view(color))
        expected = np.concatenate([np.eye(2)[color], planes.flatten(), facts])
        assert np.array_equal(state.observation_tensor(int(color)), expected)


@pytest.mark.parametrize(("ruleset", "seat", "plies", "seed"), CASES)
def test_states_that_a_player_may_not_tell_apart_look_the_same_to_it(
    ruleset: str, seat: Color, plies: int, seed: int
) -> None:
    pair = twins(ruleset, seat, plies, seed)
    first, second = (state_of(ruleset, setups, pair.codes) for setups in pair.setups)
    assert seen(first, int(seat)) == seen(second, int(seat))
    other = int(seat.opponent)
    assert all(one != two for one, two in zip(seen(first, other), seen(second, other), strict=True))


def test_the_information_state_has_the_corner_of_a_turn() -> None:
    game = pyspiel.load_game(LIGHTNING)
    random = Random(1)
    state = moved(game.new_initial_state(), random, SETUP_ACTIONS + 1)
    while state.play.plies[-1].text.count("-") == 1:
        state = moved(state, random, 1)
    corner = SQUARES.index(state.play.plies[-1].text.split("-")[1])
    observer = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    for color in Color:
        observer.set_from(state, int(color))
        history = observer.dict["history"][: len(state.play.plies)]
        assert history[-1, -1] == 1 + seat_square(corner, color)
        assert not history[:-1, -1].any()


@pytest.mark.parametrize("ruleset", ["barrage", "isf", "isf+silent-defence", "vintage/lightning"])
@pytest.mark.parametrize("actions", [31, SETUP_ACTIONS, SETUP_ACTIONS + 51])
def test_a_resampled_state_has_the_same_information_and_other_pieces(ruleset: str, actions: int) -> None:
    game = pyspiel.load_game(f"{GAME_NAME}(ruleset={ruleset})")
    state = moved(game.new_initial_state(), Random(actions), actions)
    sampler = pyspiel.UniformProbabilitySampler(0.0, 1.0)
    for player in range(2):
        samples = [state.resample_from_infostate(player, sampler) for _ in range(5)]
        assert all(seen(sample, player) == seen(state, player) for sample in samples)
        assert all(sample.legal_actions(player) == state.legal_actions(player) for sample in samples)
        assert len({str(sample) for sample in samples}) > 2


def test_information_set_search_plays_on_resampled_states() -> None:
    game = pyspiel.load_game(BARRAGE)
    state = moved(game.new_initial_state(), Random(4), SETUP_ACTIONS + 30)
    random_state = np.random.RandomState(1)
    evaluator = RandomRolloutEvaluator(n_rollouts=1, random_state=random_state)
    bot = ISMCTSBot(game, evaluator, 1.0, 5, random_state=random_state)
    assert bot.step(state) in state.legal_actions()


def test_rules_that_openspiel_cannot_have_are_named() -> None:
    with pytest.raises(UsageError, match="made: OpenSpiel needs games of limited length: expected max-plies"):
        StrategoGame({"ruleset": made_ruleset("F1 21 31", {"max_plies": None, "max_quiet_plies": 50})})
    with pytest.raises(UsageError, match="spy diagonal"):
        StrategoGame({"ruleset": "tek"})
