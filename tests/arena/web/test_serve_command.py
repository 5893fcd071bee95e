"""What `arena serve` and `arena league --serve` refuse, before anything is listened at, told or stored."""

from pathlib import Path

import pytest
from made_stores import make_store

from arena.cli.main import cli
from arena.errors import UsageError
from arena.web.address import Address, listen

BEHIND = "write --serve behind all bots"


def refused(*words: str) -> str:
    with pytest.raises(UsageError) as error:
        cli.main([*words], prog_name="arena", standalone_mode=False)
    return str(error.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "127.0.0.1:x"], "--listen: expected HOST:PORT"),
        (["--known-as", "a b"], "--known-as: expected a host name such as arena.example.org"),
        (["--known-as", "https://arena.example.org"], "without http:// and port; got 'https://arena.example.org'"),
        (["--for", "everybody"], "--for: expected all, red, blue, public or bot:NAME"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_option(tmp_path: Path, words: list[str], said: str) -> None:
    make_store(tmp_path / "l.sqlite", games=1)
    assert said in refused("serve", str(tmp_path / "l.sqlite"), *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--serve", "bots/mine.py", "other.py"], BEHIND),
        (["--serve", "x" * 64, "warden"], BEHIND),
        (["warden", "drifter", "--serve", "127.0.0.1:x"], "--serve: expected HOST:PORT"),
        (["warden", "drifter", "--serve", "--serve-as", "a,b c"], "--serve-as: expected a host name"),
    ],
)
def test_a_league_is_not_begun_without_its_pages_and_a_bot_that_is_taken_for_an_address_is_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused("league", *words)
    assert list(tmp_path.iterdir()) == []


def test_a_port_in_use_is_told_before_anything_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    taken = listen(Address("127.0.0.1", 0))
    try:
        assert "Address already in use" in refused("league", "warden", "drifter", "--serve", str(taken.address))
    finally:
        taken.close()
    assert list(tmp_path.iterdir()) == []
