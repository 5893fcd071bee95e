"""A position to search in is the engine's game: in lockstep, under all rules; and what is undone leaves no trace."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import any_rules, lively
from viewed_games import random_table

from arena.search import Position
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.rulesets import load_ruleset

SEEDS = st.integers(0, 10**6)


def is_same(position: Position, game: EngineGame) -> bool:
    """Whether the two agree on all that both of them say."""
    return (
        position.board == game.board
        and position.to_move is game.to_move
        and (position.ply, position.quiet) == (game.ply, game.quiet)
        and position.lost == game.lost
        and position.told == game.told
        and position.movers == game.movers
        and position.rescuers == game.rescuers
        and position.outcome == game.outcome
        and {action.text for action in position.legal_moves()} == {action.text for action in game.legal_moves()}
    )


def snapshot(position: Position) -> tuple[Any, ...]:
    """All that can be asked of a position, by value."""
    return (
        position.board[:],
        position.to_move,
        position.ply,
        position.quiet,
        tuple(map(Counter, position.lost)),
        position.rescued[:],
        tuple(map(set, position.rescuers)),
        tuple(map(set, position.movers)),
        set(position.told),
        position.key,
        position.outcome,
        [action.text for action in position.legal_moves()],
    )


def wander(position: Position, rng: Random, depth: int) -> int:
    """Play up to so many actions; returns how many."""
    for played in range(depth):
        if position.outcome:
            return played
        position.play(lively(position, rng))
    return depth


@given(data=st.data(), seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_position_goes_in_lockstep_with_the_engine_under_all_rules(data: st.DataObject, seed: int) -> None:
    begun = random_table(data.draw(any_rules), seed)
    game, position, rng = begun.game, Position(begun.ruleset, *begun.rows), Random(seed)
    plies = data.draw(st.integers(0, 300))
    while is_same(position, game) and game.outcome is None and game.ply < plies:
        if rng.random() < 0.2:  # what is played and undone in between leaves no trace
            before = snapshot(position)
            for _ in range(wander(position, rng, rng.randrange(8))):
                position.undo()
            assert snapshot(position) == before
        if rng.random() < 0.2:
            aside, position = position.copy(), position.copy()
            wander(aside, rng, 3)  # which must not show in the other copy, now or later
        action = lively(game, rng)
        game.play(action)
        position.play(action)
    assert is_same(position, game)


@pytest.mark.parametrize("name", ["isf", "vintage/duel"])
def test_an_action_that_is_text_is_refused_and_changes_nothing(name: str) -> None:
    """As `view.legal` has it."""
    begun = random_table(load_ruleset(name), 3)
    position = Position(begun.ruleset, *begun.rows)
    before = snapshot(position)
    text: Any = position.legal_moves()[0].text
    with pytest.raises(TypeError, match=r"expected an action, such as position\.action"):
        position.play(text)
    assert snapshot(position) == before
    with pytest.raises(IndexError):
        position.undo()


def test_a_copy_has_nothing_of_its_own_that_grows_with_the_game() -> None:
    begun = random_table(replace(load_ruleset("travel/original"), max_quiet_plies=None), 4)
    position, rng = Position(begun.ruleset, *begun.rows), Random(4)
    sizes = []
    while position.ply < 600:
        copy = position.copy()
        own = [value for name, value in vars(copy).items() if value is not getattr(position, name)]
        sizes.append(sum(len(part) for value in own for part in (value if isinstance(value, tuple) else (value,))))
        actions: list[Any] = position.legal_moves()
        position.play(rng.choice([action for action in actions if not position.board[action.target]] or actions))
    assert max(sizes) < 800  # a few things for each of the squares and pieces, and none for each ply


def test_positions_with_the_same_key_are_the_same_and_the_other_way_round() -> None:
    keys: dict[int, Any] = {}
    positions: dict[Any, int] = {}
    for seed in range(20):
        begun = random_table(load_ruleset("vintage/barrage+rescue"), seed % 2)
        position, rng = Position(begun.ruleset, *begun.rows), Random(seed)
        while position.outcome is None and position.ply < 100:
            standing = (tuple(position.board), position.to_move, tuple(position.rescued))
            assert keys.setdefault(position.key, standing) == standing
            assert positions.setdefault(standing, position.key) == position.key
            position.play(lively(position, rng))
    assert len(keys) > 500


def test_squares_say_what_stands_on_them() -> None:
    begun = random_table(load_ruleset("isf"), 1)
    position = Position(begun.ruleset, *begun.rows)
    assert position.rank_at(0) is not None
    assert position.color_at(0) is not position.color_at(99)
    assert position.rank_at(42) is None
    assert position.color_at(42) is None
    assert position.action("a4-a5").text == "a4-a5"
