"""A round robin gives out its games a match day at a time, so that all bots have always played about equally often."""

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from schedules import schedule

from arena.game.game_spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games
from arena.league.pairing.pairing import Pairing
from arena.league.pairing.round_robin import RoundRobin
from arena.league.settings import Settings
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

SETTINGS = Settings(variant_of(load_ruleset("duel")), TimeControl())


def some_players(number: int) -> list[Player]:
    return [Player("p", str(place)) for place in range(number)]


def batches(pairing: Pairing) -> list[list[GameSpec]]:
    found = []
    while (batch := pairing.next(())) is not None:
        found.append(list(batch))
    return found


@given(st.integers(0, 9), st.integers(0, 3))
@hypothesis_settings(deadline=None, max_examples=50)
def test_a_batch_is_a_match_day_on_which_nobody_plays_twice(number: int, rounds: int) -> None:
    pairing = RoundRobin(Games(SETTINGS), some_players(number), rounds)
    days = batches(pairing)
    for day in days:
        assert len({player for game in day for player in game.players}) == 2 * len(day) == number // 2 * 2
    assert [game for day in days for game in day] == schedule(SETTINGS, some_players(number), rounds)
    assert sum(map(len, days)) == pairing.planned == rounds * number * (number - 1)


@given(st.integers(2, 6), st.integers(1, 3), st.integers(0, 40))
@hypothesis_settings(deadline=None, max_examples=50)
def test_a_league_of_so_many_games_has_the_first_ones(number: int, rounds: int, most: int) -> None:
    pairing = RoundRobin(Games(SETTINGS), some_players(number), rounds, most)
    games = [game for day in batches(pairing) for game in day]
    assert games == schedule(SETTINGS, some_players(number), rounds)[:most]
    assert pairing.planned == len(games)


def test_a_league_of_a_million_games_is_not_held_in_memory() -> None:
    pairing = RoundRobin(Games(SETTINGS), some_players(1000), 1)
    assert pairing.planned == 999_000
    tracemalloc.start()
    for _ in range(3):
        assert len(pairing.next(()) or ()) == 500
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000, "bytes: some thousand games at most"


@pytest.mark.parametrize("number", range(2, 13))
def test_at_any_time_all_bots_have_played_about_equally_often_and_as_often_with_each_colour(number: int) -> None:
    some = [Player("p", str(place)) for place in range(number)]
    played, as_red = Counter(dict.fromkeys(some, 0)), Counter(dict.fromkeys(some, 0))
    for game in schedule(SETTINGS, some, 3):
        played.update(game.players)
        as_red[game.players[0]] += 1
        assert max(played.values()) - min(played.values()) <= (2 if number % 2 else 1)
        assert all(abs(2 * as_red[player] - played[player]) <= 2 for player in some)
    assert set(played.values()) == {6 * (number - 1)}
    assert set(as_red.values()) == {3 * (number - 1)}
