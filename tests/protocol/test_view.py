"""The view of one seat: what it makes of the messages, and that it never has a piece or a rank wrong."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.rules.ruleset import Ruleset, ruleset_names
from protocol.messages import Battle, Clock, Enemy, Game, Legal, Moved, Reveal, Rule, Seed, Turn
from protocol.notation import HOME_SQUARES, LAKES, SQUARES, Color, Rank, Survivor
from protocol.view import Piece, View, new_view, read_army, square_name

if TYPE_CHECKING:
    from tests.protocol.conftest import SmallArena

RED, BLUE = Color.RED, Color.BLUE
ROWS = ("F.........", "..........", "..........", "2S3......M")


@pytest.fixture
def view() -> View:
    """Red's, with a scout on a4, a spy on b4, a miner on c4 and the marshal on j4; Blue is on a7, b7 and j7."""
    view = new_view(Game(RED, "test"))
    view.apply(Rule("army", "F:1 S:1 2:1 3:1 M:1"))
    view.place_own(ROWS)
    view.apply(Enemy(("a7", "b7", "j7", "a8", "b8")))
    return view


def look(view: View, square: str) -> str:
    piece = view.at(square)
    return piece.cell if piece else ".."


def play(view: View, *messages: Moved | Battle | Reveal) -> None:
    for message in messages:
        view.apply(message)


# --- one thing at a time ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("color", Color)
def test_a_set_up_is_read_from_the_own_back_row_files_a_to_j(color: Color) -> None:
    view = new_view(Game(color, "test"))
    view.place_own(("FB........", "..........", "..........", "2........M"))
    placed = {SQUARES[square]: piece.rank for square, piece in view.pieces(color)}
    back, front = ("1", "4") if color is RED else ("10", "7")
    assert placed == {f"a{back}": Rank.FLAG, f"b{back}": Rank.BOMB, f"a{front}": Rank.SCOUT, f"j{front}": Rank.MARSHAL}
    assert not view.pieces(color.opponent)


def test_a_full_set_up_means_a_full_enemy() -> None:
    view = new_view(Game(BLUE, "isf"))
    view.place_own(("FB22223333", "3BB2222444", "456BBB5566", "778899M456"))
    assert [square for square, _ in view.pieces(RED)] == sorted(HOME_SQUARES[RED])
    assert all(piece.rank is None and not piece.moved for _, piece in view.pieces(RED))


def test_the_enemy_line_puts_unknown_pieces_on_the_board(view: View) -> None:
    assert [square_name(square) for square, _ in view.pieces(BLUE)] == ["a7", "b7", "j7", "a8", "b8"]
    assert {piece.cell for _, piece in view.pieces(BLUE)} == {"b?"}


def test_a_piece_moves_and_is_marked_as_moved(view: View) -> None:
    play(view, Moved(RED, "j4-j5"), Moved(BLUE, "a7-a6"))
    assert (look(view, "j4"), look(view, "j5")) == ("..", "rM")
    assert (look(view, "a7"), look(view, "a6"), look(view, "b7")) == ("..", "b!", "b?")
    marshal = view.at("j5")
    assert marshal is not None
    assert marshal.moved
    assert view.actions == [(RED, "j4-j5"), (BLUE, "a7-a6")]


def test_a_path_of_more_than_one_step_ends_on_its_last_square(view: View) -> None:
    play(view, Moved(RED, "b4-b5-a5"))
    assert (look(view, "b4"), look(view, "b5"), look(view, "a5")) == ("..", "..", "rS")


def test_a_winning_attacker_takes_the_square_and_the_defender_is_captured(view: View) -> None:
    play(view, Moved(BLUE, "a7-a4"), Battle("a4", Rank.MARSHAL, Rank.SCOUT, Survivor.ATTACKER))
    assert (look(view, "a7"), look(view, "a4")) == ("..", "bM")
    assert view.captured == ([Rank.SCOUT], [])


