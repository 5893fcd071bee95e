"""What every format promises: nobody plays himself, no game is given out twice, and the games are the same whatever
order they end in and wherever the league is interrupted."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from schedules import Listed
from simulated_leagues import League

from arena.errors import UsageError
from arena.league.league_options import GAMES_A_BOT, MOST_GAMES, FormatName, FormatOptions
from arena.league.pairing.chosen import format_of
from arena.league.pairing.ladder import Ladder
from arena.league.pairing.pairing import Placed
from arena.league.stored_league import StoredWalk

if TYPE_CHECKING:
    from arena.league.pairing.pairing import Pairing

FORMATS = (
    FormatOptions(FormatName.ROUND_ROBIN, rounds=1),
    FormatOptions(FormatName.SINGLE, rounds=3),
    FormatOptions(FormatName.GAUNTLET, challengers=2, rounds=1),
    FormatOptions(FormatName.SWISS, rounds=3),
    FormatOptions(FormatName.KNOCKOUT, best_of=2, extra_pairs=1),
    FormatOptions(FormatName.LADDER, games=60),
    FormatOptions(FormatName.LADDER, games=80, confidence=0.7),
)
ALL = [pytest.param(options, id=f"{options.name.value}-{place}") for place, options in enumerate(FORMATS)]
ALL += [
    pytest.param(FormatOptions(**{**vars(options), "disqualify": 2}), id=f"{options.name.value}-{place}-disqualify")
    for place, options in enumerate(FORMATS)
]


def pairing_of(options: FormatOptions, some: League) -> Pairing:
    return format_of(options)(some.games, some.players, 2, None)


@pytest.mark.parametrize("options", ALL)
@given(players=st.integers(3, 9), seed=st.integers(0, 999), orders=st.tuples(st.integers(1), st.integers(1)))
@hypothesis_settings(deadline=None, max_examples=8)
def test_the_games_are_the_same_whatever_order_they_end_in_and_wherever_it_is_interrupted(
    options: FormatOptions, players: int, seed: int, orders: tuple[int, int]
) -> None:
    some = League(players)
    judge = League.by_chance(seed, some.players[:1])
    whole = League.play(pairing_of(options, some), judge, order=orders[0])
    again = League.play(pairing_of(options, some), judge, order=orders[1])
    assert whole.is_over
    assert again.ids == whole.ids

    killed = League.play(
        pairing_of(options, some), judge, order=orders[1], most=Random(seed).randint(0, len(whole.given))
    )
    resumed = League.play(pairing_of(options, some), judge, order=orders[0], stored=killed.rows)
    assert resumed.ids == whole.ids
    found = StoredWalk(pairing_of(options, some), Listed(killed.rows.values())).numbers
    assert sorted(found) == sorted(row.number for row in killed.rows.values()), "all that is stored is found again"


def test_a_ladder_has_a_budget_that_grows_with_the_bots_unless_its_games_are_named() -> None:
    for players, asked, expected in (
        (4, {}, 4 * GAMES_A_BOT),
        (9, {"confidence": 0.8}, 9 * GAMES_A_BOT),
        (4, {"confidence": 0.8, "games": 70}, 70),
        (4, {"games": 90_000}, 90_000),
        (2 * MOST_GAMES // GAMES_A_BOT, {}, MOST_GAMES),
    ):
        ladder = pairing_of(FormatOptions(FormatName.LADDER, **asked), League(players))
        assert isinstance(ladder, Ladder)
        assert ladder.at_most == expected


@pytest.mark.parametrize("options", ALL)
def test_it_is_known_when_all_games_are_stored_and_the_placing_is_that_of_all(options: FormatOptions) -> None:
    some = League(6)
    pairing = pairing_of(options, some)
    played = League.play(pairing, League.by_chance(3, some.players[:1]))
    rows = list(played.rows.values())
    told, short = pairing_of(options, some), pairing_of(options, some)
    assert StoredWalk(told, Listed(rows)).is_complete
    assert not StoredWalk(short, Listed(row for row in rows if row.id != played.given[-1].id)).is_complete
    assert isinstance(told, Placed) == isinstance(pairing, Placed)
    if isinstance(told, Placed) and isinstance(pairing, Placed):
        assert told.placing() == pairing.placing()


def test_in_a_gauntlet_each_challenger_meets_each_other_bot_and_nobody_else_meets() -> None:
    for players, challengers in ((5, 1), (5, 2), (5, 4), (2, 1)):
        some = League(players)
        options = FormatOptions(FormatName.GAUNTLET, challengers=challengers, rounds=2)
        played = League.play(pairing_of(options, some), League.by_place)
        met = [game.players for game in played.given]
        for one in some.players[:challengers]:
            for other in some.players[challengers:]:
                assert met.count((one, other)) == met.count((other, one)) == 2
        assert len(met) == 4 * challengers * (players - challengers)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (FormatOptions(FormatName.GAUNTLET), "expected --challengers N .*, got no challengers"),
        (FormatOptions(confidence=0.9), "--confidence is for --format ladder: .* with --format round-robin, got 0.9"),
        (FormatOptions(FormatName.KNOCKOUT, rounds=2), "--rounds is for --format round-robin, .* and swiss"),
        (
            FormatOptions(FormatName.LADDER, seeds=("a", "b")),
            "--seeds is for --format swiss and knockout: .*, got a,b",
        ),
        (FormatOptions(FormatName.LADDER, confidence=float("nan")), "--confidence: expected a likelihood above 0.5"),
        (FormatOptions(FormatName.SWISS, rounds=4), "--rounds: expected at most 3 in a Swiss of 4 bots"),
        (FormatOptions(FormatName.SWISS, seeds=("bat1",)), "--seeds: there is no bot 'bat1' here: did you mean bot1?"),
        (FormatOptions(disqualify=0), "--disqualify: expected a number of faults from 1 to 1000000, got 0"),
        (FormatOptions(FormatName.KNOCKOUT, best_of=10**9), "--best-of: expected at most 1000 pairs of games"),
    ],
)
def test_what_a_format_does_not_take_is_one_clear_message(options: FormatOptions, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        pairing_of(options, League(4))


@pytest.mark.parametrize("options", ALL)
def test_the_two_games_of_a_pair_follow_one_another_where_bots_may_be_kept(options: FormatOptions) -> None:
    if options.disqualify or options.name in (FormatName.ROUND_ROBIN, FormatName.SINGLE):
        return  # the one has its own test, the others have no such order
    given_out = League.play(pairing_of(options, League(6)), League.by_chance(1)).given
    for first, second in zip(given_out[::2], given_out[1::2], strict=True):
        assert (first.players, first.pair_seed) == (second.players[::-1], second.pair_seed)
