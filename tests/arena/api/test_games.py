"""`arena.play` and `arena.match`: one call, and what comes of the games."""

import errno
import math
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import AS_USUAL, invoke

import arena
from arena.game.faults import GameResult
from protocol.notation import Reason

Bots = Callable[..., str]
QUITS = "echo move resign"
BREAKS = "echo nonsense"
PATIENT = "60s"


@pytest.mark.usefixtures("played_here")
def test_a_game_is_one_call_the_first_bot_has_red_and_the_seed_decides_the_rest(bots: Bots) -> None:
    names = bots("steps"), bots("quits", QUITS)
    one, same, other = (arena.play(*names, rules="duel", time=PATIENT, seed=seed) for seed in (1, 1, 2))
    swapped = arena.play(*reversed(names), rules="duel", time=PATIENT)
    assert [player.name for player in one.players] == ["steps", "quits"]
    assert (one.verdict.result, one.verdict.reason) == (GameResult.RED, Reason.RESIGN)
    assert (one.ruleset, one.actions) == ("duel", ("a4-b4", "resign"))
    assert (one.id, one.seeds) == (same.id, same.seeds)
    assert one.seeds != other.seeds
    assert swapped.players == one.players[::-1]
    with pytest.raises(arena.UsageError, match="or one for each bot, got"):
        arena.play(*names, rules="duel", time=("1s", "2s", "3s"))  # type: ignore[arg-type]


@pytest.mark.usefixtures("played_here")
def test_a_match_counts_from_the_first_bots_side(bots: Bots) -> None:
    result = arena.match(bots("steps"), bots("quits", QUITS), games=5, rules="duel", time=PATIENT)
    assert (result.first, result.second) == ("steps", "quits")
    assert (result.wins, result.draws, result.losses, result.games) == (5, 0, 0, 5)
    assert result.score == 1.0
    assert [record.players[0].name for record in result.records].count("steps") == 3
    assert result.difference is not None
    assert result.difference.elo == result.difference.high == math.inf > result.difference.low
    assert str(result) == "steps - quits: +5 =0 -0 of 5, 100.0%"
    assert arena.match("quits", "steps", games=2, rules="duel", time=PATIENT).score == 0.0


@pytest.mark.usefixtures("played_here")
def test_each_game_is_told_as_it_ends_in_the_thread_that_called(bots: Bots) -> None:
    told: list[tuple[int, str]] = []

    def on_result(result: arena.Result) -> None:
        assert result.winner == "steps"
        told.append((threading.get_ident(), str(result)))

    arena.match(bots("steps"), bots("quits", QUITS), games=3, rules="duel", time=PATIENT, on_result=on_result)
    assert {thread for thread, _ in told} == {threading.get_ident()}
    assert sorted(line.partition(":")[0] for _, line in told) == ["game 1", "game 2", "game 3"]


@pytest.mark.usefixtures("played_here")
def test_a_store_is_that_of_the_command_line(bots: Bots, tmp_path: Path) -> None:
    """Games that the one has played are not played again by the other."""
    names = bots("steps"), bots("quits", QUITS)
    result = arena.match(*names, games=2, rules="duel", time=PATIENT, store="m.sqlite")
    options = ("--rules", "duel", "--time", PATIENT, *AS_USUAL, "--store", "m.sqlite", "--games", "4")
    done = invoke(tmp_path, "match", *names, *options)
    assert "4 games, 2 of them stored already" in done.stderr
    again = arena.match(*names, games=4, rules="duel", time=PATIENT, store="m.sqlite")
    assert again.records[:2] == result.records
    assert again.games == 4


@pytest.mark.parametrize(
    ("name", "error"),
    [("on_result", MemoryError("a table")), ("on_event", OSError(errno.ENOSPC, "full"))],
    ids=["on_result", "on_event"],
)
def test_an_error_of_what_is_called_back_stops_the_games_and_comes_out_as_it_is(
    bots: Bots, name: str, error: Exception, left_behind: Callable[[], list[str]]
) -> None:
    """Not as an error of the machine that games are played on, nor in other words."""

    def fail(_: object) -> None:
        raise error

    names = bots("steps"), bots("quits", QUITS)
    options: dict[str, Any] = {name: fail}
    with pytest.raises(type(error)) as caught:
        arena.match(*names, games=1000, jobs=1, rules="duel", time=PATIENT, store="m.sqlite", **options)
    assert caught.value is error
    assert not left_behind()
    assert len(arena.League("m.sqlite").games()) < 1000


@pytest.mark.parametrize("name", ["on_result", "on_event"])
def test_what_cannot_be_called_back_is_refused_before_any_game(bots: Bots, name: str) -> None:
    async def later(value: object) -> None:
        pass

    class Later:
        async def __call__(self, value: object) -> None:
            pass

    names = bots("steps"), bots("quits", QUITS)
    for call, words in (
        ("print", "expected a function"),
        (later, "async"),
        (Later(), "async"),
        (partial(later), "async"),
    ):
        options: dict[str, Any] = {name: call}
        with pytest.raises(arena.UsageError, match=f"^{name}: .*{words}"):
            arena.match(*names, rules="duel", store="m.sqlite", **options)
        league = arena.League("m.sqlite", rules="duel")
        league.add(*names)
        with pytest.raises(arena.UsageError, match=name):
            league.run(1, **options)
    assert not Path("m.sqlite").exists()


