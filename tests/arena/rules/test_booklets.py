"""The booklets' own sentences, each shown on a small position under the ruleset that stands for the booklet.

Every test names the sentence that it shows: the booklet, and the page or the section. The fights under each pair of
rules, the citations in the ruleset files, and what is refused (and in which words) follow.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from rule_games import army_of, play, rows_of

from arena.stratego.rules.action_types import BrokenRule, Event, IllegalActionError
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import Bombs, EqualRanks, Starts
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names
from arena.stratego.rules.tables import fight_table
from protocol.messages import Battle, Guess, Rescued, Reveal
from protocol.notation import FILES, RANK_BY_LETTER, SQUARE_INDEX, Color, Rank, Survivor


def _start(rules: str, red: str, blue: str) -> EngineGame:
    """A game under a shipped ruleset, its army cut down to what both sides have placed, and without the caps."""
    ruleset = replace(load_ruleset(rules), army=army_of(red, blue), max_plies=None, max_quiet_plies=None)
    return EngineGame(ruleset, rows_of(red, Color.RED), rows_of(blue, Color.BLUE))


MEANWHILE = ("i7-i8", "i8-j8", "j8-j7", "j7-i7")
"""Where Blue's piece on i7 walks while only Red's moves matter."""


def _red_plays(game: EngineGame, moves: str, blue: tuple[str, ...] = MEANWHILE) -> None:
    """Red's moves, while Blue walks round four squares."""
    for text in moves.split():
        game.apply(text)
        game.apply(blue[game.ply // 2 % len(blue)])


def _refused(game: EngineGame, text: str) -> IllegalActionError:
    """The error that an action meets, which must also be missing in the list of what may be played."""
    assert text not in _listed(game)
    with pytest.raises(IllegalActionError) as caught:
        game.apply(text)
    assert f"(rule: {caught.value.rule.value})" in str(caught.value)
    return caught.value


def _listed(game: EngineGame) -> set[str]:
    return {action.text for action in game.legal_moves()}


def _on(game: EngineGame, square: str) -> str:
    """`red 5`, or nothing."""
    code = game.board[SQUARE_INDEX[square]]
    return f"{Color(code // 16).word} {Rank(code % 16).letter}" if code else ""


def _over(game: EngineGame) -> tuple[str, str] | None:
    """The winner's colour (or `draw`) and the reason."""
    if not game.outcome:
        return None
    return (game.outcome.winner.word if game.outcome.winner is not None else "draw", game.outcome.reason.value)


def _tray(game: EngineGame, color: Color) -> str:
    return "".join(sorted(rank.letter * count for rank, count in game.lost[color].items()))


def _fight(events: tuple[Event, ...]) -> Battle:
    return next(event for event in events if isinstance(event, Battle))


# --- what all booklets say ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(ruleset_names()) - {"milton-bradley"}))
def test_red_always_begins_original_2000_preparation_2(name: str) -> None:
    ruleset = load_ruleset(name)
    assert ruleset.starts is Starts.RED
    assert _start(name, "F:e1 S:a4 6:b4 I:d4", "F:e10 S:a7 6:b7 I:d7").to_move is Color.RED


def test_the_players_choose_who_starts_milton_bradley_setup() -> None:
    assert load_ruleset("milton-bradley").starts is Starts.CHOSEN


@pytest.mark.parametrize("name", ["jumbo-494", "original-2000", "milton-bradley", "jumbo-81320/original"])
def test_a_piece_moves_one_square_never_diagonally_jumbo_81320_p4(name: str) -> None:
    game = _start(name, "F:e1 6:b3", "F:e10 6:b8")
    assert _listed(game) == {"b3-b4", "b3-b2", "b3-a3", "b3-c3"}
    assert _refused(game, "b3-c4").rule is BrokenRule.DIAGONAL
    assert _refused(game, "b3-b5").rule is BrokenRule.STEP


def test_the_scout_moves_over_any_number_of_empty_squares_in_a_line_jumbo_494() -> None:
    game = _start("jumbo-494", "F:a1 2:a4", "F:a10 2:b7")
    assert {f"a4-a{rank}" for rank in range(5, 11)} | {f"a4-{file}4" for file in FILES[1:]} <= _listed(game)
    assert _over(game) is None
    play(game, "a4-a10")
    assert _over(game) == ("red", "flag")


@pytest.mark.parametrize("name", ["original-2000", "vintage/original"])
def test_the_defender_that_wins_stays_and_what_falls_lies_in_view_original_2000_2_vintage_p18(name: str) -> None:
    game = _start(name, "F:a1 2:b4 5:j4", "F:e10 2:j7 5:b7")
    fought = _fight(play(game, "b4-b7"))
    assert (fought.attacker, fought.defender, fought.survivor) == (Rank.SCOUT, Rank.LIEUTENANT, Survivor.DEFENDER)
    assert (_on(game, "b7"), _on(game, "b4"), game.tables.hides_defender(fought)) == ("blue 5", "", False)
    assert (_tray(game, Color.RED), _tray(game, Color.BLUE)) == ("2", "")


def test_the_miner_takes_the_place_of_the_bomb_vintage_p19() -> None:
    game = _start("vintage/original", "F:a1 B:j1 3:b4", "F:e10 B:b7 3:j7")
    play(game, "b4-b5 j7-j8 b5-b6 j8-j9 b6-b7")
    assert (_on(game, "b7"), _tray(game, Color.BLUE)) == ("red 3", "B")


def test_the_spy_that_attacks_the_marshal_beats_it_and_not_the_other_way_round_jumbo_81320_p5() -> None:
    placed = ("F:a1 S:b4 M:j4", "F:e10 S:j7 M:b7")
    spy_first = _start("jumbo-81320/original", *placed)
    play(spy_first, "b4-b5 b7-b6 b5-b6")
    assert _on(spy_first, "b6") == "red S"
    marshal_first = _start("jumbo-81320/original", *placed)
    play(marshal_first, "b4-b5 b7-b6 j4-j5 b6-b5")
    assert _on(marshal_first, "b5") == "blue M"


# --- armies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "size"), [("vintage/barrage", 8), ("vintage/duel", 10), ("vintage/lightning", 20)])
def test_a_small_army_stands_on_any_of_the_forty_squares_vintage_p22(name: str, size: int) -> None:
    ruleset = load_ruleset(name)
    letters = [rank.letter for rank, count in ruleset.army for _ in range(count)]
    assert len(letters) == size
    ends = "".join([*letters, *"." * (40 - size)]), "".join([*"." * (40 - size), *letters])
    for placed in ends:
        rows = [placed[first : first + 10] for first in range(0, 40, 10)]
        assert sum(code > 0 for code in EngineGame(ruleset, rows, rows).board) == 2 * size


# --- back and forth between two squares -----------------------------------------------------------------------------

LIMITS = {
    "jumbo-494": 5,
    "original-2000": 5,
    "milton-bradley": None,
    "tek": None,
    "lattaque": None,
    "ucc-2012": None,
    "jumbo-81320/original": 3,
    "jumbo-09495/original": 3,
    "travel/original": 3,
    "vintage/original": 3,
    "isf": 3,
}
"""494/495, règles du jeu; 03/2000, Spielablauf 1; 81320 p. 5; 09495, Zwei-Feld-Regel; Travel, Se déplacer; Vintage
p. 17; ISF 10.1. Milton Bradley and the history name none."""

AROUND = ("j7-j8", "j8-i8", "i8-i7", "i7-j7")
"""Blue's moves meanwhile, over another border each time."""


def _to_and_fro(name: str, times: int) -> tuple[EngineGame, str]:
    """Red has gone back and forth so often between b3 and b4; and the move that would be next."""
    game = _start(name, "F:e1 6:b3 S:d1 2:e2", "F:e10 6:j7 S:d10 2:e9")
    for turn in range(times):
        game.apply("b4-b3" if turn % 2 else "b3-b4")
        game.apply(AROUND[turn % 4])
    return game, "b4-b3" if times % 2 else "b3-b4"


@pytest.mark.parametrize(("name", "limit"), [(name, limit) for name, limit in LIMITS.items() if limit])
def test_back_and_forth_has_the_limit_that_the_booklet_names(name: str, limit: int) -> None:
    game, again = _to_and_fro(name, limit - 1)
    game.apply(again)
    game, again = _to_and_fro(name, limit)
    error = _refused(game, again)
    assert error.rule is BrokenRule.TWO_SQUARES
    assert f"the captain on {again[:2]} has made {limit} moves in a row over this border" in str(error)


@pytest.mark.parametrize("name", [name for name, limit in LIMITS.items() if limit is None])
def test_where_no_limit_is_named_a_piece_goes_back_and_forth_for_ever(name: str) -> None:
    game, again = _to_and_fro(name, 30)
    assert again in _listed(game)


def test_in_the_sixth_move_the_piece_must_go_to_a_third_square_original_2000_1() -> None:
    game, again = _to_and_fro("original-2000", 5)
    of_this_piece = {text for text in _listed(game) if text.startswith("b4")}
    assert again == "b4-b3"
    assert of_this_piece == {"b4-b5", "b4-a4", "b4-c4"}


@pytest.mark.parametrize(
    "name", ["jumbo-81320/original", "jumbo-09495/original", "travel/original", "vintage/original"]
)
def test_the_one_who_began_must_stop_first_vintage_p17_09495_two_squares(name: str) -> None:
    game = _start(name, "F:e1 M:a4 9:j4", "F:e10 M:j7 9:b7")
    play(game, "a4-a5 b7-b6 a5-a6 b6-b5 a6-a5 b5-b6 a5-a6 b6-b5")
    assert _refused(game, "a6-a5").rule is BrokenRule.TWO_SQUARES
    play(game, "j4-j5")
    assert _refused(game, "b5-b6").rule is BrokenRule.TWO_SQUARES


# --- chasing --------------------------------------------------------------------------------------------------------

FREE = ["jumbo-494", "original-2000", "milton-bradley", "tek", "lattaque", "ucc-2012"]
CHASE = ["jumbo-81320/original", "jumbo-09495/original", "travel/original", "vintage/original"]
ROUND = "a4-a5 b7-b6 a5-a6 b6-b5 a6-b6 b5-a5 b6-b5 a5-a6 b5-a5 a6-b6"
"""Red's marshal chases Blue's general round four squares; a5-a6 would bring back how they stood at first."""


def _round(name: str) -> EngineGame:
    game = _start(name, "F:e1 M:a4 9:j4 S:f1", "F:e10 M:j7 9:b7 S:f10")
    play(game, ROUND)
    return game


@pytest.mark.parametrize("name", FREE)
def test_enemies_may_stand_side_by_side_as_long_as_they_like_original_2000_2(name: str) -> None:
    assert "a5-a6" in _listed(_round(name))


@pytest.mark.parametrize("name", ["isf", *CHASE])
def test_no_chase_that_gives_exactly_an_earlier_position_isf_vintage_p17_travel_81320_p10(name: str) -> None:
    error = _refused(_round(name), "a5-a6")
    assert error.rule is BrokenRule.CHASE
    assert "the marshal on a5 would threaten and bring back a position that has stood on the board" in str(error)


@pytest.mark.parametrize("name", CHASE)
def test_over_only_two_squares_the_pursuer_need_not_stop_jumbo_81320_p5(name: str) -> None:
    game = _start(name, "F:e1 M:a4 9:j4", "F:e10 M:j7 9:b7")
    play(game, "a4-a5 b7-b6 a5-a6 b6-b5 a6-a5 b5-b6")
    assert "a5-a6" in _listed(game)


@pytest.mark.parametrize(("name", "allowed"), [("isf", True), *((name, False) for name in CHASE)])
def test_a_position_from_before_the_chase_counts_too_09495_more_squares(name: str, allowed: bool) -> None:
    """A situation that was on the board before; for the ISF only those of this chase are meant."""
    game = _start(name, "F:e1 M:a4 9:j4", "F:e10 M:j7 9:b7")
    before = "a4-a5 b7-b6 a5-a6 j7-j8 a6-a5 j8-j7"
    chase = "a5-b5 b6-a6 b5-b6 a6-a5 b6-b5 a5-a6 b5-a5 a6-b6"
    play(game, f"{before} {chase}")
    assert ("a5-a6" in _listed(game)) is allowed


# --- flag and bombs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("move", ["e1-e2", "b4-b5"])
def test_moving_the_flag_or_a_bomb_loses_at_once_09495_german_text(move: str) -> None:
    game = _start("jumbo-09495/original", "F:e1 B:b4 6:j4", "F:e10 B:b7 6:j7")
    play(game, move)
    assert _over(game) == ("blue", "moved-fixed")


@pytest.mark.parametrize("name", sorted(set(LIMITS) - {"jumbo-09495/original"}))
def test_bombs_and_flag_may_never_be_moved_jumbo_81320_p5(name: str) -> None:
    game = _start(name, "F:e1 B:b4 S:j4", "F:e10 B:b7 S:j7")
    assert _refused(game, "e1-e2").rule is BrokenRule.IMMOVABLE
    assert _refused(game, "b4-b5").rule is BrokenRule.IMMOVABLE


# --- the end --------------------------------------------------------------------------------------------------------

LAST_PIECES = ("F:e1 B:f1 2:a4", "F:e10 B:a7 2:j7")
ON_TURN = ["jumbo-494", "milton-bradley", "jumbo-81320/original", "jumbo-09495/original", "travel/original"]


@pytest.mark.parametrize("name", ["original-2000", "vintage/original", "isf"])
def test_the_game_ends_when_all_movable_pieces_are_beaten_original_2000_end(name: str) -> None:
    game = _start(name, *LAST_PIECES)
    play(game, "a4-a7")
    assert _over(game) == ("blue", "no-move")


@pytest.mark.parametrize("name", ON_TURN)
def test_who_cannot_move_on_his_turn_loses_milton_bradley_end(name: str) -> None:
    game = _start(name, *LAST_PIECES)
    play(game, "a4-a7")
    assert _over(game) is None
    play(game, "j7-j6")
    assert _over(game) == ("blue", "no-move")


def test_bombs_that_block_the_last_pieces_lose_the_game_jumbo_81320_p6() -> None:
    game = _start("jumbo-81320/original", "F:a1 B:b2 B:c1 6:j4 5:i4", "F:j10 B:a9 B:b10 6:a10 5:a8")
    play(game, "j4-j5 a8-a7 j5-j6 a7-a6 j6-j7 a6-a5 i4-i5 a5-a4 i5-i6 a4-a3 i6-i7 a3-a2 i7-i8")
    assert _over(game) is None
    play(game, "a2-b2")
    assert _tray(game, Color.BLUE) == "5"
    play(game, "i8-i9")
    assert _over(game) == ("red", "no-move")


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("isf", ("draw", "both-immobile")),
        ("original-2000", ("draw", "both-immobile")),
        ("vintage/original", ("draw", "both-immobile")),
        ("jumbo-494", ("red", "no-move")),
        ("milton-bradley", ("red", "no-move")),
        ("ucc-2012", ("draw", "both-immobile")),
    ],
)
def test_when_neither_side_can_move_any_more_it_is_a_draw_isf(name: str, end: tuple[str, str]) -> None:
    """Where immobility is checked on a side's own turn, the side to move has lost."""
    game = _start(name, "F:e1 2:a4", "F:e10 2:a7")
    play(game, "a4-a7")
    assert _over(game) == end


