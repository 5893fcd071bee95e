"""A person's seat as text: what was typed, and a screen that fits a terminal."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.game.person_seat import ClockState, EndState, SeatStage
from arena.stratego.board_terminal import (
    VERBS,
    action_words,
    piece_words,
    read_typed,
    screen_text,
)
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.seat_state import ActionState, PieceState, StrategoSeat, StrategoSeatState
from arena.stratego.setups import presets
from arena.stratego.shown.boards import SquareMark
from protocol.notation import HOME_SQUARES, SQUARES, Color

ISF = load_ruleset("isf")


def state_of(**fields: object) -> StrategoSeatState:
    """Red's seat after both have set up, with these fields changed."""
    rows = presets(ISF)[0].rows
    own = (
        PieceState(SQUARES[square], "red", letter, False)
        for square, letter in zip(HOME_SQUARES[Color.RED], "".join(rows), strict=True)
    )
    army = tuple((rank.letter, count) for rank, count in ISF.army)
    letters = tuple(letter for letter, _ in army)
    enemy = (PieceState(SQUARES[square], "blue", None, False, letters) for square in HOME_SQUARES[Color.BLUE])
    state = StrategoSeatState(
        version=1,
        color="red",
        stage=SeatStage.MOVING,
        players=("Ada", "warden"),
        ruleset="isf",
        rules=tuple(ISF.lines()),
        army=army,
        setup=rows,
        plies=0,
        pieces=(*own, *enemy),
        lost=((), ()),
        hidden=army,
        choices=(),
        last=None,
        clocks=(ClockState(None), ClockState(100)),
    )
    return msgspec.structs.replace(state, **fields)


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("e4-e5", ("act", "e4-e5")),
        ("E4 e5", ("act", "e4-e5")),
        ("e4e5", ("act", "e4-e5")),
        ("a9-a10+8c2", ("act", "a9-a10+8c2")),
        ("e4", ("targets", "e4")),
        ("known e7", ("known", "e7")),
        ("?", ("help",)),
        ("ply 12", ("ply", "12")),
        ("swap a1 b2", ("swap", "a1", "b2")),
        ("what now", ("unknown", "what now")),
        ("k4-k5", ("unknown", "k4-k5")),
    ],
)
def test_what_is_typed_is_understood(line: str, typed: tuple[str, ...]) -> None:
    assert read_typed(line) == typed


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30))
def test_any_line_is_something(line: str) -> None:
    assert read_typed(line)[0] in {*VERBS, "", "act", "targets", "unknown"}


def test_a_screen_fits_80_columns_and_20_lines_with_names_of_any_length() -> None:
    words = "lieutenant attacks an unknown piece on a10, the attacker wins; a colonel comes back on c2"
    marks = {"a9": SquareMark.CAME_FROM, "a10": SquareMark.WENT_TO, "c2": SquareMark.WENT_TO}
    long = ActionState(999, "blue", "a9-a10+8c2", words, marks)
    lost = tuple("FBBBBBB" + "2" * 8 + "33333" + "4444" + "5555" + "6666" + "777" + "88" + "9MS")
    end = EndState("loss", "flag", "red (" + "A" * 40 + ") lost its flag", ())
    state = state_of(
        players=("A" * 40, "B" * 40),
        lost=(lost, lost),
        last=long,
        plies=999,
        clocks=(ClockState(600_000), ClockState(100)),
        end=end,
        stage=SeatStage.OVER,
        remark="r" * 70,
    )
    lines = screen_text(state, (long, long)).split("\n")
    assert max(map(len, lines)) < 80
    assert len(lines) <= 20


def test_blue_sees_the_board_from_its_own_side() -> None:
    state = state_of(color="blue")
    rows = screen_text(state).split("\n")
    assert rows[1].split()[:10] == list("jihgfedcba")
    assert rows[2].startswith(" 1 ")
    assert rows[11].startswith("10 ")


def test_actions_are_told_in_words() -> None:
    seat = StrategoSeat(Color.RED)
    seat.set_up(presets(ISF)[0].rows)
    for line in ("moved red e4-e6", "battle e6 2 6 neither", "moved blue e7?e9B", "guess e9 B wrong"):
        seat.hear(line.encode())
    assert [action_words(action, "red") for action in seat.actions] == [
        "you e4-e6: scout attacks captain on e6, both leave",
        "the enemy e7?e9B: guesses a bomb on e9, which is wrong",
    ]
    assert piece_words(PieceState("e7", "blue", None, True, ("2", "M")), "red") == (
        "e7: an enemy piece that has moved; it can be: marshal, scout"
    )
