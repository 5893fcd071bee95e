"""Who takes part as whom: as a content, each copy as one of its own, and by no name or order."""

from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from arena.bots import BotSpec, broken, told_apart
from arena.bots.entering import copies_of_one, copy_digest, may_be, place_of
from arena.game.spec import Player


def bot(place: str, content: str = "same") -> BotSpec:
    """A bot that is a file at a place."""
    path = Path("/bots") / place
    return BotSpec(path.stem, path, (), path.parent, f"digest of {content}")


def entered(
    bots: list[BotSpec], played: list[Player] | None = None, places: dict[str, str] | None = None
) -> dict[str, Player]:
    """Who the bot at each place takes part as."""
    told = told_apart(bots, played or [], places or {})
    return {str(one.path.relative_to("/bots")): one.player for one in told}


def named(place: str, name: str = "fox") -> BotSpec:
    """A bot that says itself what it is called, as one with a bot.toml does."""
    return replace(bot(place), name=name)


def places(**digests: str) -> dict[str, str]:
    """From where players last played: `wolf=SAME` is the player of that digest, at `wolf`."""
    return {digest: place_of(bot(place)) for place, digest in digests.items()}


SAME = "digest of same"
SECOND = copy_digest(SAME, 2)
THIRD = copy_digest(SAME, 3)


def test_a_bot_takes_part_as_its_content() -> None:
    assert entered([bot("x.py"), bot("y.py", "y")]) == {
        "x.py": Player("x", SAME),
        "y.py": Player("y", "digest of y"),
    }


def test_copies_are_numbered_whatever_order_they_are_given_in() -> None:
    expected = {"a.py": Player("a", SAME), "b/x.py": Player("b/x", SECOND), "c/x.py": Player("c/x", THIRD)}
    for order in permutations([bot("c/x.py"), bot("a.py"), bot("b/x.py")]):
        assert entered(list(order)) == expected


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_copies_that_have_played_are_who_they_were(order: list[int], last_games: list[int]) -> None:
    bots = [bot(place) for place in ("a/x.py", "b/x.py", "c.py", "d.py")]
    first = entered(bots)
    played = [list(first.values())[place] for place in last_games]
    assert entered([bots[place] for place in order], played) == first


def test_a_copy_that_comes_later_takes_the_place_of_none() -> None:
    played = [Player("x", SAME), Player("y", "digest of y")]
    assert entered([bot("a.py"), bot("x.py")], played) == {"a.py": Player("a", SECOND), "x.py": Player("x", SAME)}


def test_a_copy_that_is_renamed_stays_who_it_was_and_so_do_the_others() -> None:
    played = [Player("a", SAME), Player("x", SECOND)]
    assert entered([bot("z.py"), bot("x.py")], played) == {"z.py": Player("z", SAME), "x.py": Player("x", SECOND)}
    assert entered([bot("a.py"), bot("0.py")], played) == {"a.py": Player("a", SAME), "0.py": Player("0", SECOND)}
    assert entered([bot("x.py")], played) == {"x.py": Player("x", SECOND)}
    assert entered([bot("new.py")], played) == {"new.py": Player("new", SAME)}


def test_a_copy_of_anothers_bot_takes_neither_its_name_nor_its_games_whatever_it_is_called_and_wherever_it_is() -> None:
    played = [Player("fox", SAME)]
    at = places(wolf=SAME)
    for place, name in product(["aaa", "fox", "zzz", "a/wolf", "wolf.py"], ["aaa", "fox", "wolf", "zzz"]):
        for order in permutations([named(place, name), named("wolf")]):
            who = entered(list(order), played, at)
            assert who["wolf"] == Player("fox", SAME)
            assert who[place].digest == SECOND


