"""Fights: every attack of one rank on another ends as the booklets say, in the table and on the board.

The expected table is written out by hand from their sentences: the higher rank wins and takes the square, equal ranks
both leave, any piece that attacks a bomb loses and only the miner removes it, the spy that attacks the marshal wins,
any piece that attacks the spy wins (the marshal too), and whatever can attack captures the flag. The infiltrator has
rank 1, as the spy has.
"""

from collections.abc import Callable

import pytest

from arena.stratego.rules.combat import fight
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.events import Event
from protocol.messages import Battle
from protocol.notation import RANK_BY_LETTER, SQUARE_INDEX, Rank, Survivor

# One line an attacker, one column a defender. A: the attacker is left, D: the defender, -: neither.
TABLE = """
      F B S 2 3 4 5 6 7 8 9 M I
  S   A D - D D D D D D D D A -
  2   A D A - D D D D D D D D A
  3   A A A A - D D D D D D D A
  4   A D A A A - D D D D D D A
  5   A D A A A A - D D D D D A
  6   A D A A A A A - D D D D A
  7   A D A A A A A A - D D D A
  8   A D A A A A A A A - D D A
  9   A D A A A A A A A A - D A
  M   A D A A A A A A A A A - A
  I   A D - D D D D D D D D D -
"""

LEFT = {"A": Survivor.ATTACKER, "D": Survivor.DEFENDER, "-": Survivor.NEITHER}


def _expected() -> dict[tuple[str, str], Survivor]:
    head, *lines = [line.split() for line in TABLE.strip().splitlines()]
    return {
        (attacker, defender): LEFT[mark] for attacker, *row in lines for defender, mark in zip(head, row, strict=True)
    }


EXPECTED = _expected()
EACH_ATTACKER = pytest.mark.parametrize("attacker", "S23456789MI")

Start = Callable[..., EngineGame]
Play = Callable[[EngineGame, str], tuple[Event, ...]]


@EACH_ATTACKER
def test_a_fight_leaves_who_the_booklets_say(attacker: str) -> None:
    for defender, rank in RANK_BY_LETTER.items():
        left = fight(RANK_BY_LETTER[attacker], rank)
        assert left is EXPECTED[attacker, defender], f"{attacker} attacks {defender}"


@pytest.mark.parametrize("defender", Rank, ids=lambda rank: rank.letter)
@pytest.mark.parametrize("attacker", [Rank.FLAG, Rank.BOMB], ids=lambda rank: rank.letter)
def test_flag_and_bomb_attack_nothing(attacker: Rank, defender: Rank) -> None:
    with pytest.raises(ValueError, match=f"a {attacker.name.lower()} cannot attack"):
        fight(attacker, defender)


@EACH_ATTACKER
def test_a_fight_on_the_board_leaves_the_survivor_where_it_belongs(start: Start, play: Play, attacker: str) -> None:
    """A winning attacker takes the square, a winning defender stays, and nothing else on the board changes."""
    origin, target = SQUARE_INDEX["a6"], SQUARE_INDEX["a7"]
    for defender, rank in RANK_BY_LETTER.items():
        game = _face_to_face(start, attacker, defender)
        play(game, "a4-a5 i9-i8 a5-a6 i8-i9")
        board = game.board[:]
        left = EXPECTED[attacker, defender]
        board[target] = {Survivor.ATTACKER: board[origin], Survivor.DEFENDER: board[target], Survivor.NEITHER: 0}[left]
        board[origin] = 0

        events = play(game, "a6-a7")

        assert game.board == board, f"{attacker} attacks {defender}"
        assert events[1:] == (Battle("a7", RANK_BY_LETTER[attacker], rank, left),)


def _face_to_face(start: Start, attacker: str, defender: str) -> EngineGame:
    """The attacker on a4, the defender on a7, and the rest of one army for both out of the way."""
    red, blue = f"{attacker}:a4 4:i2", f"{defender}:a7 4:i9"
    if attacker != defender:
        red, blue = f"{red} {defender}:h2", f"{blue} {attacker}:h9"
    if defender != "F":
        red, blue = f"{red} F:j1", f"{blue} F:j10"
    return start(red, blue)
