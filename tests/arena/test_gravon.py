"""Gravon's archives are read, replayed to the ply that is wrong, imported, and counted; hostile files are refused."""

import json
from pathlib import Path

import pytest
from commands import invoke
from gravon_files import FIELD, MOVES, archive, gsn, random_game, xml

from arena.game.exported import RecordEntry
from arena.game.record import GameRecord
from arena.league.exchange import import_games
from arena.league.store import Store
from arena.league.verify import verify
from arena.stratego.gravon import MOST_BYTES, GravonError, UnplayableError, parse_game, replay_game
from arena.stratego.library.gravon_archive import archived_games
from protocol.seats import Color, Outcome, Reason

ACTIONS = ("a4-a5", "a7-a6", "j4-j10")


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [xml(), gsn(), gsn(end="\n"), b"\xef\xbb\xbf" + gsn(), b"\xef\xbb\xbf" + xml()])
def test_both_formats_give_the_same_game_and_a_legal_replay(data: bytes) -> None:
    game = parse_game(data)
    assert (game.kind, game.names, game.ending, game.winner) == ("barrage", ("Player 1", "Player 2"), 1, Color.RED)
    engine, actions = replay_game(game)
    assert actions == ACTIONS
    assert engine.outcome == Outcome(Color.RED, Reason.FLAG)


@pytest.mark.parametrize("last", ["J4-J10", "K4-K:"])
def test_a_file_may_be_called_j_and_row_ten_may_be_one_character(last: str) -> None:
    data = xml((*MOVES[:2], last))
    assert replay_game(parse_game(data))[1] == ACTIONS


@pytest.mark.parametrize("kind", ["classic", "barrage", "duell"])
@pytest.mark.parametrize("seed", range(4))
def test_random_games_are_replayed_as_they_were_played(kind: str, seed: int) -> None:
    moves, result, field = random_game(kind, seed, 300)
    ending, winner = result.split()
    files = [xml(moves, result, field, kind)]
    if kind != "duell":
        files.append(gsn(moves, f"{ending} {int(winner) - 1}", field, kind))
    for game in map(parse_game, files):
        engine, actions = replay_game(game)
        assert actions == tuple(move.lower().replace("k", "j") for move in moves)
        assert (engine.outcome and engine.outcome.winner) == (None if ending == "3" else game.winner)


def test_a_name_in_an_old_encoding_and_a_game_without_set_ups_are_read() -> None:
    game = parse_game(gsn((), "10 2", field="").replace(b"Player 1", b"J\xfcrgen"))
    assert (game.names, game.field, game.winner) == (("Jürgen", "Player 2"), "", None)
    with pytest.raises(UnplayableError, match=r"^set-up: the game ended before it: both missing$"):
        replay_game(game)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gsn().replace(b"v2", b"v3"), "line 1: expected '#X38FA11 Stratego-Notation v1' or v2"),
        (gsn().replace(b"type 1", b"type 7"), "line 2: expected 'type' and a number from 0 to 3, got 'type 7'"),
        (gsn().replace(b"A7-A6", b"A7-A"), "line 5: expected a move such as A4-A5, or 'END', got 'A7-A'"),
        (gsn().replace(b"END\r\n", b""), "line 7: expected a move such as A4-A5, or 'END', got 'Player 1 vs"),
        (gsn().replace(b"winner 0", b"winner 4"), "line 8: expected 'RED vs BLUE result 1 winner 0', got"),
        (gsn(result="5 0"), "expected a result of 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, got 5"),
        (b"#X38FA11 Stratego-Notation v1", "line 2: expected 'type' and a number from 0 to 3, got the end of the file"),
        (xml()[:300], "not well-formed XML: unclosed token: line 7"),
        (xml().replace(b"</game>", b"</game><game type='barrage'/>"), "expected <stratego> with one <game>"),
        (xml(field=FIELD[1:]), "<field content>: expected [A-Y_]{100}, got 'BAAA"),
        (xml(result="1 0"), "<result winner>: expected [123], got '0'"),
    ],
)
def test_a_file_that_is_no_game_is_refused_with_the_line_that_is_wrong(data: bytes, said: str) -> None:
    with pytest.raises(GravonError) as raised:
        parse_game(data)
    assert said in str(raised.value)


LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))


