"""`arena compare`: a verdict and an exit code, a test that goes on, and what it refuses."""

import io
import json
import math
import re
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from commands import invoke
from made_bots import STEPS, answers

from arena.errors import UsageError
from arena.league.compare import comparison_entry, hypotheses_of
from arena.league.pairing.sequential import SequentialState
from arena.league.ratings.sequential_test import Decision, Hypotheses, log_likelihood_ratio
from arena.league.store import Store
from arena.report.comparison import comparison_text, live_text, verdict_text
from arena.report.progress import LiveProgress

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, turn in (("good", STEPS), ("bad", "echo move resign"), ("rude", "echo nonsense")):
        (tmp_path / name).write_text(answers(turn))
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    def run_one(new: str, old: str, *more: str, rules: str = "duel") -> "subprocess.CompletedProcess[str]":
        return invoke(folder, *command(new, old, "--rules", rules, *more))

    return run_one


def command(*words: str) -> list[str]:
    return ["compare", "--time", "60s", "--elo1", "400", "-j", "2", *words]


def test_who_always_wins_is_better_and_the_same_command_says_so_again_at_once(run: Run, folder: Path) -> None:
    done = run("good", "bad", "-v")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("good is better than bad: decided after ")
    assert ", LLR " in done.stderr
    again = run("good", "bad")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert "game 1:" not in again.stderr
    (store,) = folder.glob("*.sqlite")
    assert store.name.startswith("compare-good-bad-duel-")
    with Store(store, create=False) as opened:
        contents = opened.read()
    assert contents.kept.planned is not None, "a test that is decided is no league that is incomplete"
    assert contents.kept.planned <= len(contents.rows)
    other = json.loads(run("good", "bad", "--alpha", "0.2", "--json").stdout)
    assert (other["verdict"], other["alpha"]) == ("better", 0.2), "what is tested is no setting of the store"


def test_who_always_loses_is_not_better_and_faults_count(run: Run) -> None:
    done = run("rude", "bad", "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["new"], found["old"], found["verdict"]) == ("rude", "bad", "not better")
    assert found["pairs"] == [0, 0, found["games"] // 2, 0, 0] or found["losses"] > 0
    assert found["forfeits"]["rude"] > 0 == found["forfeits"]["bad"]
    assert found["llr"] <= found["lower"] < 0 < found["upper"]
    assert "rude forfeited" in done.stderr


def test_a_budget_that_is_too_small_leaves_it_undecided(run: Run) -> None:
    done = run("good", "bad", "--games", "2")
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith(
        "undecided after 2 games, and the game limit is reached; the same command with a larger "
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, math.nan, 0.05, 0.05), "--elo1: expected Elo from -1000 to 1000, got nan"),
        ((0, 10, 0, 0.05), "--alpha: expected a share from 1e-06 to below 1, such as 0.05, got 0"),
        ((0, 10, 0.05, 1), "--beta: expected a share from 1e-06 to below 1, such as 0.05, got 1"),
        ((0, 10, 0.5, 0.5), "--alpha and --beta: expected a sum below 1, got 0.5 and 0.5"),
    ],
)
def test_a_number_out_of_range_is_named(values: tuple[float, float, float, float], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        hypotheses_of(*values)


@pytest.mark.parametrize("games", [0, 5])
def test_games_are_played_in_pairs(games: int) -> None:
    with pytest.raises(UsageError, match=f"--games: expected an even number from 2 to 1000000, .*, got {games}$"):
        comparison_entry("new", "old", Hypotheses(), games, 1)


def test_two_bots_of_equal_content_are_refused(run: Run, folder: Path) -> None:
    (folder / "copy").write_text((folder / "good").read_text())
    (folder / "copy").chmod(0o755)
    done = run("copy", "good")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "arena: copy and good: expected two different bots, got the same files twice\n"
    assert not list(folder.glob("*.sqlite"))


def test_a_bot_that_never_starts_is_an_error_and_no_verdict(folder: Path, run: Run) -> None:
    """Whatever the hypotheses: a machine that looks at the exit code alone must not take it for `not worse`."""
    (folder / "dead").write_text("#!/bin/sh\nexit 3\n")
    (folder / "dead").chmod(0o755)
    done = run("good", "dead", "--elo0", "-100", "--elo1", "1", "--games", "40")
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    assert re.search(r"^(arena: )?\s*dead could not be started in any of its first \d+ games", done.stderr, re.M)
    assert "good could not" not in done.stderr


STATE = SequentialState(
    Hypotheses(),
    1000,
    (10, 4, 30, 6, 14),
    60,
    24,
    44,
    (1, 2),
    llr=log_likelihood_ratio(Hypotheses(), (10, 4, 30, 6, 14)),
)


def test_the_words_fit_80_columns() -> None:
    text = comparison_text(("mine", "warden"), STATE, 3)
    assert all(len(line) <= 80 for line in text.splitlines()), text
    assert "Games of mine: 60 won, 24 drawn, 44 lost" in text
    assert "Forfeits: mine 1, warden 2" in text
    assert "Pairs by the points of mine: 0: 10, ½: 4, 1: 30, 1½: 6, 2: 14" in text
    assert "Later games, excluded: 3 games" in text
    assert text.startswith("undecided so far, after 128 games; about ")


@pytest.mark.parametrize(
    ("elo0", "elo1", "decision", "verdict"),
    [
        (0, 10, Decision.BETTER, "mine is better than warden: decided after 128 games, for +10 Elo against 0"),
        (0, 10, Decision.NOT_BETTER, "mine is not better than warden: decided after 128 games, for 0 Elo against +10"),
        (-10, 0, Decision.BETTER, "mine is not worse than warden: decided after 128 games, for 0 Elo against -10"),
        (-10, 0, Decision.NOT_BETTER, "mine is worse than warden: decided after 128 games, for -10 Elo against 0"),
    ],
)
def test_the_verdict_says_what_was_tested(elo0: float, elo1: float, decision: Decision, verdict: str) -> None:
    state = replace(STATE, hypotheses=Hypotheses(elo0, elo1), decision=decision)
    assert verdict_text(("mine", "warden"), state) == verdict


def test_the_live_table_shows_the_test_in_place_of_the_difference() -> None:
    drawn = io.StringIO()
    told: list[str] = []

    def note() -> str:
        told.append(live_text(("mine", "warden"), STATE))
        progress_is_drawn.set()
        return told[-1]

    progress_is_drawn = threading.Event()
    progress = LiveProgress(drawn, (), [], None, note)
    assert progress_is_drawn.wait(60)
    progress.finish()
    assert "Elo of mine over warden" in drawn.getvalue()
    assert "games left" in drawn.getvalue()