def test_an_army_is_counted_after_every_move_ucc_2012() -> None:
    """Who has lost the last piece has lost; one that is only walled in is asked when it is its turn."""
    game = _start("ucc-2012", *LAST_PIECES)
    play(game, "a4-a7")
    assert _over(game) == ("blue", "no-attacker")
    game = _start("ucc-2012", "F:a1 S:b1 B:b2 B:c1 6:j4", "F:j10 B:a9 B:a8 S:b9 6:j7")
    play(game, "j4-j5 j7-j6 j5-j6")
    assert _over(game) is None
    play(game, "b9-b8")
    assert _over(game) == ("blue", "no-move")


def test_nothing_left_to_attack_with_ends_the_game_vintage_p17() -> None:
    placed = ("F:e1 B:f1 2:a4", "F:e10 B:a7 2:j7")
    game = _start("vintage/original+mobile-bombs", *placed)
    play(game, "a4-a7")
    assert _over(game) == ("blue", "no-attacker")
    game = _start("jumbo-81320/original+mobile-bombs", *placed)
    play(game, "a4-a7 j7-j6 f1-f2")
    assert _over(game) is None


# --- scouts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "move", "known"),
    [
        ("vintage/lightning", "a4-a6", True),
        ("vintage/lightning", "a4-a5", False),
        ("isf+lightning-captains", "a4-a6", False),
        ("isf+lightning-captains", "a4-a7", True),
        ("isf", "a4-a6", True),
        ("isf", "a4-a5", False),
    ],
)
def test_who_moves_a_scout_more_than_one_square_must_reveal_it_vintage_p19(name: str, move: str, known: bool) -> None:
    """Elsewhere the move itself tells, unless a captain might have made it."""
    game = _start(name, "F:e1 2:a4 6:j4", "F:e10 2:b7 6:j7")
    shown = [event for event in play(game, move) if isinstance(event, Reveal)]
    assert [(event.rank, event.square) for event in shown] == [(Rank.SCOUT, move[3:])] * known


