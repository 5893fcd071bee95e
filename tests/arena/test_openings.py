"""Files of openings: what is written is read, in its order; and what is no opening is named with its line."""

import os
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_play import random_rows

from arena.errors import UsageError
from arena.game.game_spec import Opening
from arena.league.openings import load_openings, parse_openings
from arena.league.settings import openings_digest
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

BARRAGE = load_ruleset("barrage")
RED, OTHER_RED = ".........F/2........B/..S.2...../.39.M.....", "F........./B....9...2/........../2.S.3.M..."
BLUE = "F........./B....9...2/........../2.S.3.M..."
NOTHING = ("", "\n", "# a comment\n", "  \t\n", "#red F\r\n", "  # größer\n")


def read(text: str) -> list[Opening]:
    return parse_openings(text, variant_of(BARRAGE), "o.txt")


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    count=st.integers(1, 6),
    ruleset=st.sampled_from(["isf", "barrage", "duel"]),
    seed=st.integers(0, 10**6),
    between=st.lists(st.sampled_from(NOTHING), min_size=13, max_size=13),
    end=st.sampled_from(["\n", "\r\n", " \n"]),
)
def test_what_is_written_is_read_in_its_order_whatever_stands_between(
    *, count: int, ruleset: str, seed: int, between: list[str], end: str
) -> None:
    rules, rng = load_ruleset(ruleset), Random(seed)

    def setup() -> str:
        return "/".join(random_rows(rules, rng))

    openings = list({(setup(), setup()): None for _ in range(count)})
    gaps = iter(between)
    lines = (f"{next(gaps)}red  {red}{end}{next(gaps)}blue {blue}{end}" for red, blue in openings)
    found = parse_openings("".join(lines) + next(gaps), variant_of(rules), "o.txt")
    assert found == openings
    assert openings_digest(found) == openings_digest(openings)


WRONG = {
    "empty": ("", "o.txt: expected a file of openings, got none in it"),
    "blue first": (f"\nblue {BLUE}\nred {RED}\n", "o.txt: line 2: expected 'red ROWS', the set-up of red, got 'blue F"),
    "red twice": (
        f"red {RED}\n\nred {RED}\n",
        "o.txt: line 3: expected 'blue ROWS', the set-up of blue, got 'red ....",
    ),
    "half an opening": (f"red {RED}\n# the end\n", "o.txt: line 1: expected Blue's set-up after Red's, got the end of"),
    "three rows": (
        f"red {RED[:-11]}\n",
        "o.txt: line 1: red: expected 4 rows of 10 squares, got 3 rows: '.........F/2........B/..S.2.....'",
    ),
    "a piece too many": (
        f"red {RED}\nblue {BLUE.replace('2.S', '22S')}\n",
        "o.txt: line 2: blue: expected the army of barrage: 2 x 2 (got 3): ",
    ),
    "another army": (f"red {RED.replace('9', '8')}\n", "o.txt: line 1: red: the army of barrage has no piece '8': "),
    "an escape": (
        f"red \x1b[2J{RED}\n",
        r"o.txt: line 1: red: expected 4 rows of 10 squares, got 14 in row 1: '\x1b[2J......",
    ),
    "something behind": (
        f"red {RED} # mine\n",
        "o.txt: line 1: red: expected 4 rows of 10 squares, got 17 in row 4: '......",
    ),
    "twice": (
        f"red {RED}\nblue {BLUE}\n\nred {OTHER_RED}\nblue {BLUE}\nred {RED}\nblue {BLUE}\n",
        "o.txt: line 6: expected another opening, got that of line 1 again",
    ),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_what_is_no_opening_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    assert str(caught.value).startswith(words)
    assert str(caught.value).isprintable()


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("red blu./FBS239M#\n \t\x1b\xe9"), max_size=120))
def test_any_text_is_openings_or_one_clear_error(text: str) -> None:
    words = ""
    try:
        assert read(text)
    except UsageError as error:
        words = str(error)
    assert not words or (words.startswith("o.txt: ") and words.isprintable())


def test_only_a_file_in_utf_8_is_read(tmp_path: Path) -> None:
    path = tmp_path / "o.txt"
    path.write_text(f"\ufeffred {RED}\nblue {BLUE}\n", encoding="utf-8")
    assert load_openings(path, variant_of(BARRAGE)) == ((RED, BLUE),)
    path.write_bytes(b"red \xff")
    with pytest.raises(UsageError, match=r"o\.txt: expected a file of openings in UTF-8, and it is not at byte 4"):
        load_openings(path, variant_of(BARRAGE))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe: expected a file of openings, got a FIFO"):
        load_openings(tmp_path / "pipe", variant_of(BARRAGE))


def test_the_page_on_formats_shows_such_a_file() -> None:
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(# the flag.*?)```", text, re.DOTALL)
    assert len(read(shown)) == 2
