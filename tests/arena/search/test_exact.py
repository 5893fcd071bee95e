"""Armies are exactly what was told: with few pieces, every set-up that there can have been is played again.

A set-up counts if the same actions are legal from it and tell this seat the same; so everything that the rules let one
conclude is in it, also what follows for several pieces together.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from random_rules import random_ruleset
from viewed_games import Table, told

from arena.search import Knowledge
from arena.stratego.rules.action_types import Action, IllegalActionError, Infiltration, Rescue
from arena.stratego.rules.board import ENEMIES
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import (
    Attacks,
    Chase,
    Ruleset,
    Starts,
)
from protocol.geometry import NEIGHBOURS
from protocol.notation import EMPTY, RANK_BY_LETTER, Color, Rank

ARMIES = ("F1 B1 22 S1", "F1 23 62", "F1 B2 61 I1", "F1 B1 62 S1", "F1 B3 62", "F1 22 61 I1")
VALUES = {
    "starts": (Starts.RED, Starts.BLUE),
    "chase": (Chase.ISF, Chase.BOOKLET),
    "rescues": (0, 0, 2),
    "attacks": (Attacks.ALL_SIDES,),
    "max_plies": (None,),
    "max_quiet_plies": (None,),
}
CORNER = (0, 1, 10, 11, 2, 20, 21, 12, 22)
"""Where pieces are in each other's way."""
OPEN = range(20, 40)


def rows_of(letters: dict[int, str]) -> tuple[str, ...]:
    text = "".join(letters.get(square, EMPTY) for square in range(40))
    return tuple(text[start : start + 10] for start in range(0, 40, 10))


def random_rows(ruleset: Ruleset, rng: Random, *, crowded: bool) -> tuple[str, ...]:
    letters = [rank.letter for rank, count in ruleset.army for _ in range(count)]
    return rows_of(dict(zip(rng.sample(CORNER if crowded else OPEN, len(letters)), letters, strict=True)))


def orders(letters: str) -> Iterator[str]:
    """Every different order of some letters."""
    if not letters:
        yield ""
    for letter in sorted(set(letters)):
        for rest in orders(letters.replace(letter, "", 1)):
            yield letter + rest