# --- Vintage p. 21: attacker's advantage, bombs, flag ---------------------------------------------------------------


@pytest.mark.parametrize("letter", "S23456789MI")
def test_who_attacks_a_piece_of_the_same_rank_has_won_vintage_p21(letter: str) -> None:
    other = "6" if letter == "7" else "7"
    placed = (f"F:e1 {letter}:b4 {other}:j4", f"F:e10 {letter}:b7 {other}:j7")
    moves = "b4-b5 b7-b6 b5-b6"
    for switches, left, lost in (("+attackers-advantage", f"red {letter}", ""), ("", "", letter)):
        game = _start("vintage/original" + switches, *placed)
        play(game, moves)
        assert (_on(game, "b6"), _tray(game, Color.RED), _tray(game, Color.BLUE)) == (left, lost, letter)


@pytest.mark.parametrize("switch", ["exploding-bombs", "mobile-bombs"])
def test_another_piece_than_the_miner_leaves_the_board_with_the_bomb_vintage_p21(switch: str) -> None:
    game = _start(f"vintage/original+{switch}", "F:e1 B:f1 2:a4 6:j4", "F:e10 B:a7 2:b7 6:j7")
    fought = _fight(play(game, "a4-a7"))
    assert fought.survivor is Survivor.NEITHER
    assert (_on(game, "a7"), _tray(game, Color.RED), _tray(game, Color.BLUE)) == ("", "2", "B")