@given(st.permutations(range(4)), st.permutations(range(4)), st.integers(0, 4), st.sets(st.integers(0, 3)))
def test_copies_at_their_places_are_who_they_were_whoever_comes_and_goes(
    order: list[int], last_games: list[int], newcomers: int, gone: set[int]
) -> None:
    bots = [named(place) for place in ("a/x.py", "b/x.py", "c.py", "d.py")]
    first = entered(bots)
    played = [list(first.values())[place] for place in last_games]
    at = {first[str(one.path.relative_to("/bots"))].digest: place_of(one) for one in bots}
    present = [bots[place] for place in order if place not in gone]
    namesakes = [replace(named(f"namesake{number}"), digest=f"other {number}") for number in range(newcomers)]
    others = [named(f"0/{number}.py") for number in range(newcomers)]
    again = entered([*others, *present, *namesakes], played, at)
    for one in present:
        place = str(one.path.relative_to("/bots"))
        assert again[place].digest == first[place].digest


def test_where_a_player_is_no_more_at_its_place_any_copy_goes_on_with_its_games() -> None:
    assert entered([named("moved")], [Player("fox", SAME)], places(wolf=SAME)) == {"moved": Player("fox", SAME)}
    other = replace(named("wolf"), digest="digest of other")
    who = entered([named("moved"), other], [Player("fox", SAME)], places(wolf=SAME))
    assert who["moved"].digest == SAME


def test_one_file_given_twice_is_two_players_that_stay_who_they_were() -> None:
    twice = [bot("x.py"), bot("x.py")]
    first = told_apart(twice)
    played = [one.player for one in first]
    at = {player.digest: place_of(bot("x.py")) for player in played}
    assert told_apart(twice, played, at) == told_apart(twice, played[::-1], at) == first
    assert {digest for digest, place in at.items() if place == place_of(bot("x.py"))} == {SAME, SECOND}


def test_nobody_is_called_by_the_path_of_another() -> None:
    """Neither when folders are swapped, nor where a bot calls itself as another's folder is called."""
    a, b = replace(bot("a/x.py"), digest="one"), replace(bot("b/x.py"), digest="two")
    played = [one.player for one in told_apart([a, b])]
    assert [player.name for player in played] == ["a/x", "b/x"]
    swapped = [replace(a, digest="two"), replace(b, digest="one")]
    assert [one.player for one in told_apart(swapped, played)] == [Player("x#2", "two"), Player("x#3", "one")]
    assert [one.player for one in told_apart([b, a], played)] == played[::-1]
    bots = [named("subs/wolf"), replace(named("fox"), digest="y"), replace(named("subs/fox", "owl"), digest="z")]
    assert [one.name for one in told_apart(bots)] == ["fox#2", "bots/fox", "owl"]


def test_a_place_tells_nothing_of_the_path() -> None:
    assert place_of(bot("x.py")) != place_of(bot("y.py"))
    assert len(place_of(bot("x.py"))) == 32
    assert set(place_of(bot("x.py"))) <= set("0123456789abcdef")


def test_a_broken_bot_is_not_the_bot_that_it_is_when_it_is_mended() -> None:
    sound, fault = bot("x.py"), broken(bot("x.py"), "a fault")
    as_broken = entered([fault])["x.py"]
    assert as_broken.digest != SAME
    assert entered([fault], [Player("x", SAME), as_broken]) == {"x.py": as_broken}
    assert entered([sound], [Player("x", SAME), as_broken]) == {"x.py": Player("x", SAME)}


def test_a_stored_player_is_known_to_be_a_bot_or_not() -> None:
    one = bot("x.py")
    assert all(may_be(one, Player("before", digest)) for digest in (SAME, SECOND, THIRD))
    assert not may_be(one, Player("x", "digest of y"))


def test_copies_that_can_be_started_are_pointed_out() -> None:
    bots = [bot("x.py"), bot("y.py", "y"), bot("z.py"), broken(bot("b.py"), "why"), broken(bot("c.py"), "why")]
    (line,) = copies_of_one(bots)
    assert line.startswith("x, z: the same files 2 times")
    assert line.endswith("under the same clock and limits only chance decides between them")  # one may have more time


def test_telling_apart_once_more_changes_nothing() -> None:
    """As after a build, with what the store holds."""
    bots = told_apart([bot("a/x.py"), bot("b/x.py"), bot("b/x.py"), bot("y.py")])
    assert told_apart(bots) == bots
    assert [replace(one, entered_as="") for one in told_apart([replace(one, entered_as="") for one in bots])] == [
        replace(one, entered_as="") for one in bots
    ]
