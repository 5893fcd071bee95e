"""The pages of a site as text, with no folder: each by its name, the same that a folder holds."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from made_stores import make_store

from arena.errors import ArenaError
from arena.game.faults import GameResult, Verdict
from arena.game.record import GameRecord
from arena.league.exchange import export_lines
from arena.league.readers import reader_named
from arena.league.store import Damage, DamagedError, Disqualified, Store
from arena.report.site.game_page import headline
from arena.report.site.pages import DAMAGED, PlayedGames
from arena.report.site.site_contents import SitePlan, read_site
from arena.report.site.write_site import write_site
from protocol.notation import Color, Reason


def test_pages_can_be_had_as_text_and_a_folder_holds_the_same(tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite")
    with Store(tmp_path / "l.sqlite", create=False) as store:
        write_site(store, tmp_path / "out", SitePlan())
        contents = read_site(store, SitePlan())
        for name in contents.names():
            if not name.startswith("bots/"):  # those have times, which are counted while pages of games are made
                assert contents.text(name, PlayedGames()) == (tmp_path / "out" / name).read_text()
        assert "comebacks by material" not in str(contents.text("games.html", PlayedGames()))
        assert "comebacks by material" in str(contents.text("games.html", PlayedGames(behind={1: 3})))
        for number in contents.numbers:
            text = contents.game_pages.of(store.stored(number), contents.links[number])
            assert text.page == (tmp_path / f"out/games/{number}.html").read_text()
            assert text.script == (tmp_path / f"out/games/{number}.js").read_text()
            assert text.record == (tmp_path / f"out/games/{number}.json").read_text()


def test_a_game_has_no_page_unless_its_record_says_what_its_row_does(tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite", games=1)
    with Store(tmp_path / "l.sqlite", create=False) as store:
        texts = read_site(store, SitePlan()).game_pages
        forged = store.stored(1)._replace(damage=(Damage(1, "its row and its record differ"),))
        with pytest.raises(ArenaError, match="its row and its record differ"):
            texts.of(forged)


def test_one_game_with_rules_that_are_none_keeps_no_other_from_its_page(tmp_path: Path) -> None:
    def change(record: GameRecord) -> GameRecord:
        is_first = int(record.id, 16) == 0
        return msgspec.structs.replace(record, rules=(("army", ""),)) if is_first else record

    make_store(tmp_path / "l.sqlite", games=3, change=change)
    with Store(tmp_path / "l.sqlite", create=False) as store:
        done, _ = write_site(store, tmp_path / "out", SitePlan())
    assert (done.games, done.pages) == (3, 2)
    assert "army" in done.faults[1]


def test_a_store_in_which_no_game_is_as_it_was_stored_is_damaged_and_not_empty(tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite", games=1)
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as database, database:
        database.execute("UPDATE games SET plies = plies + 1")
    with Store(tmp_path / "l.sqlite", create=False) as store, pytest.raises(DamagedError, match="game 1: its row was"):
        read_site(store, SitePlan())


def test_the_first_page_says_what_is_missing_damaged_and_who_was_disqualified(tmp_path: Path) -> None:
    def crash(record: GameRecord) -> GameRecord:
        verdict = msgspec.structs.replace(record.verdict, result=GameResult.RED, reason=Reason.CRASH)
        return msgspec.structs.replace(record, verdict=verdict)

    def front() -> str:
        with Store(tmp_path / "l.sqlite", create=False) as store:
            text = read_site(store, SitePlan()).text("index.html", PlayedGames())
        assert text is not None
        return text

    records = make_store(tmp_path / "l.sqlite", games=6, change=crash)
    assert not re.search("incomplete|disqualified|damaged", front())
    with Store(tmp_path / "l.sqlite", create=True) as store:
        store.keep(planned=60)
        store.keep(disqualified=[Disqualified(records[0].players[1], 2, 3, counted=3)])
    assert "incomplete: 6 of 60 games" in front()
    line = "bob is disqualified after 2 faults: 3 games left out; 1 game of it outside the league is in this table"
    assert line in front()
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as database, database:
        database.execute("UPDATE games SET plies = plies + 1 WHERE number = 6")
    assert DAMAGED in front()


@pytest.mark.parametrize(
    ("result", "reason", "plies", "words"),
    [
        (GameResult.RED, Reason.FLAG, 182, "ann beat bob by capturing the flag, 182 plies"),
        (GameResult.BLUE, Reason.NO_MOVE, 1, "bob beat ann, which had no legal move, 1 ply"),
        (GameResult.BLUE, Reason.TIMEOUT, 9, "bob beat ann on time, 9 plies"),
        (GameResult.RED, Reason.NO_START, 0, "ann beat bob, which did not start"),
        (GameResult.DRAW, Reason.PLY_CAP, 99, "ann and bob drew: the cap on plies was reached, 99 plies"),
        (GameResult.NEITHER, Reason.NO_START, 0, "ann and bob both lost by a fault before the game"),
    ],
)
def test_the_heading_of_a_game_says_who_won_and_how(result: GameResult, reason: Reason, plies: int, words: str) -> None:
    names = {Color.RED: "ann", Color.BLUE: "bob"}
    parts = headline(Verdict(result, reason, plies))
    assert "".join(part if isinstance(part, str) else names[part] for part in parts) == words


def test_a_game_leads_to_both_bots_to_the_games_before_and_after_it_and_to_its_return_game(tmp_path: Path) -> None:
    def pair(record: GameRecord) -> GameRecord:
        number = int(record.id, 16)
        return msgspec.structs.replace(record, pair_seed=number // 2 + 1)

    make_store(tmp_path / "l.sqlite", names=("ann", "bob"), games=6, change=pair)
    with Store(tmp_path / "l.sqlite", create=False) as store:
        contents = read_site(store, SitePlan())
        found = {number: contents.links[number].games for number in contents.numbers}
        assert found[1] == {"next game": 2, "return game": 2}
        assert found[4] == {"previous game": 3, "next game": 5, "return game": 3}
        assert found[6] == {"previous game": 5, "return game": 5}
        assert contents.links[4].bots == (contents.href["bob"], contents.href["ann"])
        newest = read_site(store, SitePlan(newest=1))
        assert newest.links[6].games == {}


def test_the_record_beside_a_page_is_the_game_as_it_is_exported_for_the_reader(tmp_path: Path) -> None:
    make_store(tmp_path / "l.sqlite", games=1)
    for reader in ("all", "red", "public"):
        with Store(tmp_path / "l.sqlite", create=False) as store:
            contents = read_site(store, SitePlan(reader_named(reader)))
            text = contents.game_pages.of(store.stored(1), contents.links[1]).record
            assert [text.encode()] == list(export_lines(store, [1], reader_named(reader), print))
