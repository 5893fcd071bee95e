"""A game's id and seeds say what it is: a game that claims others is found out."""

import msgspec
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from arena.game.game_spec import Player
from arena.game.time_control import TimeControl
from arena.league.game_ids import Games, misfit, opening_of, place_of_opening
from arena.league.settings import Settings, openings_digest
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

SETTINGS = Settings(variant_of(load_ruleset("duel")), TimeControl())
ANN, BOB, CAT = (Player(name, f"digest-of-{name}") for name in ("ann", "bob", "cat"))
OPENINGS = tuple((f"red {number}", f"blue {number}") for number in range(5))


def test_a_game_is_sound_only_with_all_that_follows_from_it() -> None:
    game, other = Games(SETTINGS).game(ANN, BOB, 0), Games(SETTINGS).game(ANN, BOB, 1)
    assert misfit(game) is None
    replaced = msgspec.structs.replace
    assert "its id does not follow" in (misfit(replaced(game, id=other.id)) or "")
    assert "its id does not follow" in (misfit(replaced(game, pair_seed=other.pair_seed)) or "")
    assert "its seeds do not follow" in (misfit(replaced(game, seeds=other.seeds)) or "")
    assert "its id does not follow" in (misfit(replaced(game, players=(CAT, BOB))) or "")
    renamed = tuple(replaced(player, name=f"new {player.name}") for player in game.players)
    assert misfit(replaced(game, players=renamed)) is None, "a name is no part of a game"


def test_nobody_plays_against_itself_whatever_it_calls_itself() -> None:
    new = Games(SETTINGS).game(ANN, msgspec.structs.replace(ANN, name="twin"), 0)
    assert misfit(new) == "both sides are the same player"


@given(st.text(max_size=5), st.integers(0, 100))
@hypothesis_settings(deadline=None, max_examples=30)
def test_two_players_go_through_all_openings_from_a_place_of_their_own(common: str, number: int) -> None:
    places = [place_of_opening(common, (ANN, BOB), number + step, len(OPENINGS)) for step in range(len(OPENINGS))]
    assert sorted(places) == list(range(len(OPENINGS)))
    assert place_of_opening(common, (BOB, ANN), number, len(OPENINGS)) == places[0]
    assert opening_of(common, (ANN, BOB), number, OPENINGS) == OPENINGS[places[0]]
    assert opening_of(common, (ANN, BOB), number, ()) is None


def test_other_openings_and_the_same_in_another_order_have_another_digest() -> None:
    digests = {openings_digest(each) for each in (OPENINGS, OPENINGS[::-1], OPENINGS[:4], ())}
    assert len(digests) == 4