@pytest.mark.parametrize("switch", ["exploding-bombs", "mobile-bombs"])
def test_a_miner_that_attacks_an_exploding_bomb_stays_in_play_vintage_p21(switch: str) -> None:
    game = _start(f"vintage/original+{switch}", "F:e1 B:f1 3:a4", "F:e10 B:a7 3:j7")
    play(game, "a4-a5 j7-j8 a5-a6 j8-j9 a6-a7")
    assert (_on(game, "a7"), _tray(game, Color.RED), _tray(game, Color.BLUE)) == ("red 3", "", "B")


def test_bombs_may_be_moved_like_any_piece_but_not_attack_vintage_p21() -> None:
    game = _start("vintage/original+mobile-bombs", "F:e1 B:a4 6:j4", "F:e10 B:b7 6:j7")
    play(game, "a4-a5 j7-j6 a5-a6 j6-j7 j4-j5 b7-b6")
    assert _refused(game, "a6-b6").rule is BrokenRule.NO_ATTACK
    assert {"a6-a7", "a6-a5"} <= _listed(game)
    assert _refused(game, "e1-e2").rule is BrokenRule.IMMOVABLE


def test_exploding_bombs_do_not_move_vintage_p21() -> None:
    game = _start("vintage/original+exploding-bombs", "F:e1 B:a4 6:j4", "F:e10 B:b7 6:j7")
    assert _refused(game, "a4-a5").rule is BrokenRule.IMMOVABLE


