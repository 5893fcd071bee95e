"""Rulesets: the shipped ones say what the booklets say, and a file with anything amiss in it is refused in words.

Also that two rulesets have the same fingerprint exactly if they play alike, and that the engine asks for rules and
never for an edition by its name.
"""

import ast
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import arena.rules
from arena.rules.ruleset import (
    DEFAULT_RULESET,
    Chase,
    NoMove,
    Ruleset,
    RulesetError,
    load_ruleset,
    parse_ruleset,
    ruleset_names,
)
from protocol.notation import Color, Rank

FILE = """\
title = "A small game"
source = "this test"

[army]
F = 1
B = 2
3 = 1
M = 1

[rules]
starts = "red"
two_squares = 3
chase = "isf"
no_move = "at-once"

[caps]
plies = 2000
quiet_plies = 200
"""


def _parse(text: str) -> Ruleset:
    return parse_ruleset("small", text, "small.toml")


def _with(old: str, new: str) -> str:
    """The file with one line changed; the line must be there."""
    assert FILE.count(old) == 1, f"{old!r} is not there exactly once"
    return FILE.replace(old, new)


def _refusal(text: str) -> str:
    with pytest.raises(RulesetError) as caught:
        _parse(text)
    return str(caught.value)


# --- the shipped rulesets -------------------------------------------------------------------------------------------

ARMIES = {
    "isf": "F1 B6 S1 2x8 3x5 4x4 5x4 6x4 7x3 8x2 9x1 M1",
    "barrage": "F1 B1 S1 2x2 3x1 9x1 M1",
    "duel": "F1 B2 S1 2x2 3x2 9x1 M1",
}
SIZES = {"isf": 40, "barrage": 8, "duel": 10}


def test_the_shipped_rulesets_are_the_ones_listed() -> None:
    assert ruleset_names() == sorted(ARMIES)


@pytest.mark.parametrize("name", ARMIES)
def test_a_shipped_army_is_the_booklets_army(name: str) -> None:
    ruleset = load_ruleset(name)
    assert {(rank.letter, count) for rank, count in ruleset.army} == {
        (word[0], int(word[-1])) for word in ARMIES[name].split()
    }
    assert ruleset.army_size == SIZES[name]


@pytest.mark.parametrize("name", ARMIES)
def test_a_shipped_ruleset_plays_by_the_federations_rules(name: str) -> None:
    ruleset = load_ruleset(name)
    assert (ruleset.starts, ruleset.two_squares, ruleset.chase, ruleset.no_move) == (
        Color.RED,
        3,
        Chase.ISF,
        NoMove.AT_ONCE,
    )
    assert (ruleset.max_plies, ruleset.max_quiet_plies) == (2000, 200)


@pytest.mark.parametrize("name", ARMIES)
def test_a_shipped_ruleset_names_itself_and_its_source(name: str) -> None:
    ruleset = load_ruleset(name)
    assert ruleset.name == name
    assert ruleset.title
    assert ruleset.source


def test_only_an_army_of_forty_fills_the_rows() -> None:
    assert [name for name in ruleset_names() if load_ruleset(name).fills_rows] == ["isf"]


def test_the_default_is_the_tournament_game() -> None:
    assert load_ruleset() == load_ruleset("isf") == load_ruleset(DEFAULT_RULESET)


@pytest.mark.parametrize(("name", "meant"), [("isff", "isf"), ("barage", "barrage"), ("duell", "duel")])
def test_an_unknown_name_is_refused_with_the_nearest_one(name: str, meant: str) -> None:
    with pytest.raises(RulesetError) as caught:
        load_ruleset(name)
    assert str(caught.value) == f"unknown ruleset '{name}'; did you mean {meant}?"


def test_a_name_like_no_other_is_refused_with_all_there_are() -> None:
    with pytest.raises(RulesetError, match="unknown ruleset 'xyzzy'; known are barrage, duel, isf"):
        load_ruleset("xyzzy")