def chosen(game: EngineGame, rng: Random, last: Action | None) -> Action:
    """A random action: often an attack, a threat, or one that evades the last action."""
    actions, side = list(game.legal_moves()), game.to_move
    moves = [(action.move if isinstance(action, Rescue) else action, action) for action in actions]
    arrived = last.move.target if isinstance(last, Rescue) else last.target if last else None
    attacks = [action for move, action in moves if game.board[move.target]]
    threats = [
        action
        for move, action in moves
        if not game.board[move.target] and any(ENEMIES[side][game.board[near]] for near in NEIGHBOURS[move.target])
    ]
    evasions = [action for move, action in moves if arrived is not None and move.origin in NEIGHBOURS[arrived]]
    up = 1 if side is Color.RED else -1
    ahead = [action for move, action in moves if (move.target // 10 - move.origin // 10) * up > 0]
    for wanted, chance in ((attacks, 0.3), (threats, 0.4), (evasions, 0.5), (ahead, 0.6)):
        if wanted and rng.random() < chance:
            return rng.choice(wanted)
    return rng.choice(actions)


def possible_set_ups(table: Any, color: Color) -> set[tuple[str, ...]]:
    """The enemy's set-ups from which the same would have been told."""
    own, enemy = table.rows[color], "".join(table.rows[color.opponent])
    said = told(table.ruleset, table.rows, table.actions, color)
    squares = [square for square, letter in enumerate(enemy) if letter != EMPTY]
    found = set()
    for order in orders(enemy.replace(EMPTY, "")):
        rows = rows_of(dict(zip(squares, order, strict=True)))
        both = (own, rows) if color is Color.RED else (rows, own)
        try:
            if EngineGame(table.ruleset, *both).outcome is None and said == told(
                table.ruleset, both, table.actions, color
            ):
                found.add(rows)
        except (IllegalActionError, KeyError):  # the check lets some actions through that their piece cannot do
            continue
    return found


def armies_of(knowledge: Knowledge) -> set[tuple[str, ...]]:
    """The enemy's set-ups that the library thinks possible."""
    letters = "".join(rank.letter * count for rank, count in knowledge.armies.left.items())
    found = set()
    for order in orders(letters):
        army = tuple(RANK_BY_LETTER[letter] for letter in order)
        possible = all(rank in piece.ranks for rank, piece in zip(army, knowledge.hidden, strict=True))
        if possible and knowledge.armies.holds(army):
            found.add(knowledge.rows_of(army))
    return found


@pytest.mark.parametrize("plies", [0, 2, 4, 7, 12, 25, 45])
def test_all_armies_are_the_set_ups_from_which_the_same_would_have_been_told(plies: int) -> None:
    compared = 0
    for seed in range(20):
        rng = Random(f"{plies} {seed}")
        ruleset, crowded = random_ruleset(rng, ARMIES, **VALUES), rng.random() < 0.5
        table = Table(ruleset, *(random_rows(ruleset, rng, crowded=crowded) for _ in Color))
        last: Action | None = None
        while table.game.outcome is None and table.game.ply < plies:
            action = chosen(table.game, rng, last)
            last = None if isinstance(action, Infiltration) else action
            table.play(action.text)
        if table.game.outcome is not None:
            continue
        knowledge = Knowledge(table.view)
        assert armies_of(knowledge) == possible_set_ups(table, knowledge.color)
        assert set(knowledge.armies.sample(rng)) <= set(Rank)
        compared += 1
    assert compared > 0


EXCHANGE = """
e4-e3 c7-d7 e3-f3 d7-d8 f3-f2 b7-b6 f4-e4 b6-b5 g4-h4 d8-d9 h4-g4 d9-c9 g4-g3 c9-d9 g3-f3 a7-a8 f2-e2 a8-a7 e2-e1 b5-b6
f3-f4 b6-b5 f4-f5 d9-d8 e4-e5 b5-b4 e1-d1 a7-a6 d1-c1 d8-d9 f5-f4 b4-a4 c1-d1 a4-a5 f4-g4 d9-d10 d1-d2 a5-b5 g4-g3 a6-b6
d2-d3 d10-d9 d3-d4 b5-a5 e5-e4 a5-b5 g3-g4 b5-b4 d4-c4 b4-a4 c4-b4 a4-a3 b4-a4 a3-a2 a4-a3 a2-b2 a3-a2 b2-c2 a2-b2 c2-d2
b2-c2 d2-e2 e4-e3 e2-d2 e3-e2 d2-d3 c2-c3 d3-e3 c3-d3 e3-e4 d3-d4 e4-e3 d4-e4 e3-d3 e2-d2 d3-d4 d2-d3 d4-c4 d3-d4 c4-b4
d4-c4
"""
"""At its end two of Red's pieces have changed places since an earlier position, and Red goes on chasing."""


def test_two_pieces_that_have_changed_places_in_a_chase_are_not_both_of_one_rank() -> None:
    army = ((Rank.FLAG, 1), (Rank.LIEUTENANT, 2), (Rank.CAPTAIN, 1))
    ruleset = Ruleset("made", "Made", "these tests", army, chase=Chase.BOOKLET, max_plies=None, max_quiet_plies=None)
    front = ("F.........", "..........", "..........")
    table = Table(ruleset, (*front, "....655..."), (*front, "565......."))
    for action in EXCHANGE.split():
        table.play(action)
    knowledge = Knowledge(table.view)
    assert len(knowledge.armies.conditions) == 1
    armies = armies_of(knowledge)
    assert armies == possible_set_ups(table, knowledge.color)
    assert len(armies) < knowledge.armies.count