def test_a_bomb_that_has_moved_still_explodes_vintage_p21() -> None:
    game = _start("vintage/original+mobile-bombs", "F:e1 B:a4 6:j4", "F:e10 B:b7 6:a7")
    play(game, "a4-a5 a7-a6 j4-j5 a6-a5")
    assert (_on(game, "a5"), _tray(game, Color.RED), _tray(game, Color.BLUE)) == ("", "B", "6")


def test_bringing_your_own_flag_to_the_last_row_wins_vintage_p21() -> None:
    game = _start("vintage/original+mobile-flag", "F:a4 6:j4", "F:e10 6:j7")
    _red_plays(game, "a4-a5 a5-a6 a6-a7 a7-a8 a8-a9", AROUND)
    assert _over(game) is None
    play(game, "a9-a10")
    assert _over(game) == ("red", "flag-home")


def test_the_mobile_flag_can_still_be_captured_and_does_not_attack_vintage_p21() -> None:
    game = _start("vintage/original+mobile-flag", "F:a4 6:j4", "F:e10 6:a7")
    play(game, "a4-a5 a7-a6")
    assert _refused(game, "a5-a6").rule is BrokenRule.NO_ATTACK
    play(game, "j4-j5 a6-a5")
    assert _over(game) == ("blue", "flag")


# --- Vintage p. 21: rescue ------------------------------------------------------------------------------------------


def _at_a9() -> EngineGame:
    """Red has lost two scouts, its colonel is on a9, and Red is to move."""
    red, blue = "F:e1 B:f4 2:i4 2:e4 8:a4 7:b4", "F:e10 B:f7 2:g9 2:h9 8:i7 7:e7"
    game = _start("vintage/original+rescue", red, blue)
    _red_plays(game, "i4-i7 e4-e7 a4-a5 a5-a6 a6-a7 a7-a8 a8-a9")
    return game


def test_a_piece_that_reaches_the_last_row_brings_a_lost_one_back_and_its_turn_is_over_vintage_p21() -> None:
    game = _at_a9()
    events = game.apply("a9-a10+2c2")
    assert Rescued(Color.RED, "c2", Rank.SCOUT) in events
    assert (_on(game, "a10"), _on(game, "c2"), _tray(game, Color.RED)) == ("red 8", "red 2", "2")
    assert game.to_move is Color.BLUE


def test_one_has_the_right_to_rescue_and_need_not_vintage_p21() -> None:
    game = _at_a9()
    game.apply("a9-a10")
    assert (_tray(game, Color.RED), game.rescued) == ("22", [0, 0])


def test_the_rescued_piece_comes_on_an_empty_square_of_the_own_four_rows_vintage_p21() -> None:
    game = _at_a9()
    squares = {text.split("+2")[1] for text in _listed(game) if "+2" in text}
    assert squares == {file + rank for file in FILES for rank in "1234"} - {"e1", "f4", "b4"}
    assert "e1 is not empty" in str(_refused(game, "a9-a10+2e1"))
    assert "a5 is not on red's own four rows" in str(_refused(game, "a9-a10+2a5"))


def test_each_player_may_rescue_only_two_pieces_vintage_p21() -> None:
    red, blue = "F:e1 2:e4 2:f4 2:i4 8:a4 8:b4 8:c4", "F:e10 2:g9 2:h9 2:h10 8:e7 8:f7 8:i7"
    game = _start("vintage/original+rescue", red, blue)
    _red_plays(game, "i4-i7 e4-e7 f4-f7 a4-a5 a5-a6 a6-a7 a7-a8 a8-a9 a9-a10+2a1")
    _red_plays(game, "b4-b5 b5-b6 b6-b7 b7-b8 b8-b9 b9-b10+2b1")
    _red_plays(game, "c4-b4 b4-b5 b5-b6 b6-b7 b7-b8 b8-b9 b9-c9")
    assert _tray(game, Color.RED) == "2"
    assert "red has already rescued 2 pieces" in str(_refused(game, "c9-c10+2c1"))
    assert "c9-c10" in _listed(game)


def test_bombs_cannot_be_rescued_vintage_p21() -> None:
    game = _start("vintage/original+rescue", "F:e1 B:i4 3:j1 8:a4", "F:e10 B:g9 3:i7 8:h9")
    play(game, "a4-a5 i7-i6 a5-a6 i6-i5 a6-a7 i5-i4 a7-a8 i4-i5 a8-a9 i5-i6")
    assert _tray(game, Color.RED) == "B"
    assert not any("+" in text for text in _listed(game))
    assert "a bomb cannot be rescued" in str(_refused(game, "a9-a10+Bc2"))
    assert "a flag cannot be rescued" in str(_refused(game, "a9-a10+Fc2"))


def test_scouts_have_no_right_to_rescue_vintage_p21() -> None:
    game = _start("vintage/original+rescue", "F:e1 2:i4 2:a4 8:b4", "F:e10 2:d9 2:e9 8:i7")
    play(game, "i4-i7 i7-i8")
    assert "a4-a10" in _listed(game)
    assert "scouts cannot rescue" in str(_refused(game, "a4-a10+2c2"))


def test_a_piece_that_has_rescued_one_cannot_rescue_another_vintage_p21() -> None:
    game = _at_a9()
    _red_plays(game, "a9-a10+2c2 a10-a9")
    assert "has already rescued a piece" in str(_refused(game, "a9-a10+2d2"))


