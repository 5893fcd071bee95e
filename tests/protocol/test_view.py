"""The view of one seat: what it makes of the messages, and that it never has a piece or a rank wrong."""

import re
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from every_ruleset import EVERY_RULESET
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import any_rules, lively, random_rows
from small_arena import SmallArena
from viewed_games import random_table

from arena.search import Knowledge
from arena.stratego.rules.board import MOVES
from arena.stratego.rules.ruleset import Bombs, EqualRanks, Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.rules.tables import fight
from protocol.messages import Battle, Clock, Enemy, Guess, Legal, Moved, Rescued, Reveal, Rule, Seed, Turn
from protocol.notation import HOME_SQUARES, SQUARE_PATTERN, SQUARES, Color, Rank, Survivor
from protocol.view import Piece, View, stayers

RED, BLUE = Color.RED, Color.BLUE
ROWS = ("F.........", "..........", "..........", "2S3......M")


@pytest.fixture
def view() -> View:
    """Red's, with a scout on a4, a spy on b4, a miner on c4 and the marshal on j4; Blue is on a7, b7 and j7."""
    view = View(RED, "test")
    view.apply(Rule("army", "F:1 S:1 2:1 3:1 M:1"))
    view.place_own(ROWS)
    view.apply(Enemy(("a7", "b7", "j7", "a8", "b8")))
    return view


def look(view: View, square: str) -> str:
    piece = view.at(square)
    return piece.cell if piece else ".."


def play(view: View, *messages: Moved | Battle | Reveal | Rescued | Guess) -> None:
    for message in messages:
        view.apply(message)


# --- one thing at a time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("color", Color)
def test_a_set_up_is_read_from_the_own_back_row_files_a_to_j(color: Color) -> None:
    view = View(color, "test")
    view.place_own(("FB........", "..........", "..........", "2........M"))
    placed = {SQUARES[square]: piece.rank for square, piece in view.pieces(color)}
    back, front = ("1", "4") if color is RED else ("10", "7")
    assert placed == {f"a{back}": Rank.FLAG, f"b{back}": Rank.BOMB, f"a{front}": Rank.SCOUT, f"j{front}": Rank.MARSHAL}
    assert not view.pieces(color.opponent)


def test_a_full_set_up_means_a_full_enemy() -> None:
    view = View(BLUE, "isf")
    view.place_own(("FB22223333", "3BB2222444", "456BBB5566", "778899M456"))
    assert [square for square, _ in view.pieces(RED)] == sorted(HOME_SQUARES[RED])
    assert all(piece.rank is None and not piece.moved for _, piece in view.pieces(RED))


@pytest.mark.parametrize("square", ["k5", "a11", "A1", 7])
def test_what_is_no_square_is_an_error_that_says_what_came(view: View, square: str) -> None:
    with pytest.raises(KeyError, match=f"expected a square from a1 to j10, got {square!r}"):
        view.at(square)


@pytest.mark.parametrize("color", ["red", 0, None])
def test_what_is_no_color_has_no_pieces_and_is_an_error(view: View, color: Color) -> None:
    with pytest.raises(TypeError, match=f"expected a Color, such as view.color or view.enemy, got {color!r}"):
        view.pieces(color)


def test_a_fight_that_nobody_began_changes_nothing(view: View) -> None:
    play(view, Moved(RED, "a4-a7"), Battle("a7", Rank.SCOUT, Rank.MINER, Survivor.DEFENDER))
    play(view, Moved(RED, "b4-a4"))
    before = view.cells()
    play(view, Battle("a7", Rank.SPY, Rank.MINER, Survivor.ATTACKER))
    assert view.cells() == before


def test_what_is_said_beside_the_board_is_kept(view: View) -> None:
    clock = Clock(5000, 1000, 60000, 100)
    view.apply(Rule("chase", "isf"))
    view.apply(clock)
    view.apply(Seed(42))
    assert (view.seed, view.random.random()) == (42, Random(42).random())
    view.apply(Legal(("a4-a5",)))
    view.apply(Turn(7, 1000, 900, 5000, 900))
    assert view.rules == {"army": "F:1 S:1 2:1 3:1 M:1", "chase": "isf"}
    assert view.clock is clock
    assert view.legal == ("a4-a5",)
    assert (view.ply, view.own_ms, view.enemy_ms, view.own_bank_ms, view.enemy_bank_ms) == (7, 1000, 900, 5000, 900)
    view.apply(Turn(9, 1000, 900))
    assert (view.own_bank_ms, view.enemy_bank_ms) == (None, None)


def test_the_lists_of_several_legal_lines_are_one_until_the_turn(view: View) -> None:
    view.apply(Legal(("a4-a5", "b4-b5")))
    view.apply(Legal(("c4-c3",)))
    view.apply(Turn(1, 1000, 1000))
    assert list(view.legal) == ["a4-a5", "b4-b5", "c4-c3"]
    play(view, Moved(RED, "a4-a5"), Moved(BLUE, "j7-j6"))
    view.apply(Legal(("b4-b5",)))
    view.apply(Turn(3, 1000, 1000))
    assert list(view.legal) == ["b4-b5"]