@pytest.mark.parametrize(
    "data",
    [
        xml(head=f'<!DOCTYPE stratego [<!ENTITY l0 "ha">{LAUGHS}]>').replace(b"Player 1", b"&l9;"),
        xml(head='<!DOCTYPE stratego [<!ENTITY file SYSTEM "file:///etc/passwd">]>').replace(b"Player 1", b"&file;"),
        xml(head='<!DOCTYPE stratego SYSTEM "http://127.0.0.1:1/game.dtd">'),
        xml(head="<!DOCTYPE stratego>"),
        xml(head="<!DOCTYPE stratego>").decode().replace("UTF-8", "UTF-16").encode("utf-16"),
    ],
    ids=["bomb", "file", "address", "empty", "utf-16"],
)
def test_xml_with_a_document_type_is_refused_before_anything_of_it_is_read(data: bytes) -> None:
    with pytest.raises(GravonError, match="without a document type and entities"):
        parse_game(data)


@pytest.mark.parametrize(
    "data",
    [
        xml().replace(b"Player 1", b"&passwd;"),
        xml().replace(b"UTF-8", b"klingon"),
        xml().replace(b"UTF-8", b"utf-7"),
        xml().replace(b"Player 1", b"\xff"),
        b"<a>" * 100_000 + b"</a>" * 100_000,
        b"<stratego>" + b"<a/>" * 200_000 + b"</stratego>",
        b"<" + b"a" * MOST_BYTES,
    ],
    ids=["entity", "encoding", "utf-7", "bytes", "deep", "many", "long"],
)
def test_other_hostile_xml_is_refused_with_a_clear_error(data: bytes) -> None:
    with pytest.raises(GravonError, match=r"^(not well-formed XML|not readable as XML|expected )"):
        parse_game(data)


# --- replays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "ply", "said"),
    [
        (xml(("A4-A5", "A7-B6")), 2, "a7-b6"),
        (xml(("A4-A5", "L7-L6")), 2, "expected a move between squares from A1 to K10, got 'L7-L6'"),
        (xml((*MOVES, "A6-A7")), 4, "over"),
        (xml(MOVES[:2]), 3, "the file ends here (flag captured, red), and the game is not over on the board"),
        (xml(result="3 2"), 3, "expected the end that the file has (forfeit, blue), got flag"),
        (xml(field=FIELD.replace("L", "A")), 0, "red: expected the army of gravon-barrage: 1 x M (got 0)"),
        (xml(field="N" + FIELD[1:]), 0, "expected only pieces of red on its side, got 'N'"),
        (xml(field=FIELD[:40] + "L" + FIELD[41:]), 0, "expected empty squares and lakes in the middle"),
    ],
)
def test_what_cannot_be_replayed_says_at_which_ply_and_why(data: bytes, ply: int, said: str) -> None:
    with pytest.raises(UnplayableError) as raised:
        replay_game(parse_game(data))
    assert raised.value.ply == ply
    assert said in str(raised.value)


# --- imports ----------------------------------------------------------------------------------------------------------

FILES = {
    "barrage-2005.10-1.xml": xml(),
    "barrage-2005.10-2.xml": xml(MOVES[:2], "3 2"),  # Red is to move and gives up
    "barrage-2005.10-3.xml": xml(MOVES[:2], "3 1"),  # Blue leaves, though Red is to move
    "barrage-2005.10-4.xml": xml(MOVES[:2], "11 2"),
    "barrage-2005.10-5.xml": xml(MOVES[:2], "4 3"),  # agreed
    "barrage-2005.10-6.xml": xml(("A4-A5", "A7-B6"), "3 1"),
    "barrage-2005.10-7.xml": b"<stratego>",
    "old/barrage.2003.06.03.34.gsn": gsn(),
    "readme.txt": b"not a game",
}


@pytest.fixture
def month(tmp_path: Path) -> Path:
    return archive(tmp_path / "barrage-2005.10.zip", FILES)


def stored(path: Path) -> list[GameRecord]:
    with Store(path, create=False) as store:
        assert list(verify(store, lambda *_: None)) == []
        return [store.record(number)[1] for number in store.numbers()]


def test_an_archive_becomes_a_sound_store_and_says_what_it_has_left_out(month: Path) -> None:
    done = invoke(month.parent, "import", "all.sqlite", month.name)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all.sqlite: 5 games were imported, 3 left out\n"
    assert [line.partition(".xml: ")[2] for line in done.stderr.splitlines()] == [
        "barrage: ply 3: legal up to here, but the arena has no such end: tie agreed",
        "barrage: ply 2: a7-b6: " + done.stderr.splitlines()[1].rpartition("a7-b6: ")[2],
        "not well-formed XML: no element found: line 1, column 10",
    ]
    records = stored(month.parent / "all.sqlite")
    verdicts = [(record.verdict.result.value, record.verdict.reason) for record in records]
    assert verdicts == [
        ("red", Reason.FLAG),
        ("blue", Reason.RESIGN),
        ("red", Reason.CRASH),
        ("blue", Reason.TIMEOUT),
        ("red", Reason.FLAG),
    ]
    assert records[2].verdict.detail.endswith("Gravon's result 3: forfeit")
    assert records[0].actions == ACTIONS
    assert records[0].declared == ("Player 1", "Player 2")
    again = invoke(month.parent, "import", "all.sqlite", month.name, "--json")
    document = json.loads(again.stdout)
    assert (document["imported"], document["present"], len(document["left_out"])) == (0, 5, 3)