def test_when_that_piece_has_fallen_another_may_rescue_from_where_it_stood_vintage_p21() -> None:
    game = _start("vintage/original+rescue", "F:e1 2:i4 8:a4 7:b4 9:j4", "F:e10 2:j10 8:i7 7:h9 9:b9")
    _red_plays(game, "i4-i7 a4-a5 a5-a6 a6-a7 a7-a8 a8-a9 a9-a10+2c2 a10-a9 a9-b9")
    _red_plays(game, "b4-a4 a4-a5 a5-a6 a6-a7 a7-a8 a8-a9 a9-a10+8c3")
    assert (_on(game, "c2"), _on(game, "c3"), game.rescued) == ("red 2", "red 8", [2, 0])


def test_moving_along_the_last_row_is_not_reaching_it_vintage_p21() -> None:
    game = _at_a9()
    _red_plays(game, "a9-a10")
    assert "does not arrive on the opponent's back row" in str(_refused(game, "a10-b10+2c2"))


@pytest.mark.parametrize(
    ("defender", "others", "rescued"),
    [("7", "8:i7 9:h9", True), ("8", "7:i7 9:h9", False), ("9", "7:i7 8:h9", False)],
)
def test_arriving_by_an_attack_rescues_only_if_it_is_won_vintage_p21(defender: str, others: str, rescued: bool) -> None:
    game = _start("vintage/original+rescue", "F:e1 2:i4 8:a4 7:h4 9:g4", f"F:e10 2:j10 {defender}:a10 {others}")
    _red_plays(game, "i4-i7 a4-a5 a5-a6 a6-a7 a7-a8 a8-a9")
    events = game.apply("a9-a10+2c2")
    assert any(isinstance(event, Rescued) for event in events) is rescued
    assert _on(game, "c2") == ("red 2" if rescued else "")
    assert game.rescued[Color.RED] == int(rescued)


# --- Vintage p. 21: silent defence ----------------------------------------------------------------------------------


def _silent() -> EngineGame:
    return _start("vintage/original+silent-defence", "F:e1 B:f1 2:a4 6:b4 7:j4", "F:e10 B:i7 2:j7 6:a7 7:b7")


def test_only_the_attacker_names_its_rank_vintage_p21() -> None:
    game = _silent()
    fought = _fight(play(game, "b4-b5 a7-a6 b5-b6 a6-a5 b6-b7"))
    assert (fought.attacker, fought.survivor) == (Rank.CAPTAIN, Survivor.DEFENDER)
    assert game.tables.hides_defender(fought)


def test_a_bomb_that_stays_is_not_named_either_vintage_p21() -> None:
    game = _silent()
    fought = _fight(play(game, "j4-j5 b7-b6 j5-j6 b6-b7 j6-i6 b7-b6 i6-i7"))
    assert (fought.defender, fought.survivor) == (Rank.BOMB, Survivor.DEFENDER)
    assert game.tables.hides_defender(fought)


@pytest.mark.parametrize(
    ("moves", "survivor", "lost"),
    [
        ("j4-j5 b7-b6 j5-j6 b6-b7 j6-j7", Survivor.ATTACKER, "2"),
        ("b4-b5 a7-a6 b5-a5 b7-b6 a5-a6", Survivor.NEITHER, "6"),
    ],
)
def test_the_defender_removes_a_piece_that_is_equal_or_lower_vintage_p21(
    moves: str, survivor: Survivor, lost: str
) -> None:
    """What is removed lies in the tray for both to see, so its rank is known."""
    game = _silent()
    fought = _fight(play(game, moves))
    assert (fought.survivor, game.tables.hides_defender(fought), _tray(game, Color.BLUE)) == (survivor, False, lost)


def test_against_a_scout_the_defender_must_name_its_rank_vintage_p21() -> None:
    game = _silent()
    fought = _fight(play(game, "a4-a7"))
    assert (fought.attacker, fought.survivor) == (Rank.SCOUT, Survivor.DEFENDER)
    assert not game.tables.hides_defender(fought)


# --- Vintage p. 22: captains ----------------------------------------------------------------------------------------


def _captains(rules: str = "vintage/lightning") -> EngineGame:
    """Red's captain on b5, Blue's lieutenant on b7 and miner on a6."""
    game = _start(rules, "F:e1 3:i4 5:j4 6:b4", "F:e10 3:a7 5:b7 6:j7")
    play(game, "b4-b5 a7-a6")
    return game


@pytest.mark.parametrize("rules", ["vintage/lightning", "isf+lightning-captains"])
def test_captains_move_two_squares_in_a_line_or_turn_after_the_first_vintage_p22(rules: str) -> None:
    of_the_captain = {text for text in _listed(_captains(rules)) if text.startswith("b5")}
    one = {"b5-b6", "b5-b4", "b5-a5"}
    two = {"b5-b7", "b5-b3", "b5-b6-a6", "b5-b4-a4", "b5-b4-c4", "b5-a5-a6", "b5-a5-a4"}
    assert of_the_captain == one | two


