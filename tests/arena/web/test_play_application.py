"""The addresses of a table without a browser: whose they are, what they give away, and what is taken from strangers."""

import re
from contextlib import ExitStack
from functools import partial
from urllib.parse import quote

import msgspec
import pytest
import trio
from play_table import PlayTable, Seat, at_random, from_lines, seated

from arena.game.person_seat import SeatStage
from arena.game.record import GameRecord
from arena.play.session import Session
from arena.stratego.board_page import Earlier, SeatAnswer
from arena.stratego.rules.rulesets import load_ruleset
from arena.stratego.rules.tables import tables_of
from arena.stratego.seat_state import seat_of, state_after, state_of
from arena.system.concurrency import background
from arena.web.address import Address, listen
from arena.web.seat_server import SEAT_VIEWERS, page_face
from protocol.notation import Color

RED = ("FB........", "B.........", ".S3.3.....", "2..9M....2")
BLUE = ("FB........", "B.........", ".S3.3.....", "2..9M....2")


def begun(seat: Seat) -> PlayTable:
    """A duel in which Red is to move; Blue plays as it comes."""
    table = seat(blue=from_lines(BLUE, ["e7-e6"]))
    table.until(Color.RED, SeatStage.SETTING_UP)
    assert table.post(Color.RED, "setup", {"rows": RED}).text == "{}"
    table.until(Color.RED, SeatStage.MOVING)
    return table


def test_an_address_is_a_secret_of_its_own_for_each_seat(seat: Seat) -> None:
    table = seat()
    paths = [table.path(color) for color in Color]
    assert len(set(paths)) == 2
    assert all(len(path) > 30 for path in paths)
    assert [table.served.get(path).status for path in paths] == [200, 200]
    for path in ("/", "/state", "/x/state", paths[0][:-2] + "/state", f"/{paths[0]}", paths[0].lower() + "state"):
        assert table.served.get(path).status == 404, path
    without = table.served.get(paths[0].rstrip("/"))
    assert (without.status, without.headers["Location"]) == (308, paths[0])


def test_the_state_has_all_that_the_seat_was_told_and_the_moves_from_where_the_page_has_them(seat: Seat) -> None:
    table = begun(seat)
    assert table.post(Color.RED, "act", {"action": "a4-a5", "ply": 1}).text == "{}"
    table.until(Color.RED, SeatStage.MOVING, plies=2)
    found = msgspec.json.decode(table.served.get(table.path(Color.RED, "state")).text, type=SeatAnswer)
    assert msgspec.structs.replace(found.state, version=0) == msgspec.structs.replace(table.state(Color.RED), version=0)
    assert [(move.ply, move.color, move.action) for move in found.moves] == [(1, "red", "a4-a5"), (2, "blue", "e7-e6")]
    later = msgspec.json.decode(table.served.get(table.path(Color.RED, "state?from=1")).text, type=SeatAnswer)
    assert (later.since, later.moves) == (1, found.moves[1:])
    beyond = msgspec.json.decode(table.served.get(table.path(Color.RED, "state?from=99")).text, type=SeatAnswer)
    assert (beyond.since, beyond.moves) == (2, ())
    assert table.served.get(table.path(Color.RED, "state?from=-1")).status == 400
    assert table.served.get(table.path(Color.RED, "state?from=" + "9" * 30)).status == 400


def test_neither_the_page_nor_the_state_holds_a_rank_of_the_enemy(seat: Seat) -> None:
    table = begun(seat)
    text = table.served.get(table.path(Color.RED, "state")).text
    state = msgspec.json.decode(text, type=SeatAnswer).state
    enemies = [piece for piece in state.pieces if piece.color == "blue"]
    assert len(enemies) == 10
    assert {piece.rank for piece in enemies} == {None}
    for shown in (text, table.served.get(table.path(Color.RED)).text):
        assert not any(row in shown for row in BLUE if row not in RED)
        assert table.table.tokens[Color.BLUE] not in shown
    assert state.end is None


