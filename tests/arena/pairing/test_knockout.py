"""A knockout ends with one winner after n - 1 matches, and the first seeds have the byes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from simulated_leagues import League

from arena.game.faults import GameResult
from arena.league.pairing.knockout import Knockout, bracket
from arena.league.pairing.pairing import KnockoutPlace
from protocol.notation import Reason

if TYPE_CHECKING:
    from arena.game.game_spec import GameSpec


def places_of(knockout: Knockout) -> dict[str, KnockoutPlace]:
    return {place.player.name: place for place in knockout.placing().places if isinstance(place, KnockoutPlace)}


def drawn(game: GameSpec) -> tuple[GameResult, Reason]:
    del game
    return GameResult.DRAW, Reason.PLY_CAP


@given(st.integers(2, 20), st.integers(1, 4), st.integers(0, 2), st.integers(0, 999))
@hypothesis_settings(deadline=None, max_examples=40)
def test_there_is_one_winner_after_n_minus_1_matches(players: int, best_of: int, extra_pairs: int, seed: int) -> None:
    some = League(players)
    knockout = Knockout(some.games, some.players, best_of, extra_pairs)
    played = League.play(knockout, League.by_chance(seed), order=seed)
    assert len(set(played.meetings)) == players - 1
    assert all(played.meetings.count(who) <= best_of + extra_pairs for who in played.meetings)
    places = list(places_of(knockout).values())
    assert [place.lost_in is None for place in places] == [True, *[False] * (players - 1)]
    for place in places[1:]:
        assert place.points < place.opponent_points or place.decided_by == "by seed"


def test_the_bracket_keeps_the_best_apart_and_gives_them_the_byes() -> None:
    assert bracket(8) == [0, 7, 3, 4, 1, 6, 2, 5]
    some = League(6)
    knockout = Knockout(some.games, some.players)
    played = League.play(knockout, League.by_place)
    first = {frozenset(int(player.digest) for player in who) for who in played.meetings[:2]}
    assert first == {frozenset({3, 4}), frozenset({2, 5})}
    assert [place.place for place in knockout.placing().places] == [1, 2, 3, 3, 5, 5]
    assert [place.player for place in knockout.placing().places[:2]] == some.players[:2]


@pytest.mark.parametrize(("best_of", "pairs"), [(1, 1), (2, 2), (3, 2), (5, 3)])
def test_a_match_ends_as_soon_as_the_other_side_cannot_draw_level(best_of: int, pairs: int) -> None:
    some = League(2)
    played = League.play(Knockout(some.games, some.players, best_of), League.by_place)
    assert len(played.meetings) == pairs


def test_a_level_match_has_extra_pairs_and_then_the_better_seed_goes_on() -> None:
    some = League(2)
    knockout = Knockout(some.games, some.players, 1, 3)
    assert len(League.play(knockout, drawn).meetings) == 4
    loser = places_of(knockout)["bot1"]
    assert (loser.points, loser.opponent_points, loser.decided_by) == (4, 4, "by seed")


def test_who_is_disqualified_loses_the_match_and_if_both_are_nobody_goes_on() -> None:
    some = League(4)

    def crashes(game: GameSpec) -> tuple[GameResult, Reason]:
        if {player.digest for player in game.players} == {"0000", "0003"}:
            return GameResult.NEITHER, Reason.NO_START
        return League.by_place(game)

    knockout = Knockout(some.games, some.players, disqualify=2)
    played = League.play(knockout, crashes)
    assert len(played.meetings) == 2, "the final is not played"
    places = places_of(knockout)
    assert knockout.placing().rounds[-1].meetings[0].winner == places["bot1"].player
    assert places["bot0"].decided_by == places["bot3"].decided_by == "by disqualification"
    assert [(out.player.name, out.faults) for out in knockout.placing().disqualified] == [("bot0", 2), ("bot3", 2)]
    assert [place.place for place in knockout.placing().places] == [1, 2, None, None]