def test_captains_move_and_attack_in_one_turn_vintage_p22() -> None:
    game = _captains()
    fought = _fight(play(game, "b5-b7"))
    assert (fought.attacker, fought.defender, _on(game, "b7")) == (Rank.CAPTAIN, Rank.LIEUTENANT, "red 6")
    game = _captains()
    play(game, "b5-b6-a6")
    assert (_on(game, "a6"), _tray(game, Color.BLUE)) == ("red 6", "3")


def test_a_captain_attacks_only_once_a_turn_vintage_p22() -> None:
    """It cannot go on from the square of a fight."""
    game = _captains()
    play(game, "i4-i5 b7-b6")
    error = _refused(game, "b5-b6-a6")
    assert (error.rule, "the piece on b6 is in the way" in str(error)) == (BrokenRule.BLOCKED, True)


def test_only_captains_turn_and_only_in_the_lightning_battle_vintage_p22() -> None:
    assert _refused(_captains(), "j4-j3-i3").rule is BrokenRule.CAPTAIN
    assert _refused(_captains("vintage/original"), "b5-b4-a4").rule is BrokenRule.CAPTAIN
    assert _refused(_captains("vintage/original"), "b5-b3").rule is BrokenRule.STEP


# --- 81320 p. 6: the infiltrator ------------------------------------------------------------------------------------

INFILTRATOR = "jumbo-81320/infiltrator"


def _on_enemy_territory(flag: str = "e10", captain: str = "a9") -> EngineGame:
    """Red's infiltrator on a7, a bomb on c7, Red to move."""
    game = _start(INFILTRATOR, "F:e1 B:f1 5:j4 6:i4 I:a4", f"F:{flag} B:c7 5:j7 6:{captain} I:g9")
    _red_plays(game, "a4-a5 a5-a6 a6-a7", AROUND)
    return game


def test_who_guesses_right_removes_the_piece_and_stays_jumbo_81320_p6() -> None:
    game = _on_enemy_territory()
    events = game.apply("a7?a96")
    assert Guess("a9", Rank.CAPTAIN, True) in events
    assert (_on(game, "a7"), _on(game, "a9"), _tray(game, Color.BLUE)) == ("red I", "", "6")


def test_who_guesses_wrong_removes_nothing_and_stays_jumbo_81320_p6() -> None:
    game = _on_enemy_territory()
    events = game.apply("a7?a95")
    assert Guess("a9", Rank.LIEUTENANT, False) in events
    assert (_on(game, "a7"), _on(game, "a9"), _tray(game, Color.BLUE)) == ("red I", "blue 6", "")


@pytest.mark.parametrize("guess", ["a7?a96", "a7?a95"])
def test_your_opponent_now_knows_where_the_infiltrator_is_jumbo_81320_p6(guess: str) -> None:
    assert Reveal("a7", Rank.INFILTRATOR) in _on_enemy_territory().apply(guess)


def test_from_one_or_two_spaces_away_jumbo_81320_p6() -> None:
    ranks = "FB56I"
    assert {text for text in _listed(_on_enemy_territory()) if "?" in text} == {
        *(f"a7?a9{letter}" for letter in ranks),
        *(f"a7?c7{letter}" for letter in ranks),
    }
    beside = _on_enemy_territory(captain="a8")
    assert "a7?a86" in _listed(beside)
    too_far = _on_enemy_territory(captain="a10")
    assert "not one or two squares from a7" in str(_refused(too_far, "a7?a106"))


def test_an_infiltrator_only_infiltrates_on_enemy_territory_jumbo_81320_p6() -> None:
    game = _start(INFILTRATOR, "F:e1 5:j4 I:a4", "F:e10 5:j7 I:a7")
    play(game, "a4-a5 j7-j8")
    assert "not on the opponent's four rows" in str(_refused(game, "a5?a7I"))
    play(game, "a5-a6 j8-j9")
    assert "not on the opponent's four rows" in str(_refused(game, "a6?a7I"))


def test_the_infiltrator_can_infiltrate_bombs_jumbo_81320_p6() -> None:
    game = _on_enemy_territory()
    game.apply("a7?c7B")
    assert (_on(game, "c7"), _tray(game, Color.BLUE), _over(game)) == ("", "B", None)


def test_the_infiltrator_can_infiltrate_the_flag_jumbo_81320_p6() -> None:
    game = _on_enemy_territory(flag="a9", captain="h9")
    game.apply("a7?a9F")
    assert _over(game) == ("red", "flag")


def test_it_can_attack_in_the_conventional_way_with_rank_1_jumbo_81320_p6() -> None:
    game = _on_enemy_territory(captain="a8")
    fought = _fight(game.apply("a7-a8"))
    assert (fought.attacker, fought.survivor) == (Rank.INFILTRATOR, Survivor.DEFENDER)


def test_any_piece_that_attacks_it_wins_jumbo_81320_p6() -> None:
    game = _on_enemy_territory(captain="a8")
    play(game, "j4-j5 a8-a7")
    assert (_on(game, "a7"), _tray(game, Color.RED)) == ("blue 6", "I")


