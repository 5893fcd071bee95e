"""Games that are given out together: none shows a reader what another one hides."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from example_games import example

from arena.errors import UsageError
from arena.game.game_spec import Player
from arena.league.readers import HOST, Audience, Reader, guessable_seed, readable, reader_named
from protocol.notation import Color

ANN, BOB, CAT = (Player(name, digit * 64) for name, digit in (("ann", "1"), ("bob", "2"), ("cat", "3")))
NEWER = Player("ann", "4" * 64)
OPENINGS = {"openings": "3 of digest 0123456789abcdef"}


class Row(NamedTuple):
    number: int
    players: tuple[Player, Player]


def rows(*pairs: tuple[Player, Player]) -> list[Row]:
    return [Row(number, players) for number, players in enumerate(pairs, 1)]


def author(*players: Player) -> Reader:
    return Reader(Audience.BOT, "ann", frozenset(players))


def chosen(found: Sequence[Row]) -> list[int]:
    return [row.number for row in found]


PAIRS = rows((ANN, BOB), (BOB, ANN), (BOB, CAT), (CAT, BOB))


def test_readers_go_by_words() -> None:
    assert reader_named("all") is HOST
    assert [reader_named(word).audience.value for word in ("red", "blue", "public")] == ["red", "blue", "public"]
    assert reader_named("bot:a:b") == Reader(Audience.BOT, "a:b")


def test_the_host_and_the_public_read_all_games_together() -> None:
    for word in ("all", "public"):
        for settings in ({}, OPENINGS):
            assert readable(PAIRS, settings, reader_named(word)) == PAIRS


@pytest.mark.parametrize("word", ["red", "blue"])
def test_a_colours_games_are_given_out_if_no_bot_is_on_either_side(word: str) -> None:
    with pytest.raises(UsageError, match="ann has Red in game 1 and Blue in game 2"):
        readable(PAIRS, {}, reader_named(word))
    with pytest.raises(UsageError, match="ann has Red in game 1 and Blue in game 2"):
        readable(rows((ANN, BOB), (CAT, NEWER)), {}, reader_named(word))
    one_sided = rows((ANN, BOB), (ANN, CAT))
    assert readable(one_sided, {}, reader_named(word)) == one_sided
    assert readable(PAIRS[:1], {}, reader_named(word)) == PAIRS[:1]


def test_an_author_has_the_games_of_the_bot_and_what_is_its_own_in_them() -> None:
    assert chosen(readable(PAIRS, {}, author(ANN))) == [1, 2]
    assert [author(ANN).seats(row.players) for row in PAIRS] == [(Color.RED,), (Color.BLUE,), (), ()]
    assert author(ANN, NEWER).seats((ANN, NEWER)) == (Color.RED, Color.BLUE)
    assert author(ANN).seats((ANN, NEWER)) == (Color.RED,)


def test_with_chance_an_author_has_one_side_of_each_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = example("liars-dice").GAME()
    monkeypatch.setattr("arena.league.settings.game_named", {dice.name: dice}.__getitem__)
    settings = {"game": f"{dice.name} {dice.version}"}
    with pytest.raises(UsageError, match="chance deals the same in both games of a pair"):
        readable(PAIRS, settings, author(ANN))
    assert readable(PAIRS, settings, reader_named("red")) == PAIRS
    assert chosen(readable(PAIRS[:1], settings, author(ANN))) == [1]


def test_a_seed_that_is_small_or_usual_can_be_guessed() -> None:
    assert guessable_seed({"seed": "1"}) == "1"
    assert guessable_seed({"seed": str(2**32)}) is guessable_seed({}) is guessable_seed({"seed": "x"}) is None
