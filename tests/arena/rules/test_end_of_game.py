"""How games end: by the flag, by having no move, by the caps, by resigning."""

import pytest
from rule_games import play, refusal, start

from arena.stratego.rules.ruleset import Bombs, Chase, NoMove
from protocol.messages import Moved
from protocol.notation import Color, Reason
from protocol.seats import Outcome

RED_WINS = {reason: Outcome(Color.RED, reason) for reason in Reason}
BLUE_WINS = {reason: Outcome(Color.BLUE, reason) for reason in Reason}


# --- nothing to move ------------------------------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("no_move", NoMove)


@BOTH
def test_a_side_to_move_that_has_no_movable_piece_left_loses(no_move: NoMove) -> None:
    game = start("F:j1 4:a4 3:b4", "F:j10 3:a7 4:b7", no_move=no_move)
    play(game, "a4-a5 a7-a6 a5-a6 b7-b6")
    assert game.outcome is None
    play(game, "a6-b6")
    assert game.outcome == RED_WINS[Reason.NO_MOVE]


@BOTH
def test_a_side_to_move_whose_pieces_are_all_walled_in_loses(no_move: NoMove) -> None:
    """Blue's sergeant still stands, but behind its own bombs and flag."""
    game = start("F:j1 B:i1 B:h1 4:j3 M:b4", "F:a9 B:b10 B:a8 4:a10 M:b7", no_move=no_move)
    play(game, "b4-b5 b7-b6")
    assert game.outcome is None
    play(game, "b5-b6")
    assert game.outcome == RED_WINS[Reason.NO_MOVE]


def test_one_fight_that_leaves_neither_side_anything_to_attack_with_is_a_draw_that_is_not_put_down_to_moves() -> None:
    """Bombs can still move on both sides."""
    rules = {"bombs": Bombs.MOBILE, "needs_attacker": True}
    game = start("F:a1 B:j1 M:b4", "F:a10 B:j10 M:b7", **rules)
    play(game, "b4-b5 b7-b6 b5-b6")
    assert game.outcome == Outcome(None, Reason.BOTH_IMMOBILE)
    assert "move" not in Reason.BOTH_IMMOBILE.sentence


@BOTH
@pytest.mark.parametrize("last", ["b7-a7", "b7-b8 j1-j2 b8-b7 a7-b7"], ids=["Red is to move", "Blue is to move"])
def test_if_neither_side_has_anything_to_attack_with_nobody_wins_by_a_bomb_that_can_still_move(
    no_move: NoMove, last: str
) -> None:
    """Blue has only its flag left, Red a bomb besides."""
    game = start("F:a1 B:j1 3:a4", "F:a10 B:a7 3:b7", bombs=Bombs.MOBILE, needs_attacker=True, no_move=no_move)
    play(game, "a4-a5 b7-b6 a5-a6 b6-b7 a6-a7")
    play(game, last)
    assert game.outcome == Outcome(None, Reason.BOTH_IMMOBILE)


WALLED = "F:a1 B:a2 B:b2 4:b1 B:c1"
OPEN = "F:a10 B:c10 B:d10 4:b9 B:e10"


@pytest.mark.parametrize(
    ("red", "blue", "no_move", "outcome"),
    [
        (WALLED, OPEN, NoMove.AT_ONCE, BLUE_WINS[Reason.NO_MOVE]),
        (WALLED, OPEN, NoMove.ON_TURN, BLUE_WINS[Reason.NO_MOVE]),
        ("F:a1 B:j1 B:j2 4:b3 B:c1", "F:a10 B:a9 B:b9 4:b10 B:c10", NoMove.AT_ONCE, RED_WINS[Reason.NO_MOVE]),
        ("F:a1 B:j1 B:j2 4:b3 B:c1", "F:a10 B:a9 B:b9 4:b10 B:c10", NoMove.ON_TURN, None),
        (WALLED, "F:a10 B:a9 B:b9 4:b10 B:c10", NoMove.AT_ONCE, Outcome(None, Reason.BOTH_IMMOBILE)),
        (WALLED, "F:a10 B:a9 B:b9 4:b10 B:c10", NoMove.ON_TURN, BLUE_WINS[Reason.NO_MOVE]),
    ],
)
def test_set_ups_that_leave_a_side_without_a_move_are_looked_at_too(
    red: str, blue: str, no_move: NoMove, outcome: Outcome | None
) -> None:
    game = start(red, blue, no_move=no_move)
    assert game.ply == 0
    assert game.outcome == outcome
    assert bool(game.legal_moves()) is (outcome is None)