# --- the history of Stratego: Tek and L'Attaque ---------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["tek", "isf+diagonal-spy"])
def test_the_spy_may_attack_diagonally_horn_tek(rules: str) -> None:
    game = _start(rules, "F:e1 S:a4 M:j4", "F:e10 S:j7 M:b7")
    play(game, "a4-a5 b7-b6")
    assert _refused(game, "a5-b4").rule is BrokenRule.DIAGONAL
    play(game, "a5-b6")
    assert (_on(game, "b6"), _tray(game, Color.BLUE)) == ("red S", "M")


def test_no_other_piece_attacks_diagonally_horn_tek() -> None:
    game = _start("tek", "F:e1 S:j4 M:a4", "F:e10 S:b7 M:j7")
    play(game, "a4-a5 b7-b6")
    assert _refused(game, "a5-b6").rule is BrokenRule.DIAGONAL


@pytest.mark.parametrize("rules", ["lattaque", "isf+facing-attacks"])
def test_pieces_attack_ahead_and_behind_and_never_sideways_horn_lattaque(rules: str) -> None:
    placed = ("F:e1 S:d1 7:a4 6:j4", "F:e10 S:d10 7:j7 6:b7")
    game = _start(rules, *placed)
    play(game, "a4-a5 b7-b6 a5-a6")
    assert _refused(game, "b6-a6").rule is BrokenRule.FACING
    play(game, "b6-b5 j4-j5 b5-a5")
    assert "a6-a5" in _listed(game)
    game = _start("tek", *placed)
    play(game, "a4-a5 b7-b6 a5-a6")
    assert "b6-a6" in _listed(game)


# --- every fight ----------------------------------------------------------------------------------------------------

DEFENDERS = "FBSI23456789M"
FIGHTS = {
    "S": "><==<<<<<<<<>",
    "I": "><==<<<<<<<<<",
    "2": "><>>=<<<<<<<<",
    "3": ">>>>>=<<<<<<<",
    "4": "><>>>>=<<<<<<",
    "5": "><>>>>>=<<<<<",
    "6": "><>>>>>>=<<<<",
    "7": "><>>>>>>>=<<<",
    "8": "><>>>>>>>>=<<",
    "9": "><>>>>>>>>>=<",
    "M": "><>>>>>>>>>>=",
}
"""Per attacker, who is left against each defender: it (>), the defender (<), neither (=). All booklets agree."""
LEFT = {">": Survivor.ATTACKER, "<": Survivor.DEFENDER, "=": Survivor.NEITHER}


def _fights(equal_ranks: EqualRanks, bombs: Bombs) -> Iterator[tuple[str, str, str]]:
    """Attacker, defender and who is left under two rules, the plain table changed as Vintage p. 21 says."""
    for attacker, row in FIGHTS.items():
        for defender, left in zip(DEFENDERS, row, strict=True):
            if defender == "B" and left == "<" and bombs is not Bombs.FIXED:
                yield attacker, defender, "="
            elif left == "=" and equal_ranks is EqualRanks.ATTACKER:
                yield attacker, defender, ">"
            else:
                yield attacker, defender, left


@pytest.mark.parametrize("bombs", list(Bombs))
@pytest.mark.parametrize("equal_ranks", list(EqualRanks))
def test_every_fight_ends_as_the_table_says(equal_ranks: EqualRanks, bombs: Bombs) -> None:
    table = fight_table(equal_ranks, bombs)
    for attacker, defender, left in _fights(equal_ranks, bombs):
        assert table[RANK_BY_LETTER[attacker]][RANK_BY_LETTER[defender]] is LEFT[left], (attacker, defender)
    assert {rank.letter for rank in table} == set(FIGHTS)


# --- refused actions ------------------------------------------------------------------------------------------------


def test_a_rescue_of_a_piece_that_was_never_lost_is_refused() -> None:
    error = _refused(_at_a9(), "a9-a10+7c2")
    assert error.rule is BrokenRule.RESCUE
    assert "red has lost no major" in str(error)


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("a7?f1B", BrokenRule.INFILTRATION, "the piece on f1 is red's own"),
        ("a7?a8B", BrokenRule.INFILTRATION, "there is no piece on a8"),
        ("a7?e10F", BrokenRule.INFILTRATION, "e10 is not one or two squares from a7 in a straight line"),
        ("a7?a9M", BrokenRule.INFILTRATION, "has no marshal"),
        ("j4?j76", BrokenRule.INFILTRATION, "the lieutenant on j4 is no infiltrator"),
        ("a6?a96", BrokenRule.OWN_PIECE, "red has no piece on a6"),
        ("g9?g105", BrokenRule.OWN_PIECE, "red has no piece on g9"),
    ],
)
def test_a_guess_that_cannot_be_made_is_refused_with_why(text: str, rule: BrokenRule, words: str) -> None:
    error = _refused(_on_enemy_territory(), text)
    assert error.rule is rule
    assert str(error).startswith(f"{text}: ")
    assert words in str(error)


def test_a_guess_over_a_piece_between_is_refused() -> None:
    game = _start(INFILTRATOR, "F:e1 5:j4 6:i4 I:a4", "F:e10 5:j7 6:a8 I:a9")
    _red_plays(game, "a4-a5 a5-a6 a6-a7", AROUND)
    error = _refused(game, "a7?a9I")
    assert error.rule is BrokenRule.INFILTRATION
    assert "a8, between a7 and a9, is not empty" in str(error)
