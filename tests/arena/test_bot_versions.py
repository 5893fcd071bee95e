"""`arena bots`: each version of a bot with its dates, the name that it declared, and what is new in it."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from unplayed import record_of

from arena.cli.main import cli
from arena.game.game_spec import GameSpec, Player
from arena.game.time_control import TimeControl
from arena.league.store import BotNote, Store
from arena.stratego.game import variant_of
from arena.stratego.rules.rulesets import load_ruleset

OLD, NEW, CAT = Player("fox", "a" * 64), Player("fox", "b" * 64), Player("cat", "c" * 64)
NOVEMBER = 1_793_836_800.0  # 2026-11-05T00:00:00Z
DAY = 86_400.0


class Book:
    """A store that is written game by game, a day after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._days = count()
        with Store(path, create=True) as store:
            store.agree({"ruleset": "duel"})

    def play(self, red: Player, blue: Player, declared: tuple[str, str] = ("", "")) -> None:
        day = next(self._days)
        game = GameSpec(f"{day:016x}", variant_of(load_ruleset("duel")), TimeControl(), (red, blue), (1, 2), day)
        record = msgspec.structs.replace(record_of(game), declared=declared, started=NOVEMBER + day * DAY)
        with Store(self.path, create=True) as store:
            store.add(record)
            store.keep(entrants=(red, blue))

    def files(self, player: Player, files: dict[str, str]) -> None:
        with Store(self.path, create=True) as store:
            store.note_bots({player.digest: BotNote("", files=files)}, {one.digest for one in store.players()})

    def bots(self, *more: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(bots(self.path, *more, "--json").output)
        return found


def bots(path: Path, *more: str) -> Result:
    return CliRunner().invoke(cli, ["bots", str(path), *more], catch_exceptions=False)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "l.sqlite")


def test_versions_of_a_bot_follow_one_another_with_what_is_new_in_each(book: Book) -> None:
    book.files(OLD, {"bot.py": "1", "log.txt": "1", "same": "1"})
    book.play(OLD, CAT)
    book.files(NEW, {"bot.py": "2", "book.bin": "1", "same": "1"})
    book.play(NEW, CAT)
    cat, old, new = book.bots()
    assert (cat["name"], old["shown"], new["shown"]) == ("cat", "fox@aaaaaa", "fox@bbbbbb")
    assert (old["before"], old["changes"]) == (None, None)
    assert new["before"] == OLD.digest
    assert new["changes"] == {"book.bin": "new", "bot.py": "changed", "log.txt": "gone"}
    assert "fox@bbbbbb, against aaaaaa: book.bin (new), bot.py (changed), log.txt (gone)" in bots(book.path).output


def test_where_the_store_does_not_know_the_files_it_says_so(book: Book) -> None:
    book.play(OLD, CAT)
    book.play(NEW, CAT)
    assert book.bots()[2]["changes"] is None
    assert "the store does not know the files of both" in bots(book.path).output


def test_each_has_its_games_and_the_dates_of_the_first_and_the_last(book: Book) -> None:
    for red, blue in ((OLD, CAT), (CAT, OLD), (NEW, CAT)):
        book.play(red, blue)
    cat, old, new = book.bots()
    assert [one["games"] for one in (cat, old, new)] == [3, 2, 1]
    assert (old["first"], old["last"]) == ("2026-11-05T00:00:00Z", "2026-11-06T00:00:00Z")
    assert (cat["first"], cat["last"]) == ("2026-11-05T00:00:00Z", "2026-11-07T00:00:00Z")
    assert "2026-11-06" in bots(book.path).output


def test_what_it_called_itself_is_that_of_its_last_game(book: Book) -> None:
    book.play(OLD, CAT, ("Fox 1.0", "Cat"))
    book.play(CAT, OLD, ("Cat", "Fox 1.1"))
    assert [one["declared"] for one in book.bots()] == ["Cat", "Fox 1.1"]


def test_who_took_part_last_is_marked(book: Book) -> None:
    book.play(OLD, CAT)
    book.play(NEW, CAT)
    assert [one["took_part"] for one in book.bots()] == [True, False, True]
    assert [line[0] for line in bots(book.path).output.splitlines()[1:4]] == ["*", " ", "*"]


def test_one_bot_or_version_can_be_asked_for(book: Book) -> None:
    book.play(OLD, CAT)
    book.play(NEW, CAT)
    assert [one["digest"] for one in book.bots("--bot", "fox")] == [OLD.digest, NEW.digest]
    assert [one["before"] for one in book.bots("--bot", "fox@bb")] == [OLD.digest]
    done = CliRunner().invoke(cli, ["bots", str(book.path), "--bot", "dog"])
    assert "no games of a bot 'dog'" in done.stderr


def test_who_is_to_play_and_has_played_nothing_is_there_too(book: Book) -> None:
    with Store(book.path, create=True) as store:
        store.keep(entrants=(OLD,))
    (fox,) = book.bots()
    assert (fox["games"], fox["first"], fox["declared"], fox["took_part"]) == (0, None, None, True)
    assert "0" in bots(book.path).output


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_it_fits_its_width(book: Book, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    red, blue = (Player(f"a-bot-with-a-name-of-some-forty-columns-{letter}", letter * 64) for letter in "ab")
    book.play(red, blue, declared=("A bot that says a lot of itself 1.0", "漢" * 20))
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = bots(book.path).output.splitlines()
    assert max(map(len, lines)) <= columns
    assert len({line.split()[1] for line in lines[1:3]}) == 2
    assert all("2026-11-05  2026-11-05" in line for line in lines[1:3])
