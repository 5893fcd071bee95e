"""A bot with too many faults plays no more, and which games are left out follows from results alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from simulated_leagues import League

from arena.game.faults import GameResult
from arena.league.pairing.round_robin import RoundRobin, WithoutDisqualified
from protocol.notation import Reason

if TYPE_CHECKING:
    from arena.game.game_spec import GameSpec


@given(st.integers(2, 7), st.integers(1, 4), st.integers(0, 999), st.integers(1, 999))
@hypothesis_settings(deadline=None, max_examples=40)
def test_the_games_are_those_of_playing_one_after_the_other(players: int, limit: int, seed: int, order: int) -> None:
    some = League(players)
    judge = League.by_chance(seed, some.players[:2])
    faults, expected = Counter[str](), set[str]()
    everything = League.play(RoundRobin(some.games, some.players, 3), judge).given
    for game in everything:
        digests = [player.digest for player in game.players]
        if max(faults[digest] for digest in digests) >= limit:
            continue
        expected.add(game.id)
        result, reason = judge(game)
        for digest, won in zip(digests, (GameResult.RED, GameResult.BLUE), strict=True):
            faults[digest] += reason.is_forfeit and result is not won
    pairing = WithoutDisqualified(RoundRobin(some.games, some.players, 3), limit)
    played = League.play(pairing, judge, order=order)
    assert played.ids == expected
    out = pairing.placing().disqualified
    assert {one.player.digest: one.faults for one in out} == {d: n for d, n in faults.items() if n >= limit}
    if len(out) == 1:
        assert len(everything) - len(expected) == out[0].left_out


def test_the_games_left_out_are_those_so_far_until_the_league_is_over() -> None:
    some = League(4)
    judge = League.by_chance(3, some.players[:1])
    pairing = WithoutDisqualified(RoundRobin(some.games, some.players, 3), 1)
    seen: list[bool] = []
    batch = pairing.next(())
    while batch is not None:
        seen += [one.is_so_far for one in pairing.placing().disqualified]
        batch = pairing.next([League.row_of(game, *judge(game)) for game in batch])
    assert seen
    assert all(seen)
    (out,) = pairing.placing().disqualified
    assert not out.is_so_far


def test_resigning_is_no_fault_and_a_game_that_both_forfeit_is_one_of_each() -> None:
    some = League(3)

    def judge(game: GameSpec) -> tuple[GameResult, Reason]:
        if some.players[2] in game.players:
            return League.by_place(game)[0], Reason.RESIGN
        return GameResult.NEITHER, Reason.NO_START

    pairing = WithoutDisqualified(RoundRobin(some.games, some.players, 2), 2)
    League.play(pairing, judge)
    assert [(one.player.name, one.faults) for one in pairing.placing().disqualified] == [("bot0", 2), ("bot1", 2)]
