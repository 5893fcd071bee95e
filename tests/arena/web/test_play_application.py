"""The addresses of a table without a browser: whose they are, what they give away, and what is taken from strangers."""

import random
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
import trio
from play_table import PATIENCE, PlayTable, Seat, at_random, from_lines, seated
from random_play import random_rows
from twins import played_alike, with_two_swapped

from arena.game.person_seat import SeatStage
from arena.game.record import GameRecord
from arena.play.session import Session
from arena.stratego.rules.engine import EngineGame
from arena.stratego.rules.rulesets import load_ruleset
from arena.system.concurrency import background
from arena.web.address import Address, listen
from arena.web.seat_server import SEAT_VIEWERS, NextCommands, SeatTable, page_face
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


def test_a_set_up_may_come_in_rows_or_as_one_text(seat: Seat) -> None:
    table = seat(blue=from_lines(BLUE, ["e7-e6"]))
    table.until(Color.RED, SeatStage.SETTING_UP)
    assert table.post(Color.RED, "setup", {"rows": ["/".join(RED)]}).text == "{}"
    assert table.until(Color.RED, SeatStage.MOVING).setup == RED


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


def answer(table: PlayTable, color: Color, asked: str = "") -> dict[str, Any]:
    """The state of a seat, and the plies that its page does not have."""
    return msgspec.json.decode(table.served.get(table.path(color, f"state?{asked}")).text)  # type: ignore[no-any-return]


def test_the_answer_has_the_plies_that_the_page_lacks_and_all_of_them_if_it_shows_another_game(seat: Seat) -> None:
    table = begun(seat)
    assert table.post(Color.RED, "act", {"action": "a4-a5", "ply": 1}).text == "{}"
    table.until(Color.RED, SeatStage.MOVING, plies=2)
    whole = answer(table, Color.RED)
    assert (whole["since"], whole["part"]["actions"], list(whole["part"]["views"])) == (0, ["a4-a5", "e7-e6"], ["red"])
    same = f"begun={whole['begun']}"
    later = answer(table, Color.RED, f"since=1&{same}")
    assert (later["since"], later["part"]["actions"]) == (1, ["e7-e6"])
    beyond = answer(table, Color.RED, f"since=99&{same}")
    assert (beyond["since"], beyond["part"].get("actions")) == (2, [])
    assert answer(table, Color.RED, "since=2&begun=0")["since"] == 0
    for wrong in ("-1", "9" * 30, "x", "", "\u0661"):
        assert table.served.get(table.path(Color.RED, f"state?since={quote(wrong)}")).status == 400
    assert table.post(Color.RED, "resign").text == "{}"
    table.end()
    over = answer(table, Color.RED, f"since=2&{same}")
    assert (over["since"], list(over["part"]["views"])) == (0, ["all", "red", "blue"])


def test_neither_the_page_nor_the_state_holds_a_rank_of_the_enemy(seat: Seat) -> None:
    table = begun(seat)
    found = answer(table, Color.RED)
    start = found["part"]["views"]["red"]["start"]
    assert (start.count("b?"), start.count("b")) == (10, 10)
    assert found["state"]["end"] is None
    for shown in (msgspec.json.encode(found).decode(), table.served.get(table.path(Color.RED)).text):
        assert not any(row in shown for row in BLUE if row not in RED)
        assert table.table.tokens[Color.BLUE] not in shown


@pytest.mark.parametrize("rules", ["duel", "isf", "duel+silent-defence", "jumbo-81320/infiltrator+rescue"])
def test_the_answer_of_a_seat_is_the_same_whatever_it_was_not_told(rules: str) -> None:
    ruleset, rng = load_ruleset(rules), random.Random(5)
    rows, blue = random_rows(ruleset, rng), random_rows(ruleset, rng)
    twin = with_two_swapped(blue, rng)
    actions = played_alike((EngineGame(ruleset, rows, blue), EngineGame(ruleset, rows, twin)), [Color.RED], rng)

    def answers(blue: Sequence[str]) -> list[bytes]:
        table, found = SeatTable(seated(rules), NextCommands()), list[bytes]()

        async def red(session: Session) -> None:
            session.set_up(Color.RED, rows)
            state = await session.changed(Color.RED)
            while state.plies < len(actions) and not session.is_over:
                if state.stage is SeatStage.MOVING:
                    answer = table.answer(Color.RED, since=0)
                    assert answer.part is not None
                    part = msgspec.structs.replace(answer.part, taken=[])
                    state = msgspec.structs.replace(answer.state, version=0)
                    found.append(msgspec.json.encode(msgspec.structs.replace(answer, part=part, state=state)))
                    session.act(Color.RED, actions[session.state(Color.RED).plies])
                state = await session.changed(Color.RED, session.state(Color.RED).version)
            session.leave()

        async def main() -> None:
            session = table.session
            with trio.fail_after(PATIENCE):
                async with background(
                    partial(ready, session, red), partial(from_lines(blue, actions[1::2]), session, Color.BLUE)
                ):
                    await session.play()

        trio.run(main)
        return found

    found = answers(blue)
    assert len(found) > 5
    assert found == answers(twin)


async def ready(session: Session, play: Callable[[Session], Awaitable[None]]) -> None:
    while session.state(Color.RED).stage is not SeatStage.SETTING_UP:
        await session.changed(Color.RED, session.state(Color.RED).version)
    await play(session)


@pytest.fixture
def table(seat: Seat) -> PlayTable:
    return begun(seat)


REFUSED_BY_THE_RULES = [
    ("act", {"action": "e4-e6", "ply": 1}, "moves one square at a time"),
    ("act", {"action": "a1-a2", "ply": 1}, "cannot move"),
    ("act", {"action": "a7-a6", "ply": 1}, "^a7-a6: red has no piece on a7"),
    ("act", {"action": "zz", "ply": 1}, "^zz: a piece moves along its file or rank"),
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
    ({"Sec_Fetch_Site": "cross-site"}, MOVE, 403),
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
    assert page.text.count("<script") == page.text.count("<script src=")
    assert "style=" not in page.text
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
