"""The pages on the rules are true: they name every ruleset, switch and key, and their tables agree with the data."""

import re
from itertools import combinations
from pathlib import Path

from arena.stratego.rules.ruleset import CHOICES, MAY_BE_NONE, NUMBERS, RULE_KEYS, SWITCHES, Ruleset, RulesetError
from arena.stratego.rules.ruleset_file import TOP_KEYS
from arena.stratego.rules.rulesets import load_ruleset, ruleset_names, switch_names, switch_title
from arena.stratego.shown.rules_text import differing_keys
from protocol.notation import RANK_BY_LETTER

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EDITIONS = sorted((DOCS / "rules").glob("*.md"))


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a page as rows of cells, the heading first, backticks taken off."""
    found = []
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in block.splitlines()]
        found.append([rows[0], *rows[2:]])
    return found


def table(text: str, heading: str) -> list[list[str]]:
    """The rows, without the heading, of the first table whose heading begins so."""
    return next(rows[1:] for rows in tables(text) if rows[0][0] == heading)


ARMIES = {row[0]: row for row in table(text_of("rules.md"), "army")}


def value_of(ruleset: Ruleset, key: str) -> str:
    """A rule's value as a TOML file and the pages have it; the army by its name."""
    value = dict(ruleset.lines())[key.replace("_", "-")]
    if key == "army":
        return next(name for name, row in ARMIES.items() if army_of(row) == dict(ruleset.army))
    return {"yes": "true", "no": "false"}[value] if key in SWITCHES else value


def army_of(row: list[str]) -> dict[object, int]:
    letters = tables(text_of("rules.md"))[1][0][1:14]
    counts = zip(letters, row[1:14], strict=True)
    return {RANK_BY_LETTER[letter]: int(count) for letter, count in counts if count != "-"}


def test_the_tables_of_armies_add_up() -> None:
    for name, row in ARMIES.items():
        assert sum(army_of(row).values()) == int(row[14]), name


def test_the_overview_has_every_ruleset_with_its_values() -> None:
    rows = {re.findall(r"\w[^`]*", row[0])[0]: row for row in table(text_of("rules.md"), "ruleset")}
    assert sorted(rows) == ruleset_names()
    pages = {name: re.findall(r"\((rules/.*?)\)", row[0])[0] for name, row in rows.items()}
    assert {*pages.values(), "rules/switches.md"} == {f"rules/{page.name}" for page in EDITIONS}
    columns = ("army", "starts", "two_squares", "chase", "no_move")
    for name, row in rows.items():
        ruleset = load_ruleset(name)
        assert row[1:6] == [value_of(ruleset, key) for key in columns], name
        others = [f"{key} = {value_of(ruleset, key)}" for key in differing_keys(ruleset) if key not in columns]
        assert row[6].replace("`", "") == (", ".join(others) or "-"), name
        assert f"`{name}`" in text_of(pages[name])


def test_the_table_of_switches_has_every_switch_with_its_rule_and_source() -> None:
    rows = table(text_of("rules/switches.md"), "switch")
    assert [row[0] for row in rows] == switch_names()
    base = {"infiltration": "jumbo-81320/infiltrator"}
    for name, title, rule, source in rows:
        assert switch_title(name) == f"{title} ({source})"
        key, value = rule.split(" = ")
        assert value_of(load_ruleset(f"{base.get(name, 'isf')}+{name}"), key) == value


def test_the_switches_that_do_not_go_together_are_those_that_are_named() -> None:
    text = text_of("rules/switches.md")
    named = text[text.index("These combinations are refused") : text.index("All others combine.")]
    bases = ("isf", "jumbo-81320/infiltrator")

    def fits(name: str) -> bool:
        try:
            load_ruleset(name)
        except RulesetError:
            return False
        return True

    for pair in combinations(switch_names(), 2):
        goes = any(fits("+".join((base, *pair))) for base in bases)
        said = any(all(f"`{switch}`" in line for switch in pair) for line in named.split("\n- "))
        assert goes is not said, pair
    needing = {switch for switch in switch_names() if not all(fits(f"{name}+{switch}") for name in ruleset_names())}
    assert needing == {"diagonal-spy", "facing-attacks", "lightning-captains", "infiltration"}
    assert {name for name in ruleset_names() if fits(f"{name}+infiltration")} == {"jumbo-81320/infiltrator"}
    assert not fits("barrage+lightning-captains")
    assert not fits("duel+lightning-captains")
    assert not fits("duel+diagonal-spy")


def test_the_page_on_files_has_every_key_with_its_values_and_its_default() -> None:
    text = text_of("ruleset-files.md")
    top, rules = (rows[1:] for rows in tables(text) if rows[0][0] == "key")
    assert [row[0] for row in top] == list(TOP_KEYS)
    assert [row[0] for row in rules] == [key for key in RULE_KEYS if key != "army"]
    plain = Ruleset(name="plain", title="", source="", army=load_ruleset().army)
    for key, values, default in rules:
        words = re.findall(r"\w[\w-]*", values.replace("a whole number from", ""))
        if key in CHOICES:
            expected = [choice.value for choice in CHOICES[key]]
        elif key in SWITCHES:
            expected = ["true", "false"]
        else:
            expected = [str(NUMBERS[key])] + (["none"] if key in MAY_BE_NONE else [])
        assert words == expected, key
        assert default.strip('"') == value_of(plain, key), key


def test_the_examples_of_files_load_and_say_what_the_page_says(tmp_path: Path) -> None:
    one_rule, village = re.findall(r"```toml\n(.*?)```", text_of("ruleset-files.md"), re.DOTALL)
    path = tmp_path / "short.toml"
    path.write_text(one_rule, encoding="utf-8")
    assert differing_keys(load_ruleset(str(path))) == (*differing_keys(load_ruleset("isf")), "max_plies")
    path = tmp_path / "village.toml"
    path.write_text(village, encoding="utf-8")
    ruleset = load_ruleset(f"{path}+silent-defence")
    assert ruleset.army_size == 13
    assert "Thirteen pieces" in dict(ruleset.notes)["army"]
    assert (ruleset.two_squares, ruleset.max_plies, ruleset.needs_attacker) == (5, 600, True)