@BOTH
def test_a_side_with_one_move_left_is_not_lost(no_move: NoMove) -> None:
    game = start("F:a1 B:b1 B:c2 4:c1", "F:a10 B:b10 B:c9 4:c10", no_move=no_move)
    play(game, "c1-d1")
    assert game.outcome is None
    assert [move.text for move in game.legal_moves()] == ["c10-d10"]


# --- the caps -------------------------------------------------------------------------------------------------------

# Nobody attacks and nothing is repeated too often for twelve plies.
QUIET = "a4-a5 j7-j6 a5-a6 j6-j5 a6-b6 j5-i5 b6-b5 i5-i4 b5-b4 i4-j4 b4-a4 j4-j5"
CAPPED = {"two_squares": None, "chase": Chase.FREE}


@pytest.mark.parametrize("cap", [1, 2, 7, 12])
@pytest.mark.parametrize(
    ("caps", "reason"),
    [
        (["max_plies"], Reason.PLY_CAP),
        (["max_quiet_plies"], Reason.QUIET_CAP),
        (["max_plies", "max_quiet_plies"], Reason.PLY_CAP),
    ],
    ids=["plies", "quiet plies", "both"],
)
def test_the_ply_that_reaches_a_cap_is_the_last_and_the_game_is_drawn(
    caps: list[str], reason: Reason, cap: int
) -> None:
    game = start("F:a1 M:a4", "F:j10 M:j7", **CAPPED, **dict.fromkeys(caps, cap))
    for number, move in enumerate(QUIET.split()[:cap], start=1):
        assert game.outcome is None
        assert game.ply == number - 1
        play(game, move)
    assert game.outcome == Outcome(None, reason)
    assert game.legal_moves() == []


def test_an_attack_begins_the_count_of_quiet_plies_anew() -> None:
    game = start("F:a1 M:a4 3:j1", "F:j10 M:j7 3:a7", max_quiet_plies=4)
    play(game, "a4-a5 j7-j6 a5-a6")
    assert game.quiet == 3
    play(game, "a7-a6")
    assert (game.quiet, game.outcome) == (0, None)
    play(game, "a6-a5 j6-j5 a5-a4")
    assert (game.quiet, game.outcome) == (3, None)
    play(game, "j5-i5")
    assert game.outcome == Outcome(None, Reason.QUIET_CAP)


@pytest.mark.parametrize("caps", [{"max_plies": 5}, {"max_plies": 5, "max_quiet_plies": 5}, {"max_quiet_plies": 5}])
def test_capturing_the_flag_on_the_very_last_ply_still_wins(caps: dict[str, int]) -> None:
    game = start("F:a1 M:a4", "F:a7 M:j7", **caps)
    play(game, "a4-a5 j7-j6 a5-a6 j6-j5 a6-a7")
    assert game.outcome == RED_WINS[Reason.FLAG]


def test_leaving_the_opponent_no_move_on_the_very_last_ply_still_wins() -> None:
    game = start("F:a1 B:b1 9:a4", "F:a10 B:a7 9:j7", max_plies=5)
    play(game, "a4-a5 j7-j6 a5-a6 j6-j5 a6-a7")
    assert game.outcome == BLUE_WINS[Reason.NO_MOVE]


def test_without_caps_a_quiet_game_goes_on() -> None:
    game = start("F:a1 M:a4", "F:j10 M:j7", **CAPPED)
    play(game, "a4-a5 j7-j6 a5-a4 j6-j7 " * 600)
    assert (game.ply, game.quiet, game.outcome) == (2400, 2400, None)


# --- resigning ------------------------------------------------------------------------------------------------------


def test_a_side_that_resigns_loses() -> None:
    game = start("F:a1 M:a4", "F:a10 M:a7")
    assert game.copy().apply("resign") == (Moved(Color.RED, "resign"),)
    play(game, "a4-a5")
    assert play(game, "resign") == (Moved(Color.BLUE, "resign"),)
    assert game.outcome == RED_WINS[Reason.RESIGN]
    assert game.ply == 2
    assert game.legal_moves() == []
    assert "the game is over" in str(refusal(game, "resign"))
