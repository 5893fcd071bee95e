"""Rulesets: the shipped ones say what the booklets say, and a file with anything amiss in it is refused in words.

Also that two rulesets have the same fingerprint exactly if they play alike.
"""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from arena.stratego.rules.ruleset import (
    Attacks,
    Bombs,
    Captains,
    Chase,
    Defence,
    EqualRanks,
    FixedPieces,
    Flag,
    NoMove,
    Ruleset,
    RulesetError,
    Scouts,
    Spy,
    Starts,
)
from arena.stratego.rules.rulesets import (
    DEFAULT_RULESET,
    load_ruleset,
    parse_ruleset,
    ruleset_names,
    switch_names,
    switch_title,
)
from protocol.notation import Rank

FILE = """\
title = "A small game"
source = "this test"

[army]
F = 1
B = 2
3 = 1
6 = 1
M = 1

[rules]
starts = "red"
two_squares = 3
chase = "isf"
no_move = "at-once"
needs_attacker = false
rescues = 0
max_plies = 1000
max_quiet_plies = 100

[notes]
chase = "as seen on television"
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


def _load_refusal(text: str) -> str:
    with pytest.raises(RulesetError) as caught:
        load_ruleset(text)
    return str(caught.value)


# --- the shipped rulesets -------------------------------------------------------------------------------------------

ORIGINAL = "F1 B6 S1 2x8 3x5 4x4 5x4 6x4 7x3 8x2 9x1 M1"
BARRAGE = "F1 B1 S1 2x2 3x1 9x1 M1"
DUEL = "F1 B2 S1 2x2 3x2 9x1 M1"
ARMIES = {
    "barrage": BARRAGE,
    "duel": DUEL,
    "isf": ORIGINAL,
    "jumbo-09495/duel": DUEL,
    "jumbo-09495/original": ORIGINAL,
    "jumbo-494": ORIGINAL,
    "jumbo-81320/duel": DUEL,
    "jumbo-81320/infiltrator": "F1 B6 S1 2x7 3x5 4x4 5x4 6x4 7x3 8x2 9x1 M1 I1",
    "jumbo-81320/original": ORIGINAL,
    "lattaque": ORIGINAL,
    "milton-bradley": ORIGINAL,
    "original-2000": ORIGINAL,
    "tek": ORIGINAL,
    "travel/duel": DUEL,
    "travel/original": ORIGINAL,
    "ucc-2012": ORIGINAL,
    "vintage/barrage": BARRAGE,
    "vintage/duel": DUEL,
    "vintage/lightning": "F1 B2 S1 2x4 3x2 4x2 5x2 6x2 7x1 8x1 9x1 M1",
    "vintage/original": ORIGINAL,
}
SIZES = {ORIGINAL: 40, BARRAGE: 8, DUEL: 10}

TOURNAMENT: dict[str, Any] = {"two_squares": 3, "chase": Chase.ISF, "no_move": NoMove.AT_ONCE}
PLAIN: dict[str, Any] = {"two_squares": 3, "chase": Chase.BOOKLET}
VINTAGE: dict[str, Any] = {
    **PLAIN,
    "no_move": NoMove.AT_ONCE,
    "needs_attacker": True,
    "scouts": Scouts.ANNOUNCED,
}
RULES: dict[str, dict[str, Any]] = {
    "barrage": TOURNAMENT,
    "duel": TOURNAMENT,
    "isf": TOURNAMENT,
    "jumbo-09495/duel": {**PLAIN, "fixed_pieces": FixedPieces.LOSES},
    "jumbo-09495/original": {**PLAIN, "fixed_pieces": FixedPieces.LOSES},
    "jumbo-494": {"two_squares": 5},
    "jumbo-81320/duel": PLAIN,
    "jumbo-81320/infiltrator": {**PLAIN, "infiltration": True},
    "jumbo-81320/original": PLAIN,
    "lattaque": {"attacks": Attacks.FACING},
    "milton-bradley": {"starts": Starts.CHOSEN},
    "original-2000": {"two_squares": 5, "no_move": NoMove.AT_ONCE},
    "tek": {"spy": Spy.DIAGONAL},
    "travel/duel": PLAIN,
    "travel/original": PLAIN,
    "ucc-2012": {"needs_attacker": True, "max_plies": 9998, "max_quiet_plies": None},
    "vintage/barrage": VINTAGE,
    "vintage/duel": VINTAGE,
    "vintage/lightning": {**VINTAGE, "captains": Captains.TWO_STEPS},
    "vintage/original": VINTAGE,
}
"""What each ruleset has beyond the rules common to all booklets."""

COMMON: dict[str, Any] = {
    "starts": Starts.RED,
    "two_squares": None,
    "chase": Chase.FREE,
    "no_move": NoMove.ON_TURN,
    "needs_attacker": False,
    "equal_ranks": EqualRanks.BOTH_LEAVE,
    "bombs": Bombs.FIXED,
    "flag": Flag.FIXED,
    "fixed_pieces": FixedPieces.ILLEGAL,
    "rescues": 0,
    "defence": Defence.NAMED,
    "scouts": Scouts.SEEN,
    "captains": Captains.ONE_STEP,
    "infiltration": False,
    "spy": Spy.STRAIGHT,
    "attacks": Attacks.ALL_SIDES,
    "max_plies": 2000,
    "max_quiet_plies": 200,
}


def test_the_shipped_rulesets_are_the_ones_listed() -> None:
    assert ruleset_names() == sorted(ARMIES) == sorted(RULES)


@pytest.mark.parametrize("name", ARMIES)
def test_a_shipped_army_is_the_booklets_army(name: str) -> None:
    ruleset = load_ruleset(name)
    assert {(rank.letter, count) for rank, count in ruleset.army} == {
        (word[0], int(word[-1])) for word in ARMIES[name].split()
    }
    assert ruleset.army_size == SIZES.get(ARMIES[name], 20 if "lightning" in name else 40)


@pytest.mark.parametrize("name", RULES)
def test_a_shipped_ruleset_has_its_booklets_rules_and_otherwise_those_common_to_all(name: str) -> None:
    ruleset = load_ruleset(name)
    assert {key: getattr(ruleset, key) for key in COMMON} == COMMON | RULES[name]
    assert (ruleset.name, bool(ruleset.title), bool(ruleset.source)) == (name, True, True)
    notes = dict(ruleset.notes)
    assert {"army", "max_plies", "max_quiet_plies", *RULES[name]} <= set(notes), "each choice names its source"
    assert all(notes.values())


def test_the_default_is_the_tournament_game() -> None:
    assert load_ruleset() == load_ruleset("isf") == load_ruleset(DEFAULT_RULESET)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("isff", "isf"),
        ("vintage/lightening", "vintage/lightning"),
        ("vintage", "vintage/barrage or vintage/duel or vintage/lightning or vintage/original?"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name: str, meant: str) -> None:
    text = _load_refusal(name)
    assert text.startswith(f"unknown ruleset '{name}'; did you mean {meant}")


def test_a_name_like_no_other_is_refused_with_all_there_are() -> None:
    assert _load_refusal("xyzzy") == f"unknown ruleset 'xyzzy'; known are {', '.join(ruleset_names())}"


@pytest.mark.parametrize("name", ["", "../rulesets/isf", "vintage/"])
def test_a_name_is_not_a_path(name: str) -> None:
    assert f"unknown ruleset {name!r}" in _load_refusal(name)


# --- switches -------------------------------------------------------------------------------------------------------

SWITCHES: dict[str, dict[str, Any]] = {
    "attackers-advantage": {"equal_ranks": EqualRanks.ATTACKER},
    "exploding-bombs": {"bombs": Bombs.EXPLODING},
    "mobile-bombs": {"bombs": Bombs.MOBILE},
    "mobile-flag": {"flag": Flag.MOBILE},
    "rescue": {"rescues": 2},
    "silent-defence": {"defence": Defence.SILENT},
    "diagonal-spy": {"spy": Spy.DIAGONAL},
    "facing-attacks": {"attacks": Attacks.FACING},
    "lightning-captains": {"captains": Captains.TWO_STEPS},
    "infiltration": {"infiltration": True},
}


def test_the_switches_are_the_ones_listed() -> None:
    assert sorted(switch_names()) == sorted(SWITCHES)


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_sets_its_rule_and_nothing_else_and_says_where_it_is_from(switch: str) -> None:
    base = "jumbo-81320/infiltrator" if switch == "infiltration" else "isf"
    plain = replace(load_ruleset(base), infiltration=False)
    switched = load_ruleset(f"{base}+{switch}")
    assert {field.name for field in fields(Ruleset) if getattr(switched, field.name) != getattr(plain, field.name)} == {
        "name",
        "notes",
        *SWITCHES[switch],
    }
    assert switched.name == f"{base}+{switch}"
    for rule, value in SWITCHES[switch].items():
        assert getattr(switched, rule) == value
        assert dict(switched.notes)[rule].startswith(f"+{switch}: ")
    assert switch_title(switch).endswith(")")


def test_switches_combine_in_any_order() -> None:
    one = load_ruleset("vintage/barrage+rescue+silent-defence+mobile-flag")
    other = load_ruleset("vintage/barrage+mobile-flag+rescue+silent-defence")
    assert one.digest() == other.digest()
    assert (one.rescues, one.defence, one.flag) == (2, Defence.SILENT, Flag.MOBILE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("isf+rescu", "unknown switch +rescu; did you mean rescue?"),
        ("isf+", "unknown switch +; known are attackers-advantage, "),
        ("isf+rescue+rescue", "+rescue twice: both decide rescues, and only one can"),
        ("isf+exploding-bombs+mobile-bombs", "+exploding-bombs and +mobile-bombs: both decide bombs, and only one can"),
        ("isf+diagonal-spy+facing-attacks", "a spy that attacks diagonally and attacks along files only contradict"),
        ("duel+diagonal-spy", "+diagonal-spy is a rule for the army F:1 B:6 S:1 2:8"),
        ("duel+lightning-captains", "captains that move two squares need a captain in the army (6 = 1 or more)"),
        ("isf+infiltration", "infiltration needs an infiltrator in the army (I = 1 or more)"),
    ],
)
def test_switches_that_make_no_sense_are_refused_in_words(text: str, words: str) -> None:
    assert words in _load_refusal(text)


# --- a file ---------------------------------------------------------------------------------------------------------


def test_a_file_says_every_rule() -> None:
    ruleset = _parse(FILE)
    assert ruleset == Ruleset(
        name="small",
        title="A small game",
        source="this test",
        army=((Rank.FLAG, 1), (Rank.BOMB, 2), (Rank.MINER, 1), (Rank.CAPTAIN, 1), (Rank.MARSHAL, 1)),
        starts=Starts.RED,
        two_squares=3,
        chase=Chase.ISF,
        no_move=NoMove.AT_ONCE,
        needs_attacker=False,
        rescues=0,
        max_plies=1000,
        max_quiet_plies=100,
        notes=(("chase", "as seen on television"),),
    )


def test_a_rule_that_a_file_leaves_out_is_the_one_that_all_booklets_have_in_common() -> None:
    ruleset = _parse(FILE[: FILE.index("[rules]")])
    assert {key: getattr(ruleset, key) for key in COMMON} == COMMON
    assert ruleset.notes == ()


def test_the_order_of_the_army_in_the_file_and_a_rank_counted_zero_make_no_difference() -> None:
    other = _with("F = 1\nB = 2\n", "B = 2\nS = 0\nF = 1\n")
    assert _parse(other) == _parse(FILE)


def test_a_file_may_extend_a_shipped_ruleset_and_say_only_what_differs() -> None:
    base = load_ruleset("vintage/lightning")
    ruleset = _parse('extends = "vintage/lightning"\ntitle = "t"\nsource = "s"\n[rules]\ntwo_squares = 5\n')
    notes = tuple((key, note) for key, note in base.notes if key != "two_squares")  # which is about three
    assert ruleset == replace(base, name="small", title="t", source="s", two_squares=5, notes=notes)


@pytest.mark.parametrize(
    "line", ["max_plies = 500", "max-plies = 500", "rules.max_plies = 500", "rules.max-plies = 500"]
)
def test_to_change_one_rule_a_file_needs_what_it_extends_and_that_rule(line: str) -> None:
    base = load_ruleset("isf")
    ruleset = _parse(f'extends = "isf"\n{line}\n')
    assert (ruleset.max_plies, ruleset.source) == (500, base.source)
    assert ruleset.title == f"{base.title}, as small.toml changes it"
    assert replace(ruleset, max_plies=base.max_plies).digest() == base.digest()
    assert "max_plies" not in dict(ruleset.notes)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("max_plies = 5\n[rules]\nmax_plies = 5", "max_plies is in [rules] and at the top; expected one of them"),
        ("max-plies = 5\nmax_plies = 5", "max_plies and max-plies are the same rule; expected one of them"),
        ("rules.max-plies = 5\nrules.max_plies = 5", "[rules]: max_plies and max-plies are the same rule"),
        ("max-plies = 0", 'small.toml: max_plies: expected a whole number from 1 to 1000000, or "none", got 0'),
        ("max-ply = 5", "unknown key 'max-ply'; did you mean max_plies"),
        ("ex-tends = 5", "unknown key 'ex-tends'; did you mean extends?"),
    ],
)
def test_a_rule_stands_in_one_place_and_in_one_spelling(lines: str, complaint: str) -> None:
    assert complaint in _refusal(f'extends = "isf"\n{lines}\n')


def test_a_file_that_extends_another_may_have_an_army_of_its_own_and_notes_of_its_own() -> None:
    text = 'extends = "isf"\ntitle = "t"\nsource = "s"\n[army]\nF = 1\n2 = 3\n[notes]\narmy = "mine"\n'
    ruleset = _parse(text)
    assert ruleset.army == ((Rank.FLAG, 1), (Rank.SCOUT, 3))
    assert dict(ruleset.notes) == {**dict(load_ruleset("isf").notes), "army": "mine"}


@pytest.mark.parametrize("base", ["isff", "isf+rescue", "../isf"])
def test_a_file_can_extend_shipped_rulesets_only(base: str) -> None:
    text = _refusal(f'extends = "{base}"\ntitle = "t"\nsource = "s"\n')
    assert text.startswith("small.toml: extends: ")
    assert f"unknown ruleset {base!r}" in text


def test_a_file_is_loaded_by_its_path_and_takes_switches(tmp_path: Path) -> None:
    path = tmp_path / "my-game_2.toml"
    path.write_text(FILE)
    ruleset = load_ruleset(f"{path}+rescue+lightning-captains")
    changed = replace(_parse(FILE), rescues=2, captains=Captains.TWO_STEPS)
    assert ruleset.digest() == changed.digest()
    assert ruleset.name == "my-game_2+rescue+lightning-captains"


def test_the_folder_of_a_file_may_have_a_plus_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "c++" / "small.toml"
    path.parent.mkdir()
    path.write_text(FILE)
    assert load_ruleset(str(path)).name == "small"
    assert load_ruleset(f"{path}+rescue").name == "small+rescue"
    path.unlink()
    assert f"{path}: cannot be read: No such file" in _load_refusal(f"{path}+rescue")


def test_a_file_that_cannot_be_read_or_has_a_name_that_cannot_be_told_is_refused(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in _load_refusal(str(tmp_path / "none.toml"))
    (tmp_path / "latin.toml").write_bytes(b'title = "caf\xe9"')
    assert "not valid TOML: it is not UTF-8" in _load_refusal(str(tmp_path / "latin.toml"))
    for name in ("my game.toml", "caf\u00e9.toml", ".toml"):
        (tmp_path / name).write_text(FILE)
        assert "expected a name of letters, digits" in _load_refusal(str(tmp_path / name))


@pytest.mark.parametrize(
    ("old", "new", "where", "suggestion"),
    [
        ("title =", "tilte =", "small.toml", "unknown key 'tilte'; did you mean title"),
        ("two_squares = 3", "two_squares = 3\ntwo_square = 3", "[rules]", "unknown key 'two_square'; did you mean two"),
        ("rescues = 0", 'rescues = 0\narmy = "F:1"', "[rules]", "unknown key 'army'"),
        ("M = 1", "M = 1\nm = 1", "[army]", "unknown key 'm'"),
        ('chase = "as seen', 'case = "as seen', "[notes]", "unknown key 'case'; did you mean chase"),
    ],
)
def test_an_unknown_key_at_any_level_is_named(old: str, new: str, where: str, suggestion: str) -> None:
    text = _refusal(_with(old, new))
    assert where in text
    assert suggestion in text


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('title = "A small game"\n', "title"),
        ('source = "this test"\n', "source"),
        ("[army]\nF = 1\nB = 2\n3 = 1\n6 = 1\nM = 1\n", "army"),
    ],
)
def test_a_missing_key_that_no_default_can_stand_for_is_named(line: str, key: str) -> None:
    text = _refusal(_with(line, ""))
    assert f"small.toml: the key '{key}' is missing" in text


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('title = "A small game"', "title = 7", "title: expected a string that is not empty, got 7"),
        ('starts = "red"', 'starts = "green"', 'starts: expected one of "red", "blue", "chosen", got \'green\''),
        (
            "two_squares = 3",
            "two_squares = 0",
            'two_squares: expected a whole number from 1 to 1000000, or "none", got 0',
        ),
        ("needs_attacker = false", "needs_attacker = 0", "needs_attacker: expected true or false, got 0"),
        ("rescues = 0", "rescues = -1", "rescues: expected a whole number from 0 to 1000000, got -1"),
        ("B = 2", "B = -1", "[army]: B: expected a whole number from 0 to 1000000"),
        (
            "[army]\nF = 1\nB = 2\n3 = 1\n6 = 1\nM = 1\n",
            'army = "all of it"\n',
            "army: expected a table, got 'all of it'",
        ),
        ('chase = "as seen on television"', "chase = 7", "[notes]: chase: expected a string that is not empty, got 7"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_what_was_expected(old: str, new: str, complaint: str) -> None:
    text = _refusal(_with(old, new))
    assert complaint in text
    assert text.startswith("small.toml: ")


@pytest.mark.parametrize(
    ("army", "complaint"),
    [
        ("", "expected exactly one flag, F = 1, got 0"),
        ("F = 2\nM = 1", "expected exactly one flag, F = 1, got 2"),
        ("F = 1\nB = 6\n2 = 34", "expected at most 40 pieces, got 41"),
        ("F = 1\nB = 6", "expected at least one piece that can move, got 'F:1 B:6'"),
    ],
)
def test_an_army_that_cannot_be_played_with_is_refused(army: str, complaint: str) -> None:
    text = _refusal(_with("F = 1\nB = 2\n3 = 1\n6 = 1\nM = 1", army))
    assert text.startswith("small.toml: army: ")
    assert complaint in text


def test_what_can_move_counts_by_the_rules_in_force() -> None:
    """Where bombs walk, flag and bombs are an army."""
    army = _with("F = 1\nB = 2\n3 = 1\n6 = 1\nM = 1", "F = 1\nB = 2")
    assert _parse(army.replace("rescues = 0", 'bombs = "mobile"')).army_size == 3
    assert _parse(army.replace("rescues = 0", 'flag = "mobile"')).army_size == 3


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("infiltration = true", "infiltration needs an infiltrator in the army (I = 1 or more)"),
        ('spy = "diagonal"', "a spy that attacks diagonally needs a spy in the army (S = 1 or more)"),
        ('spy = "diagonal"\nattacks = "facing"', "contradict each other"),
    ],
)
def test_rules_that_contradict_the_army_or_each_other_are_refused(line: str, complaint: str) -> None:
    text = _refusal(_with("rescues = 0", line))
    assert text.startswith("small.toml: ")
    assert complaint in text


@pytest.mark.parametrize("text", ["title = ", "\x00"])
def test_a_file_that_is_not_toml_is_refused(text: str) -> None:
    assert _refusal(text).startswith("small.toml: not valid TOML: ")


# --- the fingerprint ------------------------------------------------------------------------------------------------

WORDS: dict[str, Any] = {
    "name": "other",
    "title": "Another title",
    "source": "another booklet",
    "notes": (("army", "another page"),),
}
BASE = load_ruleset("jumbo-81320/infiltrator")
OTHERWISE: dict[str, Any] = {
    "army": ((Rank.FLAG, 1), (Rank.MARSHAL, 1), (Rank.INFILTRATOR, 1)),
    "starts": Starts.BLUE,
    "two_squares": 5,
    "chase": Chase.FREE,
    "no_move": NoMove.AT_ONCE,
    "needs_attacker": True,
    "equal_ranks": EqualRanks.ATTACKER,
    "bombs": Bombs.EXPLODING,
    "flag": Flag.MOBILE,
    "fixed_pieces": FixedPieces.LOSES,
    "rescues": 1,
    "defence": Defence.SILENT,
    "scouts": Scouts.ANNOUNCED,
    "captains": Captains.TWO_STEPS,
    "infiltration": False,
    "spy": Spy.DIAGONAL,
    "attacks": Attacks.FACING,
    "max_plies": 1999,
    "max_quiet_plies": 201,
}


def test_the_fingerprint_depends_on_every_field_but_the_words() -> None:
    """A new field must be put in one of the two lists, and into the fingerprint if it is a rule."""
    assert {field.name for field in fields(Ruleset)} == set(WORDS) | set(OTHERWISE)
    assert {field for field in OTHERWISE if getattr(BASE, field) == OTHERWISE[field]} == set()


@pytest.mark.parametrize("field", WORDS)
def test_rulesets_that_play_alike_have_the_same_fingerprint(field: str) -> None:
    assert replace(BASE, **{field: WORDS[field]}).digest() == BASE.digest()


@pytest.mark.parametrize("field", OTHERWISE)
def test_rulesets_that_differ_in_any_rule_have_different_fingerprints(field: str) -> None:
    assert replace(BASE, **{field: OTHERWISE[field]}).digest() != BASE.digest()


@pytest.mark.parametrize("field", ["two_squares", "max_plies", "max_quiet_plies"])
def test_no_limit_is_not_taken_for_some_limit(field: str) -> None:
    without: dict[str, Any] = {field: None}
    assert replace(BASE, **without).digest() != BASE.digest()


def test_shipped_rulesets_have_the_same_fingerprint_exactly_if_they_have_the_same_army_and_rules() -> None:
    """Two boxes may hold the same game: 81320 and Travel do."""
    alike = {frozenset([*ARMIES[name].split(), *RULES[name].items()]) for name in ruleset_names()}
    assert len({load_ruleset(name).digest() for name in ruleset_names()}) == len(alike)
    assert load_ruleset("travel/duel").digest() == load_ruleset("jumbo-81320/duel").digest()
