"""A ladder spends games where the order is in doubt, and stops when it is sure or has spent all."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from simulated_leagues import Judge, League

from arena.game.faults import GameResult
from arena.game.game_spec import GameSpec, Player
from arena.league.pairing.ladder import Ladder
from arena.league.pairing.pairing import LadderPlace, StopReason
from protocol.notation import Reason


def by_strength(step: float, strengths: dict[str, float] | None = None) -> Judge:
    """Results that follow from ids and from strengths, in logits: each bot is `step` above the next."""

    def judge(game: GameSpec) -> tuple[GameResult, Reason]:
        red, blue = ((strengths or {}).get(player.digest, -step * int(player.digest)) for player in game.players)
        is_red = Random(game.id).random() < 1 / (1 + math.exp(blue - red))
        return GameResult.RED if is_red else GameResult.BLUE, Reason.FLAG

    return judge


def games_of(ladder: Ladder) -> dict[str, int]:
    return {place.player.name: place.games for place in ladder.placing().places if isinstance(place, LadderPlace)}


@pytest.mark.parametrize("players", [2, 3, 12])
def test_it_stops_when_each_is_above_the_next_with_the_confidence_asked_for(players: int) -> None:
    some = League(players)
    ladder = Ladder(some.games, some.players, confidence=0.95, most=10_000)
    played = League.play(ladder, by_strength(1.0))
    assert len(played.given) < 10_000
    places = [place for place in ladder.placing().places if isinstance(place, LadderPlace)]
    assert [place.player for place in places] == some.players
    assert all(place.above_next >= 0.95 for place in places[:-1] if place.above_next is not None)
    assert places[-1].above_next is None


@pytest.mark.parametrize("most", [1, 2, 31, 200])
def test_it_stops_at_its_budget(most: int) -> None:
    some = League(5)
    assert len(League.play(Ladder(some.games, some.players, confidence=None, most=most), by_strength(0)).given) == most


def test_it_says_why_it_stopped_and_how_many_bots_are_unclear() -> None:
    for step, most, expected in ((1.0, 10_000, StopReason.SURE), (0.0, 60, StopReason.GAMES)):
        some = League(5)
        ladder = Ladder(some.games, some.players, confidence=0.95, most=most)
        assert ladder.placing().stop is None, "it has not begun"
        played = League.play(ladder, by_strength(step))
        stop = ladder.placing().stop
        assert stop is not None
        assert (stop.reason, stop.games, stop.known, stop.confidence) == (expected, len(played.given), 0, 0.95)
        likely = [place.above_next for place in ladder.placing().places if isinstance(place, LadderPlace)]
        assert stop.unclear == sum(each is not None and each < 0.95 for each in likely)
        assert bool(stop.unclear) == (expected is StopReason.GAMES)


def test_games_go_to_bots_that_are_near_each_other() -> None:
    some = League(16)
    played = League.play(Ladder(some.games, some.players, confidence=None, most=1000), by_strength(0.5))
    apart = Counter(
        abs(int(red.digest) - int(blue.digest)) for red, blue in (game.players for game in played.given[300:])
    )
    near = sum(count for distance, count in apart.items() if distance <= 6)
    assert near > 0.9 * apart.total()


def test_bots_with_a_certain_place_play_few_games_beside_two_that_are_equal() -> None:
    some = League(5)
    ladder = Ladder(some.games, some.players, confidence=None, most=1000)
    played = League.play(ladder, by_strength(1.5, {"0000": 0.0, "0001": 0.0}))
    late = Counter(player.digest for game in played.given[500:] for player in game.players)
    assert late["0000"] + late["0001"] > 0.9 * late.total()


def test_a_new_bot_is_placed_with_few_games_and_the_others_keep_theirs() -> None:
    """It is stronger than all others but two."""
    some, more = League(20), League(20)
    new = Player("new", "9999")
    judge = by_strength(0.7, {"9999": -1.2})
    known = list(League.play(Ladder(some.games, some.players, confidence=None, most=2000), judge).rows.values())
    more.players.append(new)
    ladder = Ladder(more.games, more.players, confidence=None, most=100, known=known)
    assert ladder.planned == 2100
    played = League.play(ladder, judge, stored={row.id: row for row in known})
    assert {row.id for row in known} < played.ids, "what is known counts"
    assert len(played.given) == 2100
    new_games = Counter(player for game in played.given[2000:] for player in game.players)
    assert new_games.most_common(1)[0][0] == new, "nobody plays more of the new games"
    place = next(place.place for place in ladder.placing().places if place.player == new)
    assert place is not None
    assert 2 <= place <= 4


def test_a_disqualified_bot_is_in_no_later_batch() -> None:
    some = League(4)
    ladder = Ladder(some.games, some.players, confidence=None, most=400, disqualify=3)
    played = League.play(ladder, League.by_chance(5, some.players[:1]))
    last = max(number for number, game in enumerate(played.given) if some.players[0] in game.players)
    assert games_of(ladder)["bot0"] < last < 100
    assert [out.player for out in ladder.placing().disqualified] == some.players[:1]
    *placed, last_place = ladder.placing().places
    assert [place.place for place in placed] == [1, 2, 3]
    assert (last_place.player, last_place.place) == (some.players[0], None)
    assert len(played.given) == 400
