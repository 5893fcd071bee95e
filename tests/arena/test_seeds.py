"""Whoever gives out games is told if the seed of their league can be guessed."""

from pathlib import Path

import pytest

from arena.cli.stores import warn_of_seed
from arena.league.readers import HOST, Reader, reader_named

STORE = Path("league\x1b.sqlite")
LARGE = {"seed": str(2**62)}


def said(settings: dict[str, str], reader: Reader) -> list[str]:
    lines: list[str] = []
    warn_of_seed(STORE, settings, reader, lines.append)
    return lines


@pytest.mark.parametrize("reader", ["red", "public", "bot:warden"])
def test_a_small_seed_is_named_with_its_store_before_others_read_the_games(reader: str) -> None:
    (line,) = said({"seed": "17"}, reader_named(reader))
    assert line.startswith("arena: note: the seed of league\\x1b.sqlite is 17, which can be guessed")


def test_nothing_is_said_of_a_large_seed_of_none_or_to_the_host_alone() -> None:
    assert said(LARGE, reader_named("public")) == said({}, reader_named("public")) == said({"seed": "17"}, HOST) == []