def test_an_earlier_board_is_the_seats_of_then_and_a_ply_that_has_not_been_played_is_refused(seat: Seat) -> None:
    table = seat(blue=from_lines(BLUE, ["j7-j4"]))
    table.until(Color.RED, SeatStage.SETTING_UP)
    table.post(Color.RED, "setup", {"rows": RED})
    table.until(Color.RED, SeatStage.MOVING)
    table.post(Color.RED, "act", {"action": "a4-a5", "ply": 1})
    now = table.until(Color.RED, SeatStage.MOVING, plies=2)
    assert now.last is not None
    assert now.last.fight is not None

    def then(color: Color, asked: str) -> Earlier:
        return msgspec.json.decode(table.served.get(table.path(color, f"then?ply={asked}")).text, type=Earlier)

    for plies in range(3):
        known = table.served.call(state_after, table.session, Color.RED, plies)
        found = then(Color.RED, str(plies)).state
        assert msgspec.structs.replace(found, version=0) == msgspec.structs.replace(known, version=0)
    assert {piece.rank for piece in then(Color.RED, "1").state.pieces if piece.color == "blue"} == {None}
    assert then(Color.BLUE, "0").state.color == "blue"
    for asked in ("3", "-1", "x", "", "9" * 30, "\u0661"):
        answer = table.served.get(table.path(Color.RED, f"then?ply={quote(asked)}"))
        assert (answer.status, "from 0 to 2" in answer.text) == (400, True), asked
    assert table.post(Color.RED, "resign").text == "{}"
    table.end()
    over = then(Color.RED, "1").state
    assert over.end is None
    assert {piece.rank for piece in over.pieces if piece.color == "blue"} == {None}


@pytest.fixture
def table(seat: Seat) -> PlayTable:
    return begun(seat)


REFUSED_BY_THE_RULES = [
    ("act", {"action": "e4-e6", "ply": 1}, "moves one square at a time"),
    ("act", {"action": "a1-a2", "ply": 1}, "cannot move"),
    ("act", {"action": "a7-a6", "ply": 1}, "no piece on a7"),
    ("act", {"action": "<b>\x1b[31m\u202e", "ply": 1}, r"\\x1b\[31m\\u202e"),
    ("act", {"action": "a4-a5", "ply": 2}, "has moved on"),
    ("act", {"action": "a4-a5", "ply": 0}, "has moved on"),
    ("setup", {"rows": RED}, "not asked for"),
    ("setup", {"rows": []}, "not asked for"),
]


def test_what_the_rules_refuse_is_refused_with_words_and_the_game_goes_on(table: PlayTable) -> None:
    for name, body, says in REFUSED_BY_THE_RULES:
        answer = table.post(Color.RED, name, body)
        assert answer.status == 200, body
        refused = msgspec.json.decode(answer.text)["refused"]
        assert re.search(says, refused), refused
        assert refused.isprintable()
    assert table.post(Color.RED, "act", {"action": "a4-a5", "ply": 1}).text == "{}"
    assert table.until(Color.RED, SeatStage.MOVING, plies=2).last is not None


MOVE = {"action": "a4-a5", "ply": 1}
FORGED: list[tuple[dict[str, str], object, int]] = [
    ({"Origin": "http://evil.example"}, MOVE, 403),
    ({"Sec_Fetch_Site": "cross-site"}, MOVE, 403),
    ({"Host": "evil.example"}, MOVE, 421),
    ({"Content_Type": "application/x-www-form-urlencoded"}, b"action=a4-a5&ply=1", 415),
    ({}, b"{", 400),
    ({}, b"[" * 50_000, 400),
    ({}, {"action": "a4-a5", "ply": "1"}, 400),
    ({}, {"action": "a4-a5", "ply": 1, "color": "blue"}, 400),
    ({}, b'{"action": "' + b"a" * 100_000 + b'", "ply": 1}', 413),
]


def test_a_request_that_no_page_of_ours_sends_is_refused_and_changes_nothing(table: PlayTable) -> None:
    before = table.state(Color.RED)
    for headers, body, status in FORGED:
        assert table.post(Color.RED, "act", body, **headers).status == status, (headers, body)
    assert table.state(Color.RED) == before


