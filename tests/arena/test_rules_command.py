"""`arena rules`, and what pieces are called and numbered: the rules in plain words, and games told in them."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from scripted import game_spec, record_without_referee

from arena.cli.main import cli
from arena.game.faults import GameResult, Verdict
from arena.game.record import GameRecord
from arena.league.store import Store
from arena.report.game_text import GameStyle, game_text
from arena.report.shown import SeenBy
from arena.stratego.rules.ruleset import RULE_KEYS, Ruleset
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names, switch_names
from arena.stratego.shown.piece_names import Names, PieceLanguage
from arena.stratego.shown.rules_text import COMMON_SOURCE, NO_SOURCE, RuleLine, differing_keys, rule_lines, split_note
from protocol.notation import Rank, Reason

FITTING = {"infiltration": "jumbo-81320/infiltrator"}
"""A ruleset for each switch that does not fit the original army."""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["rules", *arguments])


def page(*arguments: str) -> str:
    """What the command prints, with its lines joined: where a line breaks is not what is claimed."""
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def document(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def line_of(ruleset: Ruleset, rule: str) -> RuleLine:
    return next(line for line in rule_lines(ruleset) if line.rule == rule)


def test_without_a_name_every_ruleset_is_listed_with_its_title_and_army() -> None:
    lines = run().stdout.splitlines()
    for name in ruleset_names():
        ruleset = load_ruleset(name)
        assert any(line.split()[:2] == [name, str(ruleset.army_size)] and ruleset.title in line for line in lines)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("isf", "A piece may cross the same border at most 3 times in a row."),
        ("jumbo-494", "A side that cannot move when it is its turn has lost."),
        ("vintage/original", "Who moves a scout more than one square must say that it is one."),
        ("vintage/lightning", "A captain moves one or two squares and may turn after the first"),
        ("jumbo-09495/duel", "A side that moves a piece that never moves has lost the game at once."),
        ("jumbo-81320/infiltrator", "may point at an enemy piece one or two squares away"),
        ("isf+exploding-bombs", "The bomb never moves. A piece that attacks it leaves the board with it"),
        ("isf+rescue", "A side may do so for 2 pieces, a piece once; a scout may not."),
        ("isf+silent-defence", "the defender stays silent, unless it is a scout that attacks."),
        ("isf", "After 2,000 moves, both sides' moves counted, the game is a draw."),
    ],
)
def test_a_rule_is_said_in_a_sentence(name: str, sentence: str) -> None:
    assert sentence in page(name)


@pytest.mark.parametrize("name", ruleset_names())
def test_every_rule_has_a_sentence(name: str) -> None:
    """All but infiltration, which says nothing where there is no infiltrator."""
    ruleset = load_ruleset(name)
    said = {line.rule for line in rule_lines(ruleset)}
    wanted = {key.replace("_", "-") for key in RULE_KEYS}
    assert wanted - said == (set() if Rank.INFILTRATOR in dict(ruleset.army) else {"infiltration"})


@pytest.mark.parametrize("name", ruleset_names())
def test_what_differs_from_the_common_rules_is_marked_and_has_a_source(name: str) -> None:
    ruleset = load_ruleset(name)
    differing = {key.replace("_", "-") for key in differing_keys(ruleset)}
    assert {line.rule for line in rule_lines(ruleset) if line.differs} == differing
    for line in rule_lines(ruleset):
        assert not line.differs or line.source not in (COMMON_SOURCE, NO_SOURCE), line


def test_the_mark_and_the_source_stand_with_the_rule_and_with_no_other() -> None:
    lines = run("jumbo-09495/original").stdout.splitlines()
    at = next(index for index, line in enumerate(lines) if "never moves has lost the game at once" in line)
    assert lines[at].startswith("  * ")
    assert lines[at + 1].strip().startswith("[09495, German text")
    assert "  - Red moves first." in lines


def test_a_reading_is_named_as_one() -> None:
    assert split_note("Vintage p. 17: three. Readings: one; two.") == ("Vintage p. 17: three.", "One; two.")
    assert split_note("Vintage p. 17: three.") == ("Vintage p. 17: three.", "")
    line = line_of(load_ruleset("travel/original"), "two-squares")
    assert line.reading.startswith("Three moves, as in its sister sets;")
    assert "Reading" not in line.source
    assert "[Reading: Three moves, as in its sister sets;" in page("travel/original")


@pytest.mark.parametrize(
    ("name", "rule", "reading"),
    [
        ("vintage/original", "two-squares", "Attacks count, and a scout crosses every border on its way"),
        ("vintage/original+mobile-bombs", "chase", "one that may not attack threatens too"),
    ],
)
def test_what_no_source_says_is_marked_as_a_reading(name: str, rule: str, reading: str) -> None:
    assert reading in line_of(load_ruleset(name), rule).reading


@pytest.mark.parametrize("switch", switch_names())
def test_a_switch_changes_what_is_said_and_is_named_as_its_source(switch: str) -> None:
    base = load_ruleset(FITTING.get(switch, "isf"))
    changed = load_ruleset(f"{base.name}+{switch}")
    new = [line for line in rule_lines(changed) if f"+{switch}: " in line.source]
    assert new
    assert all(line.differs and line.reading for line in new[:1])
    if switch not in FITTING:
        assert not {line.text for line in new} & {line.text for line in rule_lines(base)}


LONGEST = "isf+rescue+silent-defence+mobile-bombs+mobile-flag"


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *((name, "en") for name in ("", "jumbo-81320/infiltrator", "vintage/lightning")),
        (LONGEST, "nl"),
        (LONGEST, "fr"),
    ],
)
def test_pages_fit_80_columns_and_name_their_sources(name: str, language: str) -> None:
    done = run(*([name] if name else []), "--names", language)
    assert NO_SOURCE not in done.stdout
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_file_is_printed_like_a_ruleset_and_a_rule_without_a_note_says_so(tmp_path: Path) -> None:
    path = tmp_path / "club.toml"
    path.write_text('extends = "isf"\ntitle = "Our club"\nsource = "the club"\n[rules]\nflag = "mobile"\n')
    text = page(str(path))
    assert "Our club ruleset club; source: the club" in text
    assert "* The flag moves one square like any piece, but may not attack. [no source given]" in text


def test_json_has_the_lines_the_army_the_values_and_the_notes() -> None:
    ruleset = load_ruleset("vintage/lightning+rescue")
    value = document("vintage/lightning+rescue")
    assert value["name"] == "vintage/lightning+rescue"
    assert value["army_size"] == 20 == sum(entry["count"] for entry in value["army"])
    assert {entry["letter"]: entry["count"] for entry in value["army"]} == {
        rank.letter: count for rank, count in ruleset.army
    }
    assert value["values"] == dict(ruleset.lines())
    assert value["notes"]["rescues"].startswith("+rescue: Vintage p. 21")
    assert [line["text"] for line in value["rules"]] == [line.text for line in rule_lines(ruleset)]
    assert {"part", "rule", "text", "differs", "source", "reading"} == set(value["rules"][0])


def test_a_bad_name_is_an_error_with_suggestions() -> None:
    done = run("barage")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "did you mean barrage" in done.stderr


# --- names and numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "marshal", "scout", "spy"),
    [
        ("fr", "maréchal", "éclaireur", "espionne"),
        ("sv", "fältmarskalk", "spanare", "spion"),
        ("it", "maresciallo", "esploratore", "spia"),
    ],
)
def test_pieces_are_named_as_in_the_booklets(language: str, marshal: str, scout: str, spy: str) -> None:
    text = page("isf", "--names", language)
    names = Names(PieceLanguage(language))
    assert [names.name(rank) for rank in (Rank.MARSHAL, Rank.SCOUT, Rank.SPY)] == [marshal, scout, spy]
    assert f"The {spy} wins when it attacks the {marshal}." in text
    assert "scout" not in text.replace(scout, "").replace("Vintage", "")


def test_the_army_shows_american_numbers_beside_the_letters_that_files_use() -> None:
    rows = [line.split() for line in run("isf", "--ranks", "american").stdout.splitlines()]
    assert ["marshal", "1", "M", "1"] in rows
    assert ["scout", "9", "2", "8"] in rows
    assert ["spy", "-", "S", "1"] in rows
    assert "the lower number is the stronger rank" in page("isf", "--ranks", "american")
    assert ["marshal", "10", "M", "1"] in [line.split() for line in run("isf").stdout.splitlines()]


def record_of(ruleset: Ruleset, red: str, blue: str, actions: str) -> GameRecord:
    played = actions.split()
    verdict = Verdict(GameResult.RED, Reason.CRASH, len(played), "blue stopped running")
    return record_without_referee(game_spec(ruleset), verdict, (red, blue), played)


EMPTY_ROW = "." * 10
RED_ROWS = f"FBBS{EMPTY_ROW[4:]}/{EMPTY_ROW}/{EMPTY_ROW}/9M2233...."
BLUE_ROWS = f"FBBS{EMPTY_ROW[4:]}/{EMPTY_ROW}/{EMPTY_ROW}/M92233...."
OPENING = "a4-a5 a7-a6 a5-a6 b7-b6"
"""Red's general runs into Blue's marshal."""


def told(record: GameRecord, view: str, boards: bool = False) -> str:
    return "".join(game_text(1, record, GameStyle(view=SeenBy(view), boards=boards)))


def test_a_ply_says_what_of_its_time_was_not_charged_and_where_it_was_interrupted() -> None:
    record = record_of(load_ruleset("duel"), RED_ROWS, BLUE_ROWS, "a4-a5 a7-a6")
    record = msgspec.structs.replace(
        record, forgiven_us=(2340, 49), cpu_us=(500, 600), interrupted=((1, 1500), (1, 70_000))
    )
    text = told(record, "all")
    times = "[1.0 ms, 2.3 not charged, CPU 0.5, interrupted after 1.5 ms, interrupted after 70.0 ms]"
    assert f"ply 1: red a4-a5  {times}\n" in text
    assert "ply 2: blue a7-a6  [1.0 ms, CPU 0.6]\n" in text


def test_a_silent_defender_is_unknown_to_the_attacker_alone() -> None:
    record = record_of(load_ruleset("duel+silent-defence"), RED_ROWS, BLUE_ROWS, OPENING)
    assert "general attacks an unknown piece on a6, the defender wins" in told(record, "red")
    assert "marshal" not in told(record, "red").replace("as red knows it", "")
    for view in ("all", "blue"):
        assert "general attacks marshal on a6, the defender wins" in told(record, view)
    assert "bM" not in told(record, "red", boards=True)
    assert "bM" in told(record, "blue", boards=True)


def test_show_takes_both_options(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite", create=True) as store:
        store.add(record_of(load_ruleset("duel"), RED_ROWS, BLUE_ROWS, OPENING))
    shown = ["show", str(tmp_path / "s.sqlite"), "1"]
    plain = CliRunner().invoke(cli, shown).stdout
    other = CliRunner().invoke(cli, [*shown, "--ranks", "american", "--names", "nl"]).stdout
    assert " 4  r9 rM r2" in plain
    assert "general attacks marshal on a6" in plain
    assert " 4  r2 r1 r9" in other
    assert "generaal attacks maarschalk on a6" in other
    explicit = CliRunner().invoke(cli, [*shown, "--ranks", "european", "--names", "en"]).stdout
    assert explicit == plain


def test_a_rescue_is_told() -> None:
    """Red's miner takes a bomb on the back row and brings the general back."""
    red = f"FBBS{EMPTY_ROW[4:]}/{EMPTY_ROW}/{EMPTY_ROW}/9M22.3...3"
    blue = f"FB.S.....B/{EMPTY_ROW}/{EMPTY_ROW}/M92233...."
    actions = f"{OPENING} j4-j5 b6-b7 j5-j6 e7-e6 j6-j7 b7-b6 j7-j8 e6-e7 j8-j9 b6-b7 j9-j10+9c2"
    text = told(record_of(load_ruleset("duel+rescue"), red, blue, actions), "blue")
    assert "miner attacks bomb on j10, the attacker wins; a general comes back on c2" in text


def test_a_guess_is_told_right_or_wrong(tmp_path: Path) -> None:
    path = tmp_path / "spies.toml"
    path.write_text(
        'extends = "isf"\ntitle = "Spies"\nsource = "-"\n[army]\nF = 1\n3 = 2\nI = 1\n[rules]\ninfiltration = true\n'
    )
    red = f"F{EMPTY_ROW[1:]}/{EMPTY_ROW}/{EMPTY_ROW}/I.......33"
    blue = f"F........3/{EMPTY_ROW}/3........./.........I"
    actions = "a4-a5 j7-j6 a5-a6 j6-j5 a6-a7 j5-j6 a7?a8I j6-j7 a7?a83"
    text = told(record_of(load_ruleset(str(path)), red, blue, actions), "blue")
    assert "guesses an infiltrator on a8, which is wrong; shows itself as an infiltrator on a7" in text
    assert "guesses a miner on a8, which is right: it leaves the board; shows itself as an infiltrator on a7" in text