def test_a_winning_defender_stays_and_the_attacker_is_captured(view: View) -> None:
    play(view, Moved(RED, "a4-a7"), Battle("a7", Rank.SCOUT, Rank.MINER, Survivor.DEFENDER))
    assert (look(view, "a4"), look(view, "a7")) == ("..", "b3")
    assert view.captured == ([Rank.SCOUT], [])
    miner = view.at("a7")
    assert miner is not None
    assert not miner.moved


def test_equal_pieces_both_leave(view: View) -> None:
    play(view, Moved(BLUE, "a7-a4"), Battle("a4", Rank.SCOUT, Rank.SCOUT, Survivor.NEITHER))
    assert (look(view, "a7"), look(view, "a4")) == ("..", "..")
    assert view.captured == ([Rank.SCOUT], [Rank.SCOUT])


def test_a_hidden_defender_stays_unknown(view: View) -> None:
    play(view, Moved(RED, "a4-a7"), Battle("a7", Rank.SCOUT, None, Survivor.DEFENDER))
    assert (look(view, "a4"), look(view, "a7")) == ("..", "b?")
    assert view.captured == ([Rank.SCOUT], [])


def test_a_rank_once_seen_is_remembered_wherever_the_piece_goes(view: View) -> None:
    play(view, Moved(BLUE, "j7-j5"), Reveal("j5", Rank.SCOUT))
    assert look(view, "j5") == "b2"
    play(view, Moved(BLUE, "j5-i5"), Moved(BLUE, "i5-i6"))
    assert look(view, "i6") == "b2"


def test_a_fight_is_not_mixed_up_with_the_move_after_it(view: View) -> None:
    play(view, Moved(RED, "a4-a7"), Battle("a7", Rank.SCOUT, Rank.MINER, Survivor.DEFENDER))
    play(view, Moved(BLUE, "a7-a6"), Moved(RED, "b4-b7"), Battle("b7", Rank.SPY, Rank.MARSHAL, Survivor.ATTACKER))
    assert (look(view, "a6"), look(view, "b7")) == ("b3", "rS")
    assert view.captured == ([Rank.SCOUT], [Rank.MARSHAL])


def test_a_fight_that_nobody_began_changes_nothing(view: View) -> None:
    play(view, Moved(RED, "a4-a7"), Battle("a7", Rank.SCOUT, Rank.MINER, Survivor.DEFENDER))
    play(view, Moved(RED, "b4-a4"))
    before = view.cells()
    play(view, Battle("a7", Rank.SPY, Rank.MINER, Survivor.ATTACKER))
    assert view.cells() == before


def test_an_action_that_is_no_move_changes_nothing_on_the_board(view: View) -> None:
    before = view.cells()
    play(view, Moved(RED, "resign"))
    assert view.cells() == before
    assert view.actions == [(RED, "resign")]


def test_hidden_ranks_are_the_army_less_the_seen_and_the_lost(view: View) -> None:
    everything = {Rank.FLAG: 1, Rank.SPY: 1, Rank.SCOUT: 1, Rank.MINER: 1, Rank.MARSHAL: 1}
    assert view.hidden_ranks() == everything
    play(view, Moved(BLUE, "j7-j5"), Reveal("j5", Rank.SCOUT))
    play(view, Moved(RED, "a4-a7"), Battle("a7", Rank.SCOUT, Rank.SPY, Survivor.ATTACKER))
    assert view.hidden_ranks() == {Rank.FLAG: 1, Rank.MINER: 1, Rank.MARSHAL: 1}


def test_the_cells_are_the_hundred_squares_in_order(view: View) -> None:
    cells = view.cells()
    assert len(cells) == 100
    shown = dict(zip(SQUARES, cells, strict=True))
    assert {square for square, cell in shown.items() if cell == "~~"} == LAKES
    pieces = {square: cell for square, cell in shown.items() if cell not in {"..", "~~"}}
    own = {"a1": "rF", "a4": "r2", "b4": "rS", "c4": "r3", "j4": "rM"}
    assert pieces == own | dict.fromkeys(["a7", "b7", "j7", "a8", "b8"], "b?")


