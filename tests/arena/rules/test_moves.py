"""Moves: which are legal, and a refusal names the rule, the piece and the square.

test_reference.py and test_variants.py compare the list of legal moves in positions reached by random play.
"""

import pytest
from rule_games import play, refusal, start

from arena.stratego.rules.action_types import BrokenRule
from protocol.messages import Moved
from protocol.notation import Color, Reason
from protocol.seats import Outcome

# --- refusals -------------------------------------------------------------------------------------------------------

RED = "F:a1 B:b1 2:e4 4:e3 M:c4 S:a4 3:c3"
BLUE = "F:a10 B:b10 2:e9 4:f7 M:c7 S:e7 3:j10"


@pytest.mark.parametrize(
    ("action", "rule", "words"),
    [
        ("f4-f5", BrokenRule.OWN_PIECE, ["red", "f4"]),
        ("c5-c6", BrokenRule.OWN_PIECE, ["red", "c5"]),
        ("f7-f6", BrokenRule.OWN_PIECE, ["red", "f7"]),
        ("b1-b2", BrokenRule.IMMOVABLE, ["bomb", "b1"]),
        ("a1-a2", BrokenRule.IMMOVABLE, ["flag", "a1"]),
        ("a1-b1", BrokenRule.IMMOVABLE, ["flag", "a1"]),
        ("a4-a6", BrokenRule.STEP, ["spy", "a4"]),
        ("c4-c7", BrokenRule.STEP, ["marshal", "c4"]),
        ("c4-c5", BrokenRule.LAKE, ["c5"]),
        ("c4-c3", BrokenRule.TARGET, ["red's", "c3"]),
        ("e4-a4", BrokenRule.BLOCKED, ["c4"]),
        ("e4-e8", BrokenRule.BLOCKED, ["e7"]),
        ("e4-e1", BrokenRule.BLOCKED, ["e3"]),
    ],
)
def test_a_refusal_names_the_rule_and_what_is_where(action: str, rule: BrokenRule, words: list[str]) -> None:
    error = refusal(start(RED, BLUE), action)
    assert error.rule is rule
    text = str(error)
    assert text.startswith(f"{action}: ")
    assert text.endswith(f"(rule: {rule.value})")
    sentence = text.removeprefix(f"{action}: ").split()
    assert all(word in sentence for word in words), text


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("e4-d6", "along its file or rank"),
        ("a4-a4", "to another square"),
        ("a4-a11", "along its file or rank"),
        ("A4-A5", "along its file or rank"),
        ("", "to another square"),
        ("Resign", "to another square"),
        ("a4-a5-a6-a7", "to another square"),
        ("c4-b4-a4", "a path has a turn in it; two squares straight on is c4-a4"),
        ("c4-b4-c4", "a path has a turn in it"),
        ("c4-a4-a3", "two steps of one square each"),
        ("a4-b6+8c2", "along its file or rank"),
    ],
)
def test_what_is_not_a_move_or_a_path_is_refused_for_its_form(action: str, why: str) -> None:
    error = refusal(start(RED, BLUE), action)
    assert error.rule is BrokenRule.FORM
    assert why in str(error)
    assert str(error).startswith(f"{action}: ")


@pytest.mark.parametrize(
    "action",
    [
        "?",
        "e7?e9X",
        "e7?e11B",
        "e7?e9B+8c2",
        "\x00?",
        "+",
        "a4-a5+8",
        "a4-a5+Xc2",
        "a4-a5+8c2+8c3",
        "a4--a5",
    ],
)
def test_no_text_at_all_does_worse_than_to_be_refused_for_its_form(action: str) -> None:
    """A record may hold anything."""
    assert refusal(start(RED, BLUE), action).rule is BrokenRule.FORM


@pytest.mark.parametrize(
    ("action", "rule", "words"),
    [
        ("a4-b5", BrokenRule.DIAGONAL, "the spy on a4 cannot move diagonally; no piece may"),
        ("e4-d3", BrokenRule.DIAGONAL, "the scout on e4 cannot move diagonally; no piece may"),
        ("c4-b4-b5", BrokenRule.CAPTAIN, "no piece turns in its move under by-hand"),
        ("e7?e9B", BrokenRule.INFILTRATION, "by-hand has no infiltration"),
        ("c4-b4+8c2", BrokenRule.RESCUE, "by-hand has no rescue"),
    ],
)
def test_an_action_that_only_other_rulesets_have_is_refused_by_its_own_rule(
    action: str, rule: BrokenRule, words: str
) -> None:
    error = refusal(start(RED, BLUE), action)
    assert error.rule is rule
    assert words in str(error)


def test_blue_is_refused_in_its_own_colours_name() -> None:
    game = start(RED, BLUE)
    play(game, "a4-a5")
    assert "blue has no piece on a5" in str(refusal(game, "a5-a6"))
    assert "the bomb on b10 cannot move" in str(refusal(game, "b10-b9"))
    assert "blue's own piece is on f7" in str(refusal(game, "e7-f7"))


@pytest.mark.parametrize("last", ["a6-a7", "resign"])
def test_after_the_end_nothing_is_played_any_more(last: str) -> None:
    game = start("F:a1 M:a4", "F:a7 M:j7")
    play(game, f"a4-a5 j7-j6 a5-a6 j6-j5 {last}")
    assert game.legal_moves() == []
    for action in ("j5-j4", "a1-a2", "f5-f6", "resign"):
        error = refusal(game, action)
        assert error.rule is BrokenRule.OVER
        assert "the game is over" in str(error)


def test_a_side_that_resigns_loses() -> None:
    game = start("F:a1 M:a4", "F:a10 M:a7")
    assert game.copy().apply("resign") == (Moved(Color.RED, "resign"),)
    play(game, "a4-a5")
    assert play(game, "resign") == (Moved(Color.BLUE, "resign"),)
    assert (game.outcome, game.ply) == (Outcome(Color.RED, Reason.RESIGN), 2)
