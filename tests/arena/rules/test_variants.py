"""Every ruleset and every switch: the list of what may be played is what the check of a single action lets through.

The list of legal actions is held against the check of a single action, in positions reached by random play that is
drawn towards what seldom happens: of all texts that the grammar allows and that could matter there, the check must let
through exactly those on the list. The two are written apart.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest
from every_ruleset import EVERY_RULESET
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import any_rules, lively, random_rows
from random_rules import army_of
from rule_games import refusal, start

from arena.stratego.rules.action_types import (
    Action,
    BrokenRule,
    IllegalActionError,
    Infiltration,
    Rescue,
    parse_action,
)
from arena.stratego.rules.board import RANKS
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.ruleset import FixedPieces, Ruleset
from arena.stratego.rules.rulesets import load_ruleset
from protocol.actions import is_action
from protocol.notation import HOME_SQUARES, RANK_BY_LETTER, SQUARE_INDEX, SQUARES, Color, Rank

ALL_SORTS = army_of("F1 B2 S2 22 32 41 62 91 M1 I2")
seeds = st.integers(0, 2**32 - 1)


def _begin(rules: Ruleset, rng: Random) -> EngineGame:
    return EngineGame(rules, random_rows(rules, rng), random_rows(rules, rng))


# --- what may be played ---------------------------------------------------------------------------------------------

STEPS = {
    (origin, target)
    for origin in range(100)
    for target in range(100)
    if abs(origin % 10 - target % 10) + abs(origin // 10 - target // 10) == 1
}


def _travels() -> Iterator[Action]:
    texts = [f"{origin}-{target}" for origin in SQUARES for target in SQUARES]
    texts += [
        f"{SQUARES[origin]}-{SQUARES[corner]}-{SQUARES[target]}"
        for origin, corner in STEPS
        for other, target in STEPS
        if other == corner
    ]
    for text in texts:
        with suppress(ValueError):
            yield parse_action(text)


TRAVELS = list(_travels())
"""All moves between two squares, and all paths of two steps."""

NEAR = [
    (origin, target)
    for origin in range(100)
    for target in range(100)
    if 0 < abs(origin % 10 - target % 10) + abs(origin // 10 - target // 10) <= 3
    and max(abs(origin % 10 - target % 10), abs(origin // 10 - target // 10)) <= 2
]
LETTERS = "".join(RANK_BY_LETTER)


def _others(game: EngineGame, arriving: list[str]) -> Iterator[str]:
    """All guesses, and all rescues that come with these moves, that could be legal here, and many that are not."""
    for origin, target in NEAR:
        infiltrator = RANKS.get(game.board[origin]) is Rank.INFILTRATOR
        for letter in LETTERS if infiltrator else "B":
            yield f"{SQUARES[origin]}?{SQUARES[target]}{letter}"
    homes = HOME_SQUARES[Color.RED] + HOME_SQUARES[Color.BLUE]
    for travel in arriving:
        for letter in LETTERS:
            for square in homes:
                yield f"{travel}+{letter}{SQUARES[square]}"


def _refused_by(game: EngineGame, action: Action) -> BrokenRule | None:
    """The rule that refuses an action; None if none does."""
    try:
        game.check(action)
    except IllegalActionError as error:
        return error.rule
    return None


def _assert_list_is_what_passes(game: EngineGame) -> None:
    listed = [action.text for action in game.legal_moves()]
    assert len(set(listed)) == len(listed)
    refused_by = {action.text: _refused_by(game, action) for action in TRAVELS}
    may_rescue = (
        None,
        BrokenRule.TWO_SQUARES,
        BrokenRule.CHASE,
    )  # what the move alone may not repeat, it may with a rescue
    arriving = [
        text for text, rule in refused_by.items() if rule in may_rescue and text.split("-")[-1][1:] in ("1", "10")
    ]
    passed = {text for text, rule in refused_by.items() if rule is None}
    fixed = {text for text in passed if not game.tables.can_move[game.board[SQUARE_INDEX[text.split("-")[0]]]]}
    for text in _others(game, arriving):
        with suppress(ValueError):
            if _refused_by(game, parse_action(text)) is None:
                passed.add(text)
    assert set(listed) == passed - fixed
    assert not fixed or game.ruleset.fixed_pieces is FixedPieces.LOSES


def _assert_list_can_be_played(game: EngineGame) -> None:
    """Every action has the form that a bot must write, is read back as itself, and is played the same from its text."""
    actions = game.legal_moves()
    for action in actions:
        assert is_action(action.text)
        assert parse_action(action.text) == action
    for action in actions[:: max(1, len(actions) // 8)]:
        one, other = game.copy(), game.copy()
        assert one.play(action) == other.apply(action.text)
        assert one.board == other.board


def _assert_list_holds(rules: Ruleset, rng: Random, plies: int) -> None:
    """Look at the list after so many plies of random play, or before the ply that ends the game."""
    game = _begin(rules, rng)
    for _ in range(plies):
        if game.outcome:
            break
        ahead = game.copy()
        ahead.play(lively(game, rng))
        if ahead.outcome:
            break
        game = ahead
    _assert_list_is_what_passes(game)
    _assert_list_can_be_played(game)


@settings(max_examples=20, deadline=None)
@given(ruleset=any_rules, seed=seeds, plies=st.integers(0, 250))
def test_the_legal_actions_are_those_of_all_texts_that_pass_the_check(
    *, ruleset: Ruleset, seed: int, plies: int
) -> None:
    _assert_list_holds(ruleset, Random(seed), plies)


@pytest.mark.parametrize("name", EVERY_RULESET)
def test_the_same_holds_under_every_ruleset_and_every_switch(name: str) -> None:
    _assert_list_holds(load_ruleset(name), Random(name), 60)


@pytest.mark.parametrize(
    "name",
    [
        "jumbo-81320/infiltrator+rescue+lightning-captains",
        "jumbo-81320/infiltrator+mobile-flag+mobile-bombs+rescue",
        "jumbo-81320/infiltrator+rescue+silent-defence+attackers-advantage",
    ],
)
def test_where_guesses_paths_and_rescues_are_possible_the_list_is_what_passes_the_check(name: str) -> None:
    """In five positions that have one of these on the list; with a small army of all sorts of pieces."""
    rules, looked = replace(load_ruleset(name), army=ALL_SORTS), 0
    for seed in range(40):
        rng = Random(seed)
        game = _begin(rules, rng)
        while not game.outcome and looked < 5:
            special = {type(action) for action in game.legal_moves()} & {Infiltration, Rescue}
            if special and rng.random() < 0.3:
                looked += 1
                _assert_list_is_what_passes(game)
            game.play(lively(game, rng))
    assert looked == 5


# --- moving what may not be moved -----------------------------------------------------------------------------------

FIXED = {"fixed_pieces": FixedPieces.LOSES}


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        ("b1-a1", BrokenRule.TARGET),
        ("b1-b3", BrokenRule.STEP),
        ("b1-c2", BrokenRule.DIAGONAL),
        ("c4-c5", BrokenRule.LAKE),
    ],
)
def test_what_is_no_move_at_all_is_no_move_of_a_bomb_either(action: str, rule: BrokenRule) -> None:
    game = start("F:a1 B:b1 B:c4 M:j4", "F:a10 B:b10 B:c10 M:j7", **FIXED)
    assert refusal(game, action).rule is rule