def test_a_turns_dice_follow_from_the_seed_and_the_ply_alone(view: View) -> None:
    """Or a game that was interrupted could not go on as it would have."""
    view.apply(Seed(42))
    view.random.random()
    view.apply(Turn(9, 1, 1))
    drawn = view.random.random()
    view.apply(Turn(11, 1, 1))
    assert view.random.random() != drawn
    again = View(BLUE, "duel")
    again.apply(Seed(42))
    again.apply(Turn(9, 1, 1))
    assert again.random.random() == drawn


# --- what a piece can be ------------------------------------------------------------------------------------------

EVERYTHING = "F:1 B:1 S:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 M:1 I:1"
MOBILE = frozenset(Rank) - {Rank.FLAG, Rank.BOMB}


def facing_one_of_each(**rules: str) -> View:
    """Red's view of an enemy with one piece of each rank, on a7 to j7 and a8 to c8; its own pieces stand on row 4."""
    view = View(RED, "test")
    for name, value in {"army": EVERYTHING, **rules}.items():
        view.apply(Rule(name.replace("_", "-"), value))
    view.place_own(("FBM.......", "..........", "..........", "S23456789I"))
    view.apply(Enemy(("a7", "b7", "c7", "d7", "e7", "f7", "g7", "h7", "i7", "j7", "a8", "b8", "c8")))
    return view


def can_be(view: View, square: str) -> frozenset[Rank]:
    piece = view.at(square)
    assert piece is not None
    return view.possible_ranks(piece)


@pytest.mark.parametrize("following", [Moved(RED, "b4-b5"), Legal(("b4-b5",)), Turn(2, 1, 1)], ids=repr)
def test_a_piece_that_runs_two_squares_and_is_not_announced_as_a_scout_is_a_captain(
    following: Moved | Legal | Turn,
) -> None:
    view = facing_one_of_each(captains="two-steps", scouts="announced")
    view.apply(Moved(BLUE, "a7-a5"))
    assert can_be(view, "a5") == {Rank.SCOUT, Rank.CAPTAIN}
    view.apply(following)
    assert can_be(view, "a5") == {Rank.CAPTAIN}
    assert look(view, "a5") == "b6"
    view.apply(Moved(BLUE, "b7-b6"))
    view.apply(Turn(4, 1, 1))
    assert can_be(view, "b6") == MOBILE - {Rank.CAPTAIN}


def test_a_scout_that_is_named_after_a_run_is_never_taken_for_a_captain() -> None:
    view = facing_one_of_each(captains="two-steps", scouts="announced")
    play(view, Moved(BLUE, "a7-a5"), Reveal("a5", Rank.SCOUT), Moved(RED, "b4-b5"))
    assert can_be(view, "a5") == {Rank.SCOUT}
    play(view, Moved(BLUE, "b7-b5"), Battle("b5", Rank.SCOUT, Rank.SCOUT, Survivor.NEITHER), Moved(RED, "c4-c3"))
    assert (look(view, "b5"), look(view, "b7")) == ("..", "..")


def test_a_piece_that_brings_another_back_is_neither_a_scout_nor_the_flag() -> None:
    view = facing_one_of_each(rescues="2", bombs="mobile", flag="mobile")
    view.board[SQUARES.index("j2")] = Piece(BLUE, None)
    play(view, Moved(BLUE, "j2-j1+2j8"))
    assert can_be(view, "j1") == frozenset(Rank) - {Rank.SCOUT, Rank.FLAG}


def test_a_wrong_guess_excludes_and_a_right_one_removes() -> None:
    view = facing_one_of_each(infiltration="yes")
    play(view, Moved(RED, "j6?j7M"), Guess("j7", Rank.MARSHAL, False))
    assert can_be(view, "j7") == frozenset(Rank) - {Rank.MARSHAL}
    assert look(view, "j7") == "b?"
    play(view, Moved(RED, "j6?j7B"), Guess("j7", Rank.BOMB, True))
    assert look(view, "j7") == ".."
    assert view.captured == ([], [Rank.BOMB])
    assert can_be(view, "a7") == frozenset(Rank) - {Rank.BOMB}


# --- whole games --------------------------------------------------------------------------------------------------

SQUARE = re.compile(SQUARE_PATTERN)


@pytest.mark.parametrize("bombs", Bombs)
@pytest.mark.parametrize("equal_ranks", EqualRanks)
def test_what_stays_in_silence_is_what_stays_against_that_attacker(equal_ranks: EqualRanks, bombs: Bombs) -> None:
    for attacker in set(Rank) - {Rank.FLAG, Rank.BOMB}:
        staying = {rank for rank in Rank if fight(attacker, rank, equal_ranks, bombs) is Survivor.DEFENDER}
        assert stayers(attacker, bombs is Bombs.FIXED) == staying


