"""The chase rule of the International Stratego Federation: a chaser may not bring a position of its chase back.

test_reference.py compares the engine with a program that keeps every board of the game.
"""

from rule_games import play, refusal, start

from arena.stratego.rules.action_types import BrokenRule
from arena.stratego.rules.engine import EngineGame
from protocol.messages import Battle

# Round the western lake, from b6 on.
RING = ["b6", "b7", "c7", "d7", "e7", "e6", "e5", "e4", "d4", "c4", "b4", "b5"]


def _round_the_lake(**rules: object) -> EngineGame:
    """Red's marshal has chased Blue's general once round the lake; it stands on b5, the general again on b7, and
    b5-b6 would bring back the position in which the chase began."""
    game = start("F:j1 M:b4 9:i1", "F:j10 9:b7 M:i10", **rules)
    play(game, "b4-b5 i10-i9 b5-b6")
    for step in range(1, 12):
        play(game, f"{RING[step]}-{RING[(step + 1) % 12]} {RING[step - 1]}-{RING[step]}")
    play(game, "b6-b7")
    return game


def test_a_chase_once_round_the_lake_may_not_begin_again() -> None:
    game = _round_the_lake()
    error = refusal(game, "b5-b6")
    assert error.rule is BrokenRule.CHASE
    assert "the marshal on b5 would threaten and bring back a position" in str(error)


def test_the_chaser_may_do_anything_else() -> None:
    """Stepping beside no enemy, stepping back, moving another piece."""
    texts = {move.text for move in _round_the_lake().legal_moves()}
    assert texts == {"b5-b4", "b5-a5", "i1-h1", "i1-i2"}


def test_a_chase_in_which_another_piece_has_moved_meanwhile_brings_nothing_back() -> None:
    """The position is another one when anything on the board stands elsewhere."""
    game = _round_the_lake()
    play(game, "i1-i2 i9-i8")
    play(game, "b5-b6")


def test_the_evading_side_may_bring_positions_back() -> None:
    game = start("F:j1 M:a4 9:i1", "F:j10 9:a7 M:i10", two_squares=None)
    play(game, "i1-i2 a7-a6 a4-a5 a6-b6")
    board = game.board[:]
    play(game, "a5-b5 b6-a6 b5-a5 a6-b6")
    assert game.board == board


def test_without_a_two_squares_rule_steps_straight_back_are_allowed_for_ever() -> None:
    game = start("F:j1 M:a4 9:i1", "F:j10 9:a7 M:i10", two_squares=None)
    play(game, "i1-i2 a7-a6 a4-a5" + " a6-b6 a5-b5 b6-a6 b5-a5" * 6)


# Red's scout goes from a6 by a5 and a4 back to a6, beside the bomb on a7, while Blue's marshal goes from b5 to b4 and
# back. What decides is whether the position at the beginning, scout on a6 and marshal on b5, belongs to the chase.
SCOUT = "F:j1 B:i1 2:a4 3:{miner} M:j2"
MARSHAL = "F:j10 B:a7 2:j9 3:i10 M:b7"
LOOP = "a6-a5 b5-b4 a5-a4 b4-b5"


def test_a_position_that_came_about_by_an_evasion_belongs_to_the_chase() -> None:
    game = start(SCOUT.format(miner="h1"), MARSHAL)
    assert not isinstance(play(game, "h1-h2 b7-b6 a4-a6 b6-b5")[-1], Battle)
    play(game, LOOP)
    assert refusal(game, "a4-a6").rule is BrokenRule.CHASE


def test_an_attack_ends_a_chase() -> None:
    """The marshal evades to b5 by an attack: what stood on the board up to then is no longer held against the scout."""
    game = start(SCOUT.format(miner="b4"), MARSHAL)
    assert isinstance(play(game, "b4-b5 b7-b6 a4-a6 b6-b5")[-1], Battle)
    play(game, LOOP)
    play(game, "a4-a6")


def test_an_attack_may_begin_a_chase() -> None:
    """The marshal takes the miner on a7, beside the general, and pursues it: it may not come back to that position."""
    game = start("F:j1 M:a4 9:i1 3:i2", "F:j10 9:b7 M:i10 3:a7")
    attack = play(game, "a4-a5 i10-i9 a5-a6 i9-i10 a6-a7")
    assert isinstance(attack[-1], Battle)
    play(game, "b7-b6 a7-a6 b6-b5 a6-a5 b5-b6 a5-a6 b6-b7")
    assert refusal(game, "a6-a7").rule is BrokenRule.CHASE


def test_stepping_where_another_piece_has_just_come_from_is_no_step_back() -> None:
    """Two marshals change places while they chase a general and a scout, so that the board is the same in the end."""
    game = start("F:j1 M:a4 M:b4 2:i1 9:i2", "F:j10 9:a7 M:i10 M:h10 2:j7")
    play(game, "b4-b5 j7-j4 b5-b6 i10-i9 a4-a5 j4-b4 a5-a6")
    board = game.board[:]
    play(game, "a7-b7 b6-b5 b4-a4 b5-a5 a4-b4 a6-b6 b7-a7")
    assert refusal(game, "a5-a6").rule is BrokenRule.CHASE
    game.play(game.parse("a5-a6"))
    assert game.board == board


def test_a_threat_that_is_not_evaded_ends_a_chase() -> None:
    """Blue moves another piece: the position in which it did may come back."""
    game = start(SCOUT.format(miner="h1"), MARSHAL)
    play(game, "h1-h2 b7-b6 j2-j3 b6-b5 a4-a6 j9-j8")
    play(game, LOOP)
    play(game, "a4-a6")


def test_a_move_beside_no_enemy_ends_a_chase() -> None:
    """The marshal goes up and down as above, but on the way it has once stepped to where it threatens nothing."""
    game = start("F:j1 M:a4 9:i1", "F:j10 9:b7 M:i10", two_squares=None)
    play(game, "a4-a5 i10-i9 a5-a6 i9-i10 a6-a7 b7-b6 a7-a6 b6-b5 a6-a7 b5-b6")
    play(game, "a7-a6 b6-b5 a6-a5 b5-b6 a5-a6 b6-b7 a6-a7")
    assert game.ply == 17
