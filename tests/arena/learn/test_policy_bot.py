"""`arena new --language policy`: what was trained is what plays, from the same numbers to the last bit."""

import hashlib
from pathlib import Path
from typing import Any

import needs_numba  # noqa: F401
import numpy as np
import pytest
from made_bots import RESIGNS
from numpy.typing import NDArray

import arena
from arena.bots.languages import find_language
from arena.bots.new import write_bot
from arena.learn.action_codes import STRAIGHT_COUNT, action_code
from arena.learn.kernel import Kernel
from arena.learn.observation import FACT_COUNT, PLANE_COUNT
from arena.learn.placement import setup_numbers
from protocol.notation import Color

RULES = "barrage"
TIME = "10s/move"
SETUPS = (
    ("FB........", ".S23......", "...2......", ".......M9."),
    (".....FB...", ".....S23..", "...2......", ".......M9."),
)
INPUTS = PLANE_COUNT * 100 + FACT_COUNT


@pytest.fixture
def mine(folder: Path) -> Path:
    return write_bot(folder / "mine", find_language("policy")).folder


@pytest.fixture
def resigns(folder: Path) -> Path:
    """An opponent that resigns in its first turn."""
    path = folder / "resigns.py"
    path.write_text(f"#!/usr/bin/env python3\n{RESIGNS}")
    path.chmod(0o755)
    return path


def save(mine: Path, *setups: tuple[str, ...], favourite: int = 0) -> None:
    """Write a checkpoint of the template's network that prefers one code, whatever is seen."""
    arrays: dict[str, NDArray[Any]] = {"hidden": np.zeros((INPUTS, 1)), "hidden_bias": np.zeros(1)}
    arrays |= {"score": np.zeros((1, STRAIGHT_COUNT)), "score_bias": 1000.0 * (np.arange(STRAIGHT_COUNT) == favourite)}
    if setups:
        arrays["setups"] = np.array([setup_numbers(rows) for rows in setups])
    np.savez(mine / "policy.npz", allow_pickle=False, **arrays)


NOTING = """
import hashlib
from pathlib import Path

import numpy as np

def scores(weights, planes, facts, codes):
    with Path(__file__).with_name("seen").open("a") as file:
        file.write(hashlib.sha256(planes.tobytes() + facts.tobytes()).hexdigest() + "\\n")
    return np.zeros(len(codes))
"""


@pytest.mark.parametrize("rules", ["barrage", "vintage/lightning"])
def test_it_sees_what_the_environment_shows_bit_by_bit(mine: Path, rules: str) -> None:
    (mine / "network.py").write_text(NOTING)
    (mine / "bot.toml").write_text('command = ["python3", "bot.py"]\nignore = ["seen"]\n')
    save(mine)
    record = arena.play(mine, "raider", rules=rules, time=TIME, seed=1)
    kernel = Kernel(rules, 1)
    kernel.reset(np.array([[setup_numbers((text or "").split("/")) for text in record.setups]]))
    shown = []
    for ply, action in enumerate(record.actions):
        color = Color(ply % 2)
        if color is Color.RED:
            shown.append(hashlib.sha256(kernel.planes[0].tobytes() + kernel.facts[0].tobytes()).hexdigest())
        kernel.step(np.array([action_code(action, color)]))
    assert (mine / "seen").read_text().split() == shown
    assert len(shown) > 1
    assert kernel.outcome(0) is not None


@pytest.mark.parametrize("place", ["checkpoint", "list"])
def test_its_setups_are_those_of_the_checkpoint_or_of_a_list_that_have_the_army(
    mine: Path, resigns: Path, place: str
) -> None:
    save(mine, *(SETUPS if place == "checkpoint" else ()))
    if place == "list":
        (mine / "setups.txt").write_text("".join(f"{'/'.join(rows)}\n" for rows in SETUPS))
    used = {arena.play(mine, resigns, rules=RULES, time=TIME, seed=seed).setups[0] for seed in range(2)}
    assert used <= {"/".join(rows) for rows in SETUPS}
    assert not arena.play(mine, resigns, rules="duel", time=TIME).verdict.reason.is_forfeit


def test_it_plays_the_move_that_scores_highest(mine: Path, resigns: Path) -> None:
    save(mine, *SETUPS, favourite=action_code("i4-i5", Color.RED))
    assert {arena.play(mine, resigns, rules=RULES, time=TIME, seed=seed).actions[0] for seed in range(2)} == {"i4-i5"}


def test_a_network_without_codes_for_turns_plays_where_captains_turn(mine: Path) -> None:
    save(mine)
    record = arena.play(mine, "drifter", rules="vintage/lightning", time=TIME, seed=1)
    assert not record.verdict.reason.is_forfeit
    assert all(action.count("-") == 1 for action in record.actions[::2])


def test_scores_that_are_no_numbers_are_named(mine: Path) -> None:
    save(mine, *SETUPS)
    (mine / "network.py").write_text("def scores(weights, planes, facts, codes):\n    return codes * float('nan')\n")
    record = arena.play(mine, "drifter", rules=RULES, time=TIME, seed=1)
    assert record.verdict.reason.is_forfeit
    assert "policy.npz or policy.pt: expected finite scores, got [nan" in record.stderr[0]


TORCH = """
import numpy as np

class no_grad:
    def __enter__(self): ...
    def __exit__(self, *error): ...

class jit:
    def load(file):
        def module(planes, facts):
            assert planes.shape == (1, 48, 10, 10) and facts.shape == (1, 54)
            return [Tensor(1000.0 * (np.arange(1800) == CODE))]
        return module

class Tensor:
    def __init__(self, array): self.array = array
    def numpy(self): return self.array

def from_numpy(array): return array
def set_num_threads(count): assert count == 1
"""
"""In place of torch, which is large: as much as the bot uses, and a module that prefers one code."""


def test_a_module_of_torch_scores_in_place_of_arrays(mine: Path) -> None:
    (mine / "policy.pt").touch()
    (mine / "torch.py").write_text(TORCH.replace("CODE", str(action_code("i4-i5", Color.RED))))
    (mine / "setups.txt").write_text("/".join(SETUPS[0]))
    assert arena.play(mine, "drifter", rules=RULES, time=TIME, seed=1).actions[0] == "i4-i5"