@pytest.mark.parametrize("name", EVERY_RULESET)
def test_a_piece_can_be_what_follows_from_what_was_told_of_it(name: str) -> None:
    """`arena.search` concludes it by itself, and is held against all set-ups from which the same would be told."""
    table, rng, readers = random_table(load_ruleset(name), 3), Random(3), dict[Color, Knowledge]()
    while table.game.outcome is None and table.game.ply < 150:
        view = table.view
        if view.color not in readers:
            readers[view.color] = Knowledge(view)
        reader = readers[view.color]
        reader.update()
        for square, piece in reader.pieces.items():
            seen = view.board[square]
            assert seen
            assert (seen.rank is not None) is (len(piece.ranks) == 1)
            left = frozenset(Rank) if seen.rank else frozenset(view.hidden_ranks())
            unsure = {Rank.FLAG} if view.rules["flag"] == "mobile" else set[Rank]()  # which has a lot of conditions
            assert view.possible_ranks(seen) - unsure == piece.ranks & left - unsure
        table.play(lively(table.game, rng).text)


@settings(max_examples=15, deadline=None)
@given(ruleset=any_rules, seed=st.integers(0, 2**32))
def test_through_whole_games_the_view_has_every_piece_in_its_place_and_no_rank_wrong(
    *, ruleset: Ruleset, seed: int
) -> None:
    play_through(SmallArena(ruleset), seed)


@pytest.mark.parametrize("name", EVERY_RULESET)
def test_the_same_holds_under_every_ruleset_and_every_switch(name: str) -> None:
    play_through(SmallArena(name), 3)


def test_these_games_have_in_them_all_that_a_view_can_be_told() -> None:
    """So that the property does not hold for want of cases: also pieces that have narrowed themselves down."""
    name = "jumbo-81320/infiltrator+rescue+silent-defence+lightning-captains"
    small = replace(load_ruleset(name), army=(*load_ruleset("vintage/lightning").army, (Rank.INFILTRATOR, 4)))
    met: Counter[str] = Counter()
    for seed in range(12):
        met += play_through(SmallArena(small), seed)
    assert set(met) >= {"Moved", "Battle", "Reveal", "Rescued", "Guess", "hidden defender", "turn", "narrowed"}


def play_through(table: SmallArena, seed: int) -> Counter[str]:
    """A game in which both views are compared with the truth; returns what was said and seen in it."""
    rng = Random(seed)
    views = {color: View(color, table.ruleset.name) for color in Color}
    for color, view in views.items():
        for message in table.opening(color, seed):
            view.apply(message)
        rows = random_rows(table.ruleset, rng)
        view.place_own(rows)
        table.set_up(color, rows)
    for color, view in views.items():
        for message in table.enemy(color):
            view.apply(message)
    start = set(table.truth())
    touched: set[str] = set()
    met: Counter[str] = Counter()
    while table.game.outcome is None and table.game.ply < 200:
        action = lively(table.game, rng).text
        said = table.play(action)
        for color, view in views.items():
            for message in said[color]:
                view.apply(message)
                met[type(message).__name__] += 1
                met["hidden defender"] += isinstance(message, Battle) and message.defender is None
        met["turn"] += "-" in action and action.partition("+")[0] not in MOVES and action.count("-") == 2
        touched.update(SQUARE.findall(action))
        if len(said[RED]) > 1 or table.game.ply < 10 or table.game.ply % 10 == 0:
            for view in views.values():
                compare(table, view, start - touched)
                met["narrowed"] += any(piece.could_be and piece.rank is None for piece in view.board if piece)
    return +met


def compare(table: SmallArena, view: View, untouched: set[str]) -> None:
    truth = table.truth()
    seen = {SQUARES[square]: piece for color in Color for square, piece in view.pieces(color)}
    assert {square: piece.color for square, piece in seen.items()} == {
        square: who for square, (who, _) in truth.items()
    }
    for square, piece in seen.items():
        assert piece.rank in {truth[square][1], None}
        assert piece.rank is not None or piece.color is view.enemy
        assert not (piece.moved and square in untouched)
        assert piece.moved or SQUARES.index(square) in HOME_SQUARES[piece.color]
        assert truth[square][1] in view.possible_ranks(piece)
    known = Counter(piece.rank for _, piece in view.pieces(view.enemy) if piece.rank)
    hidden = Counter(rank for who, rank in truth.values() if who is view.enemy) - known
    assert view.hidden_ranks() == dict(hidden)
    for color in Color:
        left = Counter(rank for who, rank in truth.values() if who is color)
        assert left + Counter(view.captured[color]) == Counter(dict(table.ruleset.army))
        assert Counter(view.captured[color]) == +table.game.lost[color]
