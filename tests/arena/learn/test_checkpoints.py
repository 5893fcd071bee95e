"""`arena.learn.league`: checkpoints play a ladder of bots in the arena, and are rated by it."""

from pathlib import Path

import numpy as np
import pytest

from arena.api.shown_results import Result
from arena.bots.languages import find_language
from arena.bots.new import write_bot
from arena.errors import UsageError
from arena.learn.league import CheckpointLeague

RESIGNS = """#!/usr/bin/env python3
from protocol.bot import Bot, run

class Resigns(Bot):
    def move(self, view):
        return "resign"

run(Resigns)
"""
RANDOM_BUT_LATE = RESIGNS.replace('"resign"', '"resign" if view.ply > 5 else view.random.choice(view.legal)')


@pytest.fixture
def league(folder: Path) -> CheckpointLeague:
    write_bot(folder / "mine", find_language("policy"))
    (folder / "mine" / "network.py").write_text("def scores(weights, planes, facts, codes):\n    return codes * 0.0\n")
    for name, text in (("low", RESIGNS), ("high", RANDOM_BUT_LATE)):
        (folder / f"{name}.py").write_text(text)
    ladder = (str(folder / "low.py"), str(folder / "high.py"))
    return CheckpointLeague(
        folder / "training.sqlite", folder / "mine", ladder=ladder, games=2, rules="barrage", time="10s/move"
    )


def checkpoint(folder: Path, name: str, weight: float) -> Path:
    np.savez(folder / name, weight=np.array(weight))
    return folder / f"{name}.npz"


def test_each_checkpoint_is_rated_and_plays_on_under_a_name_of_its_own_and_stored_games_are_not_played_again(
    league: CheckpointLeague, folder: Path
) -> None:
    played: list[Result] = []
    first = league.play(checkpoint(folder, "step-1", 1.0), on_result=played.append)
    assert len(played) == 2 + 4  # the ladder's own, and the checkpoint's
    assert (first.name, first.games, first.scores) == ("step-1", 4, {"low": 1.0, "high": 1.0})
    assert first.elo is not None
    assert first.low is not None
    assert first.elo > first.low
    assert first.high is None  # it has lost no game: nothing bounds it from above
    assert "low 100.0%" in str(first)
    league.play(checkpoint(folder, "other", 2.0), "step-2", on_result=played.append)
    assert len(played) == 2 + 4 + 4
    again = league.play(folder / "step-1.npz", on_result=played.append)
    assert len(played) == 2 + 4 + 4
    assert (again.name, again.scores) == (first.name, first.scores)
    assert {"step-1", "step-2"} <= {name for result in played for name in (result.red, result.blue)}
    with np.load(folder / "checkpoints" / "step-2" / "policy.npz") as arrays:
        assert arrays["weight"] == 2.0


def test_the_games_that_a_checkpoint_forfeited_are_said(league: CheckpointLeague, folder: Path) -> None:
    (folder / "mine" / "network.py").write_text("def scores(*seen):\n    raise SystemExit\n")
    rated = league.play(checkpoint(folder, "broken", 1.0))
    assert rated.forfeits > 0
    assert f"in 4 games, {rated.forfeits} forfeited; " in str(rated)


def test_what_is_no_bot_no_checkpoint_or_no_number_of_games_is_refused(league: CheckpointLeague, folder: Path) -> None:
    with pytest.raises(UsageError, match="expected a checkpoint, found no such file"):
        league.play(folder / "missing.npz")
    with pytest.raises(UsageError, match="expected the folder of a bot"):
        CheckpointLeague(folder / "s.sqlite", folder)
    for games in (3, "4"):
        with pytest.raises(UsageError, match="expected an even number from 2"):
            CheckpointLeague(folder / "s.sqlite", folder / "mine", games=games)  # type: ignore[arg-type]