def test_of_a_mixed_archive_the_games_of_one_kind_are_imported(tmp_path: Path) -> None:
    moves, result, field = random_game("duell", 1, 200)
    mixed = archive(tmp_path / "mixed.zip", {"a.xml": xml(), "b.xml": xml(moves, result, field, "duell")})

    def imported(kind: str) -> int:
        return import_games(tmp_path / f"{kind}.sqlite", [mixed], lambda _: None, archived_games, kind).new

    assert (imported("barrage"), imported("duell"), imported("classic")) == (1, 1, 0)
    assert stored(tmp_path / "duell.sqlite")[0].ruleset == "gravon-duell"
    done = invoke(tmp_path, "import", "all.sqlite", "mixed.zip")
    assert done.returncode != 0
    assert "gravon-duell (asked for)" in done.stderr
    assert not (tmp_path / "all.sqlite").exists()
    assert "expected one of classic, barrage" in invoke(tmp_path, "import", "x", "mixed.zip", "--kind", "chess").stderr


@pytest.mark.parametrize(("name", "data"), [("game.xml", xml()), ("game.gsn", gsn())])
def test_a_single_file_is_an_archive_of_one_game(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    ((where, entry),) = list(archived_games(tmp_path / name) or ())
    assert where == str(tmp_path / name)
    assert isinstance(entry, RecordEntry)
    assert [player.name for player in entry.record.players] == ["game red", "game blue"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04 and no more", "got a damaged or encrypted zip"),
        (b"PK\x05\x06" + bytes(18), "got 0 of 0 MiB"),
        (None, "expected a zip with 1 to 200000 files of games"),
    ],
)
def test_a_zip_that_is_none_or_has_no_games_is_refused(data: bytes | None, said: str, tmp_path: Path) -> None:
    bad = archive(tmp_path / "bad.zip", {"readme.txt": b"hello"})
    if data is not None:
        bad.write_bytes(data)
    done = invoke(tmp_path, "import", "all.sqlite", "bad.zip")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "all.sqlite").exists()


def test_a_file_of_which_no_game_is_left_makes_no_store_and_fails(tmp_path: Path) -> None:
    (tmp_path / "bad.gsn").write_text("no game")
    done = invoke(tmp_path, "import", "all.sqlite", "bad.gsn")
    assert done.returncode == 1
    assert "left out: bad.gsn: " in done.stderr
    assert done.stdout == "all.sqlite: 0 games were imported, 1 left out\n"
    assert not (tmp_path / "all.sqlite").exists()


def test_a_bomb_in_a_zip_is_cut_off_and_left_out(tmp_path: Path) -> None:
    bomb = archive(tmp_path / "bomb.zip", {"a.xml": b"<" + b" " * 50_000_000, "b.xml": xml()})
    (bad, why), (_, good) = list(archived_games(bomb) or ())
    assert bad.endswith("bomb.zip: a.xml")
    assert why == "expected a game of at most 1024 KiB, got a longer file"
    assert isinstance(good, RecordEntry)


# --- statistics -------------------------------------------------------------------------------------------------------


def test_openings_counts_set_ups_of_archives_and_of_the_store_made_of_them(month: Path) -> None:
    invoke(month.parent, "import", "all.sqlite", month.name)
    of_archive, of_store = (
        json.loads(invoke(month.parent, "openings", name, "--json").stdout)["kinds"][0]
        for name in (month.name, "all.sqlite")
    )
    assert (of_archive["kind"], of_archive["setups"], of_archive["different"]) == ("barrage", 14, 2)
    assert (of_store["kind"], of_store["setups"], of_store["different"]) == ("gravon-barrage", 10, 2)
    flags = of_archive["squares"]["F"]
    assert {square: count for square, count in enumerate(flags) if count} == {0: 7, 9: 7}
    assert sum(of_archive["squares"]["2"]) == 28
    red, blue = ("FB......../S3......../........../2...M9...2", "........BF/.......S3./........../2...M9..2.")
    assert {each["setup"]: each["percent"] for each in of_store["frequent"]} == {red: 60.0, blue: 40.0}
    text = invoke(month.parent, "openings", month.name, "--top", "1").stdout
    assert "barrage: 14 set-ups, 2 different" in text
    assert "F  flag                       100.0    0.0    0.0    0.0" in text
    assert text.count(red) + text.count(blue) == 1
