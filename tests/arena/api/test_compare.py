"""`arena.compare`: a test in one call."""

from collections.abc import Callable
from typing import Any

import pytest

import arena

Bots = Callable[..., str]
QUITS = "echo move resign"


@pytest.mark.usefixtures("played_here")
def test_a_test_is_one_call(bots: Bots) -> None:
    told: list[arena.Result] = []
    result = arena.compare(
        bots("steps"), bots("quits", QUITS), elo1=400, rules="duel", time="60s", store="c.sqlite", on_result=told.append
    )
    assert result.is_better is True
    assert (result.new, result.old) == ("steps", "quits")
    assert result.wins == result.games == 2 * result.pairs[4] <= len(told)
    assert result.llr >= result.upper
    assert result.difference is not None
    assert result.difference.low < result.difference.elo
    assert str(result) == f"steps is better than quits: decided after {result.games} games, for +400 Elo against 0"
    told.clear()
    again = arena.compare("steps", "quits", elo1=400, rules="duel", time="60s", store="c.sqlite", on_result=told.append)
    assert again == result
    assert not told, "the store has decided already"
    few = arena.compare("steps", "quits", games=2, rules="duel", time="60s", store="c.sqlite")
    assert few.is_better is None
    assert few.games == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"elo0": "0"}, "elo0: expected a number, got '0'"),
        ({"games": 2.0}, "games: expected a whole number, got 2.0"),
        ({"games": 3}, "games: expected an even number from 2 to 1000000"),
        ({"time": ("1s",)}, "time: expected a string such as '100ms', or one for each bot"),
        ({"elo0": 10}, "elo0: expected less than elo1"),
        ({"gmaes": 10}, "gmaes: unknown option; did you mean games?"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str, bots: Bots) -> None:
    with pytest.raises(arena.UsageError, match=f"^{message}"):
        arena.compare(bots("steps"), bots("quits", QUITS), **options)
