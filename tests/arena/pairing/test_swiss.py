"""A Swiss: nobody meets twice, at most one bye each, equals meet, and the winner of all is found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from simulated_leagues import League, Played

from arena.game.faults import GameResult
from arena.league.pairing.pairing import SwissPlace
from arena.league.pairing.swiss import Swiss, usual_rounds
from arena.report.placings import placing_entry
from protocol.notation import Reason

if TYPE_CHECKING:
    from arena.game.game_spec import GameSpec


def rounds_of(played: Played, players: int) -> list[list[tuple[int, int]]]:
    """Who met whom in each round, by their numbers."""
    pairs = [tuple(int(player.digest) for player in game.players) for game in played.given[::2]]
    size = players // 2
    return [[(one, other) for one, other in pairs[start : start + size]] for start in range(0, len(pairs), size)]


@given(st.integers(2, 14), st.integers(0, 999), st.data())
@hypothesis_settings(deadline=None, max_examples=40)
def test_nobody_meets_twice_and_byes_go_round(players: int, seed: int, data: st.DataObject) -> None:
    most = players - 1 + players % 2
    rounds = data.draw(st.integers(1, most))
    some = League(players)
    swiss = Swiss(some.games, some.players, rounds)
    played = League.play(swiss, League.by_chance(seed), order=seed)
    met, byes = Counter(played.meetings), Counter[int]()
    for pairs in rounds_of(played, players):
        seen = [player for pair in pairs for player in pair]
        assert len(seen) == len(set(seen)) == players // 2 * 2, "everybody plays once in a round"
        byes.update(set(range(players)) - set(seen))
    assert max(byes.values(), default=0) <= 1
    again = sum(count - 1 for count in met.values())
    if rounds <= players // 2:  # a graph in which each has met fewer than half of the others has a perfect matching
        assert again == 0
    assert again <= players, "where it cannot be avoided, a few meet again"
    places = swiss.placing().places
    assert sum(place.byes for place in places if isinstance(place, SwissPlace)) == rounds * (players % 2)
    assert sum(place.points for place in places if isinstance(place, SwissPlace)) == rounds * (
        players // 2 * 2 + players % 2 * 2
    )


def test_the_upper_half_meets_the_lower_half_and_winners_meet_winners() -> None:
    some = League(8)
    first, second, third = rounds_of(League.play(Swiss(some.games, some.players, 3), League.by_place), 8)
    assert first == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert second == [(0, 2), (1, 3), (4, 6), (5, 7)]
    assert third[0] == (0, 1)


def test_the_lowest_without_a_bye_has_it_and_it_is_worth_both_games() -> None:
    some = League(5)
    swiss = Swiss(some.games, some.players, 2)
    rounds = rounds_of(League.play(swiss, League.by_place), 5)
    idle = [(set(range(5)) - {player for pair in pairs for player in pair}).pop() for pairs in rounds]
    assert idle == [4, 3], "seed 5 first; then 4, the lowest of those that have lost"
    by_name = {place.player.name: place for place in swiss.placing().places if isinstance(place, SwissPlace)}
    assert by_name["bot3"].points == 2.0
    assert by_name["bot3"].byes == 1


@pytest.mark.parametrize("players", [2, 3, 8, 9, 33])
def test_after_the_usual_rounds_one_bot_alone_has_won_everything(players: int) -> None:
    some = League(players)
    swiss = Swiss(some.games, some.players, usual_rounds(players))
    League.play(swiss, League.by_place)
    first, second, *_ = swiss.placing().places
    assert (first.player, first.place, second.place) == (some.players[0], 1, 2)


def test_a_disqualified_bot_stands_last_and_has_no_place_whatever_its_points() -> None:
    some = League(4)
    games = Counter[str]()

    def crashes_at_last(game: GameSpec) -> tuple[GameResult, Reason]:
        if some.players[0] not in game.players:
            return League.by_place(game)
        games["bot0"] += 1
        if games["bot0"] < 4:
            return League.by_place(game)
        return (GameResult.BLUE if game.players[0] == some.players[0] else GameResult.RED), Reason.CRASH

    swiss = Swiss(some.games, some.players, 2, disqualify=1)
    League.play(swiss, crashes_at_last)
    places = swiss.placing().places
    assert [place.place for place in places][::3] == [1, None]
    assert places[-1].player == some.players[0]
    assert isinstance(places[-1], SwissPlace)
    assert isinstance(places[0], SwissPlace)
    assert (places[-1].points, places[-1].buchholz) > (places[0].points, places[0].buchholz)
    shown = placing_entry(swiss.placing(), {}).places
    assert [place.won for place in shown] == [place.wins for place in places if isinstance(place, SwissPlace)]
    assert shown[-1].place is None
