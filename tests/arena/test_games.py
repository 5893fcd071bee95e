"""Which games a league has: the same ones for the same settings and bots, whoever comes first, whatever is added and
whatever they are called."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from schedules import schedule

from arena.game.game_spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.game_ids import ID_LENGTH, Games, misfit
from arena.league.settings import Settings
from arena.stratego.game import ruleset_of, variant_of
from arena.stratego.rules.ruleset import Chase, NoMove, Ruleset, Starts
from arena.stratego.rules.rulesets import load_ruleset
from protocol.notation import Rank

DUEL = load_ruleset("duel")
VARIANT = variant_of(DUEL)
SETTINGS = Settings(VARIANT, TimeControl())
ANN, BOB, CAT, DAN = (Player(name, f"digest-of-{name}") for name in ("ann", "bob", "cat", "dan"))

players = st.lists(
    st.builds(Player, st.text(max_size=5), st.text(max_size=5)),
    min_size=2,
    max_size=5,
    unique_by=lambda player: player.digest,
)


def ids(games: list[GameSpec]) -> set[str]:
    return {game.id for game in games}


def by_id(games: list[GameSpec]) -> dict[str, GameSpec]:
    return {game.id: game for game in games}


def pairs(games: list[GameSpec]) -> list[tuple[GameSpec, ...]]:
    """The games that belong together, in the order of play."""
    seeds = dict.fromkeys(game.pair_seed for game in games)
    found = [tuple(game for game in games if game.pair_seed == seed) for seed in seeds]
    assert all(len(pair) == 2 for pair in found)
    return found


@given(players, st.integers(1, 4))
@hypothesis_settings(max_examples=25)
def test_every_pair_meets_twice_in_each_round_and_every_game_has_an_id_of_its_own(
    some: list[Player], rounds: int
) -> None:
    games = schedule(SETTINGS, some, rounds)
    pairs = len(some) * (len(some) - 1) // 2
    assert len(ids(games)) == len(games) == pairs * 2 * rounds
    assert Counter(game.players for game in games) == {
        players: rounds for pair in combinations(some, 2) for players in (pair, pair[::-1])
    }
    assert all(len(game.id) == ID_LENGTH and int(game.id, 16) >= 0 for game in games)


@given(players, st.integers(1, 3), st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=25)
def test_a_league_does_not_depend_on_the_order_in_which_its_bots_are_named(
    some: list[Player], rounds: int, rng: Random
) -> None:
    games = schedule(SETTINGS, some, rounds)
    mixed = some[:]
    rng.shuffle(mixed)
    assert by_id(schedule(SETTINGS, mixed, rounds)) == by_id(games)
    assert schedule(SETTINGS, some, rounds) == games


ARMY = ((Rank.FLAG, 1), (Rank.MARSHAL, 1))
RULES = Ruleset("x", "", "", ARMY, Starts.RED, 3, Chase.ISF, NoMove.AT_ONCE, max_plies=2000, max_quiet_plies=200)
FIXED = Settings(variant_of(RULES), TimeControl(100, None, 0, 10_000, 5000, 50), 1)


def test_ids_are_the_same_on_every_machine_and_in_every_version() -> None:
    """A store is resumed by them. If this fails, old stores can no longer be resumed: is that meant?"""
    first, second = schedule(FIXED, [Player("ann", "a"), Player("bob", "b")], 1)
    assert (first.id, second.id) == ("2b1d411ab122782a", "79439af20158769c")
    assert (first.pair_seed, first.seeds) == (229643040698703, (2304507898, 2811616288))


def test_a_game_is_no_game_with_another_id_seed_or_player() -> None:
    game, other = Games(SETTINGS).game(ANN, BOB, 0), Games(SETTINGS).game(ANN, BOB, 1)
    twin = msgspec.structs.replace(ANN, name="twin")
    for wrong, words in (
        (msgspec.structs.replace(game, id=other.id), "its id does not follow"),
        (msgspec.structs.replace(game, pair_seed=other.pair_seed), "its id does not follow"),
        (msgspec.structs.replace(game, seeds=other.seeds), "its seeds do not follow"),
        (msgspec.structs.replace(game, players=(CAT, BOB)), "its id does not follow"),
        (Games(SETTINGS).game(ANN, twin, 0), "both sides are the same player"),
    ):
        assert words in (misfit(wrong) or "")


def test_adding_a_bot_keeps_the_games_of_the_others() -> None:
    old = by_id(schedule(SETTINGS, [ANN, BOB, CAT], 2))
    new = by_id(schedule(SETTINGS, [DAN, ANN, BOB, CAT], 2))
    assert {game: new[game] for game in old} == old
    assert all(DAN in new[game].players for game in new.keys() - old.keys())


def test_the_two_games_of_a_pair_differ_in_colours_and_in_nothing_else() -> None:
    for one, other in pairs(schedule(SETTINGS, [ANN, BOB, CAT], 3)):
        assert one.players == other.players[::-1]
        assert one.seeds == other.seeds[::-1]
        assert one.pair_seed == other.pair_seed
        assert one.id != other.id


OTHER_TIMES = [
    TimeControl(move_ms=101),
    TimeControl(move_ms=None, bank_ms=100),
    TimeControl(bank_ms=1000),
    TimeControl(bank_ms=1000, increment_ms=1),
    TimeControl(start_ms=9999),
    TimeControl(setup_ms=4999),
    TimeControl(margin_ms=0),
]
OTHER_SETTINGS = [
    *(msgspec.structs.replace(SETTINGS, variant=variant_of(load_ruleset(name))) for name in ("duel+rescue", "isf")),
    *(msgspec.structs.replace(SETTINGS, time=time) for time in OTHER_TIMES),
    msgspec.structs.replace(SETTINGS, seed=2),
]


def test_any_other_setting_makes_another_league_with_none_of_the_games() -> None:
    leagues = [ids(schedule(settings, [ANN, BOB, CAT], 2)) for settings in (SETTINGS, *OTHER_SETTINGS)]
    assert len(set.union(*leagues)) == sum(map(len, leagues))


@pytest.mark.parametrize("other", OTHER_SETTINGS)
def test_settings_that_make_another_league_are_told_apart_in_words_too(other: Settings) -> None:
    """A store refuses settings whose words differ from its own."""
    assert other.described() != SETTINGS.described()


@given(players, st.lists(st.text(max_size=5), min_size=5, max_size=5), st.integers(1, 3))
@hypothesis_settings(max_examples=25)
def test_what_bots_are_called_changes_no_id_and_no_seed(some: list[Player], names: list[str], rounds: int) -> None:
    renamed = [msgspec.structs.replace(player, name=name) for player, name in zip(some, names, strict=False)]
    for old, new in zip(schedule(SETTINGS, some, rounds), schedule(SETTINGS, renamed, rounds), strict=True):
        assert (new.id, new.seeds, new.pair_seed) == (old.id, old.seeds, old.pair_seed)
        assert [player.digest for player in new.players] == [player.digest for player in old.players]


# --- who starts -----------------------------------------------------------------------------------------------------

CHOSEN = msgspec.structs.replace(SETTINGS, variant=variant_of(replace(DUEL, starts=Starts.CHOSEN)))


def starts(game: GameSpec) -> Starts:
    return ruleset_of(game.variant).starts


def starter(game: GameSpec) -> Player:
    """The bot that has the first turn."""
    return game.players[starts(game) is Starts.BLUE]


def test_where_the_players_choose_the_seed_says_who_starts_and_each_bot_of_a_pair_starts_one_game() -> None:
    games = schedule(CHOSEN, [ANN, BOB, CAT], 20)
    for one, other in pairs(games):
        assert one.variant == other.variant
        assert {starter(one), starter(other)} == set(one.players)
    assert {starts(game) for game in games} == {Starts.RED, Starts.BLUE}


def test_the_choice_by_seed_favours_nobody() -> None:
    """Neither a colour nor, among the first games of each pair, the bot that is named first."""
    games = schedule(CHOSEN, [ANN, BOB], 200)
    assert 70 < sum(starts(game) is Starts.RED for game in games[::2]) < 130
    assert sum(starter(game) is ANN for game in games) == 200


# --- handicaps ------------------------------------------------------------------------------------------------------

SLOW, SLOWER = TimeControl(move_ms=1000), TimeControl(move_ms=None, bank_ms=60_000)


def with_times(*own: tuple[Player, TimeControl], settings: Settings = SETTINGS) -> Settings:
    return msgspec.structs.replace(settings, bot_times=tuple((player.digest, time) for player, time in own))


times = st.sampled_from([TimeControl(), SLOW, SLOWER, TimeControl(bank_ms=1000), TimeControl(margin_ms=0)])


@given(players, st.data())
@hypothesis_settings(max_examples=25)
def test_a_game_under_equal_clocks_is_that_of_a_league_of_this_time_and_every_other_is_one_of_its_own(
    some: list[Player], data: st.DataObject
) -> None:
    usual = data.draw(times)
    own = {player: data.draw(st.none() | times) or usual for player in some}
    settings = with_times(*own.items(), settings=Settings(VARIANT, usual))
    for game in schedule(settings, some, 2):
        plain = {time: by_id(schedule(Settings(VARIANT, time), list(game.players), 2)) for time in set(own.values())}
        red, blue = (own[player] for player in game.players)
        assert game.times == (red, blue)
        if red == blue:
            assert plain[red][game.id] == game
        else:
            assert all(game.id not in games for games in plain.values())
            others = {other.pair_seed for games in plain.values() for other in games.values()}
            assert game.pair_seed not in others


# --- new versions of bots ---------------------------------------------------------------------------------------------

NEW = Player("ann", "the second version of ann")


def test_a_game_that_an_older_version_has_played_stays_and_the_new_version_plays_the_others() -> None:
    first, back = schedule(SETTINGS, [ANN, BOB], 1)
    games = Games(SETTINGS, {first.id}, {NEW.digest: (ANN,)})
    of_now = {ANN: NEW, BOB: BOB}
    (red, blue), (back_red, back_blue) = first.players, back.players
    assert games.game(of_now[red], of_now[blue], 0) == first
    given = games.game(of_now[back_red], of_now[back_blue], 0)
    assert NEW in given.players
    assert given.id != back.id


def test_games_of_a_bot_that_is_no_older_version_are_not_taken_for_those_of_another() -> None:
    old = Games(SETTINGS).game(ANN, BOB, 0)
    assert Games(SETTINGS, {old.id}, {NEW.digest: (CAT,)}).game(NEW, BOB, 0) == Games(SETTINGS).game(NEW, BOB, 0)


# --- openings ---------------------------------------------------------------------------------------------------------

OPENINGS = tuple((f"red {number}", f"blue {number}") for number in range(5))
"""Games are made of any set-ups: whether these are legal was looked at when they were read."""
GIVEN = msgspec.structs.replace(SETTINGS, openings=OPENINGS)


@given(players, st.integers(1, 7), st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=20)
def test_both_games_of_a_pair_have_one_opening_and_each_round_takes_the_next(
    some: list[Player], rounds: int, rng: Random
) -> None:
    games = schedule(GIVEN, some, rounds)
    taken: dict[frozenset[Player], list[int]] = {}
    for first, second in pairs(games):
        assert first.opening == second.opening
        assert first.players == second.players[::-1], "so that each bot plays both sides of it"
        assert first.opening is not None
        taken.setdefault(frozenset(first.players), []).append(OPENINGS.index(first.opening))
    for places in taken.values():
        assert places == [(places[0] + number) % len(OPENINGS) for number in range(rounds)]
    mixed = some[:]
    rng.shuffle(mixed)
    assert by_id(schedule(GIVEN, mixed, rounds)) == by_id(games), "whatever order the bots are named in"
    assert by_id(schedule(GIVEN, some, rounds + 1)).items() >= by_id(games).items(), "a league goes on from there"


def test_a_game_with_an_opening_is_another_than_without_or_with_another() -> None:
    without, given_some, given_other = (
        schedule(msgspec.structs.replace(SETTINGS, openings=openings), [ANN, BOB], 3)
        for openings in ((), OPENINGS, (("red", "blue"),))
    )
    assert len(ids([*without, *given_some, *given_other])) == 3 * 6
    assert {game.opening for game in without} == {None}
    assert [misfit(game) for game in given_some] == [None] * 6


def test_ids_with_an_opening_are_the_same_on_every_machine_and_in_every_version() -> None:
    """A store is resumed by them, as by those without."""
    some = msgspec.structs.replace(FIXED, openings=OPENINGS)
    first, second = schedule(some, [Player("ann", "a"), Player("bob", "b")], 1)
    assert (first.id, second.id) == ("3a9658252e7acd52", "815323b5a4c15389")
    assert (first.pair_seed, first.opening) == (231994231782084, OPENINGS[1])
    assert some.described()["openings"] == "5 of digest 6ea4852b91724bed"
    assert FIXED.described()["openings"] == "none"
