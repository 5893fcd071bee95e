"""What tables and heads say of bots with a time control of their own."""

import pytest

from arena.report.standings import handicap_text


@pytest.mark.parametrize(
    ("own", "names", "words"),
    [
        ({}, ["ann", "bob"], ""),
        ({"ann": "1000ms"}, ["ann", "bob"], "handicap: ann 1000ms, bob 100ms"),
        ({"ann": "1000ms", "bob": "60+0"}, ["ann", "bob"], "handicap: ann 1000ms, bob 60+0"),
        ({"ann": "1000ms"}, ["ann", "bob", "cat"], "handicap: ann 1000ms, all others 100ms"),
    ],
)
def test_every_clock_is_named_where_they_differ(own: dict[str, str], names: list[str], words: str) -> None:
    assert handicap_text("100ms", own, names) == words


def test_of_many_only_the_first_are_named() -> None:
    own = {f"b{number}": "1s" for number in range(9)}
    words = handicap_text("100ms", own, [*own, "x", "y"])
    assert words.startswith("handicap: b0 1s, b1 1s, ")
    assert words.endswith("b5 1s, 3 more with their own, all others 100ms")