@pytest.mark.parametrize("name", ["", "../rulesets/isf", "isf.toml", "ISF"])
def test_a_name_is_not_a_path(name: str) -> None:
    with pytest.raises(RulesetError, match="unknown ruleset"):
        load_ruleset(name)


# --- a file ---------------------------------------------------------------------------------------------------------


def test_a_file_says_every_rule() -> None:
    ruleset = _parse(FILE)
    assert ruleset == Ruleset(
        name="small",
        title="A small game",
        source="this test",
        army=((Rank.FLAG, 1), (Rank.BOMB, 2), (Rank.MINER, 1), (Rank.MARSHAL, 1)),
        starts=Color.RED,
        two_squares=3,
        chase=Chase.ISF,
        no_move=NoMove.AT_ONCE,
        max_plies=2000,
        max_quiet_plies=200,
    )


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        ('starts = "red"', 'starts = "blue"', "starts", Color.BLUE),
        ("two_squares = 3", "two_squares = 5", "two_squares", 5),
        ("two_squares = 3", 'two_squares = "none"', "two_squares", None),
        ('chase = "isf"', 'chase = "free"', "chase", Chase.FREE),
        ('no_move = "at-once"', 'no_move = "on-turn"', "no_move", NoMove.ON_TURN),
        ("\nplies = 2000", '\nplies = "none"', "max_plies", None),
        ("\nplies = 2000", "\nplies = 1", "max_plies", 1),
        ("quiet_plies = 200", 'quiet_plies = "none"', "max_quiet_plies", None),
        ("quiet_plies = 200", "quiet_plies = 50", "max_quiet_plies", 50),
    ],
)
def test_each_rule_can_be_set_and_changes_nothing_else(old: str, new: str, field: str, value: object) -> None:
    changes: dict[str, Any] = {field: value}
    assert _parse(_with(old, new)) == replace(_parse(FILE), **changes)


def test_the_order_of_the_army_in_the_file_and_a_rank_counted_zero_make_no_difference() -> None:
    other = _with("F = 1\nB = 2\n", "B = 2\nS = 0\nF = 1\n")
    assert _parse(other) == _parse(FILE)


@pytest.mark.parametrize(
    ("old", "new", "where", "suggestion"),
    [
        ("title =", "tilte =", "small.toml", "the key 'title' is missing"),
        ('source = "this test"', 'source = "this test"\nsauce = 1', "small.toml", "unknown key 'sauce'"),
        ("[caps]", "[capers]\n[caps]", "small.toml", "unknown key 'capers'; did you mean caps"),
        ("two_squares = 3", "two_squares = 3\ntwo_square = 3", "[rules]", "unknown key 'two_square'; did you mean two"),
        (
            "quiet_plies = 200",
            "quiet_plies = 200\nquiet = 9",
            "[caps]",
            "unknown key 'quiet'; did you mean quiet_plies",
        ),
        ("M = 1", "M = 1\nm = 1", "[army]", "unknown key 'm'"),
        ("M = 1", "M = 1\n10 = 1", "[army]", "unknown key '10'"),
    ],
)
def test_an_unknown_key_at_any_level_is_named(old: str, new: str, where: str, suggestion: str) -> None:
    text = _refusal(_with(old, new))
    assert where in text
    assert suggestion in text


@pytest.mark.parametrize(
    ("line", "key", "where"),
    [
        ('title = "A small game"\n', "title", "small.toml: the"),
        ('source = "this test"\n', "source", "small.toml: the"),
        ('starts = "red"\n', "starts", "[rules]"),
        ("two_squares = 3\n", "two_squares", "[rules]"),
        ('chase = "isf"\n', "chase", "[rules]"),
        ('no_move = "at-once"\n', "no_move", "[rules]"),
        ("\nplies = 2000", "plies", "[caps]"),
        ("quiet_plies = 200\n", "quiet_plies", "[caps]"),
        ("[army]\nF = 1\nB = 2\n3 = 1\nM = 1\n", "army", "small.toml: the"),
        ("\n[caps]\nplies = 2000\nquiet_plies = 200\n", "caps", "small.toml: the"),
    ],
)
def test_a_missing_key_is_named_and_nothing_is_assumed_for_it(line: str, key: str, where: str) -> None:
    text = _refusal(_with(line, ""))
    assert f"the key '{key}' is missing" in text
    assert where in text


