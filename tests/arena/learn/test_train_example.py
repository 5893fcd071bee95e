"""docs/examples/train: the network's gradients are right, it learns, and what it writes plays."""

import os
import re
import shlex
import sys
from pathlib import Path

import needs_numba  # noqa: F401
import numpy as np
import pytest
from commands import run_program

import arena

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "train"


@pytest.fixture(autouse=True)
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    for name in ("network", "train"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_the_gradients_are_those_of_small_changes_of_the_weights() -> None:
    import network
    import train

    training = train.Training(1)
    rng = np.random.default_rng(2)
    weights = {name: rng.normal(0, 0.1, array.shape) for name, array in training.weights.items()}
    seen, _ = training.judged()
    d_score, d_value = rng.normal(size=len(seen.owner)), rng.normal(size=train.GAMES)

    def loss() -> float:
        judged = network.forward(weights, seen)
        return float(d_score @ judged.score + d_value @ judged.value)

    found = network.backward(weights, seen, network.forward(weights, seen), d_score, d_value)
    assert found.keys() == weights.keys()
    for name, array in weights.items():
        place = np.unravel_index(np.argmax(abs(found[name])), array.shape)
        was, ends = array[place], []
        for change in (1e-6, -1e-6):
            array[place] = was + change
            ends.append(loss())
        array[place] = was
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(found[name][place], rel=0.01), name


def test_one_observation_is_scored_as_in_a_batch() -> None:
    import network
    import train

    training = train.Training(1)
    training.weights["score"] += 1
    seen, judged = training.judged()
    kernel, game = training.kernel, 5
    codes = kernel.codes[game, : kernel.counts[game]]
    alone = network.scores(training.weights, kernel.planes[game], kernel.facts[game], codes)
    assert alone == pytest.approx(judged.score[seen.owner == game], rel=1e-4)


def test_moves_that_did_better_than_expected_become_likelier_and_values_follow_the_results() -> None:
    import network
    import train

    training = train.Training(1)
    ply = training.ply()
    better = np.where(np.arange(train.GAMES) % 2, 1.0, -1.0)

    def chances_and_values() -> tuple[float, float, float]:
        judged = network.forward(training.weights, ply.seen)
        chance = train.chances(judged.score, ply.seen.owner)[0][ply.move][ply.is_learned]
        good = better[ply.is_learned] > 0
        return float(chance[good].mean()), float(chance[~good].mean()), float(judged.value @ better)

    before = chances_and_values()
    for _ in range(30):
        training.adam.step(training.gradients(ply, better, 1.0))
    after = chances_and_values()
    assert after[0] > before[0] > 0
    assert after[1] < before[1]
    assert after[2] > before[2]


def test_set_ups_that_won_are_drawn_more_often() -> None:
    import train

    setups = train.Training(1).setups
    played = setups.draw(2000)
    has_flag_left = (played[:, :, ::10] == 1).any(2)
    wins = has_flag_left[:, 0] != has_flag_left[:, 1]
    setups.add(played[wins], np.where(has_flag_left[wins, 0], 0, 1))
    setups.fit()
    assert np.isin(setups.best()[:, ::10], 1).any(1).mean() > 0.9


SHORTER = {
    "--minutes 10": "--minutes 0.01",
    "policy-10": "policy-00",
    "--games 200": "--games 2",
    "--elo1 50": "--elo1 50 --games 2",
    "games=40": "games=2",
    'time="1s"': 'time="10s/move"',
    "--time 1s": "--time 10s/move",
}


def test_what_the_page_shows_runs_as_it_stands_with_less_time_and_fewer_games(folder: Path) -> None:
    text = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    for long, short in SHORTER.items():
        assert long in text
        text = text.replace(long, short)
    (folder / "docs").symlink_to(ROOT / "docs")
    for kind, body in re.findall(r"^```(sh|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in body.splitlines() if kind == "sh" else [shlex.join(["python3", "-c", body])]:
            if not line.startswith("pip "):
                path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
                done = run_program(["sh", "-c", line], folder, PATH=path)
                answers = {0, 1, 3} if "compare" in line else {0}
                assert done.returncode in answers, f"{line}\n{done.stdout}\n{done.stderr}"
    with np.load(folder / "policy-00.npz") as arrays:
        assert arrays["setups"].shape == (64, 40)
    assert {result.reason.is_forfeit for result in arena.League(folder / "training.sqlite").games()} == {False}
