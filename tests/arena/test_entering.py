"""Who takes part as whom: as a content, and next to copies of itself as a content with a name."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from arena.bots.asked import AskedBot, asked_bot
from arena.bots.entering import assign_identities, broken, digest_with_name, may_be
from arena.bots.spec import BotSpec
from arena.game.game_spec import Player


def bot(place: str, content: str = "same", name: str | None = None) -> BotSpec:
    path = Path("/bots") / place
    return BotSpec(name or path.stem, path, (), path.parent, f"digest of {content}")


def entered(bots: list[BotSpec], played: list[Player] | None = None) -> dict[str, Player]:
    """Who the bot at each place takes part as."""
    return {str(one.path.relative_to("/bots")): one.player for one in assign_identities(bots, played or [])}


def copy(name: str) -> Player:
    return Player(name, digest_with_name(SAME, name))


SAME = "digest of same"


def test_a_bot_takes_part_as_its_content_whatever_it_is_called() -> None:
    assert entered([bot("x.py"), bot("y.py", "y")]) == {"x.py": Player("x", SAME), "y.py": Player("y", "digest of y")}
    assert entered([bot("z.py")], [Player("x", SAME)]) == {"z.py": Player("z", SAME)}


def test_the_name_of_copies_is_part_of_what_they_are_whatever_order_they_are_given_in() -> None:
    expected = {"a.py": copy("a"), "b/x.py": copy("b/x"), "c/x.py": copy("c/x")}
    for order in permutations([bot("c/x.py"), bot("a.py"), bot("b/x.py")]):
        assert entered(list(order)) == expected


@given(st.permutations(range(4)), st.sets(st.integers(0, 3), min_size=1))
def test_copies_that_have_played_are_who_they_were_whoever_comes_and_goes(order: list[int], present: set[int]) -> None:
    bots = [bot(place, name=name) for place, name in (("a/x.py", "v"), ("b/x.py", "w"), ("c.py", "x"), ("d.py", "y"))]
    first = entered(bots[:3])
    again = entered([bots[place] for place in order if place in present], list(first.values()))
    for place, player in first.items():
        assert again.get(place, player) == player


def test_a_copy_that_comes_later_takes_the_games_of_none() -> None:
    played = [Player("x", SAME), Player("y", "digest of y")]
    assert entered([bot("a.py"), bot("x.py")], played) == {"a.py": copy("a"), "x.py": Player("x", SAME)}
    renamed = [Player("a", SAME), *played]
    assert entered([bot("a.py"), bot("x.py")], renamed) == {"a.py": copy("a"), "x.py": Player("x", SAME)}


def test_bots_of_one_name_are_called_by_their_folders_else_by_numbers() -> None:
    bots = [bot("a/x.py", "1"), bot("c/b/x.py", "2"), bot("d/b/x.py", "3"), bot("y.py", "4")]
    for order in permutations(bots):
        names = {one.digest[-1]: one.name for one in assign_identities(order)}
        assert names == {"1": "a/x", "2": "b/x", "3": "b/x#2", "4": "y"}


def test_a_bot_that_takes_the_name_of_another_in_its_folder_is_called_by_its_own_folder() -> None:
    honest, impostor = bot("e/plain", "1"), replace(bot("e/aaa", "2"), name="plain")
    assert {one.digest[-1]: one.name for one in assign_identities([honest, impostor])} == {
        "1": "plain/plain",
        "2": "aaa/plain",
    }


def test_a_broken_bot_is_not_the_bot_that_it_is_when_it_is_mended() -> None:
    sound, fault = bot("x.py"), broken(bot("x.py"), "a fault")
    as_broken = entered([fault])["x.py"]
    assert as_broken.digest != SAME
    assert entered([fault], [Player("x", SAME), as_broken]) == {"x.py": as_broken}
    assert entered([sound], [Player("x", SAME), as_broken]) == {"x.py": Player("x", SAME)}


def test_a_stored_player_is_known_to_be_a_bot_or_not() -> None:
    one = replace(bot("x.py"), name="now")
    assert may_be(one, Player("before", SAME))
    assert may_be(one, copy("before"))
    assert not may_be(one, Player("x", copy("before").digest))


def test_a_word_of_a_command_may_name_a_bot(tmp_path: Path) -> None:
    assert asked_bot("new=./mine.py") == AskedBot("./mine.py", "new")
    (tmp_path / "a=b").touch()
    for path in (f"{tmp_path}/a=b", "./x/a=b", "=b", "a="):
        assert asked_bot(path) == AskedBot(path)
