"""The page on mistakes names those that are tried, each once; tests/arena/test_mistakes.py holds the words."""

import tomllib
from pathlib import Path

import pytest
from faq import PAGE, is_quoted, quotes

TABLE = tomllib.loads((Path(__file__).parent / "mistakes" / "mistakes.toml").read_text(encoding="utf-8"))
ROWS = {row["name"]: row for row in TABLE["bot"]}
QUOTED = quotes()


def test_what_is_quoted_is_said_of_a_mistake_that_is_tried() -> None:
    assert set(QUOTED) <= set(ROWS)
    assert PAGE.read_text(encoding="utf-8").count("<!-- mistake: ") == len(QUOTED)


def test_every_mistake_of_a_bot_in_python_is_on_the_page() -> None:
    kinds = {ROWS[name].get("mistake") for name in QUOTED}
    of_python = {row["mistake"] for row in ROWS.values() if "language" not in row and "mistake" in row}
    assert of_python - kinds == set()


@pytest.mark.parametrize("name", ["does not flush", "a short row in its set-up", "sleeps"])
def test_other_words_than_those_of_the_page_are_noticed(name: str) -> None:
    words, hint = QUOTED[name]
    said = [line.replace("...", "something") for line in (words, hint)]
    assert is_quoted(name, *said)
    assert not is_quoted(name, f"{said[0]} now", said[1])
    assert not is_quoted(name, said[0])
    assert is_quoted("a mistake that the page does not name", "anything")
