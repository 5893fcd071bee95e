"""What is known is true, and is all that follows from what was told: in each world that is drawn, the same is told."""

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import any_rules, lively
from viewed_games import random_table, told

from arena.errors import UsageError
from arena.search import Knowledge, Position
from arena.stratego.rules.board import RANKS
from arena.stratego.rules.ruleset import Ruleset, RulesetError
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.search.knowledge import _possible
from protocol.notation import Color, Rank
from protocol.view import View

SEEDS = st.integers(0, 10**6)


def truth(table: Any, knowledge: Knowledge) -> tuple[Rank, ...]:
    """The army that the enemy really has."""
    return tuple(RANKS[table.game.board[piece.square]] for piece in knowledge.hidden)


def seat(table: Any) -> Knowledge:
    return Knowledge(table.view)


def rows_by_color(knowledge: Knowledge, army: tuple[Rank, ...]) -> list[tuple[str, ...]]:
    rows = [knowledge.view.setup, knowledge.rows_of(army)]
    return rows if knowledge.color is Color.RED else rows[::-1]


@given(ruleset=any_rules, seed=SEEDS, plies=st.integers(0, 250))
@settings(max_examples=30, deadline=None)
def test_the_truth_is_possible_and_a_position_made_of_it_is_the_referee_s_and_plays_on_like_it(
    *, ruleset: Ruleset, seed: int, plies: int
) -> None:
    game_table = random_table(ruleset, seed)
    rng, game = Random(seed), game_table.game
    readers: list[Knowledge | None] = [None, None]
    while game.outcome is None and game.ply < plies:
        knowledge = readers[game.to_move] = readers[game.to_move] or Knowledge(game_table.view)
        knowledge.update()
        assert all(RANKS[game.board[square]] in piece.ranks for square, piece in knowledge.pieces.items())
        army = truth(game_table, knowledge)
        assert Counter(army) == Counter(knowledge.armies.left)
        position = knowledge.position(army)
        fresh = Position(game.ruleset, *game_table.rows) if game.ply == 0 else None
        assert position.board == game.board
        assert (position.to_move, position.ply, position.quiet) == (game.to_move, game.ply, game.quiet)
        assert position.told == game.told
        assert position.lost == game.lost
        assert position.movers == game.movers
        assert {action.text for action in position.legal_moves()} == {action.text for action in game.legal_moves()}
        assert fresh is None or fresh.key == position.key
        if rng.random() < 0.1:
            chances = zip(knowledge.hidden, knowledge.armies.chances, strict=True)
            possible = {piece.square: {rank for rank, share in ranks.items() if share} for piece, ranks in chances}
            assert knowledge.possible() == possible
            engine = game.copy()
            for _ in range(12):
                if engine.outcome is not None:
                    break
                action = lively(engine, rng)
                engine.play(action)
                position.play(action)
                assert position.outcome == engine.outcome
                assert set(map(str, position.legal_moves())) == set(map(str, engine.legal_moves()))
        game_table.play(lively(game, rng).text)


def test_the_possible_ranks_of_pieces_with_many_different_sets_are_found_at_once() -> None:
    """Thirty sets of two neighbouring ranks each: all combinations of them would take for ever."""
    ranks = tuple(Rank)[:12]
    groups = tuple((frozenset({one, other}), 1) for one, other in pairwise(ranks))
    wide = tuple((frozenset(ranks[:size]), 1) for size in range(3, 12))
    left = Counter(ranks[:11]) + Counter(ranks[size - 1] for size in range(3, 12))
    possible = _possible(groups + wide, tuple(left.items()))
    assert all(possible[ranks] <= ranks and possible[ranks] for ranks, _ in groups + wide)


@given(ruleset=any_rules, seed=SEEDS, plies=st.integers(2, 250))
@settings(max_examples=30, deadline=None)
def test_in_every_world_that_is_drawn_the_seat_would_have_been_told_the_same(
    *, ruleset: Ruleset, seed: int, plies: int
) -> None:
    game_table = random_table(ruleset, seed)
    rng, game = Random(seed), game_table.game
    while game.outcome is None and game.ply < plies:
        game_table.play(lively(game, rng).text)
    if game.outcome is not None:
        return
    knowledge = seat(game_table)
    said = told(game_table.ruleset, game_table.rows, game_table.actions, knowledge.color)
    for _ in range(4):
        army = knowledge.armies.sample(rng)
        rows = rows_by_color(knowledge, army)
        assert told(game_table.ruleset, rows, game_table.actions, knowledge.color) == said
    assert rows_by_color(knowledge, truth(game_table, knowledge)) == list(game_table.rows)


def test_reading_on_gives_what_reading_from_the_beginning_gives() -> None:
    game_table = random_table(load_ruleset("vintage/lightning+rescue+silent-defence"), 7)
    rng, game = Random(7), game_table.game
    reader: Knowledge | None = None
    while game.outcome is None and game.ply < 150:
        if game.to_move is Color.BLUE:
            reader = reader or Knowledge(game_table.view)
            if rng.random() < 0.5:
                reader.update()
                assert repr(reader.pieces) == repr(Knowledge(game_table.view).pieces)
        game_table.play(lively(game, rng).text)
    assert game.ply > 50


def test_a_view_without_a_set_up_is_refused() -> None:
    with pytest.raises(UsageError, match="without a set-up"):
        Knowledge(View(Color.RED, "isf"))


def test_rules_of_other_names_are_passed_over_and_other_values_are_an_error() -> None:
    view = random_table(load_ruleset("duel"), 1).view
    view.rules["moon"] = "full"
    assert Knowledge(view).ruleset.digest() == load_ruleset("duel").digest()
    view.rules["chase"] = "slowly"
    with pytest.raises(RulesetError, match="chase 'slowly'"):
        Knowledge(view)


@pytest.mark.parametrize("size", [0, 3, 41])
def test_an_army_of_another_size_is_refused_with_both_numbers(size: int) -> None:
    knowledge = seat(random_table(load_ruleset("isf"), 1))
    for made_of in (knowledge.position, knowledge.ranks_of, knowledge.rows_of):
        with pytest.raises(
            UsageError, match=f"expected an army of 40 ranks, one for each piece in `hidden`, got {size}"
        ):
            made_of((Rank.SCOUT,) * size)
