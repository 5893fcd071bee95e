"""The two-squares rule: no border between two squares is crossed in too many own moves in a row by one piece.

test_reference.py compares the engine with a program that counts the crossings of each border.
"""

from collections.abc import Callable

import pytest
from rule_games import play, refusal, start

from arena.stratego.rules.action_types import BrokenRule
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Chase, NoMove
from protocol.messages import Battle
from protocol.notation import Color, Rank, Reason, Survivor

# Blue's marshal wanders in the meantime, never over one border twice in a row.
BLUE = "F:a10 M:j9 2:j10 3:h10"
AWAY = ["j9-j8", "j8-i8", "i8-i9", "i9-j9"]
RED = "F:j1 M:a4 2:e4 3:h1"


@pytest.fixture
def back_and_forth() -> Callable[..., EngineGame]:
    """`back_and_forth(["a4-a5", "a5-a4"], limit=3)`: Red has made these moves, Blue has wandered, Red is to move."""

    def build(moves: list[str], limit: int | None = 3, red: str = RED) -> EngineGame:
        game = start(red, BLUE, two_squares=limit, chase=Chase.FREE)
        for number, move in enumerate(moves):
            game.apply(move)
            game.apply(AWAY[number % 4])
        return game

    return build


BackAndForth = Callable[..., EngineGame]


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_the_limit_is_the_number_of_moves_that_may_be_made_over_a_border(
    back_and_forth: BackAndForth, limit: int
) -> None:
    moves = ["a4-a5", "a5-a4"] * 3
    for made in range(limit):
        assert moves[made] in {move.text for move in back_and_forth(moves[:made], limit).legal_moves()}
    game = back_and_forth(moves[:limit], limit)
    error = refusal(game, moves[limit])
    assert error.rule is BrokenRule.TWO_SQUARES
    assert f"the marshal on {moves[limit][:2]} has made {limit} moves in a row over this border" in str(error)


def test_going_on_and_coming_back_begins_a_new_count(back_and_forth: BackAndForth) -> None:
    moves = ["a4-a5", "a5-a4", "a4-a5", "a5-a6", "a6-a5"]
    play(back_and_forth(moves), "a5-a4")
    assert refusal(back_and_forth([*moves, "a5-a6"], limit=3), "a6-a5").rule is BrokenRule.TWO_SQUARES


def test_another_pieces_move_begins_a_new_count(back_and_forth: BackAndForth) -> None:
    moves = ["a4-a5", "a5-a4", "a4-a5", "h1-h2", "a5-a4", "a4-a5", "a5-a4"]
    assert refusal(back_and_forth(moves), "a4-a5").rule is BrokenRule.TWO_SQUARES


def test_a_move_off_the_line_begins_a_new_count(back_and_forth: BackAndForth) -> None:
    moves = ["a4-a5", "a5-a4", "a4-a5", "a5-b5", "b5-a5", "a5-a4", "a4-a5", "a5-a4"]
    assert refusal(back_and_forth(moves), "a4-a5").rule is BrokenRule.TWO_SQUARES


def test_a_scout_crosses_every_border_on_its_way(back_and_forth: BackAndForth) -> None:
    """After e4-e7, e7-e5 and e5-e8 the piece has gone three times between e5 and e7, and nowhere else."""
    game = back_and_forth(["e4-e7", "e7-e5", "e5-e8"])
    texts = {move.text for move in game.legal_moves() if move.text.startswith("e8-e")}
    assert texts == {"e8-e7", "e8-e9", "e8-e10"}
    for closed in ("e8-e6", "e8-e5", "e8-e4"):
        assert refusal(game, closed).rule is BrokenRule.TWO_SQUARES


def test_a_scouts_moves_that_share_no_border_close_none(back_and_forth: BackAndForth) -> None:
    game = back_and_forth(["e4-e5", "e5-e8", "e8-e6"])
    texts = {move.text for move in game.legal_moves() if move.text.startswith("e6-e")}
    assert texts == {"e6-e1", "e6-e2", "e6-e3", "e6-e4", "e6-e5", "e6-e7", "e6-e8", "e6-e9", "e6-e10"}


def test_an_attack_that_the_piece_survives_counts_as_a_move() -> None:
    game = start("F:j1 M:a4 3:h1 3:h2", "F:j10 M:j9 3:a7 3:h9", two_squares=2, chase=Chase.FREE)
    play(game, "a4-a5 a7-a6")
    events = play(game, "a5-a6")
    assert events[1:] == (Battle("a6", Rank.MARSHAL, Rank.MINER, Survivor.ATTACKER),)
    play(game, "j9-j8 a6-a5 j8-i8")
    assert refusal(game, "a5-a6").rule is BrokenRule.TWO_SQUARES


@pytest.mark.parametrize("limit", [3, 5])
def test_an_attack_over_a_closed_border_is_refused_and_over_an_open_one_is_not(limit: int) -> None:
    """Blue's scout steps onto the square that Red's marshal has just left for the second time."""
    game = start("F:j1 M:a4 2:h1", "F:j10 M:j9 2:b8", two_squares=limit, chase=Chase.FREE)
    play(game, "a4-a5 b8-b4 a5-a4 j9-j8 a4-a5 b4-a4")
    if limit == 3:
        assert refusal(game, "a5-a4").rule is BrokenRule.TWO_SQUARES
    else:
        play(game, "a5-a4")


def test_what_the_opponent_does_in_between_makes_no_difference() -> None:
    """Not even an attack of his."""
    game = start("F:j1 M:a4 3:e4 2:e1", "F:j10 M:i10 3:j9 2:e7", two_squares=3, chase=Chase.FREE)
    play(game, "a4-a5 j9-j8 a5-a4")
    assert isinstance(play(game, "e7-e4")[1], Battle)
    play(game, "a4-a5 j8-j9")
    assert refusal(game, "a5-a4").rule is BrokenRule.TWO_SQUARES


def test_a_capture_of_the_piece_leaves_nothing_to_count() -> None:
    """Another piece that takes the same square back may go over the borders that the captured one went over."""
    game = start("F:j1 4:a4 9:b4 2:e1", "F:j10 4:j9 9:a7 2:j8", two_squares=2, chase=Chase.FREE)
    play(game, "a4-a5 a7-a6 a5-a4 a6-a5 e1-e2 a5-a4")
    play(game, "b4-a4")
    assert game.ply == 7


def test_a_side_whose_only_moves_are_refused_has_no_move_and_loses() -> None:
    """A lone piece between its own flag and bombs goes to and fro until the rule holds it where it is."""
    game = start(
        "F:b1 B:b2 B:a3 M:a1", "F:j10 B:a10 B:b10 M:e8", two_squares=3, chase=Chase.FREE, no_move=NoMove.ON_TURN
    )
    play(game, "a1-a2 e8-e9 a2-a1 e9-f9 a1-a2")
    assert game.outcome is None
    play(game, "f9-f8")
    assert game.outcome is not None
    assert (game.outcome.winner, game.outcome.reason) == (Color.BLUE, Reason.NO_MOVE)