def test_the_page_reads_without_a_script_and_loads_nothing_but_its_own_files(seat: Seat) -> None:
    table = seat("jumbo-81320/infiltrator+rescue", ("<script>x()</script>", 'b" onload="x()'), blue=at_random(1))
    page = table.served.get(table.path(Color.RED))
    assert "--terminal" in page.text
    assert "infiltrator" in page.text
    assert "<script>x()" not in page.text
    assert 'onload="x()' not in page.text
    assert page.text.count("<script") == 2
    assert "style=" not in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"


def test_nobody_can_take_the_places_of_those_who_follow_the_other_seat(seat: Seat) -> None:
    table = seat()
    asks = {
        color: f"GET {table.path(color)}events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("ascii") for color in Color
    }
    with ExitStack() as held:
        said = [held.enter_context(table.served.connect(asks[Color.BLUE])).recv(12) for _ in range(SEAT_VIEWERS + 1)]
        assert said == [b"HTTP/1.1 200"] * SEAT_VIEWERS + [b"HTTP/1.1 503"]
        assert held.enter_context(table.served.connect(asks[Color.RED])).recv(12) == b"HTTP/1.1 200"


def known_to(session: Session, color: Color) -> set[str]:
    """The squares of the other side's pieces whose rank this seat knows."""
    return {piece.square for piece in state_of(session, color).pieces if piece.color != color.word and piece.rank}


@pytest.mark.parametrize(
    "rules", ["isf", "jumbo-81320/infiltrator+rescue", "duel+silent-defence", "vintage/lightning+mobile-bombs"]
)
def test_after_each_ply_the_squares_are_those_whose_rank_the_enemy_knows(rules: str) -> None:
    session, tables = seated(rules), tables_of(load_ruleset(rules))
    seen: list[bool] = []

    async def compare(color: Color) -> None:
        state = await session.changed(color)
        while not session.is_over:
            mine = set(seat_of(session, color).shown(tables))
            known = known_to(session, color.opponent)
            if session.state(color).plies == session.state(color.opponent).plies:  # both have been told
                assert mine == known
                seen.append(bool(mine))
            state = await session.changed(color, state.version)

    async def main() -> None:
        players = [partial(at_random(4, 150), session, color) for color in Color]
        async with background(*players, *(partial(compare, color) for color in Color)):
            await session.play()

    trio.run(main)
    assert any(seen)


def no_complaint(text: str) -> None:
    raise AssertionError(text)


async def followed(address: str) -> trio.SocketStream:
    """A browser's stream of events, once it has been answered."""
    host, _, rest = address.removeprefix("http://").partition("/")
    name, _, port = host.rpartition(":")
    stream = await trio.open_tcp_stream(name, int(port))
    await stream.send_all(f"GET /{rest}events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert b"200" in await stream.receive_some()
    return stream


def test_the_pages_are_there_until_the_game_is_over_and_nobody_looks_any_more() -> None:
    session, told, is_told, has_returned = seated(), dict[Color, str](), trio.Event(), trio.Event()
    listening = listen(Address("127.0.0.1", 0))

    def tell(addresses: dict[Color, str]) -> None:
        told.update(addresses)
        is_told.set()

    async def show() -> None:
        await page_face(listening, tell, complain=no_complaint, linger=0.05)(session)
        listening.close()
        has_returned.set()

    async def main() -> None:
        async with background(show):
            await is_told.wait()
            streams = [await followed(told[color]) for color in Color]
            async with background(*(partial(at_random(1, 20), session, color) for color in Color)):
                assert isinstance(await session.play(), GameRecord)
            with trio.move_on_after(0.5):
                await has_returned.wait()
            assert not has_returned.is_set()
            for stream in streams:
                await stream.aclose()
            with trio.fail_after(120):
                await has_returned.wait()

    trio.run(main)
    assert len({address.split("/")[3] for address in told.values()}) == 2