def test_a_missing_table_of_rules_is_named() -> None:
    assert "the key 'rules' is missing" in _refusal(FILE.replace("[rules]", "[rulez]"))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('title = "A small game"', "title = 7", "title: expected a text, got 7"),
        ('title = "A small game"', 'title = ""', "title: expected a text, got ''"),
        ('source = "this test"', 'source = ["this", "test"]', "source: expected a text, got ['this', 'test']"),
        ('starts = "red"', 'starts = "green"', 'starts: expected one of "red", "blue", got \'green\''),
        ('starts = "red"', "starts = 0", 'starts: expected one of "red", "blue", got 0'),
        ('starts = "red"', 'starts = ["red"]', 'starts: expected one of "red", "blue", got [\'red\']'),
        ("two_squares = 3", "two_squares = 0", 'two_squares: expected a whole number from 1 up, or "none", got 0'),
        ("two_squares = 3", "two_squares = 3.0", "two_squares: expected a whole number from 1 up"),
        ("two_squares = 3", "two_squares = true", "two_squares: expected a whole number from 1 up"),
        ("two_squares = 3", 'two_squares = "3"', "two_squares: expected a whole number from 1 up"),
        ('chase = "isf"', 'chase = "ISF"', 'chase: expected one of "free", "isf", got \'ISF\''),
        ('no_move = "at-once"', "no_move = false", 'no_move: expected one of "at-once", "on-turn", got False'),
        ("\nplies = 2000", "\nplies = 0", "plies: expected a whole number from 1 up"),
        ("\nplies = 2000", "\nplies = -1", "plies: expected a whole number from 1 up"),
        ("quiet_plies = 200", "quiet_plies = inf", "quiet_plies: expected a whole number from 1 up"),
        ("B = 2", "B = -1", "[army]: B: expected a whole number from 0 up"),
        ("B = 2", "B = 1.5", "[army]: B: expected a whole number from 0 up"),
        ("B = 2", 'B = "two"', "[army]: B: expected a whole number from 0 up"),
        ("[army]\nF = 1\nB = 2\n3 = 1\nM = 1\n", 'army = "all of it"\n', "army: expected a table, got 'all of it'"),
        ("[caps]\nplies = 2000\nquiet_plies = 200\n", "[[caps]]\nplies = 2000\n", "caps: expected a table"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_what_was_expected(old: str, new: str, complaint: str) -> None:
    text = _refusal(_with(old, new))
    assert complaint in text
    assert text.startswith("small.toml: ")


@pytest.mark.parametrize(
    ("army", "complaint"),
    [
        ("B = 2\nM = 1", "expected exactly one flag"),
        ("F = 0\nM = 1", "expected exactly one flag"),
        ("F = 2\nM = 1", "expected exactly one flag"),
        ("F = 1\nB = 6\n2 = 34", "expected at most 40 pieces, got 41"),
        ("F = 1\nB = 6", "expected at least one piece that can move"),
        ("F = 1", "expected at least one piece that can move"),
    ],
)
def test_an_army_that_cannot_be_played_with_is_refused(army: str, complaint: str) -> None:
    text = _refusal(_with("F = 1\nB = 2\n3 = 1\nM = 1", army))
    assert text.startswith("small.toml: [army]: ")
    assert complaint in text


def test_an_army_of_exactly_forty_is_allowed() -> None:
    assert _parse(_with("F = 1\nB = 2\n3 = 1\nM = 1", "F = 1\nB = 6\n2 = 33")).fills_rows


@pytest.mark.parametrize("text", ["title = ", "title = 'a'\ntitle = 'b'", "[army", "\x00"])
def test_a_file_that_is_not_toml_is_refused(text: str) -> None:
    assert _refusal(text).startswith("small.toml: not valid TOML: ")


# --- the fingerprint ------------------------------------------------------------------------------------------------

WORDS: dict[str, Any] = {"name": "other", "title": "Another title", "source": "another booklet"}
OTHERWISE: dict[str, Any] = {
    "army": ((Rank.FLAG, 1), (Rank.MARSHAL, 1)),
    "starts": Color.BLUE,
    "two_squares": 5,
    "chase": Chase.FREE,
    "no_move": NoMove.ON_TURN,
    "max_plies": 1999,
    "max_quiet_plies": 201,
}


def test_the_fingerprint_depends_on_every_field_but_the_words() -> None:
    """A new field must be put in one of the two lists, and into the fingerprint if it is a rule."""
    assert {field.name for field in fields(Ruleset)} == set(WORDS) | set(OTHERWISE)
    ruleset = load_ruleset("isf")
    assert {field for field in OTHERWISE if getattr(ruleset, field) == OTHERWISE[field]} == set()


@pytest.mark.parametrize("field", WORDS)
def test_rulesets_that_play_alike_have_the_same_fingerprint(field: str) -> None:
    ruleset = load_ruleset("isf")
    assert replace(ruleset, **{field: WORDS[field]}).digest() == ruleset.digest()


@pytest.mark.parametrize("field", OTHERWISE)
def test_rulesets_that_differ_in_any_rule_have_different_fingerprints(field: str) -> None:
    ruleset = load_ruleset("isf")
    assert replace(ruleset, **{field: OTHERWISE[field]}).digest() != ruleset.digest()


@pytest.mark.parametrize("field", ["two_squares", "max_plies", "max_quiet_plies"])
def test_no_limit_is_not_taken_for_some_limit(field: str) -> None:
    ruleset = load_ruleset("isf")
    without: dict[str, Any] = {field: None}
    assert replace(ruleset, **without).digest() != ruleset.digest()


def test_the_shipped_rulesets_have_different_fingerprints() -> None:
    assert len({load_ruleset(name).digest() for name in ruleset_names()}) == len(ruleset_names())


def test_the_rules_in_words_are_all_there_with_the_army_first() -> None:
    assert load_ruleset("barrage").lines() == [
        ("army", "F:1 B:1 S:1 2:2 3:1 9:1 M:1"),
        ("starts", "red"),
        ("two-squares", "3"),
        ("chase", "isf"),
        ("no-move", "at-once"),
        ("max-plies", "2000"),
        ("max-quiet-plies", "200"),
    ]


def test_no_limit_is_written_as_none() -> None:
    free = replace(load_ruleset("barrage"), two_squares=None, max_plies=None, max_quiet_plies=None)
    words = dict(free.lines())
    assert (words["two-squares"], words["max-plies"], words["max-quiet-plies"]) == ("none", "none", "none")


# --- no edition by name ---------------------------------------------------------------------------------------------


def _editions_named(source: str, editions: set[str]) -> Iterator[tuple[int, str]]:
    """Where code has an edition's name as a text, with the line.

    Two places may: the default's name, and the word by which an enum calls a choice (a rule may be called after those
    who wrote it).
    """
    tree = ast.parse(source)
    allowed: set[ast.expr] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DEFAULT_RULESET":
            allowed.add(node.value)
        elif isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            allowed.update(item.value for item in node.body if isinstance(item, ast.Assign))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in editions and node not in allowed:
            yield node.lineno, str(node.value)


MODULES = sorted(Path(folder) / path.name for folder in arena.rules.__path__ for path in Path(folder).glob("*.py"))


def test_there_are_engine_modules_to_look_at() -> None:
    assert {"game.py", "repetition.py", "deploy.py", "combat.py"} <= {path.name for path in MODULES}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_engine_knows_no_edition_by_name(module: Path) -> None:
    assert list(_editions_named(module.read_text(encoding="utf-8"), set(ruleset_names()))) == []


def test_an_edition_named_in_code_would_be_found() -> None:
    source = 'DEFAULT_RULESET = "isf"\nif ruleset.name == "duel":\n    """barrage and isf"""\n    limit = 5\n'
    assert list(_editions_named(source, set(ruleset_names()))) == [(2, "duel")]