@pytest.mark.usefixtures("played_here")
def test_rules_may_be_a_ruleset_wherever_they_may_be_a_name(bots: Bots) -> None:
    names = bots("steps"), bots("quits", QUITS)
    for duel in (arena.rules("duel"), replace(arena.rules("duel"), name="mine", max_plies=1)):
        record = arena.play(*names, rules=duel, time=PATIENT)
        assert record.ruleset == duel.name
        assert record.verdict.plies == (2 if duel.name == "duel" else 1)
    league = arena.League("m.sqlite", rules=arena.rules("duel"), time=PATIENT)
    league.add(*names)
    league.run(1)
    assert arena.match(*names, games=2, rules="duel", time=PATIENT, store="m.sqlite").numbers
    with pytest.raises(arena.UsageError, match="rules: expected a Ruleset or the name of one"):
        arena.play(*names, rules=3)  # type: ignore[arg-type]
    with pytest.raises(arena.UsageError, match="expected a name of letters"):
        arena.play(*names, rules=replace(arena.rules("duel"), name="my own\nturn 1"))


def test_a_misspelt_keyword_is_told_from_all_that_the_call_takes(bots: Bots) -> None:
    for wrong, meant in (("gamess", "games"), ("rule", "rules"), ("stored", "store"), ("on_results", "on_result")):
        options: dict[str, Any] = {wrong: 2}
        with pytest.raises(arena.UsageError, match=f"{wrong}: unknown option; did you mean {meant}\\b"):
            arena.match("a", "b", **options)


@pytest.mark.usefixtures("played_here")
def test_results_are_short_where_a_notebook_shows_them(bots: Bots) -> None:
    names = bots("steps"), bots("quits", QUITS)
    result = arena.match(*names, games=2, rules="duel", time=PATIENT, store="m.sqlite")
    assert repr(result) == "MatchResult('steps', 'quits', games=2, wins=2, draws=0, losses=0, score=1.000)"
    first = result.records[0]
    assert repr(first) == f"GameRecord({first.id!r}, 'steps' - 'quits', red, resign, 2 plies)"
    assert repr(arena.League("m.sqlite").standings()) == "Standings(1. steps, 2. quits; 2 bots, 2 games, complete)"


THINKS = "sleep 0.4; echo move resign"
QUICK, SLOW = "100ms", "60s"


def endings(result: arena.MatchResult) -> list[tuple[str, Reason]]:
    """Who lost each game, and why."""
    return [
        (record.players[record.verdict.result is GameResult.RED].name, record.verdict.reason)
        for record in result.records
    ]


@pytest.mark.usefixtures("played_here")
def test_with_two_times_each_bot_has_its_own_and_loses_by_that_alone(bots: Bots) -> None:
    """Red begins, and thinks longer than the quick one may."""
    result = arena.match(bots("one", THINKS), bots("two", THINKS), games=2, rules="duel", time=(SLOW, QUICK))
    assert endings(result) == [("one", Reason.RESIGN), ("two", Reason.TIMEOUT)]
    assert [[time.move_ms for time in record.times] for record in result.records] == [[60_000, 100], [100, 60_000]]


@pytest.mark.usefixtures("played_here")
def test_what_a_bot_forfeits_is_a_remark_on_the_log(bots: Bots, caplog: pytest.LogCaptureFixture) -> None:
    arena.match(bots("steps"), bots("breaks", BREAKS), games=2, rules="duel", time=PATIENT)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("breaks forfeited 2 games (protocol)")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"time": "fast"}, "time: expected a time such as"),
        ({"time": 100}, "or one for each bot, got 100"),
        ({"time": ("1s", "2s", "3s")}, "or one for each bot, got ('1s', '2s', '3s')"),
        ({"time": ("1s", None)}, "time: expected a string such as '100ms', got None"),
        ({"time": ("1s", "2x")}, "time: expected a time such as 100ms"),
        ({"rules": "isff"}, "did you mean isf"),
        ({"seed": True}, "seed: expected a whole number, got True"),
        ({"jobs": 0}, "jobs: expected a whole number from 1"),
        ({"sandbox": "bwarp"}, "did you mean bwrap"),
        ({"interpreters": "/usr"}, "interpreters: expected a list of paths"),
        ({"store": 3}, "store: expected a path, got 3"),
    ],
)
def test_what_was_asked_for_wrongly_is_said_before_anything_is_played(
    options: dict[str, Any], words: str, bots: Bots
) -> None:
    with pytest.raises(arena.UsageError) as error:
        arena.match(bots("steps"), bots("quits", QUITS), **options)
    assert words in str(error.value)
    assert "--" not in str(error.value), "a caller has given keywords, and no options of the command"