@pytest.mark.parametrize(
    ("piece", "cell"),
    [
        (Piece(RED, Rank.MARSHAL), "rM"),
        (Piece(BLUE, Rank.MINER, moved=True), "b3"),
        (Piece(BLUE, None), "b?"),
        (Piece(RED, None, moved=True), "r!"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_the_cell_of_a_piece(piece: Piece, cell: str) -> None:
    assert piece.cell == cell


def test_what_is_said_beside_the_board_is_kept(view: View) -> None:
    clock = Clock(5000, 1000, 60000, 100)
    for message in (Rule("chase", "isf"), clock, Seed(42), Legal(("a4-a5",)), Turn(7, 1000, 900, 5000, 900)):
        view.apply(message)
    assert view.rules == {"army": "F:1 S:1 2:1 3:1 M:1", "chase": "isf"}
    assert view.clock is clock
    assert (view.seed, view.random.random()) == (42, Random(42).random())
    assert view.legal == ("a4-a5",)
    assert (view.ply, view.own_ms, view.enemy_ms, view.own_bank_ms, view.enemy_bank_ms) == (7, 1000, 900, 5000, 900)
    view.apply(Turn(9, 1000, 900))
    assert (view.own_bank_ms, view.enemy_bank_ms) == (None, None)


def test_a_view_starts_with_the_games_colour_and_variant() -> None:
    view = new_view(Game(BLUE, "duel"))
    assert (view.color, view.enemy, view.variant) == (BLUE, RED, "duel")
    assert set(view.cells()) == {"..", "~~"}


@pytest.mark.parametrize("name", ruleset_names())
def test_an_army_is_read_as_its_ruleset_writes_it(name: str, small_arena: "Callable[[str], SmallArena]") -> None:
    ruleset = small_arena(name).ruleset
    assert read_army(dict(ruleset.lines())["army"]) == dict(ruleset.army)


# --- whole games --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ruleset_names())
def test_through_whole_games_the_view_has_every_piece_in_its_place_and_no_rank_wrong(
    name: str,
    small_arena: "Callable[[str], SmallArena]",
    rows_by_lot: "Callable[[Ruleset, Random], tuple[str, ...]]",
) -> None:
    @settings(max_examples=4, deadline=None)
    @given(st.integers(0, 2**32))
    def play_through(seed: int) -> None:
        dice = Random(seed)
        table = small_arena(name)
        views = {color: new_view(Game(color, name)) for color in Color}
        for color, view in views.items():
            for message in table.opening(color, seed):
                view.apply(message)
            rows = rows_by_lot(table.ruleset, dice)
            view.place_own(rows)
            table.set_up(color, rows)
        for color, view in views.items():
            for message in table.enemy(color):
                view.apply(message)
        start = set(table.truth())
        touched: set[str] = set()
        fought = False
        while table.game.outcome is None and table.game.ply < 300:
            action = dice.choice(table.game.legal_moves()).text
            said = table.play(action)
            for view in views.values():
                for message in said:
                    view.apply(message)
            touched.update(action.split("-"))
            if not fought or len(said) > 1 or table.game.ply % 20 == 0:
                for view in views.values():
                    compare(table, view, start - touched)
            fought = len(said) > 1

    play_through()


def compare(table: "SmallArena", view: View, untouched: set[str]) -> None:
    truth = table.truth()
    seen = {SQUARES[square]: piece for color in Color for square, piece in view.pieces(color)}
    assert {square: piece.color for square, piece in seen.items()} == {
        square: who for square, (who, _) in truth.items()
    }
    for square, piece in seen.items():
        assert piece.rank in {truth[square][1], None}
        assert piece.rank is not None or piece.color is view.enemy
        assert not (piece.moved and square in untouched)
    known = Counter(piece.rank for _, piece in view.pieces(view.enemy) if piece.rank)
    hidden = Counter(rank for who, rank in truth.values() if who is view.enemy) - known
    assert view.hidden_ranks() == dict(hidden)
    for color in Color:
        left = Counter(rank for who, rank in truth.values() if who is color)
        assert left + Counter(view.captured[color]) == Counter(dict(table.ruleset.army))
